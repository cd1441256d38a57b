// The declared order of a contraction's sum: one chain of fused multiply-adds, k ascending. Exact whatever the processor has.
#pragma once
#include <cstdint>

namespace msvm {

/// start + a[0]*b[0] + a[1]*b[1] + ..., each step rounded once; strides in elements.
float fma_chain(float start, const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t n);
double fma_chain(double start, const double* a, int64_t a_stride, const double* b, int64_t b_stride, int64_t n);
/// Integers wrap modulo 2^64.
inline int64_t fma_chain(int64_t start, const int64_t* a, int64_t a_stride, const int64_t* b, int64_t b_stride, int64_t n) {
  uint64_t sum = static_cast<uint64_t>(start);
  for (int64_t k = 0; k < n; ++k) sum += static_cast<uint64_t>(a[k * a_stride]) * static_cast<uint64_t>(b[k * b_stride]);
  return static_cast<int64_t>(sum);
}

}  // namespace msvm
