// Transforms of 3x3 convolutions of stride 1 in tiles of 4x4 outputs (Winograd's F(4x4, 3x3)), compiled once per instruction set.
#pragma once
#include "msvm/kernels/conv_tiles.h"

namespace msvm {

constexpr int kWinogradIn = 36, kWinogradOut = 16;

struct WinogradEnd {
  const float* bias = nullptr;
  int64_t residual = 0;        // floats from a result to what is added to it
  bool has_residual = false;
  ConvActivation activation;
};

struct WinogradKernels {
  /// pixels[6 * row + column] of a patch, each `channels` floats -> to[step * i + channel] for i < 36.
  void (*input)(const float* const* pixels, int64_t channels, float* to, int64_t step);
  /// from[step * i + channel] -> pixels[4 * row + column]; null pixels are left out. `from` may be read in full vectors.
  void (*output)(const float* from, int64_t step, int64_t channels, float* const* pixels, const WinogradEnd& end);
};

extern const WinogradKernels kWinogradAvx2, kWinogradAvx512;

}  // namespace msvm
