// A box: what it fixes, bounds or leaves open of each entry symbol of a region.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "msvm/jit/regions.h"
#include "msvm/vm/region_code.h"

namespace msvm::jit {

using msvm::Extent;

/// One extent for each of Region::symbols, in their order.
struct Box {
  std::vector<Extent> extents;
  bool holds(std::span<const int64_t> values) const { return msvm::holds(extents, values); }
  bool fixes_something() const;
  /// What it fixes or bounds.
  SymbolSet fixed() const;
  bool operator==(const Box&) const = default;
};

/// "N*_C3_H224_W224"; ranges as "S9-32". Names are the symbols'; those without one are called s0, s1, … by their position.
std::string to_string(const Box& box, const Region& region, const DimContext& dims);
std::string symbol_name(const Region& region, size_t position, const DimContext& dims);

/// (const + captured + free + bound with every symbol fixed or bounded by the box) / all, over the axes of the region's non-constant
/// tensors. 1 where there are none.
double scd_of_box(const Region& region, const Box& box);

}  // namespace msvm::jit
