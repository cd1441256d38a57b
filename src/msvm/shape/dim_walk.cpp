// Walks over finished expressions. Recursion is as deep as an expression, which kMaxDimWeight bounds.
#include "msvm/base/checked.h"
#include "msvm/shape/dim_impl.h"

namespace msvm {
namespace {

// Rebuilds only what changes, so that an untouched part costs a walk and no arithmetic.
Dim substitute_in(DimContext& c, Dim d, const std::function<Dim(SymbolId)>& value_of) {
  const DimNode* n = d.node();
  if (!n || n->symbol_mask == 0) return d;
  if (n->op == DimOp::kSymbol) {
    Dim v = value_of(n->symbol);
    return v.valid() ? v : d;
  }
  if (n->op != DimOp::kSum) {
    Dim a = substitute_in(c, n->a, value_of), b = substitute_in(c, n->b, value_of);
    return a == n->a && b == n->b ? d : c.apply(n->op, a, b);
  }
  std::vector<Dim> replaced;
  bool changed = false;
  for (const DimTerm& t : n->terms) {
    for (Dim f : t.factors) {
      replaced.push_back(substitute_in(c, f, value_of));
      changed |= replaced.back() != f;
    }
  }
  if (!changed) return d;
  Dim sum = c.constant(n->constant);
  size_t i = 0;
  for (const DimTerm& t : n->terms) {
    Dim product = c.constant(t.coefficient);
    for (size_t k = 0; k < t.factors.size(); ++k) product = c.mul(product, replaced[i++]);
    sum = c.add(sum, product);
  }
  return sum;
}

}  // namespace

Dim DimContext::substitute(Dim d, const std::function<Dim(SymbolId)>& value_of) { return substitute_in(*this, d, value_of); }

std::optional<int64_t> DimContext::evaluate(Dim d, const std::function<std::optional<int64_t>(SymbolId)>& value_of) {
  if (!d.valid()) return std::nullopt;
  if (d.is_const()) return d.value();
  const DimNode& n = *d.node();
  if (n.op == DimOp::kSymbol) return value_of(n.symbol);
  if (n.op == DimOp::kSum) {
    __int128 sum = n.constant;  // terms may cancel
    for (const DimTerm& t : n.terms) {
      std::optional<int64_t> product = t.coefficient;
      bool zero = false;
      for (Dim f : t.factors) {
        auto v = evaluate(f, value_of);
        if (!v) return std::nullopt;
        zero |= *v == 0;
        if (product) product = checked_mul(*product, *v);
      }
      if (zero) continue;
      if (!product) return std::nullopt;
      sum += *product;
    }
    if (sum < INT64_MIN || sum > INT64_MAX) return std::nullopt;
    return static_cast<int64_t>(sum);
  }
  auto a = evaluate(n.a, value_of), b = evaluate(n.b, value_of);
  if (!a || !b) return std::nullopt;
  switch (n.op) {
    case DimOp::kFloorDiv: return checked_floordiv(*a, *b);
    case DimOp::kCeilDiv: return checked_ceildiv(*a, *b);
    case DimOp::kMod: return checked_mod(*a, *b);
    case DimOp::kMin: return std::min(*a, *b);
    case DimOp::kMax: return std::max(*a, *b);
    case DimOp::kBroadcast:
      if (*b == 1 || *a == *b) return a;
      return *a == 1 ? b : std::nullopt;
    case DimOp::kBigConst:
    case DimOp::kSymbol:
    case DimOp::kSum: break;
  }
  return std::nullopt;
}

DimRange DimContext::range(Dim d) const { return Declared(*this).range(d); }
DimResidue DimContext::residue(Dim d) const { return Declared(*this).residue(d); }

void DimContext::for_each_symbol(Dim d, const std::function<void(SymbolId)>& visit) {
  const DimNode* n = d.node();
  if (!n) return;
  if (n->op == DimOp::kSymbol) return visit(n->symbol);
  for (const DimTerm& t : n->terms)
    for (Dim f : t.factors) for_each_symbol(f, visit);
  for_each_symbol(n->a, visit);
  for_each_symbol(n->b, visit);
}

}  // namespace msvm
