#include "msvm/opt/body_builder.h"

#include <algorithm>

#include "msvm/opt/constants.h"

namespace msvm::opt {
namespace {

/// Operators that differ from the step of the same name by attributes or optional inputs only in ways that are handled here.
std::optional<float> attr_number(const Instr& i, const char* name, double fallback) { return static_cast<float>(i.attrs.get_float(name, fallback)); }

bool plain_name(std::string_view op) {
  for (std::string_view s : {"Add", "Sub", "Mul", "Div", "Pow", "Neg", "Abs", "Sqrt", "Reciprocal", "Exp", "Log", "Floor", "Ceil", "Round", "Erf", "Tanh", "Sigmoid", "Relu", "HardSwish", "Softplus",
                             "Mish", "Sin", "Cos"})
    if (op == s) return true;
  return false;
}

std::optional<Elementwise> translate(const ValueGraph& g, const Instr& i) {
  auto numbers = [&](size_t input, double fallback) -> std::optional<float> {
    if (input >= i.uses.size() || i.uses[input] == kNoReg) return static_cast<float>(fallback);
    auto v = scalar(g.constant(i.uses[input]));
    return v ? std::optional<float>(static_cast<float>(*v)) : std::nullopt;
  };
  const float inf = __builtin_inff();
  const std::string& op = i.text;
  if (plain_name(op)) return Elementwise{*find_body_op(op), i.uses, std::vector<std::optional<float>>(i.uses.size())};
  if (op == "Min" || op == "Max" || op == "Sum") {
    if (i.uses.size() != 2) return std::nullopt;
    return Elementwise{op == "Sum" ? BodyOp::kAdd : *find_body_op(op), i.uses, std::vector<std::optional<float>>(2)};
  }
  if (op == "Clip") {
    auto low = numbers(1, -inf), high = numbers(2, inf);
    if (!low || !high) return std::nullopt;
    return Elementwise{BodyOp::kClip, {i.uses[0]}, {std::nullopt, low, high}};
  }
  if (op == "LeakyRelu") return Elementwise{BodyOp::kLeakyRelu, i.uses, {std::nullopt, attr_number(i, "alpha", 0.01)}};
  if (op == "Elu") return Elementwise{BodyOp::kElu, i.uses, {std::nullopt, attr_number(i, "alpha", 1.0)}};
  if (op == "HardSigmoid") return Elementwise{BodyOp::kHardSigmoid, i.uses, {std::nullopt, attr_number(i, "alpha", 0.2), attr_number(i, "beta", 0.5)}};
  if (op == "Gelu") return Elementwise{i.attrs.get_string("approximate", "none") == "tanh" ? BodyOp::kGeluTanh : BodyOp::kGelu, i.uses, {std::nullopt}};
  if (op == "Swish" && i.attrs.get_float("alpha", 1.0) == 1.0) return Elementwise{BodyOp::kSilu, i.uses, {std::nullopt}};
  if (op == "PRelu") {
    auto slope = numbers(1, 0);
    if (!slope) return std::nullopt;
    return Elementwise{BodyOp::kLeakyRelu, {i.uses[0]}, {std::nullopt, slope}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Elementwise> as_elementwise(const ValueGraph& g, const Node& n) {
  const Instr& i = n.instr;
  if (i.op != Opcode::kOpCall || i.uses.empty() || !may_fuse(i)) return std::nullopt;
  const Reg out = ValueGraph::output(n);
  if (out == kNoReg || !g.plain(out)) return std::nullopt;
  auto fits = [&](Reg r) { return r != kNoReg && g.is_tensor(r) && g.type(r).dtype == DType::kF32 && g.type(r).device == Device{}; };
  if (!fits(out)) return std::nullopt;
  auto e = translate(g, i);
  if (!e) return std::nullopt;
  for (Reg r : e->operands)
    if (!fits(r)) return std::nullopt;
  return e;
}

bool BodyBuilder::add(const Node& n, const Elementwise& e) {
  if (body_.steps.size() >= kMaxBodySteps) return false;
  BodyStep step{e.op, {}};
  size_t next = 0, fresh = 0;
  const auto count = static_cast<size_t>(body_op_info(e.op).operands);
  for (size_t k = 0; k < count; ++k) {
    BodyOperand& o = step.operands[k];
    if (k < e.numbers.size() && e.numbers[k]) {
      o = {BodyOperand::kNumber, 0, *e.numbers[k]};
      continue;
    }
    const Reg r = e.operands[next++];
    if (r == result_) {
      o = {BodyOperand::kResult, 0, 0};
    } else if (auto it = step_of_.find(r); it != step_of_.end()) {
      o = {BodyOperand::kStep, it->second, 0};
    } else if (auto v = scalar(g_->constant(r))) {
      o = {BodyOperand::kNumber, 0, static_cast<float>(*v)};
    } else {
      auto at = std::find(inputs_.begin(), inputs_.end(), r);
      if (at == inputs_.end()) {
        inputs_.push_back(r);
        ++fresh;
        at = inputs_.end() - 1;
      }
      o = {BodyOperand::kInput, static_cast<uint16_t>(first_input_ + static_cast<size_t>(at - inputs_.begin())), 0};
    }
  }
  if (inputs_.size() > kMostBodyInputs) {
    inputs_.resize(inputs_.size() - fresh);
    return false;
  }
  step_of_[ValueGraph::output(n)] = static_cast<uint16_t>(body_.steps.size());
  body_.steps.push_back(step);
  return true;
}

}  // namespace msvm::opt
