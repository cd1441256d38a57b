// Operators that place elements anew: joining, slicing, padding, reordering.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

constexpr int64_t kHuge = int64_t{1} << 62;  // slice bounds beyond it mean "to the end"

OpSchema movement(std::string_view name, int since, InferFn infer, std::string_view doc) {
  return {.name = name,
          .since = since,
          .op_class = OpClass::kMovement,
          .inputs = {{"X", kAny, 'T'}},
          .outputs = {{"Y", 'T'}},
          .infer = infer,
          .doc = doc};
}

Status infer_concat(InferContext& c) {
  int rank = c.rank(0);
  if (rank == 0) return shape_error("tensors of rank 0 can't be joined along an axis");
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", 0), rank, "axis"));
  std::vector<Dim> shape = c.input(0).shape;
  for (size_t i = 1; i < c.num_inputs(); ++i) {
    const auto& other = c.input(i).shape;
    if (c.rank(i) != rank)
      return shape_error("all inputs must have the same rank, but inputs 0 and {} have ranks {} and {}", i, rank, c.rank(i));
    for (int a = 0; a < rank; ++a) {
      auto k = static_cast<size_t>(a);
      if (a == axis) {
        shape[k] = c.dims().add(shape[k], other[k]);
      } else if (shape[k] != other[k]) {
        MSVM_RETURN_IF_ERROR(
            require_equal(c, shape[k], other[k], "sizes of joined tensors are equal on all axes but the joined one"));
        shape[k] = more_known(shape[k], other[k]);
      }
    }
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_stack(InferContext& c) {
  int rank = c.rank(0);
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", 0), rank + 1, "axis"));
  std::vector<Dim> shape = c.input(0).shape;
  for (size_t i = 1; i < c.num_inputs(); ++i) {
    const auto& other = c.input(i).shape;
    if (c.rank(i) != rank)
      return shape_error("all inputs must have the same rank, but inputs 0 and {} have ranks {} and {}", i, rank, c.rank(i));
    for (size_t a = 0; a < shape.size(); ++a) {
      MSVM_RETURN_IF_ERROR(require_equal(c, shape[a], other[a], "stacked tensors have the same shape"));
      shape[a] = more_known(shape[a], other[a]);
    }
  }
  shape.insert(shape.begin() + axis, c.constant(static_cast<int64_t>(c.num_inputs())));
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_transpose(InferContext& c) {
  const auto& in = c.input(0).shape;
  size_t rank = in.size();
  std::vector<Dim> shape(rank);
  if (!c.attrs().has("perm")) {
    for (size_t i = 0; i < rank; ++i) shape[i] = in[rank - 1 - i];
  } else {
    const auto& perm = c.attrs().get_ints("perm");
    MSVM_RETURN_IF_ERROR(require_list_length("perm", perm.size(), rank));
    uint32_t seen = 0;
    for (size_t i = 0; i < rank; ++i) {
      if (perm[i] < 0 || perm[i] >= static_cast<int64_t>(rank) || (seen >> perm[i] & 1))
        return attr_error("perm must name each axis of X once");
      seen |= 1u << perm[i];
      shape[i] = in[static_cast<size_t>(perm[i])];
    }
  }
  c.set_shape(0, std::move(shape));
  return {};
}

/// x + (x < 0 ? d : 0), whatever is known of x.
Dim wrap_negative(DimContext& m, Dim x, Dim d) {
  DimRange r = m.range(x);
  if (r.min >= 0) return x;
  if (r.max < 0) return m.add(x, d);
  // max(min(x, 0), -1) is -1 for negative x, else 0.
  Dim minus_sign = m.max(m.min(x, m.constant(0)), m.constant(-1));
  return m.sub(x, m.mul(d, minus_sign));
}

bool is_minus_infinity(Dim x) { return x.is_const() && x.value() <= -kHuge; }
bool is_infinity(Dim x) { return x.is_const() && x.value() >= kHuge; }

/// Elements that X[start:end:step] keeps of `d`. Clamps that the last max(..., 0) makes needless are left out, so that the usual
/// slices keep plain forms: max(H - 1, 0) for x[1:], max(H - 2, 0) for x[1:-1].
Dim sliced_size(DimContext& m, Dim d, Dim start, Dim end, int64_t step) {
  Dim zero = m.constant(0), one = m.constant(1);
  if (step > 0) {
    if (is_infinity(start) || is_minus_infinity(end)) return zero;
    Dim to = is_infinity(end) ? d : end.is_const() && end.value() < 0 ? m.add(d, end) : tight_min(m, wrap_negative(m, end, d), d);
    Dim length;
    if (is_minus_infinity(start)) {
      length = to;
    } else if (to == d && start.is_const() && start.value() < 0) {
      length = tight_min(m, d, m.neg(start));
    } else {
      length = m.sub(to, tight_max(m, wrap_negative(m, start, d), zero));
    }
    return tight_max(m, m.ceildiv(length, m.constant(step)), zero);
  }
  if (step == INT64_MIN) step = -INT64_MAX;  // no tensor tells the two apart
  if (is_infinity(end)) return zero;
  Dim last = m.sub(d, one), from = last;
  if (is_minus_infinity(start)) {
    from = tight_min(m, zero, last);
  } else if (!is_infinity(start) && !start.is_const(-1)) {
    from = tight_min(m, tight_max(m, wrap_negative(m, start, d), zero), last);
  }
  Dim to = is_minus_infinity(end) ? m.constant(-1) : tight_max(m, wrap_negative(m, end, d), m.constant(-1));
  return tight_max(m, m.ceildiv(m.sub(from, to), m.constant(-step)), zero);
}

Status infer_slice(InferContext& c) {
  auto args = c.args();
  if (args.size() % 2) return attr_error("takes a start and an end for each axis, but has {} arguments", args.size());
  size_t n = args.size() / 2;
  int rank = c.rank(0);
  std::array<int64_t, kMaxRank> all{};
  std::span<const int64_t> axes(c.attrs().get_ints("axes"));
  if (!c.attrs().has("axes")) {
    for (size_t i = 0; i < n; ++i) all[i] = static_cast<int64_t>(i);
    axes = std::span(all).first(n);
  }
  MSVM_RETURN_IF_ERROR(require_list_length("axes", axes.size(), n));
  const auto& steps = c.attrs().get_ints("steps");
  if (c.attrs().has("steps")) MSVM_RETURN_IF_ERROR(require_list_length("steps", steps.size(), n));
  MSVM_ASSIGN_OR_RETURN(AxisList list, normalize_axes(c, axes, rank));
  std::vector<Dim> shape = c.input(0).shape;
  for (size_t i = 0; i < n; ++i) {
    int64_t step = steps.empty() ? 1 : steps[i];
    if (step == 0) return attr_error("steps: a step is 0");
    Dim& d = shape[static_cast<size_t>(list.axis[i])];
    d = sliced_size(c.dims(), d, args[i], args[n + i], step);
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_pad(InferContext& c) {
  auto rank = static_cast<size_t>(c.rank(0));
  if (c.args().size() != 2 * rank)
    return attr_error("takes a begin and an end for each of {} axes, but has {} arguments", rank, c.args().size());
  MSVM_RETURN_IF_ERROR(require_one_element(c, 1));
  std::string_view mode = c.attrs().get_string("mode", "constant");
  DimContext& m = c.dims();
  Dim zero = m.constant(0);
  std::vector<Dim> shape = c.input(0).shape;
  for (size_t i = 0; i < rank; ++i) {
    Dim begin = c.args()[i], end = c.args()[rank + i];
    if (begin.is_const(0) && end.is_const(0)) continue;
    Dim kept = shape[i];  // after the crops that negative pads are
    Dim crop = m.add(tight_min(m, begin, zero), tight_min(m, end, zero));
    if (!crop.is_const(0)) {
      kept = m.add(kept, crop);
      MSVM_RETURN_IF_ERROR(require_at_least(c, kept, 0, "negative pads don't crop more than there is"));
    }
    Dim added = m.add(tight_max(m, begin, zero), tight_max(m, end, zero));
    if (mode == "reflect") {
      // A reflection has size - 1 elements to give to each side.
      for (Dim pad : {begin, end}) {
        if (m.range(pad).max <= 0) continue;
        MSVM_RETURN_IF_ERROR(c.require(CondOp::kLt, pad, kept, "reflected pads are smaller than the axis"));
      }
    } else if (mode != "constant" && !added.is_const(0)) {
      MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, tight_min(m, added, m.constant(1)), kept, "an axis to repeat from isn't empty"));
    }
    shape[i] = m.add(kept, added);
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_tile(InferContext& c) {
  std::vector<Dim> shape = c.input(0).shape;
  if (c.args().size() != shape.size())
    return attr_error("takes one repeat for each of {} axes, but has {}", shape.size(), c.args().size());
  for (size_t i = 0; i < shape.size(); ++i) {
    MSVM_RETURN_IF_ERROR(require_at_least(c, c.args()[i], 0, "repeats are not negative"));
    shape[i] = c.dims().mul(shape[i], c.args()[i]);
  }
  c.set_shape(0, std::move(shape));
  return {};
}

/// Reshape and Expand by a tensor: the rank is known if the length of `shape` is.
Status infer_by_shape_tensor(InferContext& c, bool expand) {
  const TensorType& by = c.input(1);
  if (by.unknown_rank) {
    c.set_unknown_rank(0);
    return {};
  }
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, 1));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, by.shape[0], c.constant(kMaxRank), "the new shape has at most 8 axes"));
  if (!by.shape[0].is_const() || (expand && c.input(0).unknown_rank)) {
    c.set_unknown_rank(0);
    return {};
  }
  auto rank = static_cast<size_t>(by.shape[0].value());
  if (expand) rank = std::max(rank, c.input(0).shape.size());
  c.set_shape(0, std::vector<Dim>(rank, InferContext::data_dependent()));
  return {};
}
Status infer_reshape(InferContext& c) { return infer_by_shape_tensor(c, false); }
Status infer_expand(InferContext& c) { return infer_by_shape_tensor(c, true); }

Status infer_squeeze(InferContext& c) {
  const TensorType& x = c.input(0);
  if (x.unknown_rank) {
    c.set_unknown_rank(0);
    return {};
  }
  std::vector<Dim> shape;
  if (c.attrs().has("axes")) {
    MSVM_ASSIGN_OR_RETURN(AxisList axes, normalize_axes(c, c.attrs().get_ints("axes"), x.rank()));
    for (int a = 0; a < x.rank(); ++a) {
      Dim d = x.shape[static_cast<size_t>(a)];
      if (!axes.has(a)) {
        shape.push_back(d);
      } else {
        MSVM_RETURN_IF_ERROR(require_equal(c, d, c.constant(1), "squeezed axes have size 1"));
      }
    }
  } else {
    for (Dim d : x.shape) {
      if (!d.is_const() && c.dims().range(d).max >= 1 && c.dims().range(d).min <= 1) {
        c.set_unknown_rank(0);  // whether the axis goes is known only at run time
        return {};
      }
      if (!d.is_const(1)) shape.push_back(d);
    }
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_unsqueeze(InferContext& c) {
  const TensorType& x = c.input(0);
  if (x.unknown_rank) {
    c.set_unknown_rank(0);
    return {};
  }
  const auto& list = c.attrs().get_ints("axes");
  int rank = x.rank() + static_cast<int>(list.size());
  if (rank > kMaxRank)
    return unsupported(fmt::format("the result would have rank {}; tensors have at most {} axes", rank, kMaxRank));
  MSVM_ASSIGN_OR_RETURN(AxisList axes, normalize_axes(c, list, rank));
  std::vector<Dim> shape;
  size_t next = 0;
  for (int a = 0; a < rank; ++a) shape.push_back(axes.has(a) ? c.constant(1) : x.shape[next++]);
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_flatten(InferContext& c) {
  const TensorType& x = c.input(0);
  if (x.unknown_rank) {  // the rank is known to be 2 all the same
    c.set_shape(0, {InferContext::data_dependent(), InferContext::data_dependent()});
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", 1), x.rank() + 1, "axis"));
  auto shape = std::span(x.shape);
  Dim rows = c.dims().product(shape.first(static_cast<size_t>(axis))),
      columns = c.dims().product(shape.subspan(static_cast<size_t>(axis)));
  if (!rows.valid() || !columns.valid()) return overflow_error("the number of elements leaves 64 bits");
  c.set_shape(0, {rows, columns});
  return {};
}

Status infer_shape(InferContext& c) {
  const TensorType& x = c.input(0);
  int64_t start = c.attrs().get_int("start", 0), end = c.attrs().get_int("end", kMaxRank);
  if (x.unknown_rank) {
    c.set_shape(0, {InferContext::data_dependent()});
    return {};
  }
  int64_t rank = x.rank();
  if (start < 0) start += rank;
  if (end < 0) end += rank;
  start = std::clamp<int64_t>(start, 0, rank);
  end = std::clamp<int64_t>(end, 0, rank);
  c.set_shape(0, {c.constant(std::max<int64_t>(end - start, 0))});
  return {};
}

Status infer_scalar(InferContext& c) {
  c.set_shape(0, {});
  return {};
}

Status infer_depth_to_space(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 4));
  DimContext& m = c.dims();
  Dim b = m.constant(c.attrs().get_int("blocksize", 1)), bb = m.mul(b, b);
  const auto& in = c.input(0).shape;
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, bb, in[1], "blocksize squared divides the channels of X"));
  c.set_shape(0, {in[0], m.floordiv(in[1], bb), m.mul(in[2], b), m.mul(in[3], b)});
  return {};
}

Status infer_space_to_depth(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 4));
  DimContext& m = c.dims();
  Dim b = m.constant(c.attrs().get_int("blocksize", 1)), bb = m.mul(b, b);
  const auto& in = c.input(0).shape;
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, b, in[2], "blocksize divides the height of X"));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, b, in[3], "blocksize divides the width of X"));
  c.set_shape(0, {in[0], m.mul(in[1], bb), m.floordiv(in[2], b), m.floordiv(in[3], b)});
  return {};
}

