#include "msvm/device/peak.h"

#include <algorithm>
#include <chrono>

#include "msvm/device/cpu_features.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace msvm {
namespace {

constexpr int kChains = 12;       // independent, so that neither latency nor the number of units is the limit
constexpr int kSteps = 20'000;

#if defined(__x86_64__)
// The chains stay in registers; their sum is given back, so that none is left out.
__attribute__((target("avx512f"), noinline)) float chains_avx512(float x) {
  __m512 a[kChains];
  for (int k = 0; k < kChains; ++k) a[k] = _mm512_set1_ps(x + static_cast<float>(k));
  const __m512 m = _mm512_set1_ps(0.999f), c = _mm512_set1_ps(x);
  for (int s = 0; s < kSteps; ++s)
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) a[k] = _mm512_fmadd_ps(a[k], m, c);
  __m512 sum = a[0];
  for (int k = 1; k < kChains; ++k) sum = _mm512_add_ps(sum, a[k]);
  return _mm512_cvtss_f32(sum);
}

__attribute__((target("avx2,fma"), noinline)) float chains_avx2(float x) {
  __m256 a[kChains];
  for (int k = 0; k < kChains; ++k) a[k] = _mm256_set1_ps(x + static_cast<float>(k));
  const __m256 m = _mm256_set1_ps(0.999f), c = _mm256_set1_ps(x);
  for (int s = 0; s < kSteps; ++s)
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) a[k] = _mm256_fmadd_ps(a[k], m, c);
  __m256 sum = a[0];
  for (int k = 1; k < kChains; ++k) sum = _mm256_add_ps(sum, a[k]);
  return _mm256_cvtss_f32(sum);
}
#endif

__attribute__((noinline)) float chains_scalar(float x) {
  float a[kChains];
  for (int k = 0; k < kChains; ++k) a[k] = x + static_cast<float>(k);
  for (int s = 0; s < kSteps; ++s)
    for (int k = 0; k < kChains; ++k) a[k] = a[k] * 0.999f + x;
  float sum = 0;
  for (float v : a) sum += v;
  return sum;
}

struct Chains {
  float (*run)(float) = &chains_scalar;
  int lanes = 1;
};

Chains chains() {
#if defined(__x86_64__)
  switch (cpu_features().isa) {
    case Isa::kAvx512: return {&chains_avx512, 16};
    case Isa::kAvx2: return {&chains_avx2, 8};
    case Isa::kScalar: break;
  }
#endif
  return {};
}

// The best of many short rounds: what a core does when nobody else wants it, at the speed that it reaches.
double measure() {
  using Clock = std::chrono::steady_clock;
  const Chains c = chains();
  volatile float kept = 0;
  double best = 1e9;
  const auto end = Clock::now() + std::chrono::milliseconds(3);
  for (auto now = Clock::now(); now < end;) {
    kept = c.run(kept * 0 + 1);
    const auto after = Clock::now();
    best = std::min(best, std::chrono::duration<double>(after - now).count());
    now = after;
  }
  return 2.0 * kChains * kSteps * c.lanes / best * 1e-9;
}

}  // namespace

double measured_peak_gflops() {
  static const double value = measure();
  return value;
}

}  // namespace msvm
