// Operators that look for elements, order them or run along an axis.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

Status infer_nonzero(InferContext& c) {
  c.set_shape(0, {c.constant(std::max(c.rank(0), 1)), InferContext::data_dependent()});
  return {};
}

Status infer_unique(InferContext& c) {
  const auto& x = c.input(0).shape;
  Dim unknown = InferContext::data_dependent(), searched;
  if (c.attrs().has("axis")) {
    MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", 0), c.rank(0), "axis"));
    searched = x[static_cast<size_t>(axis)];
    std::vector<Dim> shape = x;
    shape[static_cast<size_t>(axis)] = unknown;
    c.set_shape(0, std::move(shape));
  } else {
    searched = c.dims().product(x);
    if (!searched.valid()) return overflow_error("the number of elements of X leaves 64 bits");
    c.set_shape(0, {unknown});
  }
  c.set_shape(1, {unknown});
  c.set_shape(2, {searched});
  c.set_shape(3, {unknown});
  return {};
}

Status infer_top_k(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", -1), c.rank(0), "axis"));
  std::vector<Dim> shape = c.input(0).shape;
  Dim& size = shape[static_cast<size_t>(axis)];
  Dim k = c.args()[0];
  MSVM_RETURN_IF_ERROR(require_at_least(c, k, 0, "k is not negative"));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, k, size, "k is no larger than the axis"));
  size = k;
  c.set_shape(1, shape);
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_arg(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", 0), c.rank(0), "axis"));
  std::vector<Dim> shape = c.input(0).shape;
  if (c.attrs().get_int("keepdims", 1)) {
    shape[static_cast<size_t>(axis)] = c.constant(1);
  } else {
    shape.erase(shape.begin() + axis);
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_along_axis(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN([[maybe_unused]] int axis, c.normalize_axis(c.attrs().get_int("axis", 0), c.rank(0), "axis"));
  return infer_same(c);
}

Status infer_best(InferContext& c) {
  MSVM_RETURN_IF_ERROR(infer_along_axis(c));
  c.set_shape(1, c.input(0).shape);
  return {};
}

}  // namespace

void add_search_ops(OpTable& table) {
  constexpr DType kI64 = DType::kI64;
  table.add({.name = "NonZero",
             .since = 13,
             .op_class = OpClass::kIndexing,
             .inputs = {{"X", kNotString}},
             .outputs = {{"indices", 0, kI64}},
             .data_dependent = true,
             .infer = infer_nonzero,
             .doc = "Positions of the elements that are not 0, in row-major order: one row per axis, one column per element. Rank "
                    "0 counts as [1]."});
  table.add({.name = "Unique",
             .since = 11,
             .op_class = OpClass::kIndexing,
             .inputs = {{"X", kAny, 'T'}},
             .outputs = {{"Y", 'T'}, {"indices", 0, kI64}, {"inverse_indices", 0, kI64}, {"counts", 0, kI64}},
             .data_dependent = true,
             .attrs = {axis_attr("X flattened", "compares slices along this axis"),
                       flag_attr("sorted", "1", "0 keeps the order of first occurrence")},
             .infer = infer_unique,
             .doc = "The different elements (or slices) of X, where each occurs first, which of them each element is, and how "
                    "often each occurs."});
  table.add({.name = "TopK",
             .since = 11,
             .op_class = OpClass::kIndexing,
             .inputs = {{"X", kNumeric, 'T'}},
             .min_args = 1,
             .max_args = 1,
             .args_doc = "k",
             .outputs = {{"values", 'T'}, {"indices", 0, kI64}},
             .attrs = {axis_attr("-1", "the axis to search along"), flag_attr("largest", "1", "0 looks for the smallest"),
                       flag_attr("sorted", "1", "0 leaves the order open")},
             .infer = infer_top_k,
             .doc = "The k largest (or smallest) elements along an axis and their positions; of equal ones the first."});
  OpSchema arg{
      .name = "ArgMax",
      .since = 13,
      .op_class = OpClass::kReduction,
      .inputs = {{"X", kNumeric, 'T'}},
      .outputs = {{"Y", 0, kI64}},
      .hazards = kIndexHazard,
      .attrs = {axis_attr("0", "the axis to search along"), flag_attr("keepdims", "1", "whether the axis stays, with size 1"),
                flag_attr("select_last_index", "0", "of equal elements the last instead of the first")},
      .infer = infer_arg,
      .doc = "Position of the largest element along an axis, which must not be empty where the result isn't."};
  table.add(arg);
  arg.name = "ArgMin";
  arg.doc = "Position of the smallest element along an axis, which must not be empty where the result isn't.";
  table.add(arg);
  OpSchema cum{
      .name = "CumSum",
      .since = 14,
      .op_class = OpClass::kReduction,
      .inputs = {{"X", kMatMulTypes, 'T'}},
      .outputs = {{"Y", 'T'}},
      .attrs = {required(axis_attr("", "the axis to run along")), flag_attr("exclusive", "0", "1 leaves the element itself out"),
                flag_attr("reverse", "0", "1 runs from the end")},
      .infer = infer_along_axis,
      .doc = "Sum of the elements up to each one along an axis."};
  table.add(cum);
  cum.name = "CumProd";
  cum.since = 26;
  cum.doc = "Product of the elements up to each one along an axis.";
  table.add(cum);
  cum.name = "msvm.CumLogSumExp";
  cum.since = 1;
  cum.inputs = {{"X", kFloats, 'T'}};
  cum.doc = "Logarithm of the sum of the exponentials of the elements up to each one along an axis, computed so that it doesn't overflow.";
  table.add(cum);
  OpSchema best{
      .name = "msvm.CumMax",
      .op_class = OpClass::kReduction,
      .inputs = {{"X", kNumeric | bit(DType::kBool), 'T'}},
      .outputs = {{"values", 'T'}, {"indices", 0, kI64}},
      .attrs = {required(axis_attr("", "the axis to run along"))},
      .infer = infer_best,
      .doc = "The largest of the elements up to each one along an axis, and its position: of equal ones the last; NaN from the first one on."};
  table.add(best);
  best.name = "msvm.CumMin";
  best.doc = "The smallest of the elements up to each one along an axis, and its position: of equal ones the last; NaN from the first one on.";
  table.add(best);
}

}  // namespace msvm
