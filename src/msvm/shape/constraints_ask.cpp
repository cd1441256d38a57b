#include <algorithm>

#include "msvm/base/checked.h"
#include "msvm/shape/constraints.h"
#include "msvm/shape/dim_bounds.h"
#include "msvm/shape/dim_impl.h"
#include "msvm/shape/integer.h"

namespace msvm {

/// Declared ranges, narrowed by what is known of a form.
class ConstraintStore::Bounds : public DimBounds {
 public:
  explicit Bounds(const ConstraintStore& s) : store_(s) {}

 protected:
  bool remembered(const DimNode& n, DimRange& range) const override {
    if (n.id >= store_.ranges_.size() || store_.ranges_[n.id].first != store_.known_epoch_) return false;
    range = store_.ranges_[n.id].second;
    return true;
  }
  void remember(const DimNode& n, const DimRange& range) const override {
    if (n.id >= store_.ranges_.size()) store_.ranges_.resize(std::max<size_t>(n.id + 1, 2 * store_.ranges_.size()));
    store_.ranges_[n.id] = {store_.known_epoch_, range};
  }
  DimRange symbol_range(SymbolId s) const override { return declared_range(store_.context_.symbol_info(s)); }
  DimResidue symbol_residue(SymbolId s) const override { return declared_residue(store_.context_.symbol_info(s)); }
  void refine(Dim d, DimRange& range) const override {
    if (store_.known_.empty() || (d.node()->symbol_mask & ~store_.known_symbols_) != 0) return;
    Linear l;
    if (!store_.linear(d, l)) return;
    if (l.form == d) {
      if (const Known* k = store_.known(d)) range = intersect(range, k->range);
      return;
    }
    if (const Known* k = store_.known(l.form)) {
      DimRange scale{l.sign * l.scale, l.sign * l.scale};
      range = intersect(range, add_ranges(mul_ranges(k->range, scale), {l.constant, l.constant}));
    }
  }

