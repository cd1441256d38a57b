#include "msvm/loops/scalar.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "msvm/base/half.h"

namespace msvm::loops {
#include "msvm/base/math_f32.inc"
#include "msvm/base/math_f32_wide.inc"
namespace {

template <class T>
T read(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}
template <class T>
void write(std::byte* at, T v) {
  std::memcpy(at, &v, sizeof v);
}

/// `i` modulo the width of the type, extended by its sign.
int64_t wrapped(DType type, uint64_t i) {
  switch (type) {
    case DType::kI8: return static_cast<int8_t>(i);
    case DType::kI16: return static_cast<int16_t>(i);
    case DType::kI32: return static_cast<int32_t>(i);
    case DType::kU8: return static_cast<uint8_t>(i);
    case DType::kU16: return static_cast<uint16_t>(i);
    case DType::kU32: return static_cast<uint32_t>(i);
    case DType::kBool: return i != 0;
    case DType::kI64:
    case DType::kU64:
    case DType::kF64:
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
    case DType::kString: break;
  }
  return static_cast<int64_t>(i);
}

Scalar of_number(DType type, double v) { return {type, v, 0}; }
Scalar of_integer(DType type, uint64_t i) { return {type, 0, wrapped(type, i)}; }
Scalar of_bool(bool b) { return {DType::kBool, 0, b}; }

bool less(const Scalar& a, const Scalar& b) {
  if (is_float(a.type)) return a.number < b.number;
  return a.type == DType::kU64 ? static_cast<uint64_t>(a.integer) < static_cast<uint64_t>(b.integer) : a.integer < b.integer;
}
bool equal(const Scalar& a, const Scalar& b) { return is_float(a.type) ? a.number == b.number : a.integer == b.integer; }
bool nan(const Scalar& a) { return is_float(a.type) && a.number != a.number; }

double rounded_to(DType type, double v) { return type == DType::kF32 ? static_cast<double>(static_cast<float>(v)) : v; }

float sine_of(float x, uint32_t quarter) {
  if (std::fabs(x) <= kSineLimit) return sine32(x, quarter);
  return sine_large32(x, quarter);
}

/// Functions of f32 alone; 0 for other steps.
float f32_function(Op op, float x, float y) {
  if (op == Op::kPow) return pow32(x, y);
  if (op == Op::kExp) return exp32(x);
  if (op == Op::kLog) return log32(x);
  if (op == Op::kErf) return erf32(x);
  if (op == Op::kTanh) return tanh32(x);
  if (op == Op::kSigmoid) return sigmoid32(x);
  if (op == Op::kSilu) return x * sigmoid32(x);
  if (op == Op::kGelu) return gelu32(x);
  if (op == Op::kGeluTanh) return gelu_tanh32(x);
  if (op == Op::kElu) return x < 0.0f ? y * expm1_32(x) : x;
  if (op == Op::kSoftplus) return softplus32(x);
  if (op == Op::kMish) return mish32(x);
  return sine_of(x, op == Op::kCos);
}

template <class T>
T clamp_to_one(T y) {
  y = y < 0 ? T{0} : y;
  return y > 1 ? T{1} : y;
}
/// Steps of f32 and f64, each operation rounded to T.
template <class T>
T float_step(Op op, T a, T b, T c) {
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kDiv: return a / b;
    case Op::kFma: return std::fma(a, b, c);
    case Op::kNeg: return -a;
    case Op::kAbs: return std::fabs(a);
    case Op::kSqrt: return std::sqrt(a);
    case Op::kFloor: return std::floor(a);
    case Op::kCeil: return std::ceil(a);
    case Op::kRound: return std::nearbyint(a);
    case Op::kLeakyRelu: return a < 0 ? b * a : a;
    case Op::kHardSigmoid: return clamp_to_one<T>(b * a + c);
    case Op::kHardSwish: return a * clamp_to_one<T>(a * (T{1} / 6) + T{0.5});
    case Op::kPow: case Op::kExp: case Op::kLog: case Op::kErf: case Op::kTanh: case Op::kSigmoid: case Op::kSilu: case Op::kGelu:
    case Op::kGeluTanh: case Op::kElu: case Op::kSoftplus: case Op::kMish: case Op::kSin: case Op::kCos:
      return static_cast<T>(f32_function(op, static_cast<float>(a), static_cast<float>(b)));
    case Op::kLoad: case Op::kStore: case Op::kIndex: case Op::kMin: case Op::kMax: case Op::kRelu: case Op::kClip: case Op::kEqual: case Op::kLess:
    case Op::kLessOrEqual: case Op::kAnd: case Op::kOr: case Op::kXor: case Op::kNot: case Op::kIsNan: case Op::kSelect: case Op::kCast:
    case Op::kReduceSum: case Op::kReduceMax: case Op::kReduceMin: case Op::kReduceProd: break;
  }
  return a;
}

Scalar cast(DType type, const Scalar& a) {
  const bool from_float = is_float(a.type);
  if (type == DType::kBool) return of_bool(from_float ? a.number != 0 : a.integer != 0);
  if (!is_float(type)) return of_integer(type, static_cast<uint64_t>(a.integer));
  if (from_float) return of_number(type, rounded_to(type, a.number));
  const auto u = static_cast<uint64_t>(a.integer);
  if (type == DType::kF32) return of_number(type, a.type == DType::kU64 ? static_cast<float>(u) : static_cast<float>(a.integer));
  return of_number(type, a.type == DType::kU64 ? static_cast<double>(u) : static_cast<double>(a.integer));
}

}  // namespace

