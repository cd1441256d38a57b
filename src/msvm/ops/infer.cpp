#include "msvm/ops/infer.h"

namespace msvm {

Status require_rank_between(InferContext& c, size_t i, int lo, int hi) {
  int r = c.rank(i);
  if (r >= lo && r <= hi) return {};
  if (lo == hi) return shape_error("{} must have rank {}, but has rank {}", c.input_name(i), lo, r);
  if (hi >= kMaxRank) return shape_error("{} must have rank {} or more, but has rank {}", c.input_name(i), lo, r);
  return shape_error("{} must have a rank of {} to {}, but has rank {}", c.input_name(i), lo, hi, r);
}

Status require_rank(InferContext& c, size_t i, int n) { return require_rank_between(c, i, n, n); }

Status require_one_element(InferContext& c, size_t i) {
  const TensorType* t = c.input_or_null(i);
  if (!t || t->shape.empty()) return {};
  MSVM_RETURN_IF_ERROR(require_rank_between(c, i, 0, 1));
  return require_equal(c, t->shape[0], c.constant(1), "an input that stands for one value has one element");
}

Status require_vector(InferContext& c, size_t i, Dim size, std::string_view what) {
  if (!c.has_input(i)) return {};
  MSVM_RETURN_IF_ERROR(require_rank(c, i, 1));
  return require_equal(c, c.input(i).shape[0], size, what);
}

Status require_same_shape(InferContext& c, size_t i, size_t j, std::string_view what) {
  const auto &a = c.input(i).shape, &b = c.input(j).shape;
  if (a.size() != b.size())
    return shape_error("{} and {} must have the same rank, but have ranks {} and {}", c.input_name(i), c.input_name(j), a.size(),
                       b.size());
  for (size_t k = 0; k < a.size(); ++k) MSVM_RETURN_IF_ERROR(require_equal(c, a[k], b[k], what));
  return {};
}

Status require_broadcast_to(InferContext& c, Dim from, Dim to, std::string_view what) {
  if (from == to || from.is_const(1)) return {};
  if (from.is_const() || to.is_const(1)) return require_equal(c, from, to, what);
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kBroadcastable, from, to, what));
  if (to.is_const()) return {};
  return require_equal(c, c.dims().broadcast(from, to), to, what);  // from > 1 with to == 1 is no broadcast of `from`
}

Status require_broadcast_to(InferContext& c, std::span<const Dim> from, std::span<const Dim> to, std::string_view what) {
  if (from.size() > to.size()) return shape_error("{}: rank {} can't be broadcast to rank {}", what, from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i)
    MSVM_RETURN_IF_ERROR(require_broadcast_to(c, from[i], to[to.size() - from.size() + i], what));
  return {};
}

Result<AxisList> normalize_axes(InferContext& c, std::span<const int64_t> axes, int rank) {
  AxisList list;
  for (int64_t a : axes) {
    MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(a, rank, "axes"));
    if (list.has(axis)) return attr_error("axes: axis {} is listed twice", axis);
    list.axis[static_cast<size_t>(list.count++)] = axis;
    list.mask |= 1u << axis;
  }
  return list;
}

Dim tight_min(DimContext& d, Dim a, Dim b) {
  if (a == b) return a;
  if (a.valid() && b.valid() && !(a.is_const() && b.is_const())) {
    DimRange ra = d.range(a), rb = d.range(b);
    if (ra.max <= rb.min) return a;
    if (rb.max <= ra.min) return b;
  }
  return d.min(a, b);
}

Dim tight_max(DimContext& d, Dim a, Dim b) {
  if (a == b) return a;
  if (a.valid() && b.valid() && !(a.is_const() && b.is_const())) {
    DimRange ra = d.range(a), rb = d.range(b);
    if (ra.min >= rb.max) return a;
    if (rb.min >= ra.max) return b;
  }
  return d.max(a, b);
}

Status require_list_length(std::string_view name, size_t found, size_t expected) {
  if (found == expected) return {};
  return attr_error("{} must have {} elements, but has {}", name, expected, found);
}

Status infer_same(InferContext& c) {
  c.set_shape(0, c.input(0).shape);
  return {};
}

Status infer_broadcast(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, c.broadcast_shapes(c.inputs()));
  c.set_shape(0, std::move(shape));
  return {};
}

}  // namespace msvm
