// Size arguments of a group: where a run finds each extent and stride, and what is a number already.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "msvm/jit/function_view.h"
#include "msvm/loops/loop_program.h"
#include "msvm/vm/region_code.h"

namespace msvm::jit::lowering {

class SizeTable {
 public:
  explicit SizeTable(const FunctionView& view) : v_(view) {}
  /// The product of these sizes: a number if all are constants, else an argument.
  loops::Size product(std::span<const RegionSize::Axis> axes);
  loops::Size stride(RegionSize::Axis axis);
  RegionSize product_size(std::span<const RegionSize::Axis> axes);
  std::vector<RegionSize> take() { return std::move(sizes_); }
  int32_t count() const { return static_cast<int32_t>(sizes_.size()); }

 private:
  RegionSize::Axis common(RegionSize::Axis axis);  // the first axis that was asked for with this size
  loops::Size argument(RegionSize size);
  const FunctionView& v_;
  std::vector<RegionSize> sizes_;
  std::vector<std::pair<Dim, RegionSize::Axis>> known_;
};

/// The axes whose extents a dense tensor's stride of `axis` is made of; false if the tensor's isn't.
bool stride_extents(const FunctionView& view, RegionSize::Axis axis, std::vector<RegionSize::Axis>& extents);

}  // namespace msvm::jit::lowering
