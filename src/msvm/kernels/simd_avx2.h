// Eight floats with masks. Included only by sources compiled for AVX2 and FMA.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace msvm::simd {
namespace {

using Vec = __m256;
using Mask = __m256i;
constexpr int kWidth = 8;

inline Mask first_n(int64_t n) {  // 0 <= n <= 8
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Mask all_lanes() { return _mm256_set1_epi32(-1); }
inline Vec load(const float* p) { return _mm256_loadu_ps(p); }
inline Vec load(const float* p, Mask m) { return _mm256_maskload_ps(p, m); }
inline void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline void store(float* p, Vec v, Mask m) { _mm256_maskstore_ps(p, m, v); }
inline Vec splat(float v) { return _mm256_set1_ps(v); }
inline Vec zero() { return _mm256_setzero_ps(); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
inline Vec sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
inline Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
inline Vec div(Vec a, Vec b) { return _mm256_div_ps(a, b); }
inline Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }  // b where either is NaN
inline Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
inline Vec select(Mask m, Vec yes, Vec no) { return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(m)); }
inline Vec round_nearest(Vec a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline Vec less_than_to_zero(Vec a, Vec limit, Vec v) { return _mm256_and_ps(_mm256_cmp_ps(a, limit, _CMP_NLT_UQ), v); }  // 0 where a < limit
inline Vec nan_where_nan(Vec a, Vec v) { return _mm256_blendv_ps(v, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
inline Vec two_to_the(Vec n) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23)); }
inline Vec absolute(Vec v) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v); }
inline Vec copy_sign(Vec magnitude, Vec sign) { return _mm256_or_ps(magnitude, _mm256_and_ps(sign, _mm256_set1_ps(-0.0f))); }
// Elements 0, 2, 4, ... of 2 * kWidth floats, of which those masked are read.
inline Vec load_even(const float* p, Mask low, Mask high) {
  __m256 mixed = _mm256_shuffle_ps(load(p, low), load(p + 8, high), 0x88);  // 0 2 8 10 4 6 12 14
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xd8));
}
inline Vec gather(const float* base, const int32_t* index) { return _mm256_i32gather_ps(base, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index)), 4); }

}  // namespace
}  // namespace msvm::simd
