// Quantization. (Integer and quantized products: conv.cpp, matmul.cpp; QLinearConv is here.)
#include "msvm/ops/families.h"
#include "msvm/ops/window.h"

namespace msvm {
namespace {

constexpr DTypeSet kQuantized = kBytes | bit(DType::kI16) | bit(DType::kU16);
constexpr DTypeSet kScales = bit(DType::kF32) | bit(DType::kF16) | bit(DType::kBF16);

/// Scale of the whole tensor, of each position along `axis`, or of blocks along `axis`; the zero point has its shape.
Status require_scale(InferContext& c) {
  const auto &x = c.input(0).shape, &scale = c.input(1).shape;
  DimContext& m = c.dims();
  int64_t block = c.attrs().get_int("block_size", 0), axis = c.attrs().get_int("axis", 1);
  if (block > 0) {
    MSVM_RETURN_IF_ERROR(require_rank(c, 1, c.rank(0)));
    MSVM_ASSIGN_OR_RETURN(int a, c.normalize_axis(axis, c.rank(0), "axis"));
    for (size_t i = 0; i < x.size(); ++i) {
      Dim expected = i == static_cast<size_t>(a) ? m.ceildiv(x[i], m.constant(block)) : x[i];
      MSVM_RETURN_IF_ERROR(require_equal(c, scale[i], expected, "there is one scale for each block of x"));
    }
  } else if (!scale.empty()) {
    MSVM_RETURN_IF_ERROR(require_rank_between(c, 1, 0, 1));
    if (!scale[0].is_const(1)) {
      if (x.size() == 1) axis = 0;
      MSVM_ASSIGN_OR_RETURN(int a, c.normalize_axis(axis, c.rank(0), "axis"));
      MSVM_RETURN_IF_ERROR(
          require_broadcast_to(c, scale[0], x[static_cast<size_t>(a)], "there is one scale, or one for each position along axis"));
    }
  }
  if (!c.has_input(2)) return {};
  const auto& zero = c.input(2).shape;
  // [] and [1] both mean one value.
  if (zero.size() <= 1 && scale.size() <= 1 && (zero.empty() || zero[0].is_const(1)) && (scale.empty() || scale[0].is_const(1)))
    return {};
  return require_same_shape(c, 2, 1, "the zero point has the shape of the scale");
}

Status infer_quantize(InferContext& c) {
  DType out = c.outputs()[0].dtype;
  if (!(bit(out) & kQuantized)) return attr_error("output_dtype must be {}, but is {}", to_string(kQuantized), dtype_name(out));
  if (c.has_input(2) && c.input(2).dtype != out)
    return attr_error("output_dtype is {}, but y_zero_point is {}", dtype_name(out), dtype_name(c.input(2).dtype));
  MSVM_RETURN_IF_ERROR(require_scale(c));
  return infer_same(c);
}

Status infer_dequantize(InferContext& c) {
  DType out = c.outputs()[0].dtype;
  if (!is_float(out)) return attr_error("output_dtype must be a float, but is {}", dtype_name(out));
  MSVM_RETURN_IF_ERROR(require_scale(c));
  return infer_same(c);
}

Status infer_dynamic_quantize(InferContext& c) {
  c.set_shape(0, c.input(0).shape);
  c.set_shape(1, {});
  c.set_shape(2, {});
  return {};
}

Status infer_qlinear_conv(InferContext& c) {  // x, scale, zero; w, scale, zero; y's scale, zero; B
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, convolution_shape(c, 0, 3));
  for (size_t i : {size_t{1}, size_t{2}, size_t{6}, size_t{7}}) MSVM_RETURN_IF_ERROR(require_one_element(c, i));
  for (size_t i : {size_t{4}, size_t{5}})
    MSVM_RETURN_IF_ERROR(require_broadcast_to(c, c.input(i).shape, std::span(shape).subspan(1, 1),
                                              "scale and zero point of w are one value or one for each output channel"));
  MSVM_RETURN_IF_ERROR(require_vector(c, 8, shape[1], "B has one element for each output channel"));
  c.set_shape(0, std::move(shape));
  return {};
}

}  // namespace

void add_quantize_ops(OpTable& table) {
  AttrSpec axis = axis_attr("1", "axis of the scales, if there are several");
  AttrSpec block = int_attr("block_size", "0", 0, kNoLimit, "positions along axis that share a scale; 0: no blocks");
  table.add({.name = "QuantizeLinear",
             .since = 23,
             .op_class = OpClass::kQuantize,
             .inputs = {{"x", kFloats | bit(DType::kI32), 'X'},
                        {"y_scale", kFloats | bit(DType::kI32), 'S'},
                        {"y_zero_point", kQuantized, 'Z', true}},
             .outputs = {{"y", 'Z', DType::kU8, "output_dtype"}},
             .hazards = kDivisionHazard | kCastHazard,
             .attrs = {axis, block, dtype_attr("compute_dtype", "that of y_scale", "dtype of the division"),
                       dtype_attr("output_dtype", "that of y_zero_point, else u8", "dtype of y"),
                       flag_attr("saturate", "1", "float8 results only")},
             .infer = infer_quantize,
             .doc = "round(x / y_scale) + y_zero_point, halves to even, limited to the range of y."});
  table.add({.name = "DequantizeLinear",
             .since = 23,
             .op_class = OpClass::kQuantize,
             .inputs = {{"x", kQuantized | bit(DType::kI32), 'X'},
                        {"x_scale", kFloats, 'S'},
                        {"x_zero_point", kQuantized | bit(DType::kI32), 'X', true}},
             .outputs = {{"y", 'S', DType::kF32, "output_dtype"}},
             .hazards = kZeroPointHazard,
             .attrs = {axis, block, dtype_attr("output_dtype", "that of x_scale", "dtype of y")},
             .infer = infer_dequantize,
             .doc = "(x - x_zero_point) * x_scale."});
  table.add({.name = "DynamicQuantizeLinear",
             .since = 11,
             .op_class = OpClass::kQuantize,
             .inputs = {{"x", bit(DType::kF32)}},
             .outputs = {{"y", 0, DType::kU8}, {"y_scale", 0, DType::kF32}, {"y_zero_point", 0, DType::kU8}},
             .min_outputs = 3,
             .hazards = kCastHazard,
             .infer = infer_dynamic_quantize,
             .doc = "Quantizes to u8 over the range of x widened to hold 0, and gives the scale and zero point used."});
  OpSchema conv{.name = "QLinearConv",
                .since = 10,
                .op_class = OpClass::kQuantize,
                .inputs = {{"x", kBytes, 'X'},
                           {"x_scale", bit(DType::kF32)},
                           {"x_zero_point", kBytes, 'X'},
                           {"w", kBytes, 'W'},
                           {"w_scale", bit(DType::kF32)},
                           {"w_zero_point", kBytes, 'W'},
                           {"y_scale", bit(DType::kF32)},
                           {"y_zero_point", kBytes, 'Y'},
                           {"B", bit(DType::kI32), 0, true}},
                .outputs = {{"y", 'Y'}},
                .hazards = kDivisionHazard,
                .attrs = convolution_attrs(),
                .infer = infer_qlinear_conv,
                .doc = "Conv of quantized tensors, quantized; B has the scale x_scale * w_scale."};
  table.add(std::move(conv));
}

}  // namespace msvm
