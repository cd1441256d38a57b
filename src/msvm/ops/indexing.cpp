// Operators that read or write elements at positions which tensors hold.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

Status infer_gather(InferContext& c) {
  const auto &data = c.input(0).shape, &indices = c.input(1).shape;
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", 0), c.rank(0), "axis"));
  std::vector<Dim> shape;
  shape.reserve(data.size() + indices.size());
  shape.insert(shape.end(), data.begin(), data.begin() + axis);
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), data.begin() + axis + 1, data.end());
  c.set_shape(0, std::move(shape));
  return {};
}

/// GatherElements, ScatterElements: indices stay within data on every axis but `axis`.
Status require_indices_inside(InferContext& c, int axis) {
  if (c.rank(0) != c.rank(1))
    return shape_error("data and indices must have the same rank, but have ranks {} and {}", c.rank(0), c.rank(1));
  for (int a = 0; a < c.rank(0); ++a) {
    auto k = static_cast<size_t>(a);
    if (a != axis)
      MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, c.input(1).shape[k], c.input(0).shape[k],
                                     "indices are no larger than data on the axes not indexed"));
  }
  return {};
}

Status infer_gather_elements(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", 0), c.rank(0), "axis"));
  MSVM_RETURN_IF_ERROR(require_indices_inside(c, axis));
  c.set_shape(0, c.input(1).shape);
  return {};
}

Status infer_scatter_elements(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", 0), c.rank(0), "axis"));
  MSVM_RETURN_IF_ERROR(require_indices_inside(c, axis));
  MSVM_RETURN_IF_ERROR(require_same_shape(c, 1, 2, "indices and updates have the same shape"));
  return infer_same(c);
}

Status infer_gather_nd(InferContext& c) {
  const auto &data = c.input(0).shape, &indices = c.input(1).shape;
  int r = c.rank(0), q = c.rank(1);
  if (r < 1 || q < 1) return shape_error("data and indices must have rank 1 or more, but have ranks {} and {}", r, q);
  int64_t b = c.attrs().get_int("batch_dims", 0);
  if (b >= std::min(r, q)) return attr_error("batch_dims must be less than both ranks, {} and {}, but is {}", r, q, b);
  for (size_t i = 0; i < static_cast<size_t>(b); ++i)
    MSVM_RETURN_IF_ERROR(require_equal(c, data[i], indices[i], "batch sizes of data and indices are equal"));
  Dim k = indices.back();
  MSVM_RETURN_IF_ERROR(require_at_least(c, k, 1, "an index tuple has an element"));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, k, c.constant(r - b), "index tuples are no longer than data has axes"));
  if (!k.is_const()) {
    c.set_unknown_rank(0);  // the rank depends on a size
    return {};
  }
  if (k.value() < 1 || k.value() > r - b) return shape_error("index tuples of {} elements for {} axes of data", k.value(), r - b);
  std::vector<Dim> shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + b + k.value(), data.end());
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_scatter_nd(InferContext& c) {
  const auto &data = c.input(0).shape, &indices = c.input(1).shape, &updates = c.input(2).shape;
  int r = c.rank(0), q = c.rank(1), u = c.rank(2);
  if (r < 1 || q < 1) return shape_error("data and indices must have rank 1 or more, but have ranks {} and {}", r, q);
  int k = q - 1 + r - u;  // updates: q - 1 axes of indices, r - k of data
  if (k < 0 || k > r)
    return shape_error("updates has rank {}, which no length of index tuples gives for data of rank {} and indices of rank {}", u,
                       r, q);
  MSVM_RETURN_IF_ERROR(
      require_equal(c, indices.back(), c.constant(k), "the length of index tuples and the rank of updates fit each other"));
  for (int i = 0; i < u; ++i) {
    Dim expected = i < q - 1 ? indices[static_cast<size_t>(i)] : data[static_cast<size_t>(k + i - (q - 1))];
    MSVM_RETURN_IF_ERROR(
        require_equal(c, updates[static_cast<size_t>(i)], expected, "updates has one slice of data for each index tuple"));
  }
  return infer_same(c);
}

Status infer_tensor_scatter(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 2, kMaxRank));
  if (c.rank(0) != c.rank(1))
    return shape_error("past_cache and update must have the same rank, but have ranks {} and {}", c.rank(0), c.rank(1));
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", -2), c.rank(0), "axis"));
  if (axis == 0) return attr_error("axis can't be 0, the batch");
  const auto &past = c.input(0).shape, &update = c.input(1).shape;
  for (size_t i = 0; i < past.size(); ++i) {
    if (i == static_cast<size_t>(axis)) {
      MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, update[i], past[i], "an update is no longer than the cache"));
    } else {
      MSVM_RETURN_IF_ERROR(
          require_equal(c, update[i], past[i], "update and cache have the same sizes on all axes but the sequence"));
    }
  }
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, past[0], "there is one write index for each batch element"));
  return infer_same(c);
}

