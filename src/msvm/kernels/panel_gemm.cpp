#include "msvm/kernels/panel_gemm.h"

#include <algorithm>

#include "msvm/kernels/parallel.h"

namespace msvm {
namespace {

constexpr int64_t kDepth = 768;     // steps of k between two visits to C
constexpr int64_t kFetchRows = 64;
constexpr int64_t kChunkRows = 96;  // with a block of k they fill a quarter of L2

int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

// High tiles for few rows (B is read once) and for few columns; else eight rows, as many as L1 has ways: rows that lie a multiple of
// 4 KiB apart meet in the same lines.
int64_t tile_rows(const GemmKernels& g, int64_t rows, int64_t cols, int64_t a_row) {
  const bool high = cols <= 2 * kPanel || (rows <= g.most_rows && (rows <= 10 || a_row % 1024 != 0));
  return high ? g.most_rows : std::min(8, g.most_rows);
}

}  // namespace

void pack_panels(const GemmKernels& g, const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, int64_t first, int64_t last, float* packed) {
  for (int64_t panel = first; panel < last; ++panel) {
    const int64_t j = panel * kPanel, cols = std::min(kPanel, n - j);
    float* to = packed + j * k;
    const float* from = b + j * n_stride;
    if (n_stride == 1) {
      g.copy_panel(from, k_stride, cols, k, to, kPanel);
    } else if (k_stride == 1) {
      g.transpose_panel(from, n_stride, cols, k, to, kPanel);
    } else {
      for (int64_t s = 0; s < k; ++s)
        for (int64_t q = 0; q < cols; ++q) to[s * kPanel + q] = from[s * k_stride + q * n_stride];
    }
  }
}

void pack_all_panels(const GemmKernels& g, WorkerPool& workers, const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, float* packed) {
  const int64_t panels = ceil_of(n, kPanel);
  workers.parallel_for(panels, grain_for(panels, static_cast<double>(k) * 3), [&](int64_t first, int64_t last) { pack_panels(g, b, k_stride, n_stride, k, n, first, last, packed); });
}

double gemm_ns(int64_t m, int64_t n, int64_t k) {
  const double b = static_cast<double>(n) * static_cast<double>(k);
  return std::max(static_cast<double>(m) * b / 56, b * 4 / 60) + 20;  // arithmetic, or B from the third level
}

void gemm_block(const GemmKernels& g, const PanelGemm& p, int64_t m0, int64_t m1, int64_t n0, int64_t n1, int64_t then) {
  const int64_t m = m1 - m0, tiles = ceil_of(m, tile_rows(g, m, n1 - n0, p.a_row)), highest = ceil_of(m, tiles);
  const int64_t group = g.panels[highest] * kPanel;
  const int64_t blocks = std::max<int64_t>(1, ceil_of(p.k, kDepth)), depth = ceil_of(p.k, blocks);
  PanelTile t;
  t.a_row = p.a_row, t.a_step = p.a_step;
  t.b_panel = p.b_panel, t.b_step = p.b_step, t.b_padded = p.b_padded;
  t.c_row = p.c_row;
  t.scale = p.scale, t.residual_row = p.residual_row, t.residual_last = p.residual_last, t.low = p.low, t.high = p.high;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t k0 = block * depth;
    const bool last = block + 1 == blocks;
    t.k = std::min(depth, p.k - k0);
    t.accumulate = p.accumulate || block > 0;
    t.scaled = last && p.scaled, t.bounded = last && p.bounded;
    for (int64_t n = n0; n < n1; n += group) {
      const int64_t cols = std::min(group, n1 - n);
      t.b = p.b + n / kPanel * p.b_panel + k0 * p.b_step;
      t.bias = last && p.bias ? p.bias + n : nullptr;
      // B may come from memory: the tiles of a group share the fetching of the next one. Many rows hide it without.
      const int64_t ahead = n + group < n1 ? n + group : block + 1 < blocks ? p.n : then;
      const bool fetch = p.b_padded && m <= kFetchRows && ahead < p.n;
      const int64_t next = fetch ? ceil_of(std::min(group, p.n - ahead), kPanel) : 0;
      for (int64_t i = 0; i < tiles; ++i) {
        const int64_t part = i * next / tiles;
        t.ahead = fetch ? p.b + (ahead / kPanel + part) * p.b_panel + k0 * p.b_step : t.b;
        t.ahead_panels = static_cast<int>((i + 1) * next / tiles - part);
        const int64_t r = i * m / tiles, rows = (i + 1) * m / tiles - r;
        t.a = p.a + (m0 + r) * p.a_row + k0 * p.a_step;
        t.c = p.c + (m0 + r) * p.c_row + n;
        t.residual = last && p.residual ? p.residual + (m0 + r) * p.residual_row + n : nullptr;
        g.tile(t, static_cast<int>(rows), cols);
      }
    }
  }
}

