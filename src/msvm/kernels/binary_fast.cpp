// Loops with two or three inputs.
#include <cmath>
#include <limits>
#include <type_traits>

#include "msvm/device/cpu_features.h"
#include "msvm/kernels/body_kernels.h"
#include "msvm/kernels/loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace msvm {
namespace {

template <template <class> class Op, class T>
uint32_t loop(const void* const* in, void* out, int64_t n, const LoopParams& p) {
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  using R = decltype(Op<T>(p)(T{}, T{}));
  R* o = static_cast<R*>(out);
  const Op<T> op(p);
  MSVM_IVDEP
  for (int64_t i = 0; i < n; ++i) o[i] = op(a[i], b[i]);
  return 0;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) int64_t equal_words_hw(const uint32_t* a, const uint32_t* b, uint8_t* o, int64_t n) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7), one = _mm256_set1_epi8(1);
  auto equal = [&](int64_t at) __attribute__((target("avx2"))) {
    return _mm256_cmpeq_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + at)), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + at)));
  };
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256i low = _mm256_packs_epi32(equal(i), equal(i + 8)), high = _mm256_packs_epi32(equal(i + 16), equal(i + 24));
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(o + i), _mm256_and_si256(bytes, one));
  }
  return i;
}
#else
int64_t equal_words_hw(const uint32_t*, const uint32_t*, uint8_t*, int64_t) { return 0; }
#endif
/// 32-bit integers. The result may lie over an input: bytes are written behind what is read.
uint32_t equal_words(const void* const* in, void* out, int64_t n, const LoopParams&) {
  const auto *a = static_cast<const uint32_t*>(in[0]), *b = static_cast<const uint32_t*>(in[1]);
  auto* o = static_cast<uint8_t*>(out);
  static const bool hardware = cpu_features().isa >= Isa::kAvx2;
  for (int64_t i = hardware ? equal_words_hw(a, b, o, n) : 0; i < n; ++i) o[i] = a[i] == b[i];
  return 0;
}

constexpr void put(LoopTable& t, DType d, DenseFn f) { t[static_cast<int>(d)] = f; }

template <template <class> class Op>
constexpr void put_floats(LoopTable& t) {
  put(t, DType::kF64, loop<Op, double>);
  put(t, DType::kF32, loop<Op, float>);
}
template <template <class> class Op>
constexpr void put_ints(LoopTable& t) {
  put(t, DType::kI8, loop<Op, int8_t>);
  put(t, DType::kI16, loop<Op, int16_t>);
  put(t, DType::kI32, loop<Op, int32_t>);
  put(t, DType::kI64, loop<Op, int64_t>);
  put(t, DType::kU8, loop<Op, uint8_t>);
  put(t, DType::kU16, loop<Op, uint16_t>);
  put(t, DType::kU32, loop<Op, uint32_t>);
  put(t, DType::kU64, loop<Op, uint64_t>);
}
/// Where signedness does not show: by size.
template <template <class> class Op>
constexpr void put_sizes(LoopTable& t) {
  put(t, DType::kI8, loop<Op, uint8_t>), put(t, DType::kU8, loop<Op, uint8_t>);
  put(t, DType::kI16, loop<Op, uint16_t>), put(t, DType::kU16, loop<Op, uint16_t>);
  put(t, DType::kI32, loop<Op, uint32_t>), put(t, DType::kU32, loop<Op, uint32_t>);
  put(t, DType::kI64, loop<Op, uint64_t>), put(t, DType::kU64, loop<Op, uint64_t>);
}
template <template <class> class Op>
constexpr LoopTable floats() {
  LoopTable t{};
  put_floats<Op>(t);
  return t;
}
template <template <class> class Op>
constexpr LoopTable numbers() {
  LoopTable t{};
  put_floats<Op>(t);
  put_ints<Op>(t);
  return t;
}
template <template <class> class Op>
constexpr LoopTable arithmetic() {
  LoopTable t{};
  put_floats<Op>(t);
  put_sizes<Op>(t);
  return t;
}
template <template <class> class Op>
constexpr LoopTable sizes() {
  LoopTable t{};
  put_sizes<Op>(t);
  return t;
}
template <template <class> class Op>
constexpr LoopTable bools() {
  LoopTable t{};
  put(t, DType::kBool, loop<Op, uint8_t>);
  return t;
}

#define MSVM_OP(Name, ...)                                        \
  template <class T>                                              \
  struct Name {                                                   \
    explicit Name([[maybe_unused]] const LoopParams& q) : p(q) {} \
    [[maybe_unused]] LoopParams p;                                \
    auto operator()(T a, T b) const { __VA_ARGS__ }               \
  };

// Integers arrive unsigned here (by size): wrapping is defined. Small ones are widened by hand: int would overflow for u16 * u16.
MSVM_OP(Add, return static_cast<T>(a + b);)
MSVM_OP(Sub, return static_cast<T>(a - b);)
MSVM_OP(Mul, if constexpr (sizeof(T) < 4) return static_cast<T>(static_cast<uint32_t>(a) * b); else return static_cast<T>(a * b);)
MSVM_OP(DivFloat, return a / b;)
// flag: C's remainder (sign of the dividend); else Python's (sign of the divisor, zeros too).
MSVM_OP(FloatMod, T r = std::fmod(a, b); if (p.flag) return r; if (r == 0) return std::copysign(T(0), b);
        return (r < 0) != (b < 0) ? r + b : r;)
