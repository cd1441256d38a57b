#include "msvm/jit/lower_graph.h"

#include <bit>

namespace msvm::jit::lowering {

using loops::Op;

namespace {

uint64_t hash_of(const Node& n) {
  uint64_t h = static_cast<uint64_t>(n.op) * 64 + static_cast<uint64_t>(n.type) * 4 + n.row;
  auto mix = [&](uint64_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15u, h ^= h >> 29; };
  mix(static_cast<uint64_t>(n.tensor));
  for (const Ref& r : n.operands) mix(static_cast<uint64_t>(r.kind) << 32 ^ static_cast<uint32_t>(r.node)), mix(std::bit_cast<uint64_t>(r.number)), mix(static_cast<uint64_t>(r.integer));
  return h;
}

/// Bit by bit, so that 0 isn't -0 and NaN is itself.
bool same(const Ref& a, const Ref& b) { return a.kind == b.kind && a.node == b.node && std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number) && a.integer == b.integer; }
bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.type == b.type && a.tensor == b.tensor && a.row == b.row && same(a.operands[0], b.operands[0]) && same(a.operands[1], b.operands[1]) && same(a.operands[2], b.operands[2]);
}

}  // namespace

Ref Graph::add(Node node) {
  const uint64_t hash = hash_of(node);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto k = first; k != last; ++k)
    if (Node& known = nodes_[static_cast<size_t>(k->second)]; same(known, node)) {
      known.members |= member_;
      return {Ref::kNode, k->second};
    }
  node.members = member_;
  if (!node.row && node.op != Op::kLoad && node.type == home_type_) node.home = home_;
  nodes_.push_back(node);
  by_hash_.emplace(hash, static_cast<int32_t>(nodes_.size() - 1));
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
