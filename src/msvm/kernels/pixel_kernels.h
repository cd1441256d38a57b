// Inner loops over pixels whose channels lie side by side, and over rows of a matrix: compiled once per instruction set.
#pragma once
#include <cstdint>

#include "msvm/device/cpu_features.h"

namespace msvm {

/// One row of results of a pool. Tap (r, k) of result o is `channels` floats at rows[r] + o * in_step + k * tap_step.
struct PoolRow {
  const float* const* rows = nullptr;
  int64_t row_taps = 0, column_taps = 0;  // both at least 1
  int64_t in_step = 0, tap_step = 0;
  int64_t channels = 0, n = 0;
  float* out = nullptr;
  int64_t out_step = 0;
  float divisor = 1;                      // of sums
};

/// A matrix of rows: `n` rows of `c` floats, `row` apart.
struct FloatRows {
  const float* data = nullptr;
  int64_t row = 0, n = 0, c = 0;
};

struct PixelKernels {
  void (*max_pool)(const PoolRow& p);  // NaN where a tap is NaN
  void (*sum_pool)(const PoolRow& p);  // a chain from 0, r ascending, then k; divided
  void (*copy_rows)(const FloatRows& x, float* to, int64_t to_row);
  /// to[o] = pixel index[o] of `from`: `c` floats each, pixels of `from` are `pixel` apart, those of `to` `to_pixel`.
  void (*gather_pixels)(const float* from, int64_t pixel, const int32_t* index, int64_t n, int64_t c, float* to, int64_t to_pixel);
  /// to[o] = pixel left[o] * (1 - t[o]) + pixel right[o] * t[o]; results lie densely.
  void (*interpolate_pixels)(const float* from, int64_t pixel, const int32_t* left, const int32_t* right, const float* t, int64_t n, int64_t c, float* to);
  /// to[i * to_row + j] = x row j, element i.
  void (*transpose)(const FloatRows& x, float* to, int64_t to_row);
  /// sum[i] += column i: f32 over at most 64 rows, those sums in f64. With `mean`: of the squares of x - mean[i].
  void (*add_columns)(const FloatRows& x, const float* mean, double* sum);
  void (*max_columns)(const FloatRows& x, float* best);  // best[i] takes part; NaN wins
  void (*min_columns)(const FloatRows& x, float* best);
  double (*sum_row)(const float* x, int64_t n);          // f32 over at most 1024 elements, those sums in f64
  double (*sum_squares_row)(const float* x, int64_t n);
  float (*max_row)(const float* x, int64_t n);           // n >= 1; NaN wins
  float (*min_row)(const float* x, int64_t n);
  /// y = fma(x - mean[i], scale[i], shift[i]); without `mean` 0 stands for it. `y` may be x.
  void (*scale_columns)(const FloatRows& x, const float* mean, const float* scale, const float* shift, float* y, int64_t y_row);
};

extern const PixelKernels kPixelKernelsAvx2, kPixelKernelsAvx512;
/// Null for kScalar.
const PixelKernels* pixel_kernels(Isa isa);

}  // namespace msvm
