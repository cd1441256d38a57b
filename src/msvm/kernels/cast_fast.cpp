// Rows of every numeric dtype to every other.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "msvm/kernels/half.h"
#include "msvm/kernels/map.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace msvm {
namespace {

// Storage types as distinct C++ types.
struct F16 { uint16_t bits; };
struct BF16 { uint16_t bits; };
struct Bool { uint8_t byte; };

template <class T> constexpr bool is_half = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;

/// From a plain number to a plain number. `bad` collects floats that do not fit.
template <class D, class S>
D number(S s, bool& bad) {
  if constexpr (std::is_floating_point_v<S> && std::is_integral_v<D>) {
    // Fits if min - 1 < s < max + 1. max + 1 is a power of two, exact in S; min - 1 is exact only where S has the digits.
    constexpr S kTop = static_cast<S>(std::numeric_limits<D>::max() / 2 + 1) * 2;
    constexpr S kLow = static_cast<S>(std::numeric_limits<D>::min());
    constexpr bool kExact = std::is_unsigned_v<D> || std::numeric_limits<D>::digits < std::numeric_limits<S>::digits;
    const bool high = !(s < kTop), nan = s != s;
    const bool low = kExact ? !(s > kLow - 1) : !(s >= kLow);
    bad |= high | low;
    S safe = high || low ? S(0) : s;
    D v = static_cast<D>(safe);
    v = high ? std::numeric_limits<D>::max() : v;
    v = low ? std::numeric_limits<D>::min() : v;
    return nan ? D(0) : v;
  } else {
    return static_cast<D>(s);
  }
}

template <class S>
auto value(S s) {
  if constexpr (std::is_same_v<S, F16>) return f16_to_f32(s.bits);
  else if constexpr (std::is_same_v<S, BF16>) return bf16_to_f32(s.bits);
  else if constexpr (std::is_same_v<S, Bool>) return static_cast<uint8_t>(s.byte != 0);
  else return s;
}

template <class S, class D>
uint32_t row(const void* in, void* out, int64_t n) {
  const S* a = static_cast<const S*>(in);
  D* o = static_cast<D*>(out);
  bool bad = false;
  MSVM_IVDEP
  for (int64_t i = 0; i < n; ++i) {
    auto v = value(a[i]);
    using V = decltype(v);
    if constexpr (std::is_same_v<D, Bool>) o[i].byte = v != V(0);
    else if constexpr (std::is_same_v<D, F16>) o[i].bits = std::is_same_v<V, double> ? f64_to_f16(v) : f32_to_f16(static_cast<float>(v));
    else if constexpr (std::is_same_v<D, BF16>) o[i].bits = std::is_same_v<V, double> ? f64_to_bf16(v) : f32_to_bf16(static_cast<float>(v));
    else o[i] = number<D>(v, bad);
  }
  return bad ? uint32_t{kCastHazard} : 0u;
}

template <class S>
uint32_t same(const void* in, void* out, int64_t n) {
  std::memmove(out, in, static_cast<size_t>(n) * sizeof(S));
  return 0;
}

uint32_t f16_f32(const void* in, void* out, int64_t n) {
  f16_to_f32_row(static_cast<const uint16_t*>(in), static_cast<float*>(out), n);
  return 0;
}
uint32_t f32_f16(const void* in, void* out, int64_t n) {
  f32_to_f16_row(static_cast<const float*>(in), static_cast<uint16_t*>(out), n);
  return 0;
}

// In the order of DType.
template <class S>
struct RowsFrom {
  static constexpr CastRow rows[kNumDTypes] = {
      row<S, double>,  row<S, float>,   row<S, F16>,      row<S, BF16>,     row<S, int8_t>,   row<S, int16_t>, row<S, int32_t>,
      row<S, int64_t>, row<S, uint8_t>, row<S, uint16_t>, row<S, uint32_t>, row<S, uint64_t>, row<S, Bool>,    nullptr};
};

constexpr const CastRow* kRows[kNumDTypes] = {
    RowsFrom<double>::rows,  RowsFrom<float>::rows,   RowsFrom<F16>::rows,      RowsFrom<BF16>::rows,     RowsFrom<int8_t>::rows,
    RowsFrom<int16_t>::rows, RowsFrom<int32_t>::rows, RowsFrom<int64_t>::rows,  RowsFrom<uint8_t>::rows,  RowsFrom<uint16_t>::rows,
    RowsFrom<uint32_t>::rows, RowsFrom<uint64_t>::rows, RowsFrom<Bool>::rows,   nullptr};

#if defined(__x86_64__)
__attribute__((target("avx2,f16c"))) int64_t f16_to_f32_hw(const uint16_t* in, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  return i;
}
__attribute__((target("avx2,f16c"))) int64_t f32_to_f16_hw(const float* in, uint16_t* out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return i;
}
__attribute__((target("avx2"))) int64_t bool_to_f32_hw(const uint8_t* in, float* out, int64_t n) {
  const __m256 one = _mm256_set1_ps(1.0f);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + i)));
    _mm256_storeu_ps(out + i, _mm256_and_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(v, _mm256_setzero_si256())), one));
  }
  return i;
}
bool half_hardware() {
  static const bool yes = cpu_features().isa >= Isa::kAvx2;
  return yes;
}
#else
int64_t bool_to_f32_hw(const uint8_t*, float*, int64_t) { return 0; }
int64_t f16_to_f32_hw(const uint16_t*, float*, int64_t) { return 0; }
int64_t f32_to_f16_hw(const float*, uint16_t*, int64_t) { return 0; }
bool half_hardware() { return false; }
#endif

}  // namespace

void f16_to_f32_row(const uint16_t* in, float* out, int64_t n) {
  for (int64_t i = half_hardware() ? f16_to_f32_hw(in, out, n) : 0; i < n; ++i) out[i] = f16_to_f32(in[i]);
}
void f32_to_f16_row(const float* in, uint16_t* out, int64_t n) {
  for (int64_t i = half_hardware() ? f32_to_f16_hw(in, out, n) : 0; i < n; ++i) out[i] = f32_to_f16(in[i]);
}
namespace {
uint32_t bool_f32(const void* in, void* out, int64_t n) {
  const auto* a = static_cast<const uint8_t*>(in);
  auto* o = static_cast<float*>(out);
  for (int64_t i = half_hardware() ? bool_to_f32_hw(a, o, n) : 0; i < n; ++i) o[i] = a[i] != 0 ? 1.0f : 0.0f;
  return 0;
}
}  // namespace
void bf16_to_f32_row(const uint16_t* in, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = bf16_to_f32(in[i]);
}
void f32_to_bf16_row(const float* in, uint16_t* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = f32_to_bf16(in[i]);
}

CastRow cast_row(DType from, DType to) {
  if (from == to && from != DType::kBool) {
    switch (dtype_bytes(from)) {
      case 1: return same<uint8_t>;
      case 2: return same<uint16_t>;
      case 4: return same<uint32_t>;
      default: return same<uint64_t>;
    }
  }
  if (from == DType::kBool && to == DType::kF32) return bool_f32;
  if (from == DType::kF16 && to == DType::kF32) return f16_f32;
  if (from == DType::kF32 && to == DType::kF16) return f32_f16;
  return kRows[static_cast<int>(from)][static_cast<int>(to)];
}

}  // namespace msvm
