// The inner loops of f32 matrix products, compiled once per instruction set.
#pragma once
#include <cstdint>

#include "msvm/device/cpu_features.h"

namespace msvm {

/// Packed B: panels of 16 columns; element (k, column) of a panel at k * 16 + column % 16. What stands in columns that B lacks is of no meaning.
constexpr int64_t kPanel = 16;
constexpr int kMostTileRows = 16;  // of any instruction set

/// c[i][j] = (accumulate ? c : 0) + sum over k ascending of a[i][k] * b[k][j], one fma chain; then, in this order, what is there of scale,
/// bias, residual (if it comes first), bounds, residual (if it comes last).
struct PanelTile {
  const float* a = nullptr;
  int64_t a_row = 0, a_step = 0;        // strides of row and k
  const float* b = nullptr;
  int64_t b_panel = 0, b_step = 0;      // strides of panel and k; the 16 columns of a panel are contiguous
  bool b_padded = false;                // else no more than the columns that exist may be read
  const float* ahead = nullptr;         // what of B is wanted next: `ahead_panels` panels of as many steps are fetched into L2
  int ahead_panels = 0;
  float* c = nullptr;
  int64_t c_row = 0;
  int64_t k = 0;
  bool accumulate = false;
  bool scaled = false;
  float scale = 1;
  const float* bias = nullptr;          // [columns]
  const float* residual = nullptr;
  int64_t residual_row = 0;
  bool residual_last = false;
  bool bounded = false;                 // min(max(v, low), high); NaN stays
  float low = 0, high = 0;
};

struct GemmKernels {
  int most_rows = 0;                    // of a tile
  const int8_t* panels = nullptr;       // [rows]: panels that a tile of so many rows takes at once
  /// 1 <= rows <= most_rows; any number of columns from 1 on.
  void (*tile)(const PanelTile& tile, int rows, int64_t cols);
  /// to[k * to_step + j] = from[k * from_step + j] for j < cols <= 16, zeros up to 16.
  void (*copy_panel)(const float* from, int64_t from_step, int64_t cols, int64_t steps, float* to, int64_t to_step);
  /// to[k * to_step + j] = from[j * from_row + k] for j < cols <= 16. Writes beyond a step's `cols` floats, up to 16, into the next step or
  /// beyond the last one: `to` has 16 floats more than it needs.
  void (*transpose_panel)(const float* from, int64_t from_row, int64_t cols, int64_t steps, float* to, int64_t to_step);
};

extern const GemmKernels kGemmKernelsAvx2, kGemmKernelsAvx512;
/// Null for kScalar.
const GemmKernels* gemm_kernels(Isa isa);

}  // namespace msvm
