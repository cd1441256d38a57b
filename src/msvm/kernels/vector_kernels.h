// The inner loops that are compiled once per instruction set. Everything above them is ordinary code.
#pragma once
#include <cstdint>

#include "msvm/device/cpu_features.h"

namespace msvm {

constexpr int kPanelRows = 8;   // packed A: panels of 8 rows, element (row, k) at k * 8 + row
constexpr int kPanelCols = 48;  // packed B: panels of 48 columns, element (k, col) at k * 48 + col, padded with zeros

/// c[r][j] = (accumulate ? c : 0) + sum over k ascending of a[r][k] * b[k][j], one fma chain; then the biases that are there.
struct GemmTile {
  const float* a = nullptr;
  int64_t a_row = 0, a_step = 0;     // strides of row and k
  const float* b = nullptr;
  int64_t b_step = 0;                // stride of k; columns are contiguous
  bool b_padded = false;             // full vectors may be read up to kPanelCols
  float* c = nullptr;
  int64_t c_row = 0;
  int64_t k = 0;
  bool accumulate = false;
  const float* row_bias = nullptr;   // [rows]
  const float* col_bias = nullptr;   // [cols]
};

struct WeightedRows {
  const float* const* rows = nullptr;
  const float* weights = nullptr;
  int64_t taps = 0, n = 0, count = 1;
  int64_t in_step = 0, out_step = 0;
  const float* bias = nullptr;
  bool accumulate = false;
  float* out = nullptr;
};

struct VectorKernels {
  /// 1 <= rows <= kPanelRows, 1 <= cols <= kPanelCols.
  void (*gemm_tile)(const GemmTile& tile, int rows, int cols);
  /// to[i] = from[i * stride].
  void (*copy_strided)(const float* from, int64_t stride, int64_t n, float* to);
  /// For each of `channels`: to[j] = from[(j - lo) * stride] for lo <= j < hi, 0 in the rest of [0, n); next channel: from += plane, to += to_step.
  void (*gather_channels)(const float* from, int64_t plane, int64_t stride, int64_t lo, int64_t hi, int64_t n, int64_t channels, float* to, int64_t to_step);
  /// to[k * to_step + j] = from[j * from_row + k] for j < cols, k < steps.
  void (*transpose)(const float* from, int64_t from_row, int64_t cols, int64_t steps, float* to, int64_t to_step);
  /// For r < count: out[r * out_step + i] = sum over t ascending of weights[t] * rows[t][r * in_step + i], a chain from 0 (with
  /// `accumulate` from what out holds), then the bias if there is one.
  void (*weighted_rows)(const WeightedRows& job);
  void (*max_rows)(const float* const* rows, int64_t taps, int64_t n, float* out);   // taps >= 1
  void (*sum_rows)(const float* const* rows, int64_t taps, int64_t n, float* out);   // t ascending from 0
  float (*sum)(const float* x, int64_t n);
  void (*softmax)(const float* x, int64_t n, float* y);
  void (*log_softmax)(const float* x, int64_t n, float* y);
  /// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; without `center` the mean is taken as 0. Null scale or bias: 1, 0.
  void (*normalize)(const float* x, int64_t n, bool center, float epsilon, const float* scale, const float* bias, float* y, float* mean, float* inverse);
  void (*scale_shift)(const float* x, int64_t n, float scale, float shift, float* y);  // fma(x, scale, shift)
  void (*sigmoid)(const float* x, int64_t n, float* y);
  void (*tanh)(const float* x, int64_t n, float* y);
  void (*exp)(const float* x, int64_t n, float* y);
  void (*gather)(const float* x, const int32_t* index, int64_t n, float* y);
  /// y[i] = x[left[i]] * (1 - t[i]) + x[right[i]] * t[i].
  void (*interpolate_gather)(const float* x, const int32_t* left, const int32_t* right, const float* t, int64_t n, float* y);
  void (*interpolate_rows)(const float* a, const float* b, float t, int64_t n, float* y);  // a * (1 - t) + b * t
  void (*add_in_place)(float* y, const float* x, int64_t n);
};

/// Null for kScalar.
const VectorKernels* vector_kernels(Isa isa);

extern const VectorKernels kVectorKernelsAvx2, kVectorKernelsAvx512;

}  // namespace msvm
