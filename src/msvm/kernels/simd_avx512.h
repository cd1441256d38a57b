// Sixteen floats with masks. Included only by sources compiled for AVX-512.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace msvm::simd {
namespace {

using Vec = __m512;
using Mask = __mmask16;
constexpr int kWidth = 16;

inline Mask first_n(int64_t n) { return static_cast<Mask>((1u << n) - 1); }  // 0 <= n <= 16
inline Mask all_lanes() { return 0xffff; }
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline Vec load(const float* p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline void store(float* p, Vec v, Mask m) { _mm512_mask_storeu_ps(p, m, v); }
inline Vec splat(float v) { return _mm512_set1_ps(v); }
inline Vec zero() { return _mm512_setzero_ps(); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
inline Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
inline Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
inline Vec div(Vec a, Vec b) { return _mm512_div_ps(a, b); }
inline Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }  // b where either is NaN
inline Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
inline Vec select(Mask m, Vec yes, Vec no) { return _mm512_mask_blend_ps(m, no, yes); }
inline Vec round_nearest(Vec a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline Vec less_than_to_zero(Vec a, Vec limit, Vec v) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, limit, _CMP_NLT_UQ), v); }  // 0 where a < limit
inline Vec nan_where_nan(Vec a, Vec v) { return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a); }
inline Vec two_to_the(Vec n) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23)); }
inline Vec absolute(Vec v) { return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0x7fffffff))); }
inline Vec copy_sign(Vec magnitude, Vec sign) {
  const __m512i m = _mm512_set1_epi32(static_cast<int>(0x80000000u));
  return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(magnitude), _mm512_and_si512(_mm512_castps_si512(sign), m)));
}
// Elements 0, 2, 4, ... of 2 * kWidth floats, of which those masked are read.
inline Vec load_even(const float* p, Mask low, Mask high) {
  const __m512i index = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_ps(load(p, low), index, load(p + 16, high));
}
inline Vec gather(const float* base, const int32_t* index) { return _mm512_i32gather_ps(_mm512_loadu_si512(index), base, 4); }

}  // namespace
}  // namespace msvm::simd
