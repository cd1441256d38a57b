// Bodies made shorter: groups of steps that are one step of the table.
#include <algorithm>
#include <cmath>

#include "msvm/opt/body_builder.h"

namespace msvm::opt {
namespace {

/// Numbers that a float holds are meant exactly; of others (1/6, sqrt 2) programs write down some digits.
bool near(float a, double b) {
  const double d = std::fabs(static_cast<double>(a) - b);
  return static_cast<double>(static_cast<float>(b)) == b ? d == 0 : d <= 2e-6 * std::fabs(b);
}

class Simplifier {
 public:
  explicit Simplifier(Body& body) : body_(body) {}

  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      count_uses();
      for (size_t i = 0; i < body_.steps.size() && !changed; ++i) changed = rewrite(i);
    }
  }

 private:
  using Operand = BodyOperand;

  void count_uses() {
    uses_.assign(body_.steps.size(), 0);
    if (!uses_.empty()) uses_.back() = 1;
    for (size_t i = body_.steps.size(); i-- > 0;) {
      if (!uses_[i]) continue;
      const BodyStep& s = body_.steps[i];
      for (int k = 0; k < body_op_info(s.op).operands; ++k)
        if (s.operands[static_cast<size_t>(k)].kind == Operand::kStep) ++uses_[s.operands[static_cast<size_t>(k)].index];
    }
  }
  /// The step behind an operand if it is of that operator; `uses` how often it may be read.
  const BodyStep* step(const Operand& o, BodyOp op, int uses = 1) const {
    if (o.kind != Operand::kStep || body_.steps[o.index].op != op || uses_[o.index] > uses) return nullptr;
    return &body_.steps[o.index];
  }
  static bool number(const Operand& o, double v) { return o.kind == Operand::kNumber && near(o.number, v); }
  /// One operand is a number near v: the other one.
  static const Operand* other_than(const BodyStep& s, double v) {
    if (number(s.operands[1], v)) return &s.operands[0];
    if (number(s.operands[0], v)) return &s.operands[1];
    return nullptr;
  }
  void become(size_t i, BodyOp op, Operand a, Operand b = {}, Operand c = {}) { body_.steps[i] = {op, {a, b, c}}; }
  static Operand num(float v) { return {Operand::kNumber, 0, v}; }

  bool rewrite(size_t i) {
    if (!uses_[i]) return false;
    const BodyStep s = body_.steps[i];
    switch (s.op) {
      case BodyOp::kMul: return silu(i, s) || gelu(i, s) || hard_swish(i, s, 0);
      case BodyOp::kDiv: return hard_swish(i, s, 6);
      case BodyOp::kMax: {
        const Operand* x = other_than(s, 0);
        if (!x || std::signbit((x == &s.operands[0] ? s.operands[1] : s.operands[0]).number)) return false;
        become(i, BodyOp::kRelu, *x);
        return true;
      }
      case BodyOp::kClip:
        if (s.operands[1].number != 0 || std::signbit(s.operands[1].number) || s.operands[2].number != __builtin_inff()) return false;
        become(i, BodyOp::kRelu, s.operands[0]);
        return true;
      case BodyOp::kPow:
        if (number(s.operands[1], 2)) {
          become(i, BodyOp::kMul, s.operands[0], s.operands[0]);
          return true;
        }
        return false;
      default: return false;
    }
  }

  /// x * sigmoid(x), x * hardsigmoid(x; 1/6, 1/2)
  bool silu(size_t i, const BodyStep& s) {
    for (int k = 0; k < 2; ++k) {
      const Operand &x = s.operands[static_cast<size_t>(k)], &gate = s.operands[static_cast<size_t>(1 - k)];
      if (const BodyStep* g = step(gate, BodyOp::kSigmoid); g && g->operands[0] == x) {
        become(i, BodyOp::kSilu, x);
        return true;
      }
      if (const BodyStep* g = step(gate, BodyOp::kHardSigmoid); g && g->operands[0] == x && number(g->operands[1], 1.0 / 6) && number(g->operands[2], 0.5)) {
        become(i, BodyOp::kHardSwish, x);
        return true;
      }
    }
    return false;
  }

