// Loops with one input. The floating ones call the C library: they are the truth for the fast ones.
#include <cmath>
#include <limits>
#include <type_traits>

#include "msvm/kernels/loops.h"

namespace msvm {
namespace {

template <template <class> class Op, class T>
uint32_t loop(const void* const* in, void* out, int64_t n, const LoopParams& p) {
  const T* a = static_cast<const T*>(in[0]);
  using R = decltype(Op<T>(p)(T{}));
  R* o = static_cast<R*>(out);
  const Op<T> op(p);
  MSVM_IVDEP
  for (int64_t i = 0; i < n; ++i) o[i] = op(a[i]);
  return 0;
}

template <template <class> class Op>
constexpr LoopTable floats() {
  LoopTable t{};
  t[static_cast<int>(DType::kF64)] = loop<Op, double>;
  t[static_cast<int>(DType::kF32)] = loop<Op, float>;
  return t;
}
template <template <class> class Op>
constexpr LoopTable signed_ones() {
  LoopTable t = floats<Op>();
  t[static_cast<int>(DType::kI8)] = loop<Op, int8_t>;
  t[static_cast<int>(DType::kI16)] = loop<Op, int16_t>;
  t[static_cast<int>(DType::kI32)] = loop<Op, int32_t>;
  t[static_cast<int>(DType::kI64)] = loop<Op, int64_t>;
  return t;
}
template <template <class> class Op>
constexpr LoopTable numbers() {
  LoopTable t = signed_ones<Op>();
  t[static_cast<int>(DType::kU8)] = loop<Op, uint8_t>;
  t[static_cast<int>(DType::kU16)] = loop<Op, uint16_t>;
  t[static_cast<int>(DType::kU32)] = loop<Op, uint32_t>;
  t[static_cast<int>(DType::kU64)] = loop<Op, uint64_t>;
  return t;
}

/// Negation and the like without overflow: the smallest integer stays itself.
template <class T>
T negative(T x) {
  if constexpr (std::is_floating_point_v<T>) return -x;
  else return static_cast<T>(0u - static_cast<std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>(x));
}
template <class T>
T saturated(double v) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(v);
  else {
    constexpr double kTop = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2, kLow = static_cast<double>(std::numeric_limits<T>::min());
    if (!(v == v)) return T(0);
    if (v >= kTop) return std::numeric_limits<T>::max();
    if (v <= kLow) return std::numeric_limits<T>::min();
    return static_cast<T>(v);
  }
}

template <class T> T sigmoid(T x) { return T(1) / (T(1) + std::exp(-x)); }
template <class T> T softplus(T x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

#define MSVM_OP(Name, ...)                       \
  template <class T>                             \
  struct Name {                                  \
    explicit Name([[maybe_unused]] const LoopParams& q) : p(q) {} \
    [[maybe_unused]] LoopParams p;               \
    auto operator()(T x) const { __VA_ARGS__ }   \
  };

MSVM_OP(Abs, if constexpr (std::is_unsigned_v<T>) return x; else if constexpr (std::is_floating_point_v<T>) return std::fabs(x); else return x < 0 ? negative(x) : x;)
MSVM_OP(Neg, return negative(x);)
MSVM_OP(Sign, if constexpr (std::is_floating_point_v<T>) return x != x ? x : static_cast<T>((x > 0) - (x < 0)); else return static_cast<T>((x > 0) - (x < T(0) ? 1 : 0));)
MSVM_OP(Relu, return x < 0 ? T(0) : x;)
MSVM_OP(Sqrt, return std::sqrt(x);)
MSVM_OP(Exp, return std::exp(x);)
MSVM_OP(Log, return std::log(x);)
MSVM_OP(Reciprocal, return T(1) / x;)
MSVM_OP(Ceil, return std::ceil(x);)
MSVM_OP(Floor, return std::floor(x);)
MSVM_OP(Round, return std::nearbyint(x);)
MSVM_OP(Sin, return std::sin(x);)
MSVM_OP(Cos, return std::cos(x);)
MSVM_OP(Tan, return std::tan(x);)
MSVM_OP(Asin, return std::asin(x);)
MSVM_OP(Acos, return std::acos(x);)
MSVM_OP(Atan, return std::atan(x);)
MSVM_OP(Sinh, return std::sinh(x);)
MSVM_OP(Cosh, return std::cosh(x);)
MSVM_OP(Tanh, return std::tanh(x);)
MSVM_OP(Asinh, return std::asinh(x);)
MSVM_OP(Acosh, return std::acosh(x);)
MSVM_OP(Atanh, return std::atanh(x);)
MSVM_OP(Erf, return std::erf(x);)
MSVM_OP(Sigmoid, return sigmoid(x);)
MSVM_OP(Softplus, return softplus(x);)
MSVM_OP(Softsign, return x / (T(1) + std::fabs(x));)
MSVM_OP(HardSwish, T y = x * T(1.0 / 6) + T(0.5); y = y < 0 ? T(0) : y; y = y > 1 ? T(1) : y; return x * y;)
MSVM_OP(Mish, return x * std::tanh(softplus(x));)
MSVM_OP(LeakyRelu, return x < 0 ? static_cast<T>(p.a) * x : x;)
MSVM_OP(Elu, return x < 0 ? static_cast<T>(p.a) * std::expm1(x) : x;)
MSVM_OP(Selu, return static_cast<T>(p.b) * (x > 0 ? x : static_cast<T>(p.a) * std::expm1(x));)
MSVM_OP(Celu, const T a = static_cast<T>(p.a); return x < 0 ? a * std::expm1(x / a) : x;)
MSVM_OP(ThresholdedRelu, return x > static_cast<T>(p.a) || x != x ? x : T(0);)
MSVM_OP(HardSigmoid, T y = static_cast<T>(p.a) * x + static_cast<T>(p.b); y = y < 0 ? T(0) : y; return y > 1 ? T(1) : y;)
MSVM_OP(Swish, return x * sigmoid(static_cast<T>(p.a) * x);)
MSVM_OP(Gelu, return p.flag ? T(0.5) * x * (T(1) + std::tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)))
                            : T(0.5) * x * std::erfc(-x * T(0.7071067811865475));)
