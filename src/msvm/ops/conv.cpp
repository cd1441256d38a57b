// Convolutions.
#include "msvm/ops/families.h"
#include "msvm/ops/window.h"

namespace msvm {
namespace {

Status infer_conv(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, convolution_shape(c, 0, 1));
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, shape[1], "B has one element for each output channel"));
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_conv_integer(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, convolution_shape(c, 0, 1));
  MSVM_RETURN_IF_ERROR(require_one_element(c, 2));
  if (c.has_input(3))
    MSVM_RETURN_IF_ERROR(require_broadcast_to(c, c.input(3).shape, std::span(shape).subspan(1, 1),
                                              "w_zero_point is one value or one for each output channel"));
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_conv_transpose(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 3, kMaxRank));
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, c.rank(0)));
  const auto &x = c.input(0).shape, &w = c.input(1).shape;
  const Attributes& at = c.attrs();
  DimContext& m = c.dims();
  size_t spatial = x.size() - 2;
  Dim group = m.constant(at.get_int("group", 1)), one = m.constant(1);
  MSVM_RETURN_IF_ERROR(require_equal(c, x[1], w[0], "channels of X equal axis 0 of W"));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, group, w[0], "group divides the channels of X"));
  std::vector<Dim> shape{x[0], m.mul(w[1], group)};
  shape.reserve(x.size());
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, shape[1], "B has one element for each output channel"));
  MSVM_ASSIGN_OR_RETURN(WindowSpec window, read_window(at, spatial));
  const auto &kernel = at.get_ints("kernel_shape"), &extra = at.get_ints("output_padding"), &wanted = at.get_ints("output_shape");
  if (!kernel.empty()) MSVM_RETURN_IF_ERROR(require_list_length("kernel_shape", kernel.size(), spatial));
  if (!extra.empty()) MSVM_RETURN_IF_ERROR(require_list_length("output_padding", extra.size(), spatial));
  if (!wanted.empty()) MSVM_RETURN_IF_ERROR(require_list_length("output_shape", wanted.size(), spatial));
  for (size_t i = 0; i < spatial; ++i) {
    Dim k = w[i + 2], in = x[i + 2], stride = m.constant(window.stride(i));
    if (!kernel.empty()) MSVM_RETURN_IF_ERROR(require_equal(c, k, m.constant(kernel[i]), "kernel_shape is that of W"));
    MSVM_RETURN_IF_ERROR(require_at_least(c, k, 1, "the kernel isn't empty"));
    if (!wanted.empty()) {
      shape.push_back(m.constant(wanted[i]));
    } else if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) {
      shape.push_back(m.mul(in, stride));
    } else {
      Dim size = m.add(m.mul(m.sub(in, one), stride), window_extent(m, k, window.dilation(i)));
      size = m.sub(m.sub(size, m.constant(window.pad_begin(i))), m.constant(window.pad_end(i)));
      if (!extra.empty()) size = m.add(size, m.constant(extra[i]));
      MSVM_RETURN_IF_ERROR(require_at_least(c, size, 0, "pads leave something of the result"));
      shape.push_back(size);
    }
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_deform_conv(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, convolution_shape(c, 0, 1));
  MSVM_RETURN_IF_ERROR(require_vector(c, 3, shape[1], "B has one element for each output channel"));
  DimContext& m = c.dims();
  const auto& w = c.input(1).shape;
  size_t spatial = shape.size() - 2;
  Dim groups = m.constant(c.attrs().get_int("offset_group", 1));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, groups, c.input(0).shape[1], "offset_group divides the channels of X"));
  Dim taps = m.mul(groups, m.product(std::span(w).subspan(2)));
  for (size_t input : {size_t{2}, size_t{4}}) {
    if (!c.has_input(input)) continue;
    MSVM_RETURN_IF_ERROR(require_rank(c, input, static_cast<int>(shape.size())));
    const auto& t = c.input(input).shape;
    Dim channels = input == 2 ? m.mul(taps, m.constant(static_cast<int64_t>(spatial))) : taps;
    MSVM_RETURN_IF_ERROR(require_equal(c, t[0], shape[0], "offset and mask have the batch size of X"));
    MSVM_RETURN_IF_ERROR(
        require_equal(c, t[1], channels, "offset has offset_group * taps * spatial axes channels, mask offset_group * taps"));
    for (size_t i = 2; i < t.size(); ++i)
      MSVM_RETURN_IF_ERROR(require_equal(c, t[i], shape[i], "offset and mask have the spatial sizes of the result"));
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_causal_conv(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 3));
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, 3));
  const auto &x = c.input(0).shape, &w = c.input(1).shape;
  DimContext& m = c.dims();
  MSVM_RETURN_IF_ERROR(require_equal(c, w[0], x[1], "axis 0 of weight counts the channels of input"));
  MSVM_RETURN_IF_ERROR(require_equal(c, w[1], m.constant(1), "axis 1 of weight is 1"));
  MSVM_RETURN_IF_ERROR(require_at_least(c, w[2], 1, "the kernel isn't empty"));
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, x[1], "bias has one element for each channel"));
  std::vector<Dim> state{x[0], x[1], m.sub(w[2], m.constant(1))};
  if (c.has_input(3)) {
    MSVM_RETURN_IF_ERROR(require_rank(c, 3, 3));
    for (size_t i = 0; i < 3; ++i)
      MSVM_RETURN_IF_ERROR(require_equal(c, c.input(3).shape[i], state[i], "past_state is [batch, channels, kernel - 1]"));
  }
  c.set_shape(0, x);
  c.set_shape(1, std::move(state));
  return {};
}

