// For this room's tests: text programs, values written as text.
#pragma once
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/engine/engine.h"

namespace msvm::testing {

/// A module whose function @f copies its input f32[N] and then loops longer than anyone waits. More functions may follow.
constexpr std::string_view kForever = R"(
module "m" version 1
symbol N
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R0 -> R1
  JUMP b1
b1:
  R2: i64 = SCALAR_PHI [b0: 0, b2: R2 + 1]
  R3: f32[N] = TENSOR_PHI [b0: R1, b2: R3]
  R4 = SHAPE_CALC lt R2, 3000000000
  BRANCH_IF R4, b2, b3
b2:
  JUMP b1
b3:
  RETURN R3
)";

/// `text` assembled and verified; fails the test otherwise.
std::shared_ptr<const VerifiedModule> verified(std::string_view text, const std::string& name = "test");
std::shared_ptr<Executable> load(Engine& engine, std::string_view text);
std::shared_ptr<Engine> make_engine(EngineOptions options = {.num_threads = 1});

/// "f32[2, 3] [1, 2, 3, 4, 5, 6]", "f32[2, 3] iota" (0, 1, 2, ...), "3" (i64), "0.5" (f64), "true".
std::optional<Value> parse_value(Engine& engine, std::string_view& text);
/// Several, with commas between; names before `=` are skipped.
std::optional<std::vector<Value>> parse_values(Engine& engine, std::string_view text);
/// The same form. Tensors of any strides.
std::string to_text(const Value& v);
std::string to_text(const std::vector<Value>& values);

Value tensor(Engine& engine, std::string_view text);
std::vector<double> elements(const Value& v);

/// |found - expected| <= tolerance * (1 + the greatest |expected| of the tensor): 1e-4 for some dozen operators, each of which may round
/// differently. NaN equals NaN.
::testing::AssertionResult near(const Value& expected, const Value& found, double tolerance = 1e-4);
/// f32, in [-2, 2).
TensorValue random_tensor(Engine& engine, const std::vector<int64_t>& shape, std::mt19937& random);

}  // namespace msvm::testing
