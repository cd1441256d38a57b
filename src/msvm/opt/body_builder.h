// Elementwise calls as steps of a body.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "msvm/ops/body.h"
#include "msvm/opt/value_graph.h"

namespace msvm::opt {

/// An elementwise call as a body sees it: one or two steps over its operands.
struct Elementwise {
  BodyOp op;
  std::vector<Reg> operands;                    // those that are tensors, in order
  std::vector<std::optional<float>> numbers;    // by operand of the step; set: a number
};

/// None if `n` isn't an f32 call of one plain output on the host that a single body step expresses exactly.
std::optional<Elementwise> as_elementwise(const ValueGraph& g, const Node& n);

/// Collects calls, operands before users, into one body.
class BodyBuilder {
 public:
  /// `result`: the value that stands for `y` (kNoReg: there is none). `first_input`: number of the first operand tensor in the call.
  BodyBuilder(ValueGraph& g, Reg result, size_t first_input) : g_(&g), result_(result), first_input_(first_input) {}
  /// False where a limit is reached.
  bool add(const Node& n, const Elementwise& e);
  const Body& body() const { return body_; }
  Body& body() { return body_; }
  const std::vector<Reg>& inputs() const { return inputs_; }
  std::vector<Reg>& inputs() { return inputs_; }

 private:
  ValueGraph* g_;
  Reg result_;
  size_t first_input_;
  Body body_;
  std::vector<Reg> inputs_;
  std::unordered_map<Reg, uint16_t> step_of_;
};

/// Several steps that together are one of the table (x * sigmoid(x) -> Silu), numbers where the inputs are constants of one element;
/// steps and inputs that nobody reads go. `inputs` are those from `first_input` on.
void simplify_body(Body& body, std::vector<Reg>& inputs, size_t first_input);

constexpr size_t kMostBodyInputs = 12;

}  // namespace msvm::opt
