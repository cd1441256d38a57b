#include "msvm/shape/dim_bounds.h"

#include <algorithm>

#include "msvm/base/checked.h"
#include "msvm/shape/integer.h"

namespace msvm {
namespace {

using Wide = __int128;

constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;
constexpr bool infinite(int64_t v) { return v == kMin || v == kMax; }
int64_t clamp(Wide v) { return v > kMax ? kMax : v < kMin ? kMin : static_cast<int64_t>(v); }

// A lower bound is never plus infinity, an upper one never minus infinity: the extremes themselves are values too.
DimRange sane(DimRange r) { return {r.min == kMax ? kMax - 1 : r.min, r.max == kMin ? kMin + 1 : r.max}; }

int64_t mul_bound(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kMax : kMin;
  return clamp(Wide{a} * b);
}

int64_t negate_bound(int64_t v) { return v == kMin ? kMax : v == kMax ? kMin : -v; }
DimRange negate(DimRange r) { return sane({negate_bound(r.max), negate_bound(r.min)}); }

// Quotient of two bounds; b >= 1. An infinite divisor brings every finite value to the last step before zero.
int64_t divide_bound(int64_t a, int64_t b, bool ceil) {
  if (b == kMax) return ceil ? (a > 0 ? 1 : 0) : (a < 0 ? -1 : 0);
  if (infinite(a)) return a;
  return ceil ? *checked_ceildiv(a, b) : *checked_floordiv(a, b);
}

DimRange divide_ranges(DimRange x, DimRange q, bool ceil) {
  if (q.min == 0) q.min = 1;  // a zero divisor has no value
  if (q.max == 0) q.max = -1;
  if (q.min > q.max) return {};
  if (q.max < 0) {
    x = negate(x);
    q = negate(q);
  }
  if (q.min < 0) {  // both signs: the magnitude doesn't grow
    if (infinite(x.min) || infinite(x.max)) return {};
    int64_t m = std::max(std::max(x.max, negate_bound(x.min)), std::max(negate_bound(x.max), x.min));
    return {negate_bound(m), m};
  }
  int64_t corners[] = {divide_bound(x.min, q.min, ceil), divide_bound(x.min, q.max, ceil), divide_bound(x.max, q.min, ceil),
                       divide_bound(x.max, q.max, ceil)};
  auto [lo, hi] = std::minmax_element(std::begin(corners), std::end(corners));
  return {*lo, *hi};
}

DimRange mod_range(DimRange x, DimRange q) {
  DimRange out{std::min<int64_t>(infinite(q.min) ? q.min : q.min + 1, 0), std::max<int64_t>(infinite(q.max) ? q.max : q.max - 1, 0)};
  if (q.min >= 0) {
    out.min = 0;
    if (x.min >= 0) out.max = std::min(out.max, x.max);
    if (q.min == q.max && q.min > 0 && !infinite(x.min) && !infinite(x.max)) {  // within one period: shifted, not wrapped
      int64_t period = *checked_floordiv(x.min, q.min);
      if (period == *checked_floordiv(x.max, q.min)) return {*checked_mod(x.min, q.min), *checked_mod(x.max, q.min)};
    }
  }
  if (q.max <= 0) out.max = 0;
  return out;
}

Wide wide_gcd(Wide a, Wide b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    Wide t = a % b;
    a = b;
    b = t;
  }
  return a;
}

int64_t wide_mod(Wide v, int64_t m) {
  int64_t r = static_cast<int64_t>(v % m);
  return r < 0 ? r + m : r;
}

DimResidue add_residues(DimResidue x, DimResidue y) {
  if (x.modulus == 1 || y.modulus == 1) return {};
  int64_t m = gcd64(x.modulus, y.modulus);
  if (m != 0) return {m, wide_mod(Wide{x.remainder} + y.remainder, m)};
  auto sum = checked_add(x.remainder, y.remainder);
  return sum ? DimResidue{0, *sum} : DimResidue{};
}

DimResidue mul_residues(DimResidue x, DimResidue y) {
  if (x.modulus == 1 && y.modulus == 1) return {};
  if (x.modulus == 0 && y.modulus == 0) {
    auto product = checked_mul(x.remainder, y.remainder);
    return product ? DimResidue{0, *product} : DimResidue{};
  }
  // (r + m a)(s + n b) = rs + rn b + sm a + mn ab
  Wide m = wide_gcd(wide_gcd(Wide{x.modulus} * y.modulus, Wide{x.remainder} * y.modulus), Wide{y.remainder} * x.modulus);
  if (m == 0) return {0, 0};
  if (m > kMax) return {};
  return {static_cast<int64_t>(m), wide_mod(Wide{x.remainder} * y.remainder, static_cast<int64_t>(m))};
}

// Of either of two values.
DimResidue join_residues(DimResidue x, DimResidue y) {
  auto difference = checked_sub(x.remainder, y.remainder);
  if (!difference) return {};
  int64_t m = gcd64(gcd64(x.modulus, y.modulus), *difference);
  return m == 0 ? x : make_residue(m, x.remainder);
}

DimResidue divide_residue(DimResidue x, int64_t c, bool ceil) {
  if (c <= 0 || x.modulus % c != 0) return {};
  int64_t q = ceil ? *checked_ceildiv(x.remainder, c) : *checked_floordiv(x.remainder, c);
  return x.modulus == 0 ? DimResidue{0, q} : make_residue(x.modulus / c, q);
}

}  // namespace

