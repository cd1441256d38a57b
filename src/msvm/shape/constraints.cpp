// What facts mean, and undoing them. Questions are in constraints_ask.cpp.
#include "msvm/shape/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "msvm/base/checked.h"
#include "msvm/shape/dim_bounds.h"
#include "msvm/shape/dim_impl.h"
#include "msvm/shape/integer.h"

namespace msvm {
namespace {

bool mentions(Dim d, SymbolId s) {
  const DimNode* n = d.node();
  if (!n || !(n->symbol_mask >> (s % 64) & 1)) return false;
  bool found = false;
  DimContext::for_each_symbol(d, [&](SymbolId t) { found |= t == s; });
  return found;
}

// A symbol with coefficient 1 or -1 that occurs nowhere else in the sum: the last one in the canonical order (registers before
// named symbols). null if there is none.
const DimTerm* solvable_term(const DimPolynomial& p) {
  const DimTerm* best = nullptr;
  for (const DimTerm& t : p.terms) {
    if ((t.coefficient != 1 && t.coefficient != -1) || t.factors.size() != 1 || !t.factors[0].is_symbol()) continue;
    if (best && compare_dims(t.factors[0], best->factors[0]) < 0) continue;
    bool alone = true;
    for (const DimTerm& o : p.terms)
      if (&o != &t)
        for (Dim f : o.factors) alone = alone && !mentions(f, t.factors[0].symbol());
    if (alone) best = &t;
  }
  return best;
}

// The x in [0, m) with a*x ≡ 1; a and m > 1 have no common factor.
int64_t inverse(int64_t a, int64_t m) {
  __int128 t = 0, next_t = 1, r = m, next_r = a;
  while (next_r != 0) {
    __int128 q = r / next_r;
    t = std::exchange(next_t, t - q * next_t);
    r = std::exchange(next_r, r - q * next_r);
  }
  return static_cast<int64_t>(t < 0 ? t + m : t);
}

}  // namespace

bool holds(CondOp op, int64_t a, int64_t b) {
  switch (op) {
    case CondOp::kEq: return a == b;
    case CondOp::kNe: return a != b;
    case CondOp::kLe: return a <= b;
    case CondOp::kLt: return a < b;
    case CondOp::kDivides: return a == 0 ? b == 0 : checked_mod(b, a) == 0;
    case CondOp::kBroadcastable: return a == b || a == 1 || b == 1;
  }
  return false;
}

std::string to_string(const DimCondition& c, const DimContext& context) {
  std::string a = context.to_string(c.a), b = context.to_string(c.b);
  switch (c.op) {
    case CondOp::kEq: return a + " == " + b;
    case CondOp::kNe: return a + " != " + b;
    case CondOp::kLe: return a + " <= " + b;
    case CondOp::kLt: return a + " < " + b;
    case CondOp::kDivides: return a + " divides " + b;
    case CondOp::kBroadcastable: return fmt::format("broadcastable({}, {})", a, b);
  }
  return "";
}

ConstraintStore::ConstraintStore(DimContext& context) : context_(context) {}

std::vector<std::string> ConstraintStore::describe() const {
  std::vector<std::string> out;
  for (const DimCondition& f : facts_) out.push_back(to_string(f, context_));
  return out;
}

// ---- undo ----

void ConstraintStore::rollback(size_t mark) {
  if (undo_.size() <= mark) return;
  while (undo_.size() > mark) {
    Undo& u = undo_.back();
    switch (u.kind) {
      case Undo::kFact: facts_.pop_back(); break;
      case Undo::kSolved: solved_.erase(u.symbol); break;
      case Undo::kVisible: visible_.erase(u.symbol); break;
      case Undo::kKnown:
        if (u.existed) {
          known_[u.key] = std::move(u.old);
        } else {
          known_.erase(u.key);
        }
        break;
      case Undo::kForm: forms_.pop_back(); break;
      case Undo::kBroadcastable: broadcastable_.pop_back(); break;
      case Undo::kContradiction: contradiction_ = false; break;
    }
    undo_.pop_back();
  }
  ++epoch_;
  ++known_epoch_;
}

void ConstraintStore::contradict() {
  if (contradiction_) return;
  contradiction_ = true;
  undo_.push_back({.kind = Undo::kContradiction});
}

// null when there are too many: the fact is forgotten, which is sound and keeps every question cheap.
ConstraintStore::Known* ConstraintStore::change(Dim form) {
  constexpr size_t kMaxForms = 4096;
  auto it = known_.find(form);
  bool fresh = it == known_.end();
  if (fresh) {
    if (known_.size() >= kMaxForms) return nullptr;
    it = known_.try_emplace(form).first;
  }
  undo_.push_back({.kind = Undo::kKnown, .key = form, .existed = !fresh, .old = it->second});
  ++known_epoch_;
  if (fresh) {
    known_symbols_ |= form.node()->symbol_mask;
    if (form.node()->op == DimOp::kSum && form.node()->terms.size() > 1) {
      forms_.push_back(form);
      undo_.push_back({.kind = Undo::kForm});
    }
  }
  return &it->second;
}

// ---- facts ----

void ConstraintStore::add(const DimCondition& fact) {
  if (!fact.a.valid() || !fact.b.valid() || contradiction_) return;
  Answer answer = ask(fact);
  if (answer != Answer::kProved) {
    facts_.push_back(fact);
    undo_.push_back({.kind = Undo::kFact});
  }
  if (answer == Answer::kRefuted) return contradict();
  if (answer == Answer::kProved && fact.op != CondOp::kEq) return;
  ++epoch_;
  if (fact.op == CondOp::kEq) learn_visible(fact.a, fact.b);
  if (answer == Answer::kUnknown) learn({fact.op, internal(fact.a), internal(fact.b)});
  while (!pending_.empty() && !contradiction_) {  // not by recursion: one equality may lead to thousands
    Dim zero = pending_.back();
    pending_.pop_back();
    learn_zero(internal(zero));
  }
  pending_.clear();
  ++epoch_;
}

void ConstraintStore::learn(const DimCondition& fact) {
  Dim difference = context_.sub(fact.a, fact.b);
  switch (fact.op) {
    case CondOp::kEq: return learn_zero(difference);
    case CondOp::kNe: return learn_not_zero(difference);
    case CondOp::kLe: return learn_not_positive(difference);
    case CondOp::kLt: return learn_not_positive(context_.add(difference, context_.constant(1)));
    case CondOp::kDivides:
      if (fact.a.is_const(0)) return learn_zero(fact.b);
      if (fact.a.is_const()) return learn_residue(fact.b, gcd64(fact.a.value(), 0), 0);
      return learn_zero(context_.mod(fact.b, fact.a));
    case CondOp::kBroadcastable:
      if (never(fact.a, 1) && never(fact.b, 1)) return learn_zero(difference);
      broadcastable_.emplace_back(fact.a, fact.b);
      undo_.push_back({.kind = Undo::kBroadcastable});
      return;
  }
}

void ConstraintStore::learn_zero(Dim d) {
  if (!d.valid()) return;
  Linear l;
  if (!linear(d, l)) return d.is_const(0) ? void() : contradict();
  if (l.constant % l.scale != 0) return contradict();
  if (l.constant == INT64_MIN) return;
  int64_t value = -(l.constant / l.scale) * l.sign;  // of the form
  Dim equation = context_.sub(l.form, context_.constant(value));
  if (!equation.valid()) return;
  DimPolynomial p(equation);
  if (const DimTerm* t = solvable_term(p)) {
    Dim s = t->factors[0];
    Dim rest = context_.sub(equation, context_.scale(s, t->coefficient));
    return solve(s.symbol(), context_.scale(rest, -t->coefficient));
  }
  bound(l.form, {value, value});
  if (const DimNode* n = l.form.node(); n->op == DimOp::kMod && n->b.is_const() && n->b.value() > 0)
    learn_residue(n->a, n->b.value(), value);
}

void ConstraintStore::learn_not_positive(Dim d) {
  if (!d.valid()) return;
  Linear l;
  if (!linear(d, l)) return d.value() > 0 ? contradict() : void();
  if (l.constant == INT64_MIN) return;
  int64_t limit = *checked_floordiv(-l.constant, l.scale);  // sign * form <= limit
  bound(l.form, l.sign > 0 ? DimRange{INT64_MIN, limit} : DimRange{limit == INT64_MIN ? INT64_MIN : -limit, INT64_MAX});
}

void ConstraintStore::learn_not_zero(Dim d) {
  if (!d.valid()) return;
  Linear l;
  if (!linear(d, l)) return d.is_const(0) ? contradict() : void();
  if (l.constant == INT64_MIN || l.constant % l.scale != 0) return;
  int64_t value = -(l.constant / l.scale) * l.sign;  // form != value
  DimRange r = range(l.form);
  if (r.min == r.max && r.min == value) return contradict();
  if (r.min == value) return bound(l.form, {value + 1, INT64_MAX});
  if (r.max == value) return bound(l.form, {INT64_MIN, value - 1});
  constexpr size_t kMaxExcluded = 8;
  if (const Known* k = known(l.form); k && k->excluded.size() >= kMaxExcluded) return;
  if (Known* k = change(l.form)) k->excluded.push_back(value);
}

// Narrows what is known of `form`; a form with one value left is an equality.
void ConstraintStore::bound(Dim form, DimRange range_in) {
  DimRange before = range(form), after = intersect(before, range_in);
  const Known* k = known(form);
  while (k && after.min < after.max && std::count(k->excluded.begin(), k->excluded.end(), after.min)) ++after.min;
  while (k && after.min < after.max && std::count(k->excluded.begin(), k->excluded.end(), after.max)) --after.max;
  if (after.min > after.max) return contradict();
  if (after.min == before.min && after.max == before.max) return;
  Known* changed = change(form);
  if (!changed) return;
  changed->range = after;
  if (after.min == after.max) pending_.push_back(context_.sub(form, context_.constant(after.min)));
}

void ConstraintStore::learn_residue(Dim d, int64_t modulus, int64_t remainder) {
  Dim reduced = context_.mod(d, context_.constant(modulus));
  if (!reduced.valid()) return;
  if (reduced.is_const()) return reduced.is_const(remainder) ? void() : contradict();
  // a*s + c ≡ remainder
  const DimNode& n = *reduced.node();
  DimPolynomial p(n.op == DimOp::kMod ? n.a : reduced);
  if (n.op == DimOp::kMod && n.b.is_const(modulus) && p.terms.size() == 1 && p.terms[0].factors.size() == 1 &&
      p.terms[0].factors[0].is_symbol()) {
    int64_t a = *checked_mod(p.terms[0].coefficient, modulus);
    __int128 target = (__int128{remainder} - p.constant) % modulus;
    if (target < 0) target += modulus;
    // a and modulus have no common factor: mod() took it out
    int64_t r = static_cast<int64_t>(target * inverse(a, modulus) % modulus);
    SymbolId s = p.terms[0].factors[0].symbol();
    return solve(s, quotient_form(s, {modulus, r}));
  }
  if (n.op == DimOp::kMod && n.b.is_const(modulus)) return bound(reduced, {remainder, remainder});
  if (n.op == DimOp::kSum) {  // g * mod(x, m) + s
    Linear l;
    if (linear(context_.sub(reduced, context_.constant(remainder)), l) && l.form.node()->op == DimOp::kMod)
      learn_zero(context_.sub(reduced, context_.constant(remainder)));
  }
}

// ---- solutions ----

// m*q + r with a hidden symbol q: every s of that residue class has one.
Dim ConstraintStore::quotient_form(SymbolId s, DimResidue residue) const {
  const SymbolInfo& info = context_.symbol_info(s);
  auto [m, r] = residue;
  SymbolInfo quotient{.name = fmt::format("({} - {})/{}", info.name, r, m), .divisor = m, .remainder = r};
  auto lowest = checked_sub(info.min, r), highest = checked_sub(info.max, r);
  quotient.min = info.min == INT64_MIN || !lowest ? INT64_MIN : *checked_ceildiv(*lowest, m);
  quotient.max = info.max == INT64_MAX || !highest ? INT64_MAX : *checked_floordiv(*highest, m);
  Dim q = context_.hidden_symbol(std::move(quotient), s);
  return context_.add(context_.scale(q, m), context_.constant(r));
}

void ConstraintStore::solve(SymbolId s, Dim value) {
  if (!value.valid() || mentions(value, s) || solved_.contains(s)) return;
  Dim symbol = context_.symbol(s);
  Known own;
  if (const Known* k = known(symbol)) own = *k;
  own.range = range(symbol);
  solved_.emplace(s, Solution{.value = value});
  undo_.push_back({.kind = Undo::kSolved, .symbol = s});
  ++epoch_;
  // Its bounds are now its value's; what was known of forms with it is said anew.
  auto say_again = [&](Dim d, const Known& k) {
    if (k.range.min != INT64_MIN) learn_not_positive(context_.sub(context_.constant(k.range.min), internal(d)));
    if (k.range.max != INT64_MAX) learn_not_positive(context_.sub(internal(d), context_.constant(k.range.max)));
    for (int64_t v : k.excluded) learn_not_zero(context_.sub(internal(d), context_.constant(v)));
  };
  say_again(symbol, own);
  if (!(known_symbols_ >> (s % 64) & 1)) return;
  std::vector<std::pair<Dim, Known>> stale;
  for (const auto& [form, k] : known_)
    if (mentions(form, s)) stale.emplace_back(form, k);
  std::sort(stale.begin(), stale.end(), [](const auto& x, const auto& y) { return compare_dims(x.first, y.first) < 0; });
  if (!stale.empty()) ++known_epoch_;
  for (const auto& [form, k] : stale) {
    undo_.push_back({.kind = Undo::kKnown, .key = form, .existed = true, .old = k});
    known_.erase(form);
  }
  for (const auto& [form, k] : stale)
    if (form != symbol) say_again(form, k);
}

void ConstraintStore::learn_visible(Dim a, Dim b) {
  Dim d = context_.sub(simplify(a), simplify(b));
  Linear l;
  if (!d.valid() || !linear(d, l) || l.constant == INT64_MIN || l.constant % l.scale != 0) return;
  Dim equation = context_.add(context_.scale(l.form, l.sign), context_.constant(l.constant / l.scale));
  if (!equation.valid()) return;
  DimPolynomial p(equation);
  const DimTerm* t = solvable_term(p);
  if (!t) return;
  Dim s = t->factors[0];
  Dim value = context_.scale(context_.sub(equation, context_.scale(s, t->coefficient)), -t->coefficient);
  if (!value.valid()) return;
  if (visible_.try_emplace(s.symbol(), Solution{.value = value}).second) undo_.push_back({.kind = Undo::kVisible, .symbol = s.symbol()});
}

Dim ConstraintStore::simplify(Dim d) const {
  return visible_.empty() ? d : put_in(d, visible_, 0);
}

Dim ConstraintStore::put_in(Dim d, const Solutions& solutions, int depth) const {
  Dim out = context_.substitute(d, [&](SymbolId s) { return resolve(s, solutions, depth); });
  return out.valid() ? out : d;  // too large when put in: as it was
}

// A chain of solutions is followed through a bounded number of links; what lies behind is left as it is.
Dim ConstraintStore::resolve(SymbolId s, const Solutions& solutions, int depth) const {
  constexpr int kMaxDepth = 64;
  auto it = solutions.find(s);
  if (it == solutions.end()) {
    if (&solutions == &visible_) return {};
    const SymbolInfo& info = context_.symbol_info(s);
    if (info.divisor <= 1) return {};
    return put_in(quotient_form(s, declared_residue(info)), solutions, depth + 1);
  }
  const Solution& solution = it->second;
  if (solution.epoch == epoch_) return solution.resolved;
  if (depth >= kMaxDepth) return solution.value;
  Dim value = put_in(solution.value, solutions, depth + 1);
  solution.resolved = value;
  solution.epoch = epoch_;
  return value;
}

}  // namespace msvm
