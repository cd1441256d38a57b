// The inner loops of convolutions over channels-last images, compiled once per instruction set and vector width.
#pragma once
#include <cstdint>

#include "msvm/device/cpu_features.h"

namespace msvm {

/// Packed weights: panels of 16 output channels; element (k, channel) of a panel at k * 16 + channel % 16, missing channels are zeros.
constexpr int64_t kConvPanel = 16;

/// Bounds of a value before a tile stores it; NaN stays.
enum class ConvClamp : uint8_t {
  kNone,
  kBounds,   // min(max(v, low), high)
  kGate,     // g = min(max(low * v + high, 0), 1)
  kGated,    // v * g
};

/// The clamp, then * scale and + shift where `affine`, each rounded.
struct ConvActivation {
  ConvClamp clamp = ConvClamp::kNone;
  float low = 0, high = 0;
  bool affine = false;
  float scale = 1, shift = 0;
};

/// A run of steps of the sum that lie side by side in the image.
struct ConvSegment {
  int64_t a = 0;  // floats from a pixel's base to the run (strided tiles)
  int64_t k = 0;  // first step
  int64_t n = 0;
};

/// c[i][j] = (accumulate ? c : 0) + one fma chain over the segments, k ascending; then what is there of bias, residual and activation.
struct ConvTile {
  const float* a = nullptr;              // strided tiles: base of the first pixel
  int64_t a_row = 0;                     // floats from pixel to pixel
  const float* const* rows = nullptr;    // pointer tiles: [segment][pixel]
  const ConvSegment* segments = nullptr;
  int64_t count = 0;
  const float* b = nullptr;              // first panel
  int64_t b_panel = 0;                   // floats from panel to panel
  float* c = nullptr;
  int64_t c_row = 0;
  int64_t cols = 0;                      // channels that exist; only the last vector may lack some
  bool accumulate = false;
  bool added = false;                    // the chain begins at 0, and c is added to its end
  const float* bias = nullptr;
  const float* residual = nullptr;       // added after the bias
  int64_t residual_row = 0;
  ConvActivation activation;
};

/// A tap of a depthwise window: where it lies from a pixel's base, and its weights.
struct DepthwiseTap {
  int64_t x = 0, w = 0;
};

/// What depthwise sums of any number of pixels share.
struct DepthwiseSums {
  const float* w = nullptr;  // rows of channels, padded to full vectors
  int64_t channels = 0;
  int64_t y_row = 0;         // floats from pixel to pixel
  const float* bias = nullptr;
  int64_t residual_row = 0;
  ConvActivation activation;
};

/// For pixels i < `pixels`, channels j: y[i][j] = sum over taps, a chain from 0, of w[tap][j] * x[i][tap][j]; then as in ConvTile.
struct DepthwiseTile : DepthwiseSums {
  const float* x = nullptr;
  int64_t x_row = 0;         // floats from pixel to pixel
  const DepthwiseTap* taps = nullptr;
  int64_t count = 0;
  float* y = nullptr;
  const float* residual = nullptr;
};

/// A row of pixels of DepthwiseRows.
struct DepthwiseRow {
  const float* x = nullptr;  // of the first column of the first pixel's window, also where the image has none there
  float* y = nullptr;
  const float* residual = nullptr;
  const DepthwiseTap* taps = nullptr;  // the first ones of each row of taps; the others follow side by side
  int64_t count = 0;
};

/// The same sums for pixels of several rows of the image that read some of its rows in common.
struct DepthwiseRows : DepthwiseSums {
  const DepthwiseRow* rows = nullptr;
  int64_t count = 0;
  int64_t taps_wide = 0;  // 3, 5 or 7
  int64_t stride = 0;     // 1 or 2
  int64_t x_column = 0, w_column = 0;  // floats from tap to tap
  int64_t pixels = 0;     // of each row, at most kDepthwisePixels
  int64_t first = 0, last = 0;  // columns of the image that there are, counted from the first pixel's window; the others add nothing
};

constexpr int kDepthwisePixels = 8;
constexpr int kConvPointerRows = 8;  // most pixels of a pointer tile

struct ConvKernels {
  int width = 0;                // floats of a vector
  int most_vectors = 0;         // of a tile
  const int* most_rows = nullptr;  // [vectors]: pixels of a strided tile
  /// 1 <= rows <= most_rows[vectors], 1 <= vectors <= most_vectors.
  void (*strided)(const ConvTile& tile, int rows, int vectors);
  /// The same from pointers; rows <= min(most_rows[vectors], kConvPointerRows).
  void (*pointers)(const ConvTile& tile, int rows, int vectors);
  /// 1 <= pixels <= kDepthwisePixels.
  void (*depthwise)(const DepthwiseTile& tile, int pixels);
  void (*depthwise_rows)(const DepthwiseRows& rows);
  /// to[16 * i + j] = x[i * step + j] for i < n, j < channels <= 16.
  void (*gather_lines)(const float* x, int64_t step, int64_t n, int64_t channels, float* to);
  /// to[3 * i + q] = from[q * plane + i] for i < n, q < 3.
  void (*interleave3)(const float* from, int64_t plane, int64_t n, float* to);
};

extern const ConvKernels kConvKernelsAvx2, kConvKernelsAvx512;
/// Vectors of 8 floats with the 32 registers of AVX-512: for groups of up to 8 channels beyond a multiple of 16.
extern const ConvKernels kConvKernelsAvx512Half;
/// For up to four filters: `vectors` counts filters, b is [filter][k] at distances b_panel, the order of sums is not the declared one, there is no
/// `accumulate`. Tiles only.
extern const ConvKernels kNarrowConvKernelsAvx2, kNarrowConvKernelsAvx512;

}  // namespace msvm
