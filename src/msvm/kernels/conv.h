// Shape of a convolution: window, channels and groups.
#pragma once
#include "msvm/kernels/window.h"

namespace msvm {

struct ConvShape {
  Window window;                                                                       // over X as it is read: upsampled
  std::array<int64_t, kMaxSpatial> upsample{1, 1, 1, 1, 1, 1};                         // how often each element of X stands there
  bool upsampled = false;
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
};

/// Conv and its quantised relatives: x [N, C, ...], w [M, C / groups, ...], bias [M] or null, y [N, M, ...].
Status describe_conv(const KernelCall& call, const TensorMeta& x, const TensorMeta& w, const TensorMeta* bias, const TensorMeta& y, ConvShape& s);

/// Whether the call (of msvm.Conv) has the attribute upsample with other values than 1.
bool has_upsample(const KernelCall& call);

/// ConvTranspose: x [N, C, in...], w [C, M / groups, kernel...], y [N, M, out...]. Input position i and tap k go to output
/// i * stride - begin + k * dilation. `window` holds the roles of a Conv from y to x: in = y's sizes, out = x's.
Status describe_conv_transpose(const KernelCall& call, ConvShape& s);
/// Its multiply-adds: every input element meets every filter and tap of its group.
double conv_transpose_multiply_adds(const KernelCall& call);

/// A 1x1 window without strides and pads: output pixels are input pixels.
bool one_tap(const KernelCall& call);

/// Multiply-adds of a Conv call.
double conv_multiply_adds(const KernelCall& call);

// Each adds its kernels; conv.cpp calls them in order.
void add_conv_im2col_kernels(KernelList& list);
void add_conv_depthwise_kernels(KernelList& list);
void add_conv_direct_kernels(KernelList& list);
void add_conv_nhwc_depthwise_kernels(KernelList& list);
void add_conv_winograd_kernels(KernelList& list);
void add_conv_transpose_kernels(KernelList& list);
void add_conv_nhwc_transpose_kernels(KernelList& list);
void add_conv_other_kernels(KernelList& list);  // DeformConv, CausalConvWithState

}  // namespace msvm