Status gemm_batch(KernelCall& call, const GemmKernels& g, int64_t count, int64_t m, int64_t n, int64_t k, FunctionRef<PanelGemm(int64_t)> problem, const FinishBlock* finish, int64_t finish_scratch,
                  double finish_ns) {
  if (count <= 0 || m <= 0 || n <= 0) return {};
  // About sixteen chunks, none below 12 us of work nor above 50.
  const int64_t row_chunks = ceil_of(m, kChunkRows), rows = ceil_of(m, row_chunks);
  const double all_ns = static_cast<double>(count) * (gemm_ns(m, n, k) + finish_ns), wanted = std::clamp(all_ns / 16, 12e3, 50e3);
  const int64_t panels = ceil_of(n, kPanel), group = g.panels[std::min(rows, tile_rows(g, rows, n, 1))];
  const double panel_ns = gemm_ns(rows, kPanel, k) + finish_ns / static_cast<double>(panels * row_chunks);
  const int64_t most = std::max<int64_t>(1, static_cast<int64_t>(wanted / panel_ns / static_cast<double>(group))) * group;
  const int64_t col_chunks = ceil_of(panels, most), chunk_panels = ceil_of(ceil_of(panels, col_chunks), group) * group;
  const int64_t chunks = row_chunks * col_chunks;
  const bool rows_inner = k * n > m * k;  // neighbouring chunks share what is larger
  const double chunk_ns = panel_ns * static_cast<double>(std::min(chunk_panels, panels));
  const int64_t grain = grain_for(count * chunks, chunk_ns), others = (call.workers.threads() - 1) * grain;
  RunControl* control = RunControl::current();
  auto body = [&](int64_t begin, int64_t end, std::byte* scratch) {
    int64_t current = -1;
    PanelGemm p;
    for (int64_t i = begin; i < end && !(control && control->should_leave()); ++i) {
      if (i / chunks != current) {
        current = i / chunks;
        p = problem(current);
      }
      const int64_t c = i % chunks, row = rows_inner ? c % row_chunks : c / col_chunks, col = rows_inner ? c / row_chunks : c % col_chunks;
      const int64_t m0 = row * m / row_chunks, m1 = (row + 1) * m / row_chunks, n0 = std::min(n, col * chunk_panels * kPanel), n1 = std::min(n, n0 + chunk_panels * kPanel);
      if (n0 == n1) continue;
      const int64_t after = i + 1 < end ? i + 1 : i + 1 + others;  // the next chunk, if the others take one each meanwhile
      gemm_block(g, p, m0, m1, n0, n1, row_chunks == 1 && after / chunks == current ? after % chunks * chunk_panels * kPanel : INT64_MAX);
      if (finish) (*finish)(current, p, m0, m1, n0, n1, scratch);
    }
  };
  return parallel_with_scratch(call, count * chunks, grain, finish_scratch, body);
}

}  // namespace msvm
