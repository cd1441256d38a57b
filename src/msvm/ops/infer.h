// What shape functions share: errors, conditions over whole shapes, simplified arithmetic.
#pragma once
#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "msvm/ops/schema.h"

namespace msvm {

template <class... Args>
Status shape_error(fmt::format_string<Args...> format, Args&&... args) {
  return shape_mismatch(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
Status attr_error(fmt::format_string<Args...> format, Args&&... args) {
  return invalid_argument(fmt::format(format, std::forward<Args>(args)...));
}

/// Input `i` has rank `n`, or between `lo` and `hi`.
Status require_rank(InferContext& c, size_t i, int n);
Status require_rank_between(InferContext& c, size_t i, int lo, int hi);
/// The inputs have one element: rank 0, or rank 1 and size 1. Absent inputs pass.
Status require_one_element(InferContext& c, size_t i);
/// Input `i` is a vector of `size` elements. An absent input passes.
Status require_vector(InferContext& c, size_t i, Dim size, std::string_view what);
/// Equal ranks and sizes.
Status require_same_shape(InferContext& c, size_t i, size_t j, std::string_view what);
/// `from` may be broadcast to `to` without changing it. The rank of `from` is at most that of `to`.
Status require_broadcast_to(InferContext& c, std::span<const Dim> from, std::span<const Dim> to, std::string_view what);
Status require_broadcast_to(InferContext& c, Dim from, Dim to, std::string_view what);
inline Status require_equal(InferContext& c, Dim a, Dim b, std::string_view what) { return c.require(CondOp::kEq, a, b, what); }
inline Status require_at_least(InferContext& c, Dim d, int64_t lo, std::string_view what) {
  return c.require(CondOp::kLe, c.constant(lo), d, what);
}

/// `axes` as distinct axes in [0, rank), in the given order; a mask of them.
struct AxisList {
  std::array<int, kMaxRank> axis{};
  int count = 0;
  uint32_t mask = 0;
  bool has(int a) const { return mask >> a & 1; }
};
Result<AxisList> normalize_axes(InferContext& c, std::span<const int64_t> axes, int rank);

/// min and max that use the declared ranges of symbols.
Dim tight_min(DimContext& d, Dim a, Dim b);
Dim tight_max(DimContext& d, Dim a, Dim b);
/// Of two sizes known to be equal the one that says more: a constant if there is one.
inline Dim more_known(Dim a, Dim b) { return !a.is_const() && b.is_const() ? b : a; }

/// Elements of the ints attribute, each checked to be `count` long or absent.
Status require_list_length(std::string_view name, size_t found, size_t expected);

/// Shape functions of the most common kind.
Status infer_same(InferContext& c);       // outputs have the shape of the first input
Status infer_broadcast(InferContext& c);  // numpy's broadcasting of all inputs

}  // namespace msvm
