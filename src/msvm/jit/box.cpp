#include "msvm/jit/box.h"

#include <fmt/format.h>

#include <algorithm>

namespace msvm::jit {

bool Box::fixes_something() const {
  return std::any_of(extents.begin(), extents.end(), [](const Extent& e) { return !e.open(); });
}

SymbolSet Box::fixed() const {
  SymbolSet set = 0;
  for (size_t k = 0; k < std::min(extents.size(), kMaxEntrySymbols); ++k)
    if (!extents[k].open()) set |= SymbolSet{1} << k;
  return set;
}

std::string symbol_name(const Region& region, size_t position, const DimContext& dims) {
  const std::string& name = dims.symbol_info(region.symbols[position]).name;
  return name.empty() ? fmt::format("s{}", position) : name;
}

std::string to_string(const Box& box, const Region& region, const DimContext& dims) {
  std::string out;
  for (size_t k = 0; k < box.extents.size(); ++k) {
    const Extent& e = box.extents[k];
    out += (k ? "_" : "") + symbol_name(region, k, dims);
    if (e.open()) out += "*";
    else if (e.min == e.max) out += fmt::format("{}", e.min);
    else out += fmt::format("{}-{}", e.min, e.max);
  }
  return out;
}

double scd_of_box(const Region& region, const Box& box) {
  if (region.axes == 0) return 1;
  const SymbolSet known = box.fixed() | region.free;
  int64_t n = region.constant_axes;
  for (const AxisCount& a : region.bound_axes)
    if ((a.symbols & ~known) == 0) n += a.axes;
  return static_cast<double>(n) / static_cast<double>(region.axes);
}

}  // namespace msvm::jit
