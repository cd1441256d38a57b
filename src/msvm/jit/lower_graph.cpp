#include "msvm/jit/lower_graph.h"

namespace msvm::jit::lowering {

using loops::Op;

Ref Graph::add(Node node) {
  for (size_t k = 0; k < nodes_.size(); ++k) {
    const Node& n = nodes_[k];
    if (n.op == node.op && n.type == node.type && n.operands == node.operands && n.tensor == node.tensor && n.row == node.row) return {Ref::kNode, static_cast<int32_t>(k)};
  }
  if (!node.row && node.op != Op::kLoad && node.type == home_type_) node.home = home_;
  nodes_.push_back(node);
  return {Ref::kNode, static_cast<int32_t>(nodes_.size() - 1)};
}

Ref Graph::load(int32_t tensor, DType dtype, bool row) { return add({Op::kLoad, loops::value_type(dtype), {}, tensor, row}); }

Ref Graph::apply(Op op, DType type, Ref a, Ref b, Ref c) {
  Node node{op, type, {a, b, c}};
  bool row = false, full = false;
  for (const Ref& r : node.operands) {
    row |= is_row(r);
    full |= r.kind == Ref::kNode && !at(r).row;
  }
  node.row = row && !full;
  return add(node);
}

Ref Graph::reduce(Op op, DType type, Ref a) { return add({op, type, {a, {}, {}}, -1, true}); }

int step_cost(Op op) {
  switch (op) {
    case Op::kLoad: case Op::kStore: case Op::kIndex: case Op::kAdd: case Op::kSub: case Op::kMul: case Op::kFma: case Op::kMin: case Op::kMax: case Op::kNeg:
    case Op::kAbs: case Op::kRelu: case Op::kEqual: case Op::kLess: case Op::kLessOrEqual: case Op::kAnd: case Op::kOr: case Op::kXor: case Op::kNot: case Op::kIsNan:
    case Op::kSelect: case Op::kCast: case Op::kFloor: case Op::kCeil: case Op::kRound: case Op::kReduceSum: case Op::kReduceMax: case Op::kReduceMin: case Op::kReduceProd:
      return 1;
    case Op::kLeakyRelu: case Op::kClip: return 2;
    case Op::kHardSigmoid: case Op::kHardSwish: return 4;
    case Op::kDiv: case Op::kSqrt: return 5;
    case Op::kExp: case Op::kLog: case Op::kErf: case Op::kTanh: case Op::kSigmoid: case Op::kSilu: case Op::kGelu: case Op::kGeluTanh: case Op::kElu:
    case Op::kSoftplus: case Op::kMish: case Op::kSin: case Op::kCos:
      return 15;
    case Op::kPow: return 100;
  }
  return 1;
}

}  // namespace msvm::jit::lowering
