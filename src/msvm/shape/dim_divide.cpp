// floordiv, ceildiv and mod. Every rewriting is an identity of integers wherever the divisor isn't zero.
#include <algorithm>

#include "msvm/base/checked.h"
#include "msvm/shape/dim_impl.h"
#include "msvm/shape/integer.h"

namespace msvm {
namespace {

int64_t floor_of(int64_t a, int64_t c) { return *checked_floordiv(a, c); }  // c > 0
int64_t mod_of(int64_t a, int64_t c) { return *checked_mod(a, c); }

// The greatest known divisor of a value of this residue class; 0 for the value 0.
int64_t known_divisor(DimResidue r) { return gcd64(r.modulus, r.remainder); }

bool is_constant_division(const DimNode* n, DimOp op) { return n && n->op == op && n->b.is_const() && n->b.value() > 1; }

int64_t content(const DimPolynomial& p) {
  int64_t g = p.constant == 0 ? 0 : gcd64(p.constant, 0);
  for (const DimTerm& t : p.terms) g = gcd64(g, t.coefficient);
  return g;
}

// make_sum() found quotients that cancel against the new coefficients, so that `sum` isn't these terms any more.
bool rewritten(Dim sum, std::span<const DimTerm> terms) {
  if (!sum.valid()) return false;
  DimPolynomial p(sum);
  return p.constant != 0 || !std::equal(p.terms.begin(), p.terms.end(), terms.begin(), terms.end());
}

// Removes the factors `y` from the sorted factors `x`; false if they aren't all there.
bool remove_factors(std::span<const Dim> x, std::span<const Dim> y, std::vector<Dim>& rest) {
  rest.clear();
  size_t j = 0;
  for (Dim f : x) {
    if (j < y.size() && y[j] == f) {
      ++j;
    } else {
      rest.push_back(f);
    }
  }
  return j == y.size();
}

}  // namespace

Dim DimContext::floordiv(Dim a, Dim b) {
  if (!a.valid() || !b.valid() || b.is_const(0)) return {};
  if (b.is_const()) {
    if (a.is_const()) {
      auto v = checked_floordiv(a.value(), b.value());
      return v ? constant(*v) : Dim();
    }
    if (b.value() == 1) return a;
    if (b.value() == INT64_MIN) return make_node(DimOp::kFloorDiv, a, b);
    return b.value() > 0 ? floordiv_constant(a, b.value()) : floordiv(neg(a), constant(-b.value()));
  }
  if (a.is_const(0)) return a;
  if (a == b) return constant(1);
  if (Dim q = divide_exactly(a, b); q.valid()) return q;
  if (cancel_common(a, b, nullptr)) return floordiv(a, b);
  Dim quotient, rest;
  if (split_multiples(a, b, &quotient, &rest)) return add(quotient, floordiv(rest, b));
  if (DimPolynomial(b).terms[0].coefficient < 0) {  // one of the two spellings
    Dim na = neg(a), nb = neg(b);
    if (na.valid() && nb.valid()) return floordiv(na, nb);
  }
  Declared declared(*this);
  if (declared.range(b).min >= 1) {
    if (const DimNode* n = a.node(); n && n->op == DimOp::kFloorDiv && declared.range(n->b).min >= 1)
      if (Dim divisor = mul(n->b, b); divisor.valid()) return floordiv(n->a, divisor);
    if (declared.range(a).min >= 0)
      if (Dim difference = sub(a, b); difference.valid() && declared.range(difference).max < 0) return constant(0);
  }
  return make_node(DimOp::kFloorDiv, a, b);
}

Dim DimContext::ceildiv(Dim a, Dim b) {
  if (!a.valid() || !b.valid() || b.is_const(0)) return {};
  if (b.is_const()) {
    if (a.is_const()) {
      auto v = checked_ceildiv(a.value(), b.value());
      return v ? constant(*v) : Dim();
    }
    // Constant divisors have one form: ceildiv(x, c) == floordiv(x + c - 1, c).
    if (b.value() == INT64_MIN) return make_node(DimOp::kCeilDiv, a, b);
    if (b.value() < 0) return neg(floordiv(a, constant(-b.value())));
    return floordiv(add(a, constant(b.value() - 1)), b);
  }
  if (a.is_const(0)) return a;
  if (a == b) return constant(1);
  if (Dim q = divide_exactly(a, b); q.valid()) return q;
  if (cancel_common(a, b, nullptr)) return ceildiv(a, b);
  Dim quotient, rest;
  if (split_multiples(a, b, &quotient, &rest)) return add(quotient, ceildiv(rest, b));
  if (DimPolynomial(b).terms[0].coefficient < 0) {
    Dim na = neg(a), nb = neg(b);
    if (na.valid() && nb.valid()) return ceildiv(na, nb);
  }
  return make_node(DimOp::kCeilDiv, a, b);
}

Dim DimContext::mod(Dim a, Dim b) {
  if (!a.valid() || !b.valid() || b.is_const(0)) return {};
  if (b.is_const()) {
    if (a.is_const()) return constant(*checked_mod(a.value(), b.value()));
    if (b.value() == 1 || b.value() == -1) return constant(0);
    if (b.value() == INT64_MIN) return make_node(DimOp::kMod, a, b);
    return b.value() > 0 ? mod_constant(a, b.value()) : neg(mod(neg(a), constant(-b.value())));
  }
  if (a.is_const(0) || a == b) return constant(0);
  if (divide_exactly(a, b).valid()) return constant(0);
  Dim p = a, q = b, common;
  if (cancel_common(p, q, &common)) return mul(common, mod(p, q));
  Dim quotient, rest;
  if (split_multiples(a, b, &quotient, &rest)) return mod(rest, b);
  if (DimPolynomial(b).terms[0].coefficient < 0) {
    Dim na = neg(a), nb = neg(b);
    if (na.valid() && nb.valid()) return neg(mod(na, nb));
  }
  Declared declared(*this);
  if (declared.range(a).min >= 0)
    if (Dim difference = sub(a, b); difference.valid() && declared.range(difference).max < 0) return a;
  return make_node(DimOp::kMod, a, b);
}

// ---- constant divisors ----

// term / c as one term, if factors of `term` are known to be divisible; invalid otherwise.
Dim DimContext::exact_quotient(const DimTerm& term, int64_t c) {
  int64_t g = gcd64(term.coefficient, c);
  int64_t left = c / g;
  if (left == 1) {
    DimTerm t{term.coefficient / g, term.factors};
    return make_monomial(t);
  }
  Declared declared(*this);
  std::vector<std::pair<Dim, int64_t>> factors;
  for (Dim f : term.factors) {
    int64_t d = left == 1 ? 1 : gcd64(left, known_divisor(declared.residue(f)));
    left /= d;
    factors.emplace_back(f, d);
  }
  if (left != 1) return {};
  Dim out = constant(term.coefficient / g);
  for (auto [f, d] : factors) {
    if (d == 1) {
      out = mul(out, f);
    } else if (const DimNode* n = f.node(); is_constant_division(n, DimOp::kFloorDiv)) {
      auto divisor = checked_mul(n->b.value(), d);
      out = divisor ? mul(out, floordiv(n->a, constant(*divisor))) : Dim();
    } else {
      out = mul(out, make_node(DimOp::kFloorDiv, f, constant(d), true));
    }
  }
  return out;
}

Dim DimContext::floordiv_constant(Dim p, int64_t c) {
  DimPolynomial poly(p);
  // Whole multiples leave: p == c * quotient + rest, with coefficients of `rest` in [0, c).
  TermBuffer rest, whole;
  int64_t whole_constant = floor_of(poly.constant, c), r0 = mod_of(poly.constant, c);
  Dim quotient = constant(0);
  for (const DimTerm& t : poly.terms) {
    int64_t q = floor_of(t.coefficient, c), r = mod_of(t.coefficient, c);
    if (q != 0) whole.push(q, t.factors);
    if (r == 0) continue;
    if (Dim e = exact_quotient({r, t.factors}, c); e.valid()) {
      quotient = add(quotient, e);
    } else {
      rest.push(r, t.factors);
    }
  }
  if (whole.size() > 0) quotient = add(quotient, make_sum(0, whole.terms()));
  if (rest.size() == 0) return add(quotient, constant(whole_constant));  // r0 < c

  // Common factors leave: floor((g*A + r) / (g*C)) == floor((A + floor(r/g)) / C).
  int64_t g = c;
  for (const DimTerm& t : rest.terms()) g = gcd64(g, t.coefficient);
  if (g > 1) {
    for (size_t i = 0; i < rest.size(); ++i) rest.data()[i].coefficient /= g;
    r0 = floor_of(r0, g);
    c /= g;
  }

  // What is known of the rest modulo a divisor of c leaves the constant: floor((m*T + r) / (m*C)) == floor(m*T / (m*C)).
  Declared declared(*this);
  Dim linear = make_sum(0, rest.terms());
  Dim argument = add(linear, constant(r0));
  if (rewritten(linear, rest.terms())) return add(add(quotient, constant(whole_constant)), floordiv(argument, constant(c)));
  DimResidue known = declared.residue(argument);
  int64_t m = gcd64(known.modulus, c);
  if (m > 1) {
    r0 -= mod_of(known.remainder, m);
    whole_constant += floor_of(r0, c);
    r0 = mod_of(r0, c);
    argument = add(linear, constant(r0));
  }
  quotient = add(quotient, constant(whole_constant));
  if (!argument.valid()) return {};

  // A quotient inside: floor((A + floor(x/d)) / c) == floor((d*A + x) / (d*c)).
  size_t nested = 0, at = 0;
  for (size_t i = 0; i < rest.size(); ++i) {
    const DimTerm& t = rest.data()[i];
    if (t.factors.size() == 1 && t.coefficient == 1 && is_constant_division(t.factors[0].node(), DimOp::kFloorDiv)) ++nested, at = i;
  }
  if (nested == 1) {
    const DimNode& inner = *rest.data()[at].factors[0].node();
    auto divisor = checked_mul(inner.b.value(), c);
    Dim others = sub(argument, inner.self);
    Dim lifted = add(scale(others, inner.b.value()), inner.a);
    if (divisor && lifted.valid()) return add(quotient, floordiv(lifted, constant(*divisor)));
  }

  DimRange range = declared.range(argument);
  if (range.min != INT64_MIN && range.max != INT64_MAX && floor_of(range.min, c) == floor_of(range.max, c))
    return add(quotient, constant(floor_of(range.min, c)));
  return add(quotient, make_node(DimOp::kFloorDiv, argument, constant(c), m == c));
}

Dim DimContext::mod_constant(Dim p, int64_t c) {
  DimPolynomial poly(p);
  Declared declared(*this);
  TermBuffer rest;
  Dim replaced = constant(0);
  bool again = false;
  int64_t r0 = mod_of(poly.constant, c);
  for (const DimTerm& t : poly.terms) {
    int64_t r = mod_of(t.coefficient, c);
    if (r == 0) continue;
    if (exact_quotient({r, t.factors}, c).valid()) continue;
    const DimNode* n = t.factors[0].node();
    if (t.factors.size() == 1 && is_constant_division(n, DimOp::kMod) && n->b.value() % (c / gcd64(r, c)) == 0) {
      replaced = add(replaced, scale(n->a, r));  // r * mod(x, d) == r * x modulo c
      again = true;
      continue;
    }
    rest.push(r, t.factors);
  }
  if (again) {
    Dim whole = add(add(make_sum(0, rest.terms()), replaced), constant(r0));
    if (whole.valid()) return mod(whole, constant(c));
    return make_node(DimOp::kMod, p, constant(c));
  }
  if (rest.size() == 0) return constant(r0);

  // mod(g*A + g*k + s, g*C) == g * mod(A + k, C) + s, 0 <= s < g
  int64_t g = c;
  for (const DimTerm& t : rest.terms()) g = gcd64(g, t.coefficient);
  if (g > 1) {
    for (size_t i = 0; i < rest.size(); ++i) rest.data()[i].coefficient /= g;
    Dim inner = add(make_sum(0, rest.terms()), constant(floor_of(r0, g)));
    return add(scale(mod(inner, constant(c / g)), g), constant(mod_of(r0, g)));
  }
  Dim linear = make_sum(0, rest.terms());
  Dim argument = add(linear, constant(r0));
  if (!argument.valid()) return {};
  if (rewritten(linear, rest.terms())) return mod(argument, constant(c));
  if (DimResidue known = declared.residue(argument); known.modulus % c == 0) return constant(mod_of(known.remainder, c));
  DimRange range = declared.range(argument);
  if (range.min != INT64_MIN && range.max != INT64_MAX && floor_of(range.min, c) == floor_of(range.max, c)) {
    auto shift = checked_mul(floor_of(range.min, c), -c);
    if (shift) return add(argument, constant(*shift));
  }
  return make_node(DimOp::kMod, argument, constant(c));
}

// ---- symbolic divisors ----

// p / q by long division, if nothing remains; invalid otherwise. The order of terms is compatible with multiplication.
Dim DimContext::divide_exactly(Dim p, Dim q) {
  DimPolynomial divisor(q);
  const DimTerm& lead = divisor.terms[0];
  Dim quotient = constant(0);
  std::vector<Dim> rest;
  for (size_t step = 0; step < kMaxDimTerms && p.valid(); ++step) {
    if (p.is_const(0)) return quotient;
    DimPolynomial left(p);
    if (left.terms.empty()) return {};
    const DimTerm& t = left.terms[0];
    if (lead.coefficient == -1 ? t.coefficient == INT64_MIN : t.coefficient % lead.coefficient != 0) return {};
    if (!remove_factors(t.factors, lead.factors, rest)) return {};
    int64_t k = t.coefficient / lead.coefficient;
    Dim part = rest.empty() ? constant(k) : make_monomial({k, intern_monomial(rest)});
    quotient = add(quotient, part);
    p = sub(p, mul(q, part));
    if (divisor.terms.size() == 1 && divisor.constant == 0 && p.valid() && !p.is_const(0) &&
        DimPolynomial(p).terms.size() >= left.terms.size())
      return {};  // quotients rewrote the product
  }
  return {};
}

// Divides `p` and `q` by what all their terms share; false if that is nothing.
bool DimContext::cancel_common(Dim& p, Dim& q, Dim* common) {
  DimPolynomial x(p), y(q);
  int64_t g = gcd64(content(x), content(y));
  std::vector<Dim> shared;
  if (x.constant == 0 && y.constant == 0 && !x.terms.empty()) {
    shared.assign(y.terms[0].factors.begin(), y.terms[0].factors.end());
    std::vector<Dim> kept;
    auto keep_common = [&](std::span<const Dim> factors) {
      kept.clear();
      size_t i = 0;
      for (Dim f : shared) {
        while (i < factors.size() && compare_dims(factors[i], f) < 0) ++i;
        if (i < factors.size() && factors[i] == f) kept.push_back(f), ++i;
      }
      shared.swap(kept);
    };
    for (const DimTerm& t : x.terms) keep_common(t.factors);
    for (const DimTerm& t : y.terms) keep_common(t.factors);
  }
  if (g <= 1 && shared.empty()) return false;
  auto divide = [&](const DimPolynomial& d) {
    Dim sum = constant(d.constant / g);
    std::vector<Dim> rest;
    for (const DimTerm& t : d.terms) {
      remove_factors(t.factors, shared, rest);
      sum = add(sum, rest.empty() ? constant(t.coefficient / g) : make_monomial({t.coefficient / g, intern_monomial(rest)}));
    }
    return sum;
  };
  Dim dp = divide(x), dq = divide(y);
  if (!dp.valid() || !dq.valid()) return false;
  if (common) *common = mul(constant(g), product(shared));
  p = dp;
  q = dq;
  return true;
}

// p == q * quotient + rest, for a divisor of one term; false if no term of `p` is a multiple of it.
bool DimContext::split_multiples(Dim p, Dim q, Dim* quotient, Dim* rest) {
  DimPolynomial x(p), y(q);
  if (y.terms.size() != 1 || y.constant != 0) return false;
  const DimTerm& divisor = y.terms[0];
  Dim whole = constant(0), left = constant(x.constant);
  std::vector<Dim> factors;
  bool any = false;
  for (const DimTerm& t : x.terms) {
    int64_t q0 = 0, r = t.coefficient;
    if (remove_factors(t.factors, divisor.factors, factors) && divisor.coefficient != -1) {
      q0 = *checked_floordiv(t.coefficient, divisor.coefficient);
      r = *checked_mod(t.coefficient, divisor.coefficient);
    }
    if (q0 != 0) {
      any = true;
      whole = add(whole, factors.empty() ? constant(q0) : make_monomial({q0, intern_monomial(factors)}));
    }
    if (r != 0) left = add(left, make_monomial({r, t.factors}));
  }
  if (!any || !whole.valid() || !left.valid()) return false;
  *quotient = whole;
  *rest = left;
  return true;
}

}  // namespace msvm
