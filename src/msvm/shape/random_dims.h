// For tests: random expressions with a direct evaluation that knows nothing of canonical forms.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "msvm/base/checked.h"
#include "msvm/shape/dim.h"
#include "msvm/shape/dim_bounds.h"

namespace msvm::testing_support {

struct Expr {
  char op = 'c';  // c constant, s symbol, + - * / ^(ceildiv) % < > b
  int64_t constant = 0;
  SymbolId symbol = 0;
  std::unique_ptr<Expr> a, b;
};

class RandomDims {
 public:
  /// Symbols without bounds, with bounds and with divisors.
  RandomDims(DimContext& context, uint32_t seed) : context_(context), random_(seed) {
    context.add_symbol({.name = "any", .min = INT64_MIN});
    context.add_symbol({.name = "N"});
    context.add_symbol({.name = "H", .min = 0, .max = 96, .divisor = 8});
    context.add_symbol({.name = "O", .min = 1, .max = 40, .divisor = 6, .remainder = 5});
    context.add_symbol({.name = "S", .min = 2, .max = 9});
    context.add_symbol({.name = "P", .min = 1});
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  std::unique_ptr<Expr> expression(int depth, bool large_constants) {
    auto e = std::make_unique<Expr>();
    if (depth == 0 || below(6) == 0) {
      if (below(3) == 0) {
        static constexpr int64_t kLarge[] = {INT64_MAX, INT64_MIN, INT64_MAX / 2, int64_t{1} << 62, int64_t{1} << 33, -(int64_t{1} << 62) - 1};
        e->constant = large_constants && below(3) == 0 ? kLarge[below(6)] : below(20) - 4;
      } else {
        e->op = 's';
        e->symbol = static_cast<SymbolId>(below(static_cast<int>(context_.num_symbols())));
      }
      return e;
    }
    e->op = "++--**//^%<>b"[below(13)];
    e->a = expression(depth - 1, large_constants);
    e->b = below(3) == 0 && (e->op == '/' || e->op == '%' || e->op == '^') ? constant(below(12) + 1) : expression(depth - 1, large_constants);
    return e;
  }

  Dim build(const Expr& e) {
    if (e.op == 'c') return context_.constant(e.constant);
    if (e.op == 's') return context_.symbol(e.symbol);
    Dim a = build(*e.a), b = build(*e.b);
    switch (e.op) {
      case '+': return context_.add(a, b);
      case '-': return context_.sub(a, b);
      case '*': return context_.mul(a, b);
      case '/': return context_.floordiv(a, b);
      case '^': return context_.ceildiv(a, b);
      case '%': return context_.mod(a, b);
      case '<': return context_.min(a, b);
      case '>': return context_.max(a, b);
      default: return context_.broadcast(a, b);
    }
  }

  /// By recursion; none where something is undefined or overflows on the way.
  static std::optional<int64_t> direct(const Expr& e, const std::vector<int64_t>& values) {
    if (e.op == 'c') return e.constant;
    if (e.op == 's') return values[e.symbol];
    auto a = direct(*e.a, values), b = direct(*e.b, values);
    if (!a || !b) return std::nullopt;
    switch (e.op) {
      case '+': return checked_add(*a, *b);
      case '-': return checked_sub(*a, *b);
      case '*': return checked_mul(*a, *b);
      case '/': return checked_floordiv(*a, *b);
      case '^': return checked_ceildiv(*a, *b);
      case '%': return checked_mod(*a, *b);
      case '<': return std::min(*a, *b);
      case '>': return std::max(*a, *b);
      default: return *a == *b || *b == 1 ? a : *a == 1 ? b : std::nullopt;
    }
  }

  /// One value per symbol, as declared.
  std::vector<int64_t> values(bool large) {
    std::vector<int64_t> out;
    for (SymbolId s = 0; s < context_.num_symbols(); ++s) {
      const SymbolInfo& info = context_.symbol_info(s);
      DimRange r = declared_range(info);
      int64_t lo = std::max<int64_t>(r.min, -12), hi = std::min<int64_t>(r.max, lo + 40);
      int64_t v = lo + below(static_cast<int>((hi - lo) / info.divisor) + 1) * info.divisor;
      if (large && r.max == INT64_MAX && below(4) == 0) v = INT64_MAX - below(3);
      out.push_back(v);
    }
    return out;
  }

  static std::optional<int64_t> evaluate(Dim d, const std::vector<int64_t>& values) {
    return DimContext::evaluate(d, [&](SymbolId s) { return std::optional(values[s]); });
  }

 private:
  static std::unique_ptr<Expr> constant(int64_t v) {
    auto e = std::make_unique<Expr>();
    e->constant = v;
    return e;
  }
  DimContext& context_;
  std::mt19937 random_;
};

}  // namespace msvm::testing_support
