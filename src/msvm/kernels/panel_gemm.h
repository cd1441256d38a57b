// f32 matrix products over panels of 16 columns: blocks, packing, threads. One fma chain per output whatever the blocking.
#pragma once
#include <initializer_list>

#include "msvm/kernels/gemm_tiles.h"
#include "msvm/kernels/kernel.h"

namespace msvm {

/// Floats of packed B; its size must have been found to be sane.
constexpr int64_t panels_size(int64_t k, int64_t n) { return (n + kPanel - 1) / kPanel * kPanel * k + kPanel; }
/// Whether so many floats could be a buffer at all: views of stride 0 have any size.
inline bool sane_size(std::initializer_list<int64_t> sizes) {
  double floats = 16;
  for (int64_t s : sizes) floats *= static_cast<double>(s < 1 ? 1 : s) + 16;
  return floats < 1e15;
}
/// The panels [first, last) of b[k * k_stride + n * n_stride] to where they belong in `packed`.
void pack_panels(const GemmKernels& g, const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, int64_t first, int64_t last, float* packed);
/// All of them, shared by the workers.
void pack_all_panels(const GemmKernels& g, WorkerPool& workers, const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n, float* packed);

struct PanelGemm {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  int64_t a_row = 0, a_step = 1;       // strides of m and k
  const float* b = nullptr;
  int64_t b_panel = 0, b_step = 0;     // see PanelTile
  bool b_padded = false;
  float* c = nullptr;
  int64_t c_row = 0;
  bool accumulate = false;             // to what c holds
  // Of the last block of k, see PanelTile.
  bool scaled = false;
  float scale = 1;
  const float* bias = nullptr;         // [n]
  const float* residual = nullptr;
  int64_t residual_row = 0;
  bool residual_last = false;
  bool bounded = false;
  float low = 0, high = 0;
  const float* residual_after = nullptr;  // for FinishBlock

  void packed_b(const float* panels) { b = panels, b_panel = k * kPanel, b_step = kPanel, b_padded = true; }
  void plain_b(const float* rows, int64_t row) { b = rows, b_panel = kPanel, b_step = row, b_padded = false; }
};

/// Rows [m0, m1) and columns [n0, n1), n0 the first of a panel; on the calling thread. `then`: the column where it will probably go
/// on, the first of a panel; p.n if it's not known.
void gemm_block(const GemmKernels& g, const PanelGemm& p, int64_t m0, int64_t m1, int64_t n0, int64_t n1, int64_t then = INT64_MAX);

/// What happens to a block of product `item` once its sums are complete.
using FinishBlock = FunctionRef<void(int64_t item, const PanelGemm& p, int64_t m0, int64_t m1, int64_t n0, int64_t n1, std::byte* scratch)>;

/// `count` products of the same m, n and k; `problem(i)` fills in the i-th. Chunks of all of them are shared by the workers.
/// `finish` gets each block while it is in cache, on the thread that made it, with `finish_scratch` bytes of its own; `finish_ns` is what
/// it takes for one product.
Status gemm_batch(KernelCall& call, const GemmKernels& g, int64_t count, int64_t m, int64_t n, int64_t k, FunctionRef<PanelGemm(int64_t)> problem, const FinishBlock* finish = nullptr,
                  int64_t finish_scratch = 0, double finish_ns = 0);

/// Nanoseconds of a product on one thread, about.
double gemm_ns(int64_t m, int64_t n, int64_t k);

}  // namespace msvm
