// The shapes of MatMul (numpy's batch rule) and Gemm.
#pragma once
#include <array>

#include "msvm/kernels/kernel.h"

namespace msvm {

/// A MatMul as `count` products of [m, k] by [k, n]; strides in elements, batch axes outermost first.
struct BatchedProduct {
  int64_t m = 1, n = 1, k = 1, count = 1;
  int64_t a_row = 0, a_step = 0, b_step = 0, b_col = 0, c_row = 0, c_col = 0;
  int batch_rank = 0;
  std::array<int64_t, kMaxRank> batch{}, a_batch{}, b_batch{}, c_batch{};

  struct Offsets {
    int64_t a = 0, b = 0, c = 0;
  };
  Offsets at(int64_t i) const {
    Offsets o;
    for (int d = batch_rank - 1; d >= 0; --d) {
      int64_t x = i % batch[d];
      i /= batch[d];
      o.a += x * a_batch[d];
      o.b += x * b_batch[d];
      o.c += x * c_batch[d];
    }
    return o;
  }
  bool one_b() const {
    for (int d = 0; d < batch_rank; ++d)
      if (batch[d] > 1 && b_batch[d] != 0) return false;
    return true;
  }
};

/// Refuses operands that don't fit each other or the result c.
Status describe_product(const TensorMeta& a, const TensorMeta& b, const TensorMeta& c, BatchedProduct& p);
double matmul_work(const KernelCall& call);

struct GemmShape {
  int64_t m, n, k, a_row, a_step, b_step, b_col;
};
Status describe_gemm(const KernelCall& call, const TensorMeta& a, const TensorMeta& b, GemmShape& g);
/// Strides of Gemm's C over [m, n].
Status bias_strides(const TensorMeta& c, int64_t m, int64_t n, int64_t& row, int64_t& col);
double gemm_work(const KernelCall& call);

}  // namespace msvm
