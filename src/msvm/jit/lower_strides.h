// Strides as far as types and views tell them, before any tensor exists.
#pragma once
#include <vector>

#include "msvm/jit/function_view.h"

namespace msvm::jit::lowering {

/// `factor` times the sizes in `dims` (sorted, no constants), in elements; or not known.
struct Stride {
  bool known = false;
  int64_t factor = 0;
  std::vector<Dim> dims;

  static Stride number(int64_t v) { return {true, v, {}}; }
  bool is_number() const { return known && dims.empty(); }
  bool is_number(int64_t v) const { return is_number() && factor == v; }
  /// This one times a size; not known if that overflows.
  Stride times(Dim size) const;
  bool operator==(const Stride&) const = default;
};

/// By logical axis. Those of axes whose size is the constant 1 mean nothing.
std::vector<Stride> strides_of(const FunctionView& view, Reg tensor);

/// Whether no element lies between two others in the order of the layout.
inline bool is_dense(const FunctionView& view, Reg tensor) { return !view.type(tensor).strided; }

/// Axes in memory order, outermost first, without those of the constant size 1.
std::vector<int> loop_axes(const FunctionView& view, Reg tensor);

}  // namespace msvm::jit::lowering
