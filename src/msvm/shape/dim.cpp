#include "msvm/shape/dim.h"

#include <algorithm>
#include <cassert>

#include "msvm/base/checked.h"
#include "msvm/shape/dim_impl.h"
#include "msvm/shape/integer.h"

namespace msvm {

bool Dim::big_const() const { return node()->op == DimOp::kBigConst; }
int64_t Dim::value() const { return small() ? static_cast<int64_t>(bits_) >> 1 : node()->constant; }
bool Dim::is_symbol() const { return node() && node()->op == DimOp::kSymbol; }
SymbolId Dim::symbol() const { return node()->symbol; }

DimContext::DimContext() : impl_(std::make_unique<Impl>()) {}
DimContext::~DimContext() = default;

// ---- symbols ----

SymbolId DimContext::add_symbol(SymbolInfo info) {
  SymbolId id = static_cast<SymbolId>(symbols_.size());
  if (!info.is_register()) impl_->by_name.emplace(info.name, id);
  symbols_.push_back(std::move(info));
  return id;
}

std::optional<SymbolId> DimContext::find_symbol(std::string_view name) const {
  auto it = impl_->by_name.find(std::string(name));
  if (it != impl_->by_name.end() && symbols_[it->second].name == name) return it->second;
  for (SymbolId i = 0; i < symbols_.size(); ++i)  // renamed since
    if (!symbols_[i].is_register() && symbols_[i].name == name) return i;
  return std::nullopt;
}

DimContext::Mark DimContext::mark() const { return {symbols_.size(), impl_->next_id}; }

// Products of forgotten factors stay in their table: their addresses don't come again, so nobody finds them.
void DimContext::rollback(Mark mark) {
  if (impl_->next_id != mark.nodes) {
    impl_->nodes.retain([&](const DimNode& n) { return n.id < mark.nodes; });
    std::erase_if(impl_->hidden_by_base, [&](const auto& h) { return h.second.node()->id >= mark.nodes; });
    impl_->next_id = mark.nodes;
  }
  for (size_t i = mark.symbols; i < symbols_.size(); ++i)
    if (auto it = impl_->by_name.find(symbols_[i].name); it != impl_->by_name.end() && it->second == i) impl_->by_name.erase(it);
  symbols_.shrink(mark.symbols);
  for (std::vector<Dim>* known : {&impl_->symbols, &impl_->hidden_symbols})
    for (Dim& d : *known)
      if (d.valid() && d.node()->id >= mark.nodes) d = {};
  if (impl_->symbols.size() > mark.symbols) impl_->symbols.resize(mark.symbols);
}

const SymbolInfo& DimContext::hidden_info(SymbolId id) const { return impl_->hidden[id - kFirstHiddenSymbol]; }

Dim DimContext::hidden_symbol(SymbolInfo info, SymbolId base) {
  auto [it, fresh] = impl_->hidden_by_base.try_emplace({base, info.divisor, info.remainder});
  if (!fresh) return it->second;
  SymbolId id = kFirstHiddenSymbol + static_cast<SymbolId>(impl_->hidden.size());
  info.divisor = 1;
  info.remainder = 0;
  impl_->hidden.push_back(std::move(info));
  impl_->hidden_symbols.emplace_back();
  return it->second = symbol(id);
}

Dim DimContext::symbol(SymbolId id) {
  auto& cache = id < kFirstHiddenSymbol ? impl_->symbols : impl_->hidden_symbols;
  size_t index = id < kFirstHiddenSymbol ? id : id - kFirstHiddenSymbol;
  if (index >= cache.size()) {
    if (index >= symbols_.size()) return {};
    cache.resize(symbols_.size());
  }
  if (cache[index].valid()) return cache[index];
  const SymbolInfo& info = symbol_info(id);
  DimNode node{.op = DimOp::kSymbol};
  node.symbol = id;
  // The order of symbols: named ones as declared, then registers by number whenever they were added, then hidden ones.
  uint64_t order = id >= kFirstHiddenSymbol ? uint64_t{1} << 63 : 0;
  if (info.is_register()) order = (uint64_t{1} << 62) | static_cast<uint64_t>(info.function) << 31 | static_cast<uint32_t>(info.reg);
  node.constant = static_cast<int64_t>(order);
  node.symbol_mask = uint64_t{1} << (id % 64);
  return cache[index] = intern(node);
}

// ---- order ----

int compare_dims(Dim x, Dim y) {
  if (x == y) return 0;
  if (x.is_const() || y.is_const()) {
    if (x.is_const() && y.is_const()) return x.value() < y.value() ? -1 : 1;
    return x.is_const() ? -1 : 1;
  }
  const DimNode &a = *x.node(), &b = *y.node();
  auto rank = [](const DimNode& n) { return n.op == DimOp::kSum ? 100 : static_cast<int>(n.op); };
  if (a.op != b.op) return rank(a) < rank(b) ? -1 : 1;
  if (a.op == DimOp::kSymbol) {
    auto ka = static_cast<uint64_t>(a.constant), kb = static_cast<uint64_t>(b.constant);
    return ka != kb ? (ka < kb ? -1 : 1) : (a.symbol < b.symbol ? -1 : 1);
  }
  if (a.op != DimOp::kSum) {
    int c = compare_dims(a.a, b.a);
    return c != 0 ? c : compare_dims(a.b, b.b);
  }
  for (size_t i = 0; i < std::min(a.terms.size(), b.terms.size()); ++i) {
    if (int c = compare_monomials(a.terms[i].factors, b.terms[i].factors); c != 0) return c;
    if (a.terms[i].coefficient != b.terms[i].coefficient) return a.terms[i].coefficient < b.terms[i].coefficient ? -1 : 1;
  }
  if (a.terms.size() != b.terms.size()) return a.terms.size() < b.terms.size() ? -1 : 1;
  return a.constant < b.constant ? -1 : 1;
}

int compare_monomials(std::span<const Dim> x, std::span<const Dim> y) {
  if (x.data() == y.data()) return 0;
  if (x.size() != y.size()) return x.size() > y.size() ? -1 : 1;
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i]) return compare_dims(x[i], y[i]);
  return 0;
}

