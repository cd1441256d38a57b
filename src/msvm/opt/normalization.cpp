// Layer normalisation spelt out: mean, difference, variance, root, quotient, and scale and shift behind them.
#include <cmath>

#include "msvm/opt/constants.h"
#include "msvm/opt/passes.h"

namespace msvm::opt {
namespace {

/// ReduceMean over the last axis, kept: its input.
Reg mean_of(ValueGraph& g, Reg r) {
  Node* n = g.call_of(r, "ReduceMean");
  if (!n || !may_fuse(n->instr) || !g.is_tensor(n->instr.uses[0])) return kNoReg;
  const auto& axes = n->instr.attrs.get_ints("axes");
  const int rank = g.type(n->instr.uses[0]).rank();
  if (axes.size() != 1 || (axes[0] != -1 && axes[0] != rank - 1) || n->instr.attrs.get_int("keepdims", 1) != 1) return kNoReg;
  return n->instr.uses[0];
}

/// The other operand of a commutative call.
Reg other(const Node& n, Reg r) { return n.instr.uses[0] == r ? n.instr.uses[1] : n.instr.uses[1] == r ? n.instr.uses[0] : kNoReg; }

/// A constant with one value for each position of the last axis.
bool along_last_axis(const Constant* c, int64_t n) {
  if (!floats(c)) return false;
  const auto s = sizes(c->type);
  return !s.empty() && s.back() == n && element_count(s) == n;
}

Reg vector_of(ValueGraph& g, const Constant& c, int64_t n) {
  return g.add_constant(reshaped_constant(g, c, {n}));
}

void match(ValueGraph& g, Node& quotient) {
  const Reg out = ValueGraph::output(quotient);
  if (out == kNoReg || !g.plain(out) || g.type(out).dtype != DType::kF32 || g.type(out).rank() < 1) return;
  const Reg difference = quotient.instr.uses[0];
  Node* root = g.call_of(quotient.instr.uses[1], "Sqrt");
  Node* sum = root ? g.call_of(root->instr.uses[0], "Add") : nullptr;
  if (!sum || !may_fuse(quotient.instr) || !may_fuse(root->instr) || !may_fuse(sum->instr)) return;
  for (int k = 0; k < 2; ++k) {
    auto epsilon = scalar(g.constant(sum->instr.uses[static_cast<size_t>(k)]));
    const Reg squares = mean_of(g, sum->instr.uses[static_cast<size_t>(1 - k)]);
    if (!epsilon || !(*epsilon >= 0) || !std::isfinite(*epsilon) || squares == kNoReg) continue;
    Node* power = g.call_of(squares, "Pow");
    Node* product = g.call_of(squares, "Mul");
    const bool square = power ? power->instr.uses[0] == difference && scalar(g.constant(power->instr.uses[1])) == 2.0
                              : product && product->instr.uses[0] == difference && product->instr.uses[1] == difference;
    Node* minus = square && may_fuse((power ? power : product)->instr) ? g.call_of(difference, "Sub") : nullptr;
    if (!minus || !may_fuse(minus->instr) || mean_of(g, minus->instr.uses[1]) != minus->instr.uses[0]) continue;
    const Reg x = minus->instr.uses[0];
    const Dim last = g.type(x).shape.back();
    if (!last.is_const() || g.type(x).shape != g.type(out).shape) continue;
    // Scale and shift, if they are constants along the axis.
    Node* end = &quotient;
    Reg scale = kNoReg, shift = kNoReg;
    std::vector<const Node*> origins{g.call_of(minus->instr.uses[1]), minus, power ? power : product, g.call_of(sum->instr.uses[static_cast<size_t>(1 - k)]), sum, root, &quotient};
    for (const char* op : {"Mul", "Add"}) {
      const Reg value = ValueGraph::output(*end);
      if (!g.single_use(value)) break;
      Node* next = g.readers(value)[0];
      if (!is_call(next, op) || next->block != quotient.block || !may_fuse(next->instr) || !g.plain(ValueGraph::output(*next)) ||
          g.type(ValueGraph::output(*next)).shape != g.type(out).shape) {
        if (scale == kNoReg) continue;
        break;
      }
      const Constant* c = g.constant(other(*next, value));
      if (!along_last_axis(c, last.value())) break;
      (op[0] == 'M' ? scale : shift) = vector_of(g, *c, last.value());
      end = next;
      origins.push_back(next);
    }
    if (scale == kNoReg) {
      Constant ones = new_constant(g, "ones", DType::kF32, {last.value()});
      std::fill_n(mutable_floats(ones), last.value(), 1.0f);
      scale = g.add_constant(std::move(ones));
    }
    Instr call{.op = Opcode::kOpCall, .uses = {x, scale}, .text = "LayerNormalization", .debug = g.merge_debug(origins)};
    if (shift != kNoReg) call.uses.push_back(shift);
    call.attrs.set("axis", int64_t{-1});
    call.attrs.set("epsilon", *epsilon);
    g.replace_call(*end, std::move(call), g.type(out));
    return;
  }
}

}  // namespace

void normalization_pass(ValueGraph& g, const PassContext&) {
  std::vector<Node*> quotients;
  for_each_node(g, [&](Node& n) {
    if (is_call(&n, "Div")) quotients.push_back(&n);
  });
  for (Node* n : quotients) match(g, *n);  // a match removes no other quotient
}

}  // namespace msvm::opt