MSVM_OP(Max, if constexpr (std::is_floating_point_v<T>) return a > b || a != a ? a : b; else return a > b ? a : b;)
MSVM_OP(Min, if constexpr (std::is_floating_point_v<T>) return a < b || a != a ? a : b; else return a < b ? a : b;)
MSVM_OP(PRelu, if constexpr (std::is_floating_point_v<T>) return a < 0 ? static_cast<T>(a * b) : a;
        else return a < 0 ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b)) : a;)
MSVM_OP(SwiGLU, return a / (T(1) + std::exp(-static_cast<T>(p.a) * a)) * b;)
MSVM_OP(Equal, return static_cast<uint8_t>(a == b);)
MSVM_OP(Greater, return static_cast<uint8_t>(a > b);)
MSVM_OP(GreaterOrEqual, return static_cast<uint8_t>(a >= b);)
MSVM_OP(Less, return static_cast<uint8_t>(a < b);)
MSVM_OP(LessOrEqual, return static_cast<uint8_t>(a <= b);)
MSVM_OP(EqualBool, return static_cast<uint8_t>((a != 0) == (b != 0));)
MSVM_OP(And, return static_cast<uint8_t>((a != 0) & (b != 0));)
MSVM_OP(Or, return static_cast<uint8_t>((a != 0) | (b != 0));)
MSVM_OP(Xor, return static_cast<uint8_t>((a != 0) != (b != 0));)
MSVM_OP(BitwiseAnd, return static_cast<T>(a & b);)
MSVM_OP(BitwiseOr, return static_cast<T>(a | b);)
MSVM_OP(BitwiseXor, return static_cast<T>(a ^ b);)

/// Truncates. The divisor is replaced where it would trap; the row then reports it.
template <class T>
uint32_t divide(const void* const* in, void* out, int64_t n, const LoopParams&) {
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  T* o = static_cast<T*>(out);
  bool bad = false;
  for (int64_t i = 0; i < n; ++i) {
    T x = a[i], y = b[i];
    bool trap = y == 0;
    if constexpr (std::is_signed_v<T>) trap |= y == T(-1) && x == std::numeric_limits<T>::min();
    bad |= trap;
    o[i] = static_cast<T>(x / (trap ? T(1) : y));
  }
  return bad ? uint32_t{kDivisionHazard} : 0u;
}

/// flag: C's remainder (sign of the dividend); else Python's (sign of the divisor).
template <class T>
uint32_t modulo(const void* const* in, void* out, int64_t n, const LoopParams& p) {
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  T* o = static_cast<T*>(out);
  bool bad = false;
  for (int64_t i = 0; i < n; ++i) {
    T x = a[i], y = b[i];
    bad |= y == 0;
    T r = 0;
    if constexpr (std::is_signed_v<T>) {
      if (y != 0 && y != T(-1)) {
        r = static_cast<T>(x % y);
        if (p.flag == 0 && r != 0 && (r < 0) != (y < 0)) r = static_cast<T>(r + y);
      }
    } else if (y != 0) {
      r = static_cast<T>(x % y);
    }
    o[i] = r;
  }
  return bad ? uint32_t{kDivisionHazard} : 0u;
}

template <class T>
uint32_t shift(const void* const* in, void* out, int64_t n, const LoopParams& p) {
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  T* o = static_cast<T*>(out);
  constexpr T kBits = sizeof(T) * 8;
  const bool left = p.flag != 0;
  bool bad = false;
  for (int64_t i = 0; i < n; ++i) {
    bool out_of_bits = b[i] < 0 || b[i] >= kBits;
    bad |= out_of_bits;
    int by = out_of_bits ? 0 : static_cast<int>(b[i]);
    // To the left through unsigned numbers, to the right with the sign of T.
    o[i] = left ? static_cast<T>(static_cast<uint64_t>(a[i]) << by) : static_cast<T>(a[i] >> by);
  }
  return bad ? uint32_t{kShiftHazard} : 0u;
}

