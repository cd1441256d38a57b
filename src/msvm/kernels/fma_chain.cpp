#include "msvm/kernels/fma_chain.h"

#include <cmath>

namespace msvm {
namespace {

#if defined(__x86_64__)
// Compiled to the instruction; the generic form calls the library for each step.
__attribute__((target("fma"))) float with_instruction(float sum, const float* a, int64_t sa, const float* b, int64_t sb, int64_t n) {
  for (int64_t k = 0; k < n; ++k) sum = __builtin_fmaf(a[k * sa], b[k * sb], sum);
  return sum;
}
__attribute__((target("fma"))) double with_instruction(double sum, const double* a, int64_t sa, const double* b, int64_t sb, int64_t n) {
  for (int64_t k = 0; k < n; ++k) sum = __builtin_fma(a[k * sa], b[k * sb], sum);
  return sum;
}
const bool kHasFma = __builtin_cpu_supports("fma") != 0;
#endif

template <class T>
T chain(T sum, const T* a, int64_t sa, const T* b, int64_t sb, int64_t n) {
#if defined(__x86_64__)
  if (kHasFma) return with_instruction(sum, a, sa, b, sb, n);
#endif
  for (int64_t k = 0; k < n; ++k) sum = std::fma(a[k * sa], b[k * sb], sum);
  return sum;
}

}  // namespace

float fma_chain(float start, const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t n) {
  return chain(start, a, a_stride, b, b_stride, n);
}
double fma_chain(double start, const double* a, int64_t a_stride, const double* b, int64_t b_stride, int64_t n) {
  return chain(start, a, a_stride, b, b_stride, n);
}

}  // namespace msvm