OpSchema convolution(std::string_view name, int since, InferFn infer, std::string_view doc) {
  return {.name = name,
          .since = since,
          .op_class = OpClass::kContraction,
          .inputs = {{"X", kFloats, 'T'}, {"W", kFloats, 'T'}, {"B", kFloats, 'T', true}},
          .outputs = {{"Y", 'T'}},
          .attrs = convolution_attrs(),
          .infer = infer,
          .doc = doc};
}

}  // namespace

void add_conv_ops(OpTable& table) {
  table.add(convolution("Conv", 22, infer_conv,
                        "Sums of products of W with the window at each position of X, plus B per output channel."));

  OpSchema transposed =
      convolution("ConvTranspose", 22, infer_conv_transpose,
                  "The transpose of Conv: each element of X adds its multiple of W to a window of the result; plus B.");
  transposed.attrs.push_back(
      ints_attr("output_padding", "0 each", 0, kNoLimit, "elements added at the end of each spatial axis of the result"));
  transposed.attrs.push_back(
      ints_attr("output_shape", "from the other attributes", 0, kNoLimit, "spatial sizes of the result; pads then follow"));
  table.add(std::move(transposed));

  OpSchema integer = convolution("ConvInteger", 10, infer_conv_integer, "Conv of integers less their zero points, in 32 bits.");
  integer.op_class = OpClass::kQuantize;
  integer.inputs = {
      {"x", kBytes, 'X'}, {"w", kBytes, 'W'}, {"x_zero_point", kBytes, 'X', true}, {"w_zero_point", kBytes, 'W', true}};
  integer.outputs = {{"y", 0, DType::kI32}};
  table.add(std::move(integer));

  OpSchema deform = convolution("DeformConv", 22, infer_deform_conv,
                                "Conv whose taps are moved by offset (and weighted by mask), read by linear interpolation.");
  deform.inputs = {
      {"X", kFloats, 'T'}, {"W", kFloats, 'T'}, {"offset", kFloats, 'T'}, {"B", kFloats, 'T', true}, {"mask", kFloats, 'T', true}};
  deform.hazards = kCastHazard;
  deform.attrs.erase(deform.attrs.begin());  // no auto_pad
  deform.attrs.push_back(int_attr("offset_group", "1", 1, kNoLimit, "groups of channels that share offsets"));
  table.add(std::move(deform));

  OpSchema causal = convolution(
      "CausalConvWithState", 27, infer_causal_conv,
      "Conv of each channel [batch, channel, time] by itself over past positions, with the last kernel - 1 ones carried on.");
  causal.inputs = {
      {"input", kFloats, 'T'}, {"weight", kFloats, 'T'}, {"bias", kFloats, 'T', true}, {"past_state", kFloats, 'T', true}};
  causal.outputs = {{"output", 'T'}, {"present_state", 'T'}};
  causal.min_outputs = 1;
  causal.attrs = {choice_attr("activation", "none", "none|silu|swish", "what the result goes through")};
  table.add(std::move(causal));
}

}  // namespace msvm