// ---- interning ----

Dim DimContext::constant(int64_t v) {
  constexpr int64_t kLimit = int64_t{1} << 62;
  if (v >= -kLimit && v < kLimit) return Dim(static_cast<uintptr_t>(v) << 1 | 1);
  DimNode node{.op = DimOp::kBigConst};
  node.constant = v;
  return intern(node);
}

Dim DimContext::intern(DimNode& node) {
  uint64_t h = mix(static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.constant));
  h = mix(mix(mix(h, node.symbol), node.a.key()), node.b.key());
  for (const DimTerm& t : node.terms) h = mix(mix(h, static_cast<uint64_t>(t.coefficient)), reinterpret_cast<uintptr_t>(t.factors.data()));
  auto equal = [&](const DimNode& n) {
    return n.op == node.op && n.constant == node.constant && n.symbol == node.symbol && n.a == node.a && n.b == node.b &&
           std::equal(n.terms.begin(), n.terms.end(), node.terms.begin(), node.terms.end());
  };
  if (const DimNode* found = impl_->nodes.find(h, equal)) return found->self;

  auto add = [&](Dim d) {
    const DimNode* n = d.node();
    node.weight += n ? n->weight : 1;  // at most a few thousand operands of kMaxDimWeight: can't wrap
    node.symbol_mask |= n ? n->symbol_mask : 0;
  };
  for (const DimTerm& t : node.terms) {
    node.weight += 1;
    for (Dim f : t.factors) add(f);
  }
  if (node.a.valid()) add(node.a), add(node.b);
  if (node.weight > kMaxDimWeight) return {};

  DimNode* made = ::new (impl_->arena.allocate<DimNode>(1)) DimNode(node);
  if (!node.terms.empty()) {
    DimTerm* copy = impl_->arena.allocate<DimTerm>(node.terms.size());
    std::uninitialized_copy(node.terms.begin(), node.terms.end(), copy);
    made->terms = {copy, node.terms.size()};
  }
  made->id = impl_->next_id++;
  made->hash = h;
  made->self = Dim(reinterpret_cast<uintptr_t>(made));
  impl_->nodes.insert(made);
  return made->self;
}

