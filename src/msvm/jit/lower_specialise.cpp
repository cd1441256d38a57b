// Size arguments that a box fixes, as numbers.
#include <optional>

#include "msvm/jit/lower.h"
#include "msvm/jit/lower_sizes.h"
#include "msvm/jit/lower_strides.h"

namespace msvm::jit {
namespace {

using namespace lowering;

class Specialiser {
 public:
  Specialiser(const FunctionView& view, const Region& region, const Box& box) : v_(view), region_(region), box_(box) {}

  loops::Kernel kernel(const RegionGroup& group, loops::Kernel k) const {
    std::vector<std::optional<int64_t>> known;
    for (const RegionSize& s : group.sizes) known.push_back(value(s));
    auto settle = [&](loops::Size& s, bool zero = true) {
      if (s.argument < 0) return;
      const auto& v = known[static_cast<size_t>(s.argument)];
      if (v && (*v != 0 || zero)) s = loops::Size::number(*v);
    };
    settle(k.inner);
    for (loops::Size& s : k.outer) settle(s);
    for (loops::Access& a : k.tensors)
      for (loops::Size& s : a.strides) settle(s, !a.written);  // what is written needs a stride, if only on paper: the tensor is empty then
    return k;
  }

 private:
  std::optional<int64_t> of_symbol(SymbolId s) const {
    for (size_t k = 0; k < region_.symbols.size() && k < box_.extents.size(); ++k)
      if (region_.symbols[k] == s && box_.extents[k].min == box_.extents[k].max) return box_.extents[k].min;
    return std::nullopt;
  }
  std::optional<int64_t> size(RegionSize::Axis a) const {
    auto symbol = [&](SymbolId s) -> std::optional<int64_t> {
      if (auto v = of_symbol(s)) return v;
      const Reg r = v_.register_of(s);  // a register that is made from entry symbols
      if (r == kNoReg || v_.opaque(r)) return std::nullopt;
      return DimContext::evaluate(v_.facts.reg_value[static_cast<size_t>(r)], [&](SymbolId inner) { return of_symbol(inner); });
    };
    return DimContext::evaluate(v_.value(v_.type(a.tensor).shape[static_cast<size_t>(a.axis)]), symbol);
  }
  std::optional<int64_t> product(const std::vector<RegionSize::Axis>& axes) const {
    int64_t n = 1;
    for (RegionSize::Axis a : axes) {
      const auto s = size(a);
      if (!s || __builtin_mul_overflow(n, *s, &n)) return std::nullopt;
    }
    return n;
  }
  std::optional<int64_t> value(const RegionSize& s) const {
    if (s.stride.tensor == kNoReg) return product(s.extents);
    const auto extent = size(s.stride);
    if (extent && *extent == 1) return 0;
    std::vector<RegionSize::Axis> inside;
    if (!extent || !stride_extents(v_, s.stride, inside)) return std::nullopt;
    return product(inside);
  }

  const FunctionView& v_;
  const Region& region_;
  const Box& box_;
};

}  // namespace

loops::Program specialise(const LoweredRegion& lowered, const FunctionView& view, const Region& region, const Box& box) {
  const Specialiser s(view, region, box);
  loops::Program p;
  for (size_t k = 0; k < lowered.groups.size(); ++k) p.kernels.push_back(s.kernel(lowered.groups[k], lowered.program.kernels[k]));
  return p;
}

}  // namespace msvm::jit