 private:
  const ConstraintStore& store_;
};

bool ConstraintStore::linear(Dim d, Linear& out) const {
  if (!d.valid() || d.is_const()) return false;
  const DimNode& n = *d.node();
  out = {.form = d};
  if (n.op != DimOp::kSum) return true;
  int64_t g = 0;
  for (const DimTerm& t : n.terms) g = gcd64(g, t.coefficient);
  int64_t sign = n.terms[0].coefficient < 0 ? -1 : 1;
  out.constant = n.constant;
  if (n.constant == 0 && g == 1 && sign == 1) return true;
  TermBuffer terms;
  for (const DimTerm& t : n.terms) {
    auto c = checked_mul(t.coefficient / g, sign);
    if (!c) {
      out = {.form = d};  // as a form of its own, constant included
      return true;
    }
    terms.push(*c, t.factors);
  }
  Dim form = context_.make_sum(0, terms.terms());
  if (!form.valid()) {
    out = {.form = d};
    return true;
  }
  out.form = form;
  out.scale = g;
  out.sign = sign;
  return true;
}

const ConstraintStore::Known* ConstraintStore::known(Dim form) const {
  auto it = known_.find(form);
  return it == known_.end() ? nullptr : &it->second;
}

DimRange ConstraintStore::range(Dim d) const {
  if (!d.valid()) return {};
  return Bounds(*this).range(internal(d));
}

// ---- questions; their expressions are in internal form ----

Answer ConstraintStore::ask(const DimCondition& q) const {
  if (!q.a.valid() || !q.b.valid()) return Answer::kUnknown;
  if (q.a.is_const() && q.b.is_const()) return holds(q.op, q.a.value(), q.b.value()) ? Answer::kProved : Answer::kRefuted;
  if (q.a == q.b) return q.op == CondOp::kNe || q.op == CondOp::kLt ? Answer::kRefuted : Answer::kProved;
  Dim a = internal(q.a), b = internal(q.b);
  switch (q.op) {
    case CondOp::kEq: return ask_zero(context_.sub(a, b));
    case CondOp::kNe: {
      Answer equal = ask_zero(context_.sub(a, b));
      return equal == Answer::kProved ? Answer::kRefuted : equal == Answer::kRefuted ? Answer::kProved : Answer::kUnknown;
    }
    case CondOp::kLe: return ask_not_positive(context_.sub(a, b));
    case CondOp::kLt: return ask_not_positive(context_.add(context_.sub(a, b), context_.constant(1)));
    case CondOp::kDivides: return ask_divides(a, b);
    case CondOp::kBroadcastable: return ask_broadcastable(a, b);
  }
  return Answer::kUnknown;
}

namespace {
constexpr int kMaxAttempts = 24;  // inner questions per question
constexpr int kMaxSteps = 3;      // facts and operators used in one proof
}  // namespace

// d <= 0
bool ConstraintStore::prove_not_positive(Dim d, int steps, int& budget) const {
  if (!d.valid()) return false;
  if (d.is_const()) return d.value() <= 0;
  if (Bounds(*this).range(d).max <= 0) return true;
  if (steps == 0) return false;
  return prove_by_operators(d, steps, budget) || prove_with_facts(d, steps, budget);
}

// By adding up facts: times * form <= limit and grow * d == times * form + rest, so that rest + limit <= 0 is enough.
bool ConstraintStore::prove_with_facts(Dim d, int steps, int& budget) const {
  DimPolynomial p(d);
  for (size_t i = forms_.size(); i-- > 0;) {  // the newest are those of the innermost branch or loop
    Dim form = forms_[i];
    if ((form.node()->symbol_mask & d.node()->symbol_mask) == 0) continue;
    const Known* k = nullptr;
    for (const DimTerm& f : form.node()->terms) {
      auto t = std::find_if(p.terms.begin(), p.terms.end(), [&](const DimTerm& x) { return x.factors.data() == f.factors.data(); });
      if (t == p.terms.end()) continue;
      if (!k) k = known(form);
      if (!k) break;
      // coefficients of the same sign use the upper limit of the form, others the lower one
      bool same = (t->coefficient < 0) == (f.coefficient < 0);
      int64_t limit = same ? k->range.max : k->range.min;
      if (limit == (same ? INT64_MAX : INT64_MIN)) continue;
      if (--budget < 0) return false;
      int64_t g = gcd64(t->coefficient, f.coefficient);
      int64_t grow = f.coefficient / g, times = t->coefficient / g;
      if (grow == INT64_MIN || times == INT64_MIN) continue;
      if (grow < 0) {
        grow = -grow;
        times = -times;
      }
      Dim rest = context_.add_scaled(context_.scale(d, grow), form, -times);
      rest = context_.add(rest, context_.scale(context_.constant(limit), times));
      if (prove_not_positive(rest, steps - 1, budget)) return true;
      break;
    }
  }
  return false;
}

// By what bounds an operator in d: a minimum is at most each operand, c * floordiv(x, c) at most x, and so on.
bool ConstraintStore::prove_by_operators(Dim d, int steps, int& budget) const {
  DimPolynomial p(d);
  for (const DimTerm& t : p.terms) {
    const DimNode& n = *t.factors[0].node();
    if (t.factors.size() != 1 || n.op == DimOp::kSymbol) continue;
    int64_t k = t.coefficient;
    Dim others = context_.add_scaled(d, n.self, k == INT64_MIN ? 0 : -k);
    if (k == INT64_MIN) continue;
    auto with = [&](Dim bound, int64_t c) {  // c * others + k * bound <= 0
      return --budget >= 0 && prove_not_positive(context_.add_scaled(context_.scale(others, c), bound, k), steps - 1, budget);
    };
    switch (n.op) {
      case DimOp::kMin:
        if (k > 0 ? with(n.a, 1) || with(n.b, 1) : with(n.a, 1) && with(n.b, 1)) return true;
        break;
      case DimOp::kMax:
        if (k < 0 ? with(n.a, 1) || with(n.b, 1) : with(n.a, 1) && with(n.b, 1)) return true;
        break;
      case DimOp::kBroadcast:
        if (with(n.a, 1) && with(n.b, 1)) return true;
        break;
      case DimOp::kFloorDiv:
        if (!n.b.is_const() || n.b.value() <= 0) break;
        if (with(k > 0 ? n.a : context_.sub(n.a, context_.constant(n.b.value() - 1)), n.b.value())) return true;
        break;
      case DimOp::kMod:
        if (k > 0 && n.b.is_const() && n.b.value() > 0 && Bounds(*this).range(n.a).min >= 0 && with(n.a, 1)) return true;
        break;
      case DimOp::kCeilDiv:
      case DimOp::kBigConst:
      case DimOp::kSymbol:
      case DimOp::kSum: break;
    }
  }
  return false;
}

Answer ConstraintStore::ask_not_positive(Dim d) const {
  if (!d.valid()) return Answer::kUnknown;
  int budget = kMaxAttempts;
  if (prove_not_positive(d, kMaxSteps, budget)) return Answer::kProved;
  budget = kMaxAttempts;
  if (prove_not_positive(context_.sub(context_.constant(1), d), kMaxSteps, budget)) return Answer::kRefuted;
  return Answer::kUnknown;
}

Answer ConstraintStore::ask_zero(Dim d) const {
  if (!d.valid()) return Answer::kUnknown;
  if (d.is_const()) return d.value() == 0 ? Answer::kProved : Answer::kRefuted;
  if (never(d, 0)) return Answer::kRefuted;
  Bounds bounds(*this);
  DimRange r = bounds.range(d);
  if (r.min == 0 && r.max == 0) return Answer::kProved;
  if (forms_.empty()) return Answer::kUnknown;
  Dim negated = context_.neg(d), one = context_.constant(1);
  auto proved = [&](Dim e) {
    int budget = kMaxAttempts;
    return prove_not_positive(e, 1, budget);
  };
  bool not_positive = proved(d), not_negative = proved(negated);
  if (not_positive && not_negative) return Answer::kProved;
  if ((!not_positive && proved(context_.add(negated, one))) || (!not_negative && proved(context_.add(d, one)))) return Answer::kRefuted;
  return Answer::kUnknown;
}

// d can't have this value: by its range, its residue class, or a fact d != value.
bool ConstraintStore::never(Dim d, int64_t value) const {
  if (!d.valid()) return false;
  if (d.is_const()) return d.value() != value;
  Bounds bounds(*this);
  DimRange r = bounds.range(d);
  if (value < r.min || value > r.max) return true;
  DimResidue m = bounds.residue(d);
  if (m.modulus > 1 && checked_mod(value, m.modulus) != m.remainder) return true;
  Linear l;
  if (known_.empty() || !linear(d, l)) return false;
  const Known* k = known(l.form);
  if (!k || k->excluded.empty()) return false;
  __int128 rest = (__int128{value} - l.constant) * l.sign;  // scale * form == rest
  if (rest % l.scale != 0) return true;
  return std::any_of(k->excluded.begin(), k->excluded.end(), [&](int64_t x) { return x == rest / l.scale; });
}

Answer ConstraintStore::ask_divides(Dim a, Dim b) const {
  if (a.is_const(0)) return ask_zero(b);
  if (a.is_const(1) || a.is_const(-1) || b.is_const(0) || a == b) return Answer::kProved;
  Dim rest = context_.mod(b, a);
  if (rest.is_const(0)) return Answer::kProved;
  if (!rest.valid()) return Answer::kUnknown;
  Answer zero = ask_zero(rest);
  // a == 0 has no remainder, but divides 0
  if (zero == Answer::kProved && never(a, 0)) return zero;
  if (zero == Answer::kRefuted && never(a, 0)) return zero;
  return Answer::kUnknown;
}

Answer ConstraintStore::ask_broadcastable(Dim a, Dim b) const {
  Dim one = context_.constant(1);
  Answer equal = ask_zero(context_.sub(a, b)), a1 = ask_zero(context_.sub(a, one)), b1 = ask_zero(context_.sub(b, one));
  if (equal == Answer::kProved || a1 == Answer::kProved || b1 == Answer::kProved) return Answer::kProved;
  if (equal == Answer::kRefuted && a1 == Answer::kRefuted && b1 == Answer::kRefuted) return Answer::kRefuted;
  for (const auto& [x, y] : broadcastable_) {
    Dim u = internal(x), v = internal(y);
    if ((u == a && v == b) || (u == b && v == a)) return Answer::kProved;
  }
  return Answer::kUnknown;
}

}  // namespace msvm