Status infer_one_hot(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_vector(c, 1, c.constant(2), "values holds the off value and the on value"));
  MSVM_RETURN_IF_ERROR(require_at_least(c, c.args()[0], 0, "depth is not negative"));
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", -1), c.rank(0) + 1, "axis"));
  std::vector<Dim> shape = c.input(0).shape;
  shape.insert(shape.begin() + axis, c.args()[0]);
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_compress(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, 1));
  if (!c.attrs().has("axis")) {
    c.set_shape(0, {InferContext::data_dependent()});
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", 0), c.rank(0), "axis"));
  std::vector<Dim> shape = c.input(0).shape;
  shape[static_cast<size_t>(axis)] = InferContext::data_dependent();
  c.set_shape(0, std::move(shape));
  return {};
}

}  // namespace

void add_indexing_ops(OpTable& table) {
  constexpr std::string_view kReductions = "none|add|mul|max|min";
  OpSchema gather{.name = "Gather",
                  .since = 13,
                  .op_class = OpClass::kIndexing,
                  .inputs = {{"data", kAny, 'T'}, {"indices", kIndexInts}},
                  .outputs = {{"output", 'T'}},
                  .hazards = kIndexHazard,
                  .attrs = {axis_attr("0", "the indexed axis of data")},
                  .infer = infer_gather,
                  .doc = "Slices of data along an axis, at the positions in indices; negative ones count from the end."};
  table.add(gather);
  gather.name = "GatherElements";
  gather.infer = infer_gather_elements;
  gather.doc = "Elements of data whose position along an axis stands in indices, and is the index's own on the others.";
  table.add(gather);
  gather.name = "GatherND";
  gather.inputs[1].dtypes = bit(DType::kI64);
  gather.attrs = {int_attr("batch_dims", "0", 0, kMaxRank, "leading axes that data and indices share")};
  gather.infer = infer_gather_nd;
  gather.doc = "Slices of data at the positions that the tuples along the last axis of indices give.";
  table.add(gather);

  OpSchema scatter{
      .name = "ScatterElements",
      .since = 18,
      .op_class = OpClass::kIndexing,
      .inputs = {{"data", kAny, 'T'}, {"indices", kIndexInts}, {"updates", kAny, 'T'}},
      .outputs = {{"output", 'T'}},
      .hazards = kIndexHazard,
      .in_place = 1,
      .attrs = {axis_attr("0", "the indexed axis of data"),
                choice_attr("reduction", "none", kReductions, "how an update and what is there are combined")},
      .infer = infer_scatter_elements,
      .doc = "data with single elements replaced or combined, at positions along an axis. Updates go in the order of indices."};
  table.add(scatter);
  scatter.name = "ScatterND";
  scatter.inputs[1].dtypes = bit(DType::kI64);
  scatter.attrs.erase(scatter.attrs.begin());
  scatter.infer = infer_scatter_nd;
  scatter.doc = "data with slices replaced or combined, at positions given by tuples. Updates go in the order of indices.";
  table.add(scatter);

  table.add({.name = "TensorScatter",
             .since = 24,
             .op_class = OpClass::kIndexing,
             .inputs = {{"past_cache", kAny, 'T'}, {"update", kAny, 'T'}, {"write_indices", bit(DType::kI64), 0, true}},
             .outputs = {{"present_cache", 'T'}},
             .hazards = kIndexHazard,
             .in_place = 1,
             .attrs = {axis_attr("-2", "the sequence axis, not 0"),
                       choice_attr("mode", "linear", "linear|circular", "circular writes wrap around")},
             .infer = infer_tensor_scatter,
             .doc = "The cache with `update` written along the sequence axis, for each batch element from its write index on."});

  table.add({.name = "OneHot",
             .since = 11,
             .op_class = OpClass::kIndexing,
             .inputs = {{"indices", kNumeric}, {"values", kAny, 'T'}},
             .min_args = 1,
             .max_args = 1,
             .args_doc = "depth",
             .outputs = {{"output", 'T'}},
             .hazards = kCastHazard,
             .attrs = {axis_attr("-1", "where the new axis stands in the result")},
             .infer = infer_one_hot,
             .doc =
                 "The on value (values[1]) at the position an index gives along a new axis, the off value (values[0]) elsewhere; "
                 "indices outside [-depth, depth) give off values only."});

  table.add(
      {.name = "Compress",
       .since = 11,
       .op_class = OpClass::kIndexing,
       .inputs = {{"X", kAny, 'T'}, {"condition", bit(DType::kBool)}},
       .outputs = {{"Y", 'T'}},
       .data_dependent = true,
       .attrs = {axis_attr("X flattened", "the axis to select along")},
       .infer = infer_compress,
       .doc = "The slices along an axis (or elements) where the condition is true; what lies beyond its length is left out."});
}

}  // namespace msvm