Dim DimContext::make_node(DimOp op, Dim a, Dim b, bool exact) {
  if (!a.valid() || !b.valid()) return {};
  DimNode node{.op = op};
  node.a = a;
  node.b = b;
  node.exact = exact;
  return intern(node);
}

std::span<const Dim> DimContext::intern_monomial(std::span<const Dim> factors) {
  if (factors.size() == 1) return {&factors[0].node()->self, 1};
  uint64_t h = factors.size();
  for (Dim f : factors) h = mix(h, f.key());
  auto equal = [&](const Impl::Monomial& m) { return std::equal(m.factors.begin(), m.factors.end(), factors.begin(), factors.end()); };
  if (const Impl::Monomial* found = impl_->monomials.find(h, equal)) return found->factors;
  Dim* copy = impl_->arena.allocate<Dim>(factors.size());
  std::uninitialized_copy(factors.begin(), factors.end(), copy);
  auto* made = ::new (impl_->arena.allocate<Impl::Monomial>(1)) Impl::Monomial{h, {copy, factors.size()}};
  impl_->monomials.insert(made);
  return made->factors;
}

std::span<const Dim> DimContext::monomial_product(std::span<const Dim> x, std::span<const Dim> y) {
  if (x.size() + y.size() > kMaxDimDegree) return {};
  Dim merged[kMaxDimDegree];
  auto end = std::merge(x.begin(), x.end(), y.begin(), y.end(), merged, [](Dim a, Dim b) { return compare_dims(a, b) < 0; });
  return intern_monomial({merged, end});
}

// ---- sums ----

Dim DimContext::make_monomial(const DimTerm& term) { return make_sum(0, {&term, 1}); }

// `terms` are sorted and distinct, without zeros.
Dim DimContext::make_sum(int64_t c0, std::span<const DimTerm> terms) {
  if (terms.empty()) return constant(c0);
  if (terms.size() > kMaxDimTerms) return {};
  auto reducible = [](const DimTerm& t) {
    if (t.coefficient == 1 || t.coefficient == -1) return false;
    for (Dim f : t.factors)
      if (const DimNode& n = *f.node(); n.op == DimOp::kFloorDiv && n.exact && gcd64(t.coefficient, n.b.value()) > 1) return true;
    return false;
  };
  if (std::any_of(terms.begin(), terms.end(), reducible)) {
    TermBuffer kept;
    for (const DimTerm& t : terms)
      if (!reducible(t)) kept.push(t.coefficient, t.factors);
    Dim sum = make_sum(c0, kept.terms());
    for (const DimTerm& t : terms)
      if (reducible(t)) sum = add(sum, reduce_term(t));
    return sum;
  }
  if (c0 == 0 && terms.size() == 1 && terms[0].coefficient == 1 && terms[0].factors.size() == 1) return terms[0].factors[0];
  DimNode node{.op = DimOp::kSum};
  node.constant = c0;
  node.terms = terms;
  return intern(node);
}

// 6 * (x/4) * y, where 4 divides x, is 3 * (x/2) * y: a quotient's coefficient and divisor have no common factor.
Dim DimContext::reduce_term(const DimTerm& term) {
  for (size_t i = 0; i < term.factors.size(); ++i) {
    const DimNode& n = *term.factors[i].node();
    if (n.op != DimOp::kFloorDiv || !n.exact) continue;
    int64_t g = gcd64(term.coefficient, n.b.value());
    if (g == 1) continue;
    Dim rest = constant(term.coefficient / g);
    for (size_t k = 0; k < term.factors.size(); ++k)
      if (k != i) rest = mul(rest, term.factors[k]);
    return mul(rest, floordiv(n.a, constant(n.b.value() / g)));
  }
  assert(false);
  return {};
}

