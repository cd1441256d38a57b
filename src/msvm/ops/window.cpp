#include "msvm/ops/window.h"

#include "msvm/ops/families.h"

namespace msvm {

Result<WindowSpec> read_window(const Attributes& attrs, size_t spatial_axes) {
  WindowSpec w;
  w.axes = spatial_axes;
  std::string_view mode = attrs.get_string("auto_pad", "NOTSET");
  w.auto_pad = mode == "SAME_UPPER"   ? AutoPad::kSameUpper
               : mode == "SAME_LOWER" ? AutoPad::kSameLower
               : mode == "VALID"      ? AutoPad::kValid
                                      : AutoPad::kNotSet;
  w.ceil_mode = attrs.get_int("ceil_mode", 0) != 0;
  w.pads = attrs.get_ints("pads");
  w.strides = attrs.get_ints("strides");
  w.dilations = attrs.get_ints("dilations");
  if (!w.strides.empty()) MSVM_RETURN_IF_ERROR(require_list_length("strides", w.strides.size(), spatial_axes));
  if (!w.dilations.empty()) MSVM_RETURN_IF_ERROR(require_list_length("dilations", w.dilations.size(), spatial_axes));
  if (!w.pads.empty()) MSVM_RETURN_IF_ERROR(require_list_length("pads", w.pads.size(), 2 * spatial_axes));
  if (w.auto_pad != AutoPad::kNotSet) {
    for (int64_t p : w.pads)
      if (p != 0) return attr_error("pads and auto_pad={} exclude each other", mode);
    w.pads = {};
  }
  return w;
}

Dim window_extent(DimContext& m, Dim kernel, int64_t dilation) {
  return m.add(m.mul(m.sub(kernel, m.constant(1)), m.constant(dilation)), m.constant(1));
}

Result<Dim> window_positions(InferContext& c, const WindowSpec& w, size_t i, Dim in, Dim kernel) {
  DimContext& m = c.dims();
  Dim one = m.constant(1), stride = m.constant(w.stride(i));
  if (w.auto_pad == AutoPad::kSameUpper || w.auto_pad == AutoPad::kSameLower) return m.ceildiv(in, stride);
  Dim extent = window_extent(m, kernel, w.dilation(i));
  Dim begin = m.constant(w.pad_begin(i)), end = m.constant(w.pad_end(i));
  Dim padded = m.add(m.add(in, begin), end);
  // The first window lies inside; rounding up, it may reach out at the end by less than a stride. Without a condition where one
  // element is enough: an empty axis then gives none, or windows of padding alone.
  bool ceil = w.ceil_mode && w.auto_pad != AutoPad::kValid;  // VALID's rounding up is of a size greater by one: no difference
  Dim needed = m.sub(m.sub(extent, begin), end);
  if (ceil) needed = m.add(m.sub(needed, stride), one);
  if (!(needed.is_const() && needed.value() <= 1))
    MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, needed, in, "the window fits into the padded input"));
  Dim room = m.sub(padded, extent);
  if (!ceil) return m.add(m.floordiv(room, stride), one);
  Dim positions = m.add(m.ceildiv(room, stride), one);
  // A last window that would start behind the input (in the padding at its end) is left out.
  if (extent.is_const() && extent.value() - w.pad_end(i) >= w.stride(i)) return positions;
  return tight_min(m, positions, m.ceildiv(m.add(in, begin), stride));
}

Result<std::vector<Dim>> convolution_shape(InferContext& c, size_t data, size_t weights, std::span<const int64_t> upsample) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, data, 3, kMaxRank));
  MSVM_RETURN_IF_ERROR(require_rank(c, weights, c.rank(data)));
  const auto &x = c.input(data).shape, &w = c.input(weights).shape;
  DimContext& m = c.dims();
  size_t spatial = x.size() - 2;
  Dim group = m.constant(c.attrs().get_int("group", 1));
  MSVM_RETURN_IF_ERROR(require_equal(c, x[1], m.mul(w[1], group), "channels of X equal input channels of W times group"));
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, group, w[0], "group divides the output channels of W"));
  MSVM_ASSIGN_OR_RETURN(WindowSpec window, read_window(c.attrs(), spatial));
  const auto& kernel = c.attrs().get_ints("kernel_shape");
  if (!kernel.empty()) MSVM_RETURN_IF_ERROR(require_list_length("kernel_shape", kernel.size(), spatial));
  if (!upsample.empty()) MSVM_RETURN_IF_ERROR(require_list_length("upsample", upsample.size(), spatial));
  std::vector<Dim> shape(x.size());
  shape[0] = x[0];
  shape[1] = w[0];
  for (size_t i = 0; i < spatial; ++i) {
    Dim k = w[i + 2];
    if (!kernel.empty()) MSVM_RETURN_IF_ERROR(require_equal(c, k, m.constant(kernel[i]), "kernel_shape is that of W"));
    MSVM_RETURN_IF_ERROR(require_at_least(c, k, 1, "the kernel isn't empty"));
    MSVM_ASSIGN_OR_RETURN(shape[i + 2], window_positions(c, window, i, upsample.empty() ? x[i + 2] : m.mul(x[i + 2], m.constant(upsample[i])), k));
  }
  return shape;
}

std::vector<AttrSpec> window_attrs() {
  return {choice_attr("auto_pad", "NOTSET", "NOTSET|SAME_UPPER|SAME_LOWER|VALID",
                      "pads by rule: explicit, so that the result has ceil(size / stride), or none"),
          ints_attr("dilations", "1 each", 1, kNoLimit, "distance of the kernel's taps"),
          ints_attr("pads", "0 each", 0, kNoLimit, "elements added at the begin of each spatial axis, then at the end of each"),
          ints_attr("strides", "1 each", 1, kNoLimit, "distance of the windows")};
}

std::vector<AttrSpec> convolution_attrs() {
  std::vector<AttrSpec> attrs = window_attrs();
  attrs.push_back(int_attr("group", "1", 1, kNoLimit, "groups of channels that don't mix"));
  attrs.push_back(ints_attr("kernel_shape", "that of W", 1, kNoLimit, "sizes of the kernel"));
  return attrs;
}

}  // namespace msvm