uint32_t power_f64(const void* const* in, void* out, int64_t n, const LoopParams&) {
  const auto *a = static_cast<const double*>(in[0]), *b = static_cast<const double*>(in[1]);
  auto* o = static_cast<double*>(out);
  for (int64_t i = 0; i < n; ++i) o[i] = b[i] == 2 ? a[i] * a[i] : std::pow(a[i], b[i]);
  return 0;
}
/// The bits of the body step.
uint32_t power_f32(const void* const* in, void* out, int64_t n, const LoopParams&) {
  const auto *a = static_cast<const float*>(in[0]), *b = static_cast<const float*>(in[1]);
  auto* o = static_cast<float*>(out);
  bool square = true;
  for (int64_t i = 0; i < n && square; ++i) square = b[i] == 2;
  if (square) {
    MSVM_IVDEP
    for (int64_t i = 0; i < n; ++i) o[i] = a[i] * a[i];
  } else if (const BodyKernels* kernels = body_kernels(cpu_features().isa)) {
    kernels->step[static_cast<int>(BodyOp::kPow)][BodyKernels::kRows](a, b, 0, 0, o, n);
  } else {
    for (int64_t i = 0; i < n; ++i) o[i] = body_step_scalar(BodyOp::kPow, a[i], b[i], 0, 0);
  }
  return 0;
}
/// Wraps; a negative exponent gives 0 unless the base is 1 or -1 (the truncated reciprocal; of 0 as well).
uint32_t power_int(const void* const* in, void* out, int64_t n, const LoopParams&) {
  const int64_t *a = static_cast<const int64_t*>(in[0]), *b = static_cast<const int64_t*>(in[1]);
  int64_t* o = static_cast<int64_t*>(out);
  for (int64_t i = 0; i < n; ++i) {
    int64_t x = a[i], e = b[i];
    if (e < 0) {
      o[i] = x == 1 ? 1 : x == -1 ? (e & 1 ? -1 : 1) : 0;
      continue;
    }
    uint64_t r = 1, base = static_cast<uint64_t>(x);
    for (uint64_t k = static_cast<uint64_t>(e); k; k >>= 1) {
      if (k & 1) r *= base;
      base *= base;
    }
    o[i] = static_cast<int64_t>(r);
  }
  return 0;
}

template <class T>
uint32_t clip(const void* const* in, void* out, int64_t n, const LoopParams&) {
  const T *a = static_cast<const T*>(in[0]), *low = static_cast<const T*>(in[1]), *high = static_cast<const T*>(in[2]);
  T* o = static_cast<T*>(out);
  MSVM_IVDEP
  for (int64_t i = 0; i < n; ++i) {
    T v = a[i] < low[i] ? low[i] : a[i];
    o[i] = v > high[i] ? high[i] : v;
  }
  return 0;
}

}  // namespace

const LoopTable kAddLoops = arithmetic<Add>();
const LoopTable kSubLoops = arithmetic<Sub>();
const LoopTable kMulLoops = arithmetic<Mul>();
const LoopTable kMaxLoops = numbers<Max>();
const LoopTable kMinLoops = numbers<Min>();
const LoopTable kSwiGLULoops = floats<SwiGLU>();
const LoopTable kPReluLoops = [] {
  LoopTable t = floats<PRelu>();
  put(t, DType::kI32, loop<PRelu, int32_t>);
  put(t, DType::kI64, loop<PRelu, int64_t>);
  put(t, DType::kU32, loop<PRelu, uint32_t>);
  put(t, DType::kU64, loop<PRelu, uint64_t>);
  return t;
}();

#define MSVM_EACH_INT(X) X(kI8, int8_t) X(kI16, int16_t) X(kI32, int32_t) X(kI64, int64_t) X(kU8, uint8_t) X(kU16, uint16_t) X(kU32, uint32_t) X(kU64, uint64_t)
const LoopTable kDivLoops = [] {
  LoopTable t = floats<DivFloat>();
#define X(d, c) put(t, DType::d, divide<c>);
  MSVM_EACH_INT(X)
#undef X
  return t;
}();
const LoopTable kModLoops = [] {
  LoopTable t = floats<FloatMod>();
#define X(d, c) put(t, DType::d, modulo<c>);
  MSVM_EACH_INT(X)
#undef X
  return t;
}();
const LoopTable kClipLoops = [] {
  LoopTable t{};
  put(t, DType::kF64, clip<double>);
  put(t, DType::kF32, clip<float>);
#define X(d, c) put(t, DType::d, clip<c>);
  MSVM_EACH_INT(X)
#undef X
  return t;
}();
const LoopTable kPowLoops = [] {
  LoopTable t{};
  put(t, DType::kF64, power_f64);
  put(t, DType::kF32, power_f32);
  put(t, DType::kI64, power_int);
  return t;
}();
const LoopTable kBitShiftLoops = [] {
  LoopTable t{};
#define X(d, c) put(t, DType::d, shift<c>);
  MSVM_EACH_INT(X)
#undef X
  return t;
}();
const LoopTable kBitwiseAndLoops = sizes<BitwiseAnd>();
const LoopTable kBitwiseOrLoops = sizes<BitwiseOr>();
const LoopTable kBitwiseXorLoops = sizes<BitwiseXor>();
const LoopTable kEqualLoops = [] {
  LoopTable t = arithmetic<Equal>();
  put(t, DType::kI32, equal_words), put(t, DType::kU32, equal_words);
  put(t, DType::kBool, loop<EqualBool, uint8_t>);
  return t;
}();
const LoopTable kGreaterLoops = numbers<Greater>();
const LoopTable kGreaterOrEqualLoops = numbers<GreaterOrEqual>();
const LoopTable kLessLoops = numbers<Less>();
const LoopTable kLessOrEqualLoops = numbers<LessOrEqual>();
const LoopTable kAndLoops = bools<And>();
const LoopTable kOrLoops = bools<Or>();
const LoopTable kXorLoops = bools<Xor>();

}  // namespace msvm
