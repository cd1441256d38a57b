// Packed weights and blocks of output channels.
#include <algorithm>
#include <cstring>

#include "msvm/kernels/conv_nhwc.h"
#include "msvm/kernels/site.h"

namespace msvm {

void pack_conv_panels(const VectorKernels& v, const float* w, int64_t channels, int64_t inputs, int64_t taps, float* to) {
  const int64_t k = inputs * taps;
  if (k == 0) return;
  AlignedFloats rows = taps > 1 && inputs > 1 ? aligned_floats(k * kConvPanel) : nullptr;
  for (int64_t m = 0; m < channels; m += kConvPanel, to += k * kConvPanel) {
    const int64_t n = std::min(kConvPanel, channels - m);
    float* side = rows ? rows.get() : to;
    if (n < kConvPanel) std::memset(side, 0, static_cast<size_t>(k * kConvPanel) * sizeof(float));
    v.transpose(w + m * k, k, n, k, side, kConvPanel);
    if (!rows) continue;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < inputs; ++c) std::memcpy(to + (tap * inputs + c) * kConvPanel, side + (c * taps + tap) * kConvPanel, kConvPanel * sizeof(float));
  }
}

const ConvIsa& conv_isa(Isa isa) {
  static const ConvIsa avx2 = {&kVectorKernelsAvx2, &kConvKernelsAvx2, nullptr, &kNarrowConvKernelsAvx2, Isa::kAvx2, 0.0185};
  static const ConvIsa avx512 = {&kVectorKernelsAvx512, &kConvKernelsAvx512, &kConvKernelsAvx512Half, &kNarrowConvKernelsAvx512, Isa::kAvx512, 0.0180};
  return isa == Isa::kAvx512 ? avx512 : avx2;
}

bool conv_window_fits(const KernelCall& call, bool upsampled) {
  constexpr int64_t kMost = 1 << 16;
  if (has_upsample(call) != upsampled) return false;
  for (int64_t v : call.attrs.get_ints("upsample"))
    if (v < 1 || v > kMost) return false;
  const TensorMeta& w = *call.inputs[1];
  for (int d = 2; d < w.rank; ++d)
    if (w.shape[d] < 1 || w.shape[d] > kMost) return false;
  for (std::string_view name : {"strides", "dilations", "pads"})
    for (int64_t v : call.attrs.get_ints(name))
      if (v < -kMost || v > kMost) return false;
  return true;
}

double conv_pixel_work(int64_t filters, double k, double segments) {
  const int64_t lanes = (filters + 7) / 8 * 8;
  const double blocks = static_cast<double>((lanes + 63) / 64), rows = lanes <= 16 ? 16 : lanes <= 32 ? 12 : 7;
  return static_cast<double>(lanes) * k + 16 * blocks * (5 + 5 * segments) * 8 / rows;
}

void add_conv_kernel(KernelList& list, std::string_view name, std::string_view fused_name, KernelInfo info) {
  info.dtypes = bit(DType::kF32);
  info.name = name, info.op = "Conv";
  list.push_back(info);
  info.name = fused_name, info.op = "msvm.Conv";
  list.push_back(info);
}

ConvBlock next_conv_block(const ConvIsa& isa, int64_t first, int64_t channels) {
  const int64_t left = channels - first;
  ConvBlock b;
  b.first = first;
  b.tiles = isa.tiles;
  const int width = isa.tiles->width;
  const int64_t vectors = (left + width - 1) / width;
  if (isa.half && left < 2 * isa.tiles->width && left % 16 != 0 && left % 16 <= 8) {
    // 8 or 24 channels: narrow vectors, none of them idle.
    b.tiles = isa.half;
    b.vectors = static_cast<int>((left + 7) / 8);
  } else if (isa.tiles->most_vectors == 3) {
    b.vectors = static_cast<int>(vectors <= 3 ? vectors : 2);
  } else if (isa.half && left % 16 != 0 && left % 16 <= 8) {
    // Leave 24 for the narrow ones.
    const int64_t wide = left / width - 1;
    b.vectors = static_cast<int>(wide <= 4 ? wide : wide == 5 || wide == 6 ? 3 : 4);
  } else {
    b.vectors = static_cast<int>(vectors <= 4 ? vectors : vectors == 5 || vectors == 6 ? 3 : 4);
  }
  b.count = std::min<int64_t>(left, b.vectors * b.tiles->width);
  return b;
}

}  // namespace msvm
