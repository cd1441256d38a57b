// Operators that make tensors from sizes, from single values or from a key.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

constexpr DTypeSet kKey = bit(DType::kU64);

Status infer_range(InferContext& c) {
  for (size_t i = 0; i < 3; ++i) MSVM_RETURN_IF_ERROR(require_one_element(c, i));
  c.set_shape(0, {InferContext::data_dependent()});
  return {};
}

Status require_output_dtype(InferContext& c, DTypeSet allowed, std::string_view attr) {
  DType t = c.outputs()[0].dtype;
  if (allowed & bit(t)) return {};
  return attr_error("{} must be {}, but is {}", attr, to_string(allowed), dtype_name(t));
}

Status infer_iota(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_output_dtype(c, kNumeric, "dtype"));
  MSVM_RETURN_IF_ERROR(require_at_least(c, c.args()[1], 0, "count is not negative"));
  c.set_shape(0, {c.args()[1]});
  return {};
}

/// The arguments from `first` on as the shape of output 0.
Status infer_from_args(InferContext& c) {
  std::vector<Dim> shape(c.args().begin(), c.args().end());
  for (Dim d : shape) MSVM_RETURN_IF_ERROR(require_at_least(c, d, 0, "sizes are not negative"));
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_fill(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_output_dtype(c, kNotString, "dtype"));
  return infer_from_args(c);
}

Status infer_shape_tensor(InferContext& c) {
  if (!c.attrs().get_int("scalar", 0)) {
    c.set_shape(0, {c.constant(static_cast<int64_t>(c.args().size()))});
    return {};
  }
  if (c.args().size() != 1) return attr_error("scalar=1 takes one argument, but there are {}", c.args().size());
  c.set_shape(0, {});
  return {};
}

Status infer_eye_like(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_output_dtype(c, kNotString, "dtype"));
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 2));
  return infer_same(c);
}

Status require_key(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_vector(c, 0, c.constant(2), "a key has two elements"));
  c.set_shape(1, {c.constant(2)});
  return {};
}

Status infer_random(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_output_dtype(c, kFloats, "dtype"));
  MSVM_RETURN_IF_ERROR(require_key(c));
  return infer_from_args(c);
}

Status infer_bernoulli(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_output_dtype(c, kNotString, "dtype"));
  MSVM_RETURN_IF_ERROR(require_key(c));
  c.set_shape(0, c.input(1).shape);
  return {};
}

Status infer_multinomial(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_output_dtype(c, kIndexInts, "dtype"));
  MSVM_RETURN_IF_ERROR(require_key(c));
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, 2));
  MSVM_RETURN_IF_ERROR(require_at_least(c, c.args()[0], 0, "sample_size is not negative"));
  MSVM_RETURN_IF_ERROR(require_at_least(c, c.input(1).shape[1], 1, "there is a class to draw"));
  c.set_shape(0, {c.input(1).shape[0], c.args()[0]});
  return {};
}

}  // namespace

void add_creation_ops(OpTable& table) {
  constexpr DTypeSet kRange = kFloats | bit(DType::kI16) | kIndexInts;
  table.add({.name = "Range",
             .since = 11,
             .inputs = {{"start", kRange, 'T'}, {"limit", kRange, 'T'}, {"delta", kRange, 'T'}},
             .outputs = {{"Y", 'T'}},
             .data_dependent = true,
             .hazards = kDivisionHazard | kSizeHazard,
             .attrs = {dtype_attr("stash_type", "f32", "dtype of the arithmetic for f16 and bf16")},
             .infer = infer_range,
             .doc = "start, start + delta, ... up to but without limit. With sizes, msvm.Iota."});
  table.add({.name = "msvm.Iota",
             .min_args = 3,
             .max_args = 3,
             .args_doc = "start, count, step",
             .outputs = {{"Y", 0, DType::kI64, "dtype"}},
             .hazards = kCastHazard,
             .attrs = {dtype_attr("dtype", "i64", "the result's dtype, a number")},
             .infer = infer_iota,
             .doc = "start + i * step for i from 0 to count - 1."});
  table.add({.name = "msvm.Fill",
             .max_args = kMaxRank,
             .args_doc = "sizes of the result, one per axis",
             .outputs = {{"Y", 0, DType::kF32, "dtype"}},
             .attrs = {dtype_attr("dtype", "f32", "the result's dtype"),
                       {.name = "value",
                        .type = AttrType::kNumber,
                        .doc = "the value of each element; of a bool whether it is not 0",
                        .fallback = "0"}},
             .infer = infer_fill,
             .doc = "A tensor of one repeated value."});
  table.add({.name = "msvm.ShapeTensor",
             .max_args = 256,
             .args_doc = "the elements",
             .outputs = {{"Y", 0, DType::kI64}},
             .attrs = {flag_attr("scalar", "0", "1: rank 0, of one argument")},
             .infer = infer_shape_tensor,
             .doc = "Sizes as a tensor of i64."});
  table.add({.name = "EyeLike",
             .since = 22,
             .inputs = {{"X", kNotString, 'T'}},
             .outputs = {{"Y", 'T', DType::kF32, "dtype"}},
             .attrs = {dtype_attr("dtype", "that of X", "the result's dtype"),
                       int_attr("k", "0", INT64_MIN, INT64_MAX, "the diagonal: 0 the main one, positive above it")},
             .infer = infer_eye_like,
             .doc = "1 on a diagonal and 0 elsewhere, in the shape of X."});

  OpSchema random{.name = "RandomUniform",
                  .since = 22,
                  .inputs = {{"key", kKey}},
                  .max_args = kMaxRank,
                  .args_doc = "sizes of the result, one per axis",
                  .outputs = {{"Y", 0, DType::kF32, "dtype"}, {"next_key", 0, DType::kU64}},
                  .min_outputs = 2,
                  .attrs = {dtype_attr("dtype", "f32", "the result's dtype, a float"), float_attr("low", "0.0", "least value"),
                            float_attr("high", "1.0", "bound that values stay below")},
                  .infer = infer_random,
                  .doc = "Values drawn uniformly from [low, high), a function of the key alone; next_key serves the next draw."};
  table.add(random);
  random.name = "RandomNormal";
  random.attrs = {dtype_attr("dtype", "f32", "the result's dtype, a float"), float_attr("mean", "0.0", "mean"),
                  float_attr("scale", "1.0", "standard deviation")};
  random.doc = "Values drawn from a normal distribution, a function of the key alone; next_key serves the next draw.";
  table.add(random);
  table.add({.name = "Bernoulli",
             .since = 22,
             .inputs = {{"key", kKey}, {"X", kFloats, 'T'}},
             .outputs = {{"Y", 'T', DType::kF32, "dtype"}, {"next_key", 0, DType::kU64}},
             .min_outputs = 2,
             .hazards = kNoHazard,
             .attrs = {dtype_attr("dtype", "that of X", "the result's dtype")},
             .infer = infer_bernoulli,
             .doc = "1 with the probability that X gives, else 0; a function of key and X."});
  table.add({.name = "Multinomial",
             .since = 22,
             .inputs = {{"key", kKey}, {"X", kFloats, 'T'}},
             .min_args = 1,
             .max_args = 1,
             .args_doc = "sample_size",
             .outputs = {{"Y", 0, DType::kI32, "dtype"}, {"next_key", 0, DType::kU64}},
             .min_outputs = 2,
             .attrs = {dtype_attr("dtype", "i32", "i32 or i64")},
             .infer = infer_multinomial,
             .doc = "Classes drawn by the unnormalised log-probabilities in X [batch, classes]; a function of key and X."});
}

}  // namespace msvm