  /// clip(x + 3, 0, 6) of this operand: x
  const Operand* clipped(const Operand& o) const {
    const BodyStep* c = step(o, BodyOp::kClip);
    if (!c || c->operands[1].number != 0 || c->operands[2].number != 6) return nullptr;
    const BodyStep* a = step(c->operands[0], BodyOp::kAdd);
    return a ? other_than(*a, 3) : nullptr;
  }
  /// x * clip(x + 3, 0, 6) / 6, whatever is divided or multiplied first.
  bool hard_swish(size_t i, const BodyStep& s, double divisor) {
    // (x * clip) / 6 or (x * clip) * (1/6)
    const Operand* product = divisor != 0 ? (number(s.operands[1], 6) ? &s.operands[0] : nullptr) : other_than(s, 1.0 / 6);
    if (product) {
      const BodyStep* m = step(*product, BodyOp::kMul);
      for (size_t k = 0; m && k < 2; ++k)
        if (const Operand* x = clipped(m->operands[k]); x && *x == m->operands[1 - k]) {
          become(i, BodyOp::kHardSwish, *x);
          return true;
        }
    }
    if (divisor != 0) return false;
    // x * (clip / 6) or x * (clip * (1/6))
    for (size_t k = 0; k < 2; ++k) {
      const Operand& gate = s.operands[k];
      const BodyStep* d = step(gate, BodyOp::kDiv);
      const Operand* c = d && number(d->operands[1], 6) ? &d->operands[0] : nullptr;
      if (!c)
        if (const BodyStep* m = step(gate, BodyOp::kMul)) c = other_than(*m, 1.0 / 6);
      if (const Operand* x = c ? clipped(*c) : nullptr; x && *x == s.operands[1 - k]) {
        become(i, BodyOp::kHardSwish, *x);
        return true;
      }
    }
    return false;
  }

  /// 1 + erf(x / sqrt 2): x
  const Operand* one_plus_erf(const Operand& o) const {
    const BodyStep* a = step(o, BodyOp::kAdd);
    const Operand* e = a ? other_than(*a, 1) : nullptr;
    const BodyStep* erf = e ? step(*e, BodyOp::kErf) : nullptr;
    if (!erf) return nullptr;
    if (const BodyStep* d = step(erf->operands[0], BodyOp::kDiv); d && number(d->operands[1], 1.4142135623730951)) return &d->operands[0];
    if (const BodyStep* m = step(erf->operands[0], BodyOp::kMul)) return other_than(*m, 0.7071067811865476);
    return nullptr;
  }
  /// 0.5 * x * (1 + erf(x / sqrt 2)) in any order.
  bool gelu(size_t i, const BodyStep& s) {
    // ((x * (1 + erf)) * 0.5)
    if (const Operand* p = other_than(s, 0.5))
      if (const BodyStep* m = step(*p, BodyOp::kMul))
        for (size_t k = 0; k < 2; ++k)
          if (const Operand* x = one_plus_erf(m->operands[k]); x && *x == m->operands[1 - k]) {
            become(i, BodyOp::kGelu, *x);
            return true;
          }
    // (0.5 * x) * (1 + erf), x * (0.5 * (1 + erf))
    for (size_t k = 0; k < 2; ++k) {
      if (const Operand* x = one_plus_erf(s.operands[k]))
        if (const BodyStep* h = step(s.operands[1 - k], BodyOp::kMul))
          if (const Operand* half = other_than(*h, 0.5); half && *half == *x) {
            become(i, BodyOp::kGelu, *x);
            return true;
          }
      if (const BodyStep* h = step(s.operands[k], BodyOp::kMul))
        if (const Operand* e = other_than(*h, 0.5))
          if (const Operand* x = one_plus_erf(*e); x && *x == s.operands[1 - k]) {
            become(i, BodyOp::kGelu, *x);
            return true;
          }
    }
    return false;
  }

  Body& body_;
  std::vector<int> uses_;
};

}  // namespace

void simplify_body(Body& body, std::vector<Reg>& inputs, size_t first_input) {
  Simplifier(body).run();
  // Steps that nobody reads go, the others move up; so do inputs.
  std::vector<int> place(body.steps.size(), -1);
  std::vector<uint8_t> needed(body.steps.size(), 0), read(inputs.size(), 0);
  if (!needed.empty()) needed.back() = 1;
  for (size_t i = body.steps.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const BodyStep& s = body.steps[i];
    for (int k = 0; k < body_op_info(s.op).operands; ++k) {
      const BodyOperand& o = s.operands[static_cast<size_t>(k)];
      if (o.kind == BodyOperand::kStep) needed[o.index] = 1;
      if (o.kind == BodyOperand::kInput) read[o.index - first_input] = 1;
    }
  }
  std::vector<Reg> kept_inputs;
  std::vector<uint16_t> input_place(inputs.size(), 0);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (read[i]) {
      input_place[i] = static_cast<uint16_t>(first_input + kept_inputs.size());
      kept_inputs.push_back(inputs[i]);
    }
  std::vector<BodyStep> kept;
  for (size_t i = 0; i < body.steps.size(); ++i) {
    if (!needed[i]) continue;
    BodyStep s = body.steps[i];
    for (int k = 0; k < body_op_info(s.op).operands; ++k) {
      BodyOperand& o = s.operands[static_cast<size_t>(k)];
      if (o.kind == BodyOperand::kStep) o.index = static_cast<uint16_t>(place[o.index]);
      if (o.kind == BodyOperand::kInput) o.index = input_place[o.index - first_input];
    }
    place[i] = static_cast<int>(kept.size());
    kept.push_back(s);
  }
  body.steps = std::move(kept);
  inputs = std::move(kept_inputs);
}

}  // namespace msvm::opt