Status infer_reverse_sequence(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 2, kMaxRank));
  int64_t batch = c.attrs().get_int("batch_axis", 1), time = c.attrs().get_int("time_axis", 0);
  if (batch == time) return attr_error("batch_axis and time_axis must differ, but both are {}", batch);
  MSVM_RETURN_IF_ERROR(require_vector(c, 1, c.input(0).shape[static_cast<size_t>(batch)], "there is one length for each sequence"));
  return infer_same(c);
}

Status infer_trilu(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 2, kMaxRank));
  return infer_same(c);
}

Status infer_center_crop_pad(InferContext& c) {
  std::vector<Dim> shape = c.input(0).shape;
  AxisList axes;
  if (c.attrs().has("axes")) {
    MSVM_ASSIGN_OR_RETURN(axes, normalize_axes(c, c.attrs().get_ints("axes"), c.rank(0)));
  } else {
    for (; axes.count < c.rank(0); ++axes.count) axes.axis[static_cast<size_t>(axes.count)] = axes.count;
  }
  if (c.args().size() != static_cast<size_t>(axes.count))
    return attr_error("takes one size for each of {} axes, but has {}", axes.count, c.args().size());
  for (size_t i = 0; i < c.args().size(); ++i) {
    MSVM_RETURN_IF_ERROR(require_at_least(c, c.args()[i], 0, "sizes are not negative"));
    shape[static_cast<size_t>(axes.axis[i])] = c.args()[i];
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_col2im(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 3));
  if (c.args().size() % 2) return attr_error("takes as many image sizes as block sizes, but has {} arguments", c.args().size());
  size_t n = c.args().size() / 2;
  DimContext& m = c.dims();
  const Attributes& at = c.attrs();
  for (auto name : {"dilations", "strides"})
    if (at.has(name)) MSVM_RETURN_IF_ERROR(require_list_length(name, at.get_ints(name).size(), n));
  if (at.has("pads")) MSVM_RETURN_IF_ERROR(require_list_length("pads", at.get_ints("pads").size(), 2 * n));
  const auto &dilations = at.get_ints("dilations"), &strides = at.get_ints("strides"), &pads = at.get_ints("pads");
  Dim one = m.constant(1), block = one, blocks = one;
  std::vector<Dim> shape{c.input(0).shape[0], one};
  for (size_t i = 0; i < n; ++i) {
    Dim image = c.args()[i], b = c.args()[n + i];
    MSVM_RETURN_IF_ERROR(require_at_least(c, image, 0, "image sizes are not negative"));
    MSVM_RETURN_IF_ERROR(require_at_least(c, b, 1, "block sizes are 1 or more"));
    Dim window = m.add(m.mul(m.sub(b, one), m.constant(dilations.empty() ? 1 : dilations[i])), one);
    Dim padded = pads.empty() ? image : m.add(m.add(image, m.constant(pads[i])), m.constant(pads[n + i]));
    MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, window, padded, "a block fits into the padded image"));
    blocks = m.mul(blocks, m.add(m.floordiv(m.sub(padded, window), m.constant(strides.empty() ? 1 : strides[i])), one));
    block = m.mul(block, b);
    shape.push_back(image);
  }
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, block, c.input(0).shape[1], "the size of a block divides axis 1 of X"));
  MSVM_RETURN_IF_ERROR(require_equal(c, c.input(0).shape[2], blocks, "axis 2 of X counts the blocks of the image"));
  shape[1] = m.floordiv(c.input(0).shape[1], block);
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_assign(InferContext& c) {
  const std::vector<Dim>&x = c.input(0).shape, &update = c.input(1).shape;
  const auto& axes = c.attrs().get_ints("axes");
  if (c.rank(1) != c.rank(0)) return shape_error("X and update must have the same rank, but have {} and {}", c.rank(0), c.rank(1));
  if (axes.size() != c.args().size()) return shape_error("there must be one start per axis, but there are {} for {} axes", c.args().size(), axes.size());
  std::vector<bool> named(x.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    MSVM_ASSIGN_OR_RETURN(const int axis, c.normalize_axis(axes[k], c.rank(0), "axes"));
    const auto a = static_cast<size_t>(axis);
    if (named[a]) return shape_error("axes names axis {} twice", axis);
    named[a] = true;
    MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, c.constant(0), c.args()[k], "the written part begins within X"));
    MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, c.dims().add(c.args()[k], update[a]), x[a], "the written part ends within X"));
  }
  for (size_t a = 0; a < x.size(); ++a)
    if (!named[a]) MSVM_RETURN_IF_ERROR(require_equal(c, x[a], update[a], "update has X's size on axes without a start"));
  c.set_shape(0, x);
  return {};
}

}  // namespace

