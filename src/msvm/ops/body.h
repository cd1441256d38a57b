// Bodies of fused calls (msvm.Pointwise, msvm.Conv, msvm.MatMul): at most 64 elementwise steps of f32, the last one is the result.
//
//   body: ["Add(y, i3)", "Relu(s0)"]     y: the value of the product or convolution, bias included (not in msvm.Pointwise)
//                                        i3: input 3 of the call, broadcast to the result     s0: step 0     0.5: a number
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm {

enum class BodyOp : uint8_t {
#define MSVM_BODY_STEP(name, ...) k##name,
#include "msvm/ops/body_steps.def"
#undef MSVM_BODY_STEP
};
struct BodyOpInfo {
  std::string_view name;
  int operands, constants;
  std::string_view doc;
};
const BodyOpInfo& body_op_info(BodyOp op);
std::span<const BodyOpInfo> body_ops();             // in the order of BodyOp
const BodyOp* find_body_op(std::string_view name);  // null: there is none

struct BodyOperand {
  enum Kind : uint8_t { kResult, kInput, kStep, kNumber };
  Kind kind = kNumber;
  uint16_t index = 0;  // of the input or step
  float number = 0;
  bool operator==(const BodyOperand&) const = default;
};
struct BodyStep {
  BodyOp op;
  std::array<BodyOperand, 3> operands;  // the first body_op_info(op).operands count
  bool operator==(const BodyStep&) const = default;
};
struct Body {
  std::vector<BodyStep> steps;
  bool operator==(const Body&) const = default;
};
constexpr size_t kMaxBodySteps = 64;

/// Steps read only earlier steps and inputs in [first_input, num_inputs); `y` only if `has_result`; numbers stand where the table
/// wants them. The error names step and operand.
Result<Body> parse_body(std::span<const std::string> text, size_t first_input, size_t num_inputs, bool has_result);
std::vector<std::string> print_body(const Body& body);  // numbers print so that they read back as the same float

}  // namespace msvm
