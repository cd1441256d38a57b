// Sizes of convolutions and pools: windows that slide over padded spatial axes.
#pragma once
#include "msvm/ops/infer.h"

namespace msvm {

enum class AutoPad : uint8_t { kNotSet, kSameUpper, kSameLower, kValid };

/// The attributes auto_pad, pads, strides, dilations and ceil_mode of `axes` spatial axes; absent lists are defaults.
struct WindowSpec {
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  size_t axes = 0;
  std::span<const int64_t> pads, strides, dilations;  // empty: default

  int64_t stride(size_t i) const { return strides.empty() ? 1 : strides[i]; }
  int64_t dilation(size_t i) const { return dilations.empty() ? 1 : dilations[i]; }
  int64_t pad_begin(size_t i) const { return pads.empty() ? 0 : pads[i]; }
  int64_t pad_end(size_t i) const { return pads.empty() ? 0 : pads[axes + i]; }
};

Result<WindowSpec> read_window(const Attributes& attrs, size_t spatial_axes);

/// Elements that a dilated kernel of `kernel` taps spans: (kernel - 1) * dilation + 1.
Dim window_extent(DimContext& m, Dim kernel, int64_t dilation);

/// Positions of the window along spatial axis `i` of size `in`.
Result<Dim> window_positions(InferContext& c, const WindowSpec& w, size_t i, Dim in, Dim kernel);

/// Conv's result from data [N, C, D...] and weights [M, C / group, K...]. `upsample`: the data is read as if each element stood there
/// so many times along each spatial axis; empty: once.
Result<std::vector<Dim>> convolution_shape(InferContext& c, size_t data, size_t weights, std::span<const int64_t> upsample = {});

/// auto_pad, dilations, pads, strides (and group, kernel_shape).
std::vector<AttrSpec> window_attrs();
std::vector<AttrSpec> convolution_attrs();

}  // namespace msvm