MSVM_OP(Shrink, const double v = static_cast<double>(x); return v < -p.b ? saturated<T>(v + p.a) : v > p.b ? saturated<T>(v - p.a) : T(0);)
MSVM_OP(IsNaN, return static_cast<uint8_t>(x != x);)
MSVM_OP(IsInf, const T inf = std::numeric_limits<T>::infinity(); return static_cast<uint8_t>(((p.flag & 1) && x == inf) || ((p.flag & 2) && x == -inf));)
MSVM_OP(BitwiseNot, return static_cast<T>(~x);)
MSVM_OP(Not, return static_cast<uint8_t>(x == 0);)
MSVM_OP(Scale, return saturated<T>(static_cast<double>(x) * p.a);)

}  // namespace

#define X(op) const LoopTable k##op##Loops = floats<op>();
X(Sqrt) X(Exp) X(Log) X(Reciprocal) X(Ceil) X(Floor) X(Round) X(Sin) X(Cos) X(Tan) X(Asin) X(Acos) X(Atan) X(Sinh) X(Cosh) X(Tanh)
X(Asinh) X(Acosh) X(Atanh) X(Erf) X(Sigmoid) X(Softplus) X(Softsign) X(HardSwish) X(Mish) X(LeakyRelu) X(Elu) X(Selu) X(Celu)
X(ThresholdedRelu) X(HardSigmoid) X(Swish) X(Gelu) X(IsNaN) X(IsInf) X(Scale)
#undef X
const LoopTable kAbsLoops = numbers<Abs>();
const LoopTable kSignLoops = numbers<Sign>();
const LoopTable kShrinkLoops = numbers<Shrink>();
const LoopTable kNegLoops = signed_ones<Neg>();
const LoopTable kReluLoops = signed_ones<Relu>();
const LoopTable kBitwiseNotLoops = [] {
  LoopTable t{};
  t[static_cast<int>(DType::kI8)] = t[static_cast<int>(DType::kU8)] = loop<BitwiseNot, uint8_t>;
  t[static_cast<int>(DType::kI16)] = t[static_cast<int>(DType::kU16)] = loop<BitwiseNot, uint16_t>;
  t[static_cast<int>(DType::kI32)] = t[static_cast<int>(DType::kU32)] = loop<BitwiseNot, uint32_t>;
  t[static_cast<int>(DType::kI64)] = t[static_cast<int>(DType::kU64)] = loop<BitwiseNot, uint64_t>;
  return t;
}();
const LoopTable kNotLoops = [] {
  LoopTable t{};
  t[static_cast<int>(DType::kBool)] = loop<Not, uint8_t>;
  return t;
}();

}  // namespace msvm