// a + k*b
Dim DimContext::add_scaled(Dim a, Dim b, int64_t k) {
  if (!a.valid() || !b.valid()) return {};
  DimPolynomial x(a), y(b);
  auto scaled = checked_mul(y.constant, k);
  auto c0 = scaled ? checked_add(x.constant, *scaled) : std::nullopt;
  if (!c0) return {};
  if (y.terms.empty()) return *c0 == x.constant ? a : make_sum(*c0, x.terms);
  TermBuffer out;
  size_t i = 0, j = 0;
  while (i < x.terms.size() || j < y.terms.size()) {
    int order = i == x.terms.size() ? 1 : j == y.terms.size() ? -1 : compare_monomials(x.terms[i].factors, y.terms[j].factors);
    if (order < 0) {
      out.push(x.terms[i].coefficient, x.terms[i].factors);
      ++i;
      continue;
    }
    auto coefficient = checked_mul(y.terms[j].coefficient, k);
    if (coefficient && order == 0) coefficient = checked_add(x.terms[i].coefficient, *coefficient);
    if (!coefficient) return {};
    if (*coefficient != 0) out.push(*coefficient, y.terms[j].factors);
    i += order == 0;
    ++j;
  }
  return make_sum(*c0, out.terms());
}

Dim DimContext::add(Dim a, Dim b) { return add_scaled(a, b, 1); }
Dim DimContext::sub(Dim a, Dim b) { return a == b && a.valid() ? constant(0) : add_scaled(a, b, -1); }
Dim DimContext::neg(Dim a) { return scale(a, -1); }

Dim DimContext::scale(Dim a, int64_t k) {
  if (k == 1) return a;
  if (k == 0) return a.valid() ? constant(0) : Dim();
  return add_scaled(constant(0), a, k);
}

Dim DimContext::mul(Dim a, Dim b) {
  if (!a.valid() || !b.valid()) return {};
  if (a.is_const()) return scale(b, a.value());
  if (b.is_const()) return scale(a, b.value());
  DimPolynomial x(a), y(b);
  if ((x.terms.size() + 1) * (y.terms.size() + 1) > kMaxDimProducts) return {};
  TermBuffer products;
  auto push = [&](int64_t p, int64_t q, std::span<const Dim> factors) {
    auto c = checked_mul(p, q);
    if (!c || factors.empty()) return false;
    products.push(*c, factors);
    return true;
  };
  for (const DimTerm& s : x.terms) {
    for (const DimTerm& t : y.terms)
      if (!push(s.coefficient, t.coefficient, monomial_product(s.factors, t.factors))) return {};
    if (y.constant != 0 && !push(s.coefficient, y.constant, s.factors)) return {};
  }
  if (x.constant != 0)
    for (const DimTerm& t : y.terms)
      if (!push(x.constant, t.coefficient, t.factors)) return {};
  auto c0 = checked_mul(x.constant, y.constant);
  if (!c0) return {};

  DimTerm* t = products.data();
  std::sort(t, t + products.size(), [](const DimTerm& p, const DimTerm& q) { return compare_monomials(p.factors, q.factors) < 0; });
  size_t n = 0;
  for (size_t i = 0; i < products.size();) {
    DimTerm sum = t[i++];
    for (; i < products.size() && t[i].factors.data() == sum.factors.data(); ++i) {
      auto c = checked_add(sum.coefficient, t[i].coefficient);
      if (!c) return {};
      sum.coefficient = *c;
    }
    if (sum.coefficient != 0) t[n++] = sum;
  }
  products.resize_down(n);
  return make_sum(*c0, products.terms());
}

Dim DimContext::product(std::span<const Dim> dims) {
  Dim p = constant(1);
  for (Dim d : dims) p = mul(p, d);
  return p;
}

Dim DimContext::apply(DimOp op, Dim a, Dim b) {
  switch (op) {
    case DimOp::kFloorDiv: return floordiv(a, b);
    case DimOp::kCeilDiv: return ceildiv(a, b);
    case DimOp::kMod: return mod(a, b);
    case DimOp::kMin: return min(a, b);
    case DimOp::kMax: return max(a, b);
    case DimOp::kBroadcast: return broadcast(a, b);
    case DimOp::kBigConst:
    case DimOp::kSymbol:
    case DimOp::kSum: break;
  }
  return {};
}

}  // namespace msvm
