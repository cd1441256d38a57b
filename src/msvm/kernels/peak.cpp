#include "msvm/kernels/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "msvm/device/cpu_features.h"

namespace msvm {
namespace {

constexpr int64_t kRounds = 20'000;
constexpr int kChains = 12;  // more than latency times throughput of any core's multiply-adds
constexpr int kTries = 9;    // the best counts: others were interrupted

// Floating point operations of one call. What they compute goes to `sink`, so that they are done.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) int64_t chains_avx512(float* sink) {
  __m512 x[kChains], a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
  for (auto& v : x) v = a;
  for (int64_t r = 0; r < kRounds; ++r)
    for (auto& v : x) v = _mm512_fmadd_ps(v, a, b);
  for (auto& v : x) b = _mm512_add_ps(b, v);
  *sink = _mm512_cvtss_f32(b);
  return kRounds * kChains * 16 * 2;
}
__attribute__((target("avx2,fma"))) int64_t chains_avx2(float* sink) {
  __m256 x[kChains], a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
  for (auto& v : x) v = a;
  for (int64_t r = 0; r < kRounds; ++r)
    for (auto& v : x) v = _mm256_fmadd_ps(v, a, b);
  for (auto& v : x) b = _mm256_add_ps(b, v);
  *sink = _mm256_cvtss_f32(b);
  return kRounds * kChains * 8 * 2;
}
#endif
int64_t chains_scalar(float* sink) {
  float x[kChains];
  std::fill(std::begin(x), std::end(x), 1.0f);
  for (int64_t r = 0; r < kRounds; ++r)
    for (float& v : x) v = v * 0.999f + 0.001f;
  for (float v : x) *sink += v;
  return kRounds * kChains * 2;
}

double measure() {
  using Clock = std::chrono::steady_clock;
  int64_t (*chains)(float*) = chains_scalar;
#if defined(__x86_64__)
  const Isa isa = cpu_features().isa;
  if (isa == Isa::kAvx512) chains = chains_avx512;
  if (isa == Isa::kAvx2) chains = chains_avx2;
#endif
  volatile float kept = 0;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    float sink = 0;
    const auto begin = Clock::now();
    const auto operations = static_cast<double>(chains(&sink));
    best = std::max(best, operations / std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    kept = sink;
  }
  (void)kept;
  return best;
}

}  // namespace

double core_peak_gflops() {
  static const double peak = measure();
  return peak;
}

}  // namespace msvm
