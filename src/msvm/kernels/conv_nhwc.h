// What the convolutions over channels-last images share: sizes, packed weights, how a call ends.
#pragma once
#include "msvm/kernels/channels_last.h"
#include "msvm/kernels/conv.h"
#include "msvm/kernels/conv_tiles.h"
#include "msvm/kernels/epilogue.h"

namespace msvm {

constexpr int kKeyConvPanels = 220, kKeyConvTaps = 221, kKeyConvTransposePanels = 222, kKeyConvRows = 224;

/// Into how many chunks that much work is cut: even numbers, so that two threads have the same to do; none shorter than about 10 us.
inline int64_t conv_chunks(double total_ns) {
  if (total_ns < 20'000) return 1;
  const int64_t n = static_cast<int64_t>(total_ns < 1'000'000 ? total_ns / 12'000 : total_ns / 40'000 + 60);
  return n < 4 ? 2 : n > 32 ? 32 : n / 2 * 2;
}

/// Floats of the packed weights of one group.
inline int64_t conv_panels_size(int64_t k, int64_t channels) { return (channels + kConvPanel - 1) / kConvPanel * kConvPanel * k; }
/// w [channels, inputs, taps] of one group into panels; step k = tap * inputs + input.
void pack_conv_panels(const VectorKernels& v, const float* w, int64_t channels, int64_t inputs, int64_t taps, float* to);

/// The tables of one instruction set: `half` for narrow rests, null where it gains nothing.
struct ConvIsa {
  const VectorKernels* vector;
  const ConvKernels* tiles;
  const ConvKernels* half;
  const ConvKernels* narrow;
  Isa isa;
  double ns_per_mac;
};
const ConvIsa& conv_isa(Isa isa);

/// Work for one pixel of one group, in multiply-adds of full vectors: lanes that stay idle, and what tiles and segments cost beside their sums.
double conv_pixel_work(int64_t filters, double k, double segments);

/// Sizes that keep every address these kernels work out within 64 bits and their scratch within reason: not empty kernels; strides,
/// dilations, padding and upsampling of up to 65536. `upsampled`: for kernels of calls that upsample; others refuse those.
bool conv_window_fits(const KernelCall& call, bool upsampled = false);

/// A kernel of Conv and, as `fused_name`, of msvm.Conv.
void add_conv_kernel(KernelList& list, std::string_view name, std::string_view fused_name, KernelInfo info);

/// A block of output channels that one tile covers.
struct ConvBlock {
  const ConvKernels* tiles = nullptr;
  int vectors = 0;
  int64_t first = 0, count = 0;  // channels
};
/// The block that begins at channel `first` (a multiple of 8) of `channels`.
ConvBlock next_conv_block(const ConvIsa& isa, int64_t first, int64_t channels);

}  // namespace msvm