Scalar load_scalar(const std::byte* at, DType type) {
  switch (type) {
    case DType::kF16: return of_number(DType::kF32, f16_to_f32(read<uint16_t>(at)));
    case DType::kBF16: return of_number(DType::kF32, bf16_to_f32(read<uint16_t>(at)));
    case DType::kF32: return of_number(type, read<float>(at));
    case DType::kF64: return of_number(type, read<double>(at));
    case DType::kI8:
    case DType::kU8:
    case DType::kBool: return of_integer(type, read<uint8_t>(at));
    case DType::kI16:
    case DType::kU16: return of_integer(type, read<uint16_t>(at));
    case DType::kI32:
    case DType::kU32: return of_integer(type, read<uint32_t>(at));
    case DType::kI64:
    case DType::kU64: return of_integer(type, read<uint64_t>(at));
    case DType::kString: break;
  }
  return {};
}

void store_scalar(std::byte* at, DType type, const Scalar& v) {
  switch (type) {
    case DType::kF16: return write(at, f32_to_f16(static_cast<float>(v.number)));
    case DType::kBF16: return write(at, f32_to_bf16(static_cast<float>(v.number)));
    case DType::kF32: return write(at, static_cast<float>(v.number));
    case DType::kF64: return write(at, v.number);
    case DType::kI8:
    case DType::kU8:
    case DType::kBool: return write(at, static_cast<uint8_t>(v.integer));
    case DType::kI16:
    case DType::kU16: return write(at, static_cast<uint16_t>(v.integer));
    case DType::kI32:
    case DType::kU32: return write(at, static_cast<uint32_t>(v.integer));
    case DType::kI64:
    case DType::kU64: return write(at, v.integer);
    case DType::kString: break;
  }
}

Scalar constant(const Operand& o, DType type) {
  if (type == DType::kBool) return of_bool(o.number != 0);
  return is_float(type) ? of_number(type, rounded_to(type, o.number)) : of_integer(type, static_cast<uint64_t>(o.integer));
}

Scalar apply(Op op, DType type, const std::array<Scalar, 3>& operands) {
  const auto& [a, b, c] = operands;
  // Comparisons, and what is made of them for every type.
  if (op == Op::kEqual) return of_bool(equal(a, b));
  if (op == Op::kLess) return of_bool(less(a, b));
  if (op == Op::kLessOrEqual) return of_bool(less(a, b) || equal(a, b));
  if (op == Op::kIsNan) return of_bool(nan(a));
  if (op == Op::kSelect) return a.integer ? b : c;
  if (op == Op::kCast) return cast(type, a);
  if (op == Op::kMin) return less(a, b) || nan(a) ? a : b;
  if (op == Op::kMax) return less(b, a) || nan(a) ? a : b;
  if (op == Op::kRelu) return less(a, Scalar{type}) ? Scalar{type} : a;
  if (op == Op::kClip) {
    const Scalar& low = less(a, b) ? b : a;
    return less(c, low) ? c : low;
  }
  if (type == DType::kF32) return of_number(type, float_step(op, static_cast<float>(a.number), static_cast<float>(b.number), static_cast<float>(c.number)));
  if (type == DType::kF64) return of_number(type, float_step(op, a.number, b.number, c.number));
  const auto x = static_cast<uint64_t>(a.integer), y = static_cast<uint64_t>(b.integer);
  if (op == Op::kAnd) return of_bool(x & y);
  if (op == Op::kOr) return of_bool(x | y);
  if (op == Op::kXor) return of_bool(x ^ y);
  if (op == Op::kNot) return of_bool(!x);
  if (op == Op::kAdd) return of_integer(type, x + y);
  if (op == Op::kSub) return of_integer(type, x - y);
  if (op == Op::kMul) return of_integer(type, x * y);
  if (op == Op::kNeg) return of_integer(type, 0 - x);
  if (op == Op::kAbs) return of_integer(type, less(a, Scalar{type}) ? 0 - x : x);
  return a;
}

Reduction::Reduction(Op op, DType type) : op_(op), type_(type), sum_(op == Op::kReduceProd), value_{type} {
  if (op == Op::kReduceProd) value_.integer = 1;
  if (op != Op::kReduceMax && op != Op::kReduceMin) return;
  const bool max = op == Op::kReduceMax;
  value_.number = max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const int bits = dtype_info(type).bits;
  const bool is_signed = dtype_info(type).kind == DTypeKind::kSigned;
  const uint64_t lowest = is_signed ? uint64_t{1} << (bits - 1) : 0;
  value_.integer = wrapped(type, max ? lowest : lowest - 1);
}

void Reduction::add(const Scalar& v) {
  if (op_ == Op::kReduceMax || op_ == Op::kReduceMin) {
    value_ = apply(op_ == Op::kReduceMax ? Op::kMax : Op::kMin, type_, {v, value_, {}});
  } else if (!is_float(type_)) {
    value_ = apply(op_ == Op::kReduceSum ? Op::kAdd : Op::kMul, type_, {value_, v, {}});
  } else {
    sum_ = op_ == Op::kReduceSum ? sum_ + v.number : sum_ * v.number;
  }
}

Scalar Reduction::value() const {
  const bool wide = is_float(type_) && (op_ == Op::kReduceSum || op_ == Op::kReduceProd);
  if (!wide) return value_;
  return of_number(type_, type_ == DType::kF32 ? static_cast<double>(static_cast<float>(sum_)) : static_cast<double>(sum_));
}

}  // namespace msvm::loops
