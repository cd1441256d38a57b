// f32 matrix product on the vector kernels: blocks, packing, threads. One fma chain per output whatever the blocking.
#pragma once
#include <cstdint>

#include "msvm/device/workers.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {

constexpr int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Steps of k that one pass over the tiles takes; longer sums continue from memory.
constexpr int64_t kGemmDepth = 512;

inline int64_t packed_cols_size(int64_t k, int64_t n) { return round_up(n, kPanelCols) * k; }
inline int64_t packed_rows_size(int64_t k, int64_t m) { return round_up(m, kPanelRows) * k; }
/// b[k * k_stride + n * n_stride] into panels of columns.
void pack_cols(const VectorKernels& v, const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, float* packed);
/// The panels [first, last) of pack_cols.
void pack_col_panels(const VectorKernels& v, const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, int64_t first, int64_t last, float* packed);
/// a[m * m_stride + k * k_stride] into panels of rows; missing rows are zeros.
void pack_rows(const float* a, int64_t m_stride, int64_t k_stride, int64_t m, int64_t k, float* packed);

/// c[n] = sum over k of a[k * a_step] * b[k * b_step + n] for columns [n0, n1), streaming whole rows of b: for one use of b.
void row_times_matrix(const VectorKernels& v, const float* a, int64_t a_step, const float* b, int64_t b_step, int64_t k, int64_t n0, int64_t n1, float* c);

struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  bool a_packed = false;              // by pack_rows
  int64_t a_row = 0, a_step = 0;      // else strides of m and k
  const float* b = nullptr;
  bool b_packed = false;              // by pack_cols
  int64_t b_step = 0;                 // else the stride of k; columns are contiguous
  float* c = nullptr;
  int64_t c_row = 0;
  const float* row_bias = nullptr;    // [m], added after the sum
  const float* col_bias = nullptr;    // [n]
};

/// Rows [m0, m1) and columns [n0, n1); m0 and n0 start a panel. On the calling thread.
void gemm_block(const VectorKernels& v, const Gemm& g, int64_t m0, int64_t m1, int64_t n0, int64_t n1);

/// `count` products of the same m, n, k; `problem(i)` fills in the i-th. Chunks of all of them are shared by the workers.
void gemm_batch(const VectorKernels& v, WorkerPool& workers, int64_t count, int64_t m, int64_t n, int64_t k, FunctionRef<Gemm(int64_t)> problem);
inline void gemm(const VectorKernels& v, WorkerPool& workers, const Gemm& g) {
  gemm_batch(v, workers, 1, g.m, g.n, g.k, [&](int64_t) { return g; });
}

}  // namespace msvm
