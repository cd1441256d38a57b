// min, max and broadcast: commutative and associative, so operands are collected, sorted and thinned out.
#include <algorithm>

#include "msvm/shape/dim_impl.h"

namespace msvm {
namespace {

constexpr size_t kMaxOperands = 16;

bool collect(DimOp op, Dim d, std::vector<Dim>& out) {
  if (const DimNode* n = d.node(); n && n->op == op) return collect(op, n->a, out) && collect(op, n->b, out);
  out.push_back(d);
  return out.size() <= kMaxOperands;
}

// Constants last: "min(H, 3)".
bool before(Dim x, Dim y) { return x.is_const() != y.is_const() ? y.is_const() : compare_dims(x, y) < 0; }

}  // namespace

Dim DimContext::min(Dim a, Dim b) { return extremum(DimOp::kMin, a, b); }
Dim DimContext::max(Dim a, Dim b) { return extremum(DimOp::kMax, a, b); }

Dim DimContext::extremum(DimOp op, Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return {};
  if (a.is_const() && b.is_const()) return (a.value() < b.value()) == (op == DimOp::kMin) ? a : b;
  std::vector<Dim> left, right;
  if (!collect(op, a, left) || !collect(op, b, right) || left.size() + right.size() > kMaxOperands) return make_node(op, a, b);
  Declared declared(*this);
  auto never_wins = [&](Dim x, Dim y) {  // x against y
    if (x.is_const() && y.is_const()) return x == y || (x.value() > y.value()) == (op == DimOp::kMin);
    Dim difference = sub(x, y);
    if (!difference.valid()) return false;
    DimRange r = declared.range(difference);
    return op == DimOp::kMin ? r.min >= 0 : r.max <= 0;
  };
  // Within `left` and within `right` nothing beats anything already.
  auto thin_out = [&](std::vector<Dim>& x, const std::vector<Dim>& y) {
    std::erase_if(x, [&](Dim d) { return std::any_of(y.begin(), y.end(), [&](Dim e) { return never_wins(d, e); }); });
  };
  thin_out(left, right);
  thin_out(right, left);
  std::vector<Dim> operands = std::move(left);
  operands.insert(operands.end(), right.begin(), right.end());
  std::sort(operands.begin(), operands.end(), before);
  return chain(op, operands);
}

Dim DimContext::broadcast(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return {};
  if (a == b || b.is_const(1)) return a;
  if (a.is_const(1)) return b;
  if (a.is_const() && b.is_const()) return {};
  std::vector<Dim> operands;
  if (!collect(DimOp::kBroadcast, a, operands) || !collect(DimOp::kBroadcast, b, operands)) return make_node(DimOp::kBroadcast, a, b);
  std::sort(operands.begin(), operands.end(), before);
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  // A size that can't be 1 is the result: the others equal it or are 1. Prefer a constant, then the first.
  Declared declared(*this);
  Dim decided;
  for (Dim d : operands) {
    DimRange r = declared.range(d);
    if (r.min <= 1 && r.max >= 1) continue;
    if (decided.valid() && decided.is_const() && d.is_const()) return {};  // 3 and 5
    if (!decided.valid() || d.is_const()) decided = d;
  }
  if (decided.valid()) return decided;
  return chain(DimOp::kBroadcast, operands);
}

Dim DimContext::chain(DimOp op, std::vector<Dim>& operands) {
  Dim out = operands.back();
  for (size_t i = operands.size() - 1; i-- > 0;) out = make_node(op, operands[i], out);
  return out;
}

}  // namespace msvm
