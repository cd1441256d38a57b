// Eight floats with the masks and 32 registers of AVX-512: what convolution tiles need. Included only by sources compiled for AVX-512.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace msvm::simd {
namespace {

using Vec = __m256;
using Mask = __mmask8;
constexpr int kWidth = 8;

inline Mask first_n(int64_t n) { return static_cast<Mask>((1u << n) - 1); }  // 0 <= n <= 8
inline Mask all_lanes() { return 0xff; }
inline Vec load(const float* p) { return _mm256_loadu_ps(p); }
inline Vec load(const float* p, Mask m) { return _mm256_maskz_loadu_ps(m, p); }
inline void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline void store(float* p, Vec v, Mask m) { _mm256_mask_storeu_ps(p, m, v); }
inline Vec splat(float v) { return _mm256_set1_ps(v); }
inline Vec zero() { return _mm256_setzero_ps(); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
inline Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
inline Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }  // b where either is NaN
inline Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }

}  // namespace
}  // namespace msvm::simd