DimRange add_ranges(DimRange x, DimRange y) {
  return sane({infinite(x.min) || infinite(y.min) ? kMin : clamp(Wide{x.min} + y.min),
               infinite(x.max) || infinite(y.max) ? kMax : clamp(Wide{x.max} + y.max)});
}

DimRange mul_ranges(DimRange x, DimRange y) {
  int64_t corners[] = {mul_bound(x.min, y.min), mul_bound(x.min, y.max), mul_bound(x.max, y.min), mul_bound(x.max, y.max)};
  auto [lo, hi] = std::minmax_element(std::begin(corners), std::end(corners));
  return sane({*lo, *hi});
}

DimRange intersect(DimRange x, DimRange y) { return {std::max(x.min, y.min), std::min(x.max, y.max)}; }

DimResidue make_residue(int64_t m, int64_t r) { return m == 0 ? DimResidue{0, r} : DimResidue{m, wide_mod(r, m)}; }

DimRange align_range(DimRange range, DimResidue residue) {
  if (residue.modulus <= 1) return range;
  if (!infinite(range.min)) range.min = clamp(Wide{range.min} + wide_mod(Wide{residue.remainder} - range.min, residue.modulus));
  if (!infinite(range.max)) range.max = clamp(Wide{range.max} - wide_mod(Wide{range.max} - residue.remainder, residue.modulus));
  return range;
}

DimResidue declared_residue(const SymbolInfo& info) {
  return info.divisor > 1 ? make_residue(info.divisor, info.remainder) : DimResidue{};
}

DimRange declared_range(const SymbolInfo& info) { return align_range({info.min, info.max}, declared_residue(info)); }

DimRange DimBounds::range(Dim d) const {
  if (!d.valid()) return {};
  if (d.is_const()) return sane({d.value(), d.value()});
  const DimNode& n = *d.node();
  DimRange out;
  if (remembered(n, out)) return out;
  out = node_range(n);
  refine(d, out);
  out = sane(out);
  remember(n, out);
  return out;
}

DimRange DimBounds::node_range(const DimNode& n) const {
  switch (n.op) {
    case DimOp::kBigConst: return {n.constant, n.constant};
    case DimOp::kSymbol: return symbol_range(n.symbol);
    case DimOp::kSum: {
      DimRange sum = sane({n.constant, n.constant});
      for (const DimTerm& t : n.terms) {
        DimRange product = sane({t.coefficient, t.coefficient});
        for (size_t i = 0; i < t.factors.size();) {
          size_t power = 1;
          while (i + power < t.factors.size() && t.factors[i + power] == t.factors[i]) ++power;
          DimRange factor = range(t.factors[i]), raised = factor;
          for (size_t k = 1; k < power; ++k) raised = mul_ranges(raised, factor);
          if (power % 2 == 0) raised.min = std::max<int64_t>(raised.min, 0);
          product = mul_ranges(product, raised);
          i += power;
        }
        sum = add_ranges(sum, product);
      }
      return sum;
    }
    case DimOp::kFloorDiv: return divide_ranges(range(n.a), range(n.b), false);
    case DimOp::kCeilDiv: return divide_ranges(range(n.a), range(n.b), true);
    case DimOp::kMod: return mod_range(range(n.a), range(n.b));
    case DimOp::kMin: {
      DimRange x = range(n.a), y = range(n.b);
      return {std::min(x.min, y.min), std::min(x.max, y.max)};
    }
    case DimOp::kMax: {
      DimRange x = range(n.a), y = range(n.b);
      return {std::max(x.min, y.min), std::max(x.max, y.max)};
    }
    case DimOp::kBroadcast: {
      DimRange x = range(n.a), y = range(n.b);
      return {std::min(x.min, y.min), std::max(x.max, y.max)};
    }
  }
  return {};
}

DimResidue DimBounds::residue(Dim d) const {
  if (!d.valid()) return {};
  if (d.is_const()) return {0, d.value()};
  const DimNode& n = *d.node();
  switch (n.op) {
    case DimOp::kBigConst: return {0, n.constant};
    case DimOp::kSymbol: return symbol_residue(n.symbol);
    case DimOp::kSum: {
      DimResidue sum{0, n.constant};
      for (const DimTerm& t : n.terms) {
        DimResidue product{0, t.coefficient};
        for (Dim f : t.factors) product = mul_residues(product, residue(f));
        sum = add_residues(sum, product);
        if (sum.modulus == 1) return {};
      }
      return sum;
    }
    case DimOp::kFloorDiv: return n.b.is_const() ? divide_residue(residue(n.a), n.b.value(), false) : DimResidue{};
    case DimOp::kCeilDiv: return n.b.is_const() ? divide_residue(residue(n.a), n.b.value(), true) : DimResidue{};
    case DimOp::kMod: {
      DimResidue x = residue(n.a), q = residue(n.b);
      // x - q * floordiv(x, q): of x modulo whatever divides q
      int64_t m = gcd64(x.modulus, gcd64(q.modulus, q.remainder));
      return m == 0 ? DimResidue{} : make_residue(m, x.remainder);
    }
    case DimOp::kMin:
    case DimOp::kMax:
    case DimOp::kBroadcast: return join_residues(residue(n.a), residue(n.b));
  }
  return {};
}

}  // namespace msvm
