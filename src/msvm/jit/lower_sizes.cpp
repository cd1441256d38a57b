#include "msvm/jit/lower_sizes.h"

#include <algorithm>

#include "msvm/jit/lower_strides.h"

namespace msvm::jit::lowering {
namespace {

Dim size_of(const FunctionView& v, RegionSize::Axis a) { return v.value(v.type(a.tensor).shape[static_cast<size_t>(a.axis)]); }

}  // namespace

RegionSize::Axis SizeTable::common(RegionSize::Axis axis) {
  const Dim d = size_of(v_, axis);
  for (const auto& [size, at] : known_)
    if (size == d) return at;
  known_.emplace_back(d, axis);
  return axis;
}

RegionSize SizeTable::product_size(std::span<const RegionSize::Axis> axes) {
  RegionSize s;
  for (RegionSize::Axis a : axes) s.extents.push_back(common(a));
  std::sort(s.extents.begin(), s.extents.end(), [](const RegionSize::Axis& a, const RegionSize::Axis& b) { return std::pair(a.tensor, a.axis) < std::pair(b.tensor, b.axis); });
  return s;
}

loops::Size SizeTable::argument(RegionSize size) {
  auto at = std::find(sizes_.begin(), sizes_.end(), size);
  if (at == sizes_.end()) at = sizes_.insert(at, std::move(size));
  return loops::Size::arg(static_cast<int32_t>(at - sizes_.begin()));
}

loops::Size SizeTable::product(std::span<const RegionSize::Axis> axes) {
  int64_t n = 1;
  bool constant = true;
  for (RegionSize::Axis a : axes) {
    const Dim d = size_of(v_, a);
    constant = constant && d.is_const() && !__builtin_mul_overflow(n, d.value(), &n);
  }
  return constant ? loops::Size::number(n) : argument(product_size(axes));
}

loops::Size SizeTable::stride(RegionSize::Axis axis) {
  RegionSize s;
  s.stride = axis;
  return argument(std::move(s));
}

bool stride_extents(const FunctionView& view, RegionSize::Axis axis, std::vector<RegionSize::Axis>& extents) {
  if (!is_dense(view, axis.tensor)) return false;
  bool inside = false;
  for (int a : loop_axes(view, axis.tensor)) {
    if (inside) extents.push_back({axis.tensor, a});
    inside |= a == axis.axis;
  }
  return inside;
}

}  // namespace msvm::jit::lowering
