#include "msvm/jit/bind.h"

#include <fmt/format.h>

namespace msvm::jit {
namespace {

/// The symbol of a*s + b.
std::optional<SymbolId> linear_symbol(Dim d) {
  if (d.is_symbol()) return d.symbol();
  const DimNode* n = d.node();
  if (!n || n->op != DimOp::kSum || n->terms.size() != 1 || n->terms[0].factors.size() != 1 || !n->terms[0].factors[0].is_symbol()) return {};
  return n->terms[0].factors[0].symbol();
}

}  // namespace

std::optional<int64_t> InputSizes::value(SymbolId s) const {
  auto at = values_.find(s);
  if (at == values_.end()) return {};
  return at->second;
}

Result<InputSizes> InputSizes::bind(const FunctionView& v, const std::map<std::string, std::vector<int64_t>>& sizes) {
  InputSizes out;
  const DimContext& dims = *v.module.dims;
  auto evaluate = [&](Dim d) { return DimContext::evaluate(d, [&](SymbolId s) { return out.value(s); }); };
  for (const bool bare : {true, false})
    for (const Param& p : v.f.inputs) {
      auto given = sizes.find(p.name);
      if (given == sizes.end() || p.type.kind != RegKind::kTensor) continue;
      const auto& shape = p.type.tensor.shape;
      if (given->second.size() != shape.size()) return invalid_argument(fmt::format("input {}: expected {}, found {} axes", p.name, to_string(p.type, dims), given->second.size()));
      for (size_t a = 0; a < shape.size(); ++a) {
        const auto s = linear_symbol(shape[a]);
        if (!s || shape[a].is_symbol() != bare || out.value(*s)) continue;
        // a*s + b: its values at 0 and 1 give b and a.
        const auto b = DimContext::evaluate(shape[a], [](SymbolId) { return std::optional<int64_t>(0); });
        const auto ab = DimContext::evaluate(shape[a], [](SymbolId) { return std::optional<int64_t>(1); });
        int64_t factor = 0, rest = 0;
        if (!b || !ab || __builtin_sub_overflow(*ab, *b, &factor) || __builtin_sub_overflow(given->second[a], *b, &rest) || factor <= 0 || rest % factor != 0)
          return invalid_argument(fmt::format("input {}: axis {} is {}, which {} can't be", p.name, a, given->second[a], dims.to_string(shape[a])));
        out.values_[*s] = rest / factor;
      }
    }
  for (const Param& p : v.f.inputs) {
    auto given = sizes.find(p.name);
    if (given == sizes.end() || p.type.kind != RegKind::kTensor) continue;
    for (size_t a = 0; a < given->second.size(); ++a) {
      const auto expected = evaluate(p.type.tensor.shape[a]);
      if (expected && *expected != given->second[a])
        return invalid_argument(fmt::format("input {}: axis {} ({}) must be {}, found {}", p.name, a, dims.to_string(p.type.tensor.shape[a]), *expected, given->second[a]));
    }
  }
  for (const auto& [s, value] : out.values_) {
    const SymbolInfo& info = dims.symbol_info(s);
    const int64_t residue = info.divisor > 1 ? ((value - info.remainder) % info.divisor) : 0;
    if (value < info.min || value > info.max || residue != 0) return invalid_argument(fmt::format("symbol {}: {} lies outside what is declared of it", info.name, value));
  }
  return out;
}

std::optional<std::vector<int64_t>> entry_values(const Region& region, const InputSizes& sizes, size_t* unknown) {
  std::vector<int64_t> out;
  for (size_t k = 0; k < region.symbols.size(); ++k) {
    const auto value = sizes.value(region.symbols[k]);
    if (!value) {
      if (unknown) *unknown = k;
      return {};
    }
    out.push_back(*value);
  }
  return out;
}

}  // namespace msvm::jit
