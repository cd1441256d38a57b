#include "msvm/kernels/gemm.h"

#include <algorithm>
#include <cstring>

#include "msvm/device/stoppable.h"

namespace msvm {

void pack_col_panels(const VectorKernels& v, const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, int64_t first, int64_t last, float* packed) {
  for (int64_t panel = first; panel < last; ++panel) {
    int64_t j = panel * kPanelCols, cols = std::min<int64_t>(kPanelCols, n - j);
    float* to = packed + j * k;
    const float* from = b + j * n_stride;
    if (cols < kPanelCols) std::memset(to, 0, static_cast<size_t>(k * kPanelCols) * sizeof(float));
    if (k_stride == 1 && n_stride != 1) {
      v.transpose(from, n_stride, cols, k, to, kPanelCols);
    } else {
      for (int64_t s = 0; s < k; ++s) v.copy_strided(from + s * k_stride, n_stride, cols, to + s * kPanelCols);
    }
  }
}

void pack_cols(const VectorKernels& v, const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, float* packed) {
  pack_col_panels(v, b, k_stride, n_stride, k, n, 0, ceil_div(n, kPanelCols), packed);
}

void pack_rows(const float* a, int64_t m_stride, int64_t k_stride, int64_t m, int64_t k, float* packed) {
  for (int64_t i = 0; i < m; i += kPanelRows)
    for (int64_t s = 0; s < k; ++s)
      for (int64_t r = i; r < i + kPanelRows; ++r) *packed++ = r < m ? a[r * m_stride + s * k_stride] : 0.0f;
}

void row_times_matrix(const VectorKernels& v, const float* a, int64_t a_step, const float* b, int64_t b_step, int64_t k, int64_t n0, int64_t n1, float* c) {
  constexpr int64_t kRows = 16;  // of b at a time: as many streams
  const float* rows[kRows];
  float weights[kRows];
  WeightedRows job;
  job.rows = rows, job.weights = weights;
  job.n = n1 - n0;
  job.out = c + n0;
  for (int64_t k0 = 0; k0 == 0 || k0 < k; k0 += kRows) {
    job.taps = std::min(kRows, k - k0);
    job.accumulate = k0 > 0;
    for (int64_t t = 0; t < job.taps; ++t) {
      rows[t] = b + (k0 + t) * b_step + n0;
      weights[t] = a[(k0 + t) * a_step];
    }
    v.weighted_rows(job);
  }
}

void gemm_block(const VectorKernels& v, const Gemm& g, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
  int64_t blocks = std::max<int64_t>(1, ceil_div(g.k, kGemmDepth));
  int64_t depth = ceil_div(g.k, blocks);
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t k0 = block * depth;
    GemmTile t;
    t.k = std::min(depth, g.k - k0);
    t.accumulate = block > 0;
    t.a_row = g.a_packed ? 1 : g.a_row;
    t.a_step = g.a_packed ? kPanelRows : g.a_step;
    t.b_step = g.b_packed ? kPanelCols : g.b_step;
    t.b_padded = g.b_packed;
    t.c_row = g.c_row;
    bool last = block + 1 == blocks;
    for (int64_t n = n0; n < n1; n += kPanelCols) {
      int cols = static_cast<int>(std::min<int64_t>(kPanelCols, n1 - n));
      t.b = g.b_packed ? g.b + n * g.k + k0 * kPanelCols : g.b + n + k0 * g.b_step;
      t.col_bias = last && g.col_bias ? g.col_bias + n : nullptr;
      for (int64_t m = m0; m < m1; m += kPanelRows) {
        t.a = g.a_packed ? g.a + m * g.k + k0 * kPanelRows : g.a + m * g.a_row + k0 * g.a_step;
        t.c = g.c + m * g.c_row + n;
        t.row_bias = last && g.row_bias ? g.row_bias + m : nullptr;
        v.gemm_tile(t, static_cast<int>(std::min<int64_t>(kPanelRows, m1 - m)), cols);
      }
    }
  }
}

void gemm_batch(const VectorKernels& v, WorkerPool& workers, int64_t count, int64_t m, int64_t n, int64_t k, FunctionRef<Gemm(int64_t)> problem) {
  if (count <= 0 || m <= 0 || n <= 0) return;
  // A chunk: up to 96 rows (they stay in L2 with their block of k) by as many panels as make about 4 MFLOP.
  constexpr double kChunkWork = 2e6;
  int64_t depth = std::max<int64_t>(k, 1);
  int64_t rows = std::min<int64_t>(round_up(m, kPanelRows), 96);
  double panel_work = static_cast<double>(depth) * kPanelCols * static_cast<double>(std::min(rows, m));
  int64_t all_panels = ceil_div(n, kPanelCols);
  int64_t panels = std::clamp<int64_t>(static_cast<int64_t>(kChunkWork / panel_work), 1, all_panels);
  int64_t row_chunks = ceil_div(m, rows), col_chunks = ceil_div(all_panels, panels), chunks = row_chunks * col_chunks;
  double chunk_ns = panel_work * static_cast<double>(panels) / 40.0;
  RunControl* control = RunControl::current();
  stoppable_for(workers, count * chunks, grain_for(count * chunks, chunk_ns), [&](int64_t begin, int64_t end) {
    int64_t current = -1;
    Gemm g;
    for (int64_t i = begin; i < end && !(control && control->should_leave()); ++i) {
      if (i / chunks != current) {
        current = i / chunks;
        g = problem(current);
      }
      int64_t c = i % chunks, r = c / col_chunks * rows, p = c % col_chunks * panels * kPanelCols;
      gemm_block(v, g, r, std::min(r + rows, m), p, std::min(p + panels * kPanelCols, n));
    }
  });
}

}  // namespace msvm