void add_movement_ops(OpTable& table) {
  OpSchema concat = movement("Concat", 13, infer_concat, "Joins tensors one after the other along an axis.");
  concat.inputs = {{"inputs", kAny, 'T'}};
  concat.variadic = true;
  concat.min_variadic = 1;
  concat.attrs = {required(axis_attr("", "the axis to join along"))};
  table.add(concat);

  OpSchema stack = concat;
  stack.name = "msvm.Stack";
  stack.since = 1;
  stack.infer = infer_stack;
  stack.attrs = {required(axis_attr("", "where the new axis stands in the result"))};
  stack.doc = "Joins tensors of one shape along a new axis.";
  table.add(std::move(stack));

  OpSchema assign = movement("msvm.Assign", 1, infer_assign, "X with one part of it, of update's sizes, replaced.");
  assign.inputs.push_back({"update", kAny, 'T'});
  assign.max_args = kMaxRank;
  assign.args_doc = "where the part begins, one per listed axis";
  assign.in_place = 1;
  assign.attrs = {required(ints_attr("axes", "", -kMaxRank, kMaxRank - 1, "the axes that have a start; on the others update has X's size"))};
  table.add(std::move(assign));

  table.add(movement("Identity", 23, infer_same, "A dense copy of X. Where X is at hand as a register, that register does."));

  OpSchema transpose =
      movement("Transpose", 23, infer_transpose, "Reorders the axes into a new dense tensor; a transposed view costs nothing.");
  transpose.attrs = {ints_attr("perm", "axes reversed", 0, kMaxRank - 1, "the input axis that each axis of the result is")};
  table.add(std::move(transpose));

  OpSchema slice = movement("Slice", 13, infer_slice,
                            "Every step-th element from start to end along the listed axes; bounds wrap and clamp as in ONNX.");
  slice.max_args = 2 * kMaxRank;
  slice.args_doc = "starts, then ends, one of each per listed axis";
  slice.attrs = {axes_attr("the first ones", "the sliced axes"),
                 ints_attr("steps", "1 each", INT64_MIN, INT64_MAX, "steps, not 0; negative ones go backwards")};
  table.add(std::move(slice));

  OpSchema pad = movement("Pad", 23, infer_pad, "Adds elements before and after each axis; negative pads crop.");
  pad.inputs.push_back({"value", kAny, 'T', true});
  pad.max_args = 2 * kMaxRank;
  pad.args_doc = "elements to add at the begin of each axis, then at the end of each";
  pad.attrs = {choice_attr("mode", "constant", "constant|reflect|edge|wrap",
                           "what is added: the value, a mirror image, the border, or the other end")};
  table.add(std::move(pad));

  OpSchema tile = movement("Tile", 13, infer_tile, "Repeats the tensor along each axis.");
  tile.max_args = kMaxRank;
  tile.args_doc = "repeats, one per axis";
  table.add(std::move(tile));

  OpSchema reshape =
      movement("Reshape", 23, infer_reshape,
               "The same elements under a shape that a tensor holds; where sizes are known the reshaped view is used.");
  reshape.inputs.push_back({"shape", bit(DType::kI64)});
  reshape.data_dependent = true;
  reshape.any_rank = true;
  reshape.hazards = kSizeHazard;
  reshape.attrs = {flag_attr("allowzero", "0", "whether 0 means size 0 instead of the input's size")};
  table.add(reshape);

  OpSchema expand = reshape;
  expand.name = "Expand";
  expand.since = 13;
  expand.infer = infer_expand;
  expand.attrs = {};
  expand.doc = "Broadcasts to a shape that a tensor holds; where sizes are known the broadcast view is used.";
  table.add(std::move(expand));

  OpSchema squeeze = movement("Squeeze", 23, infer_squeeze,
                              "Drops axes of size 1: the listed ones, or all. For inputs whose rank is known only at run time.");
  squeeze.data_dependent = true;
  squeeze.any_rank = true;
  squeeze.hazards = kSizeHazard;
  squeeze.attrs = {axes_attr("all of size 1", "the axes to drop")};
  table.add(squeeze);

  OpSchema unsqueeze = squeeze;
  unsqueeze.name = "Unsqueeze";
  unsqueeze.infer = infer_unsqueeze;
  unsqueeze.attrs = {required(axes_attr("", "where the new axes stand in the result"))};
  unsqueeze.doc = "Adds axes of size 1. For inputs whose rank is known only at run time.";
  table.add(std::move(unsqueeze));

  OpSchema flatten = squeeze;
  flatten.name = "Flatten";
  flatten.infer = infer_flatten;
  flatten.attrs = {int_attr("axis", "1", -kMaxRank, kMaxRank, "the first axis that goes into the second one of the result")};
  flatten.doc =
      "Merges the axes before `axis` into one, and the others into another. For inputs whose rank is known only at run time.";
  table.add(std::move(flatten));

  OpSchema shape = movement("Shape", 23, infer_shape,
                            "The sizes of X as a tensor. For inputs whose rank is known only at run time; else sizes are scalars.");
  shape.inputs = {{"X", kAny}};
  shape.outputs = {{"shape", 0, DType::kI64}};
  shape.data_dependent = true;
  shape.any_rank = true;
  shape.attrs = {int_attr("start", "0", INT64_MIN, INT64_MAX, "first axis"),
                 int_attr("end", "the rank", INT64_MIN, INT64_MAX, "axis after the last one")};
  table.add(shape);

  OpSchema size = shape;
  size.name = "Size";
  size.data_dependent = false;
  size.outputs = {{"size", 0, DType::kI64}};
  size.infer = infer_scalar;
  size.attrs = {};
  size.doc = "The number of elements of X as a tensor of rank 0. For inputs whose rank is known only at run time.";
  table.add(std::move(size));

  constexpr int64_t kMaxBlock = 1 << 15;
  OpSchema d2s = movement("DepthToSpace", 13, infer_depth_to_space, "Moves blocks of channels into height and width.");
  d2s.attrs = {required(int_attr("blocksize", "", 1, kMaxBlock, "height and width of a block")),
               choice_attr("mode", "DCR", "DCR|CRD", "order of the channels: block rows and columns first, or last")};
  table.add(d2s);
  OpSchema s2d = d2s;
  s2d.name = "SpaceToDepth";
  s2d.infer = infer_space_to_depth;
  s2d.doc = "Moves blocks of height and width into channels.";
  table.add(std::move(s2d));

  OpSchema reverse =
      movement("ReverseSequence", 10, infer_reverse_sequence, "Reverses the first sequence_lens[b] elements of each sequence b.");
  reverse.inputs.push_back({"sequence_lens", bit(DType::kI64)});
  reverse.hazards = kIndexHazard;
  reverse.attrs = {int_attr("batch_axis", "1", 0, 1, "axis of the sequences"),
                   int_attr("time_axis", "0", 0, 1, "axis within a sequence")};
  table.add(std::move(reverse));

  OpSchema trilu = movement("Trilu", 14, infer_trilu, "Keeps the upper or lower triangle of each matrix; the rest is 0.");
  trilu.max_args = 1;
  trilu.args_doc = "the diagonal that bounds the triangle; absent: 0, the main one";
  trilu.attrs = {flag_attr("upper", "1", "1 keeps the upper triangle, 0 the lower")};
  table.add(std::move(trilu));

  OpSchema crop =
      movement("CenterCropPad", 18, infer_center_crop_pad, "Crops or pads with 0 around the centre to the given sizes.");
  crop.max_args = kMaxRank;
  crop.args_doc = "sizes of the result, one per listed axis";
  crop.attrs = {axes_attr("all", "the axes that change")};
  table.add(std::move(crop));

  OpSchema col2im = movement("Col2Im", 18, infer_col2im, "Sums columns of blocks into the image they were cut from.");
  col2im.op_class = OpClass::kReduction;
  col2im.inputs = {{"X", kNumeric, 'T'}};
  col2im.min_args = 2;
  col2im.max_args = 2 * (kMaxRank - 2);
  col2im.args_doc = "sizes of the image, then of a block, one of each per spatial axis";
  col2im.attrs = {ints_attr("dilations", "1 each", 1, kNoLimit, "distance of a block's elements"),
                  ints_attr("pads", "0 each", 0, kNoLimit, "begins, then ends"),
                  ints_attr("strides", "1 each", 1, kNoLimit, "distance of blocks")};
  table.add(std::move(col2im));
}

}  // namespace msvm
