// Scalar arithmetic of SHAPE_CALC and SCALAR_CALC: checked, never undefined.
#include <fmt/core.h>

#include <bit>
#include <algorithm>
#include <cmath>

#include "msvm/base/checked.h"
#include "msvm/vm/interpreter.h"

namespace msvm::vm {
namespace {

double real(int64_t bits) { return std::bit_cast<double>(bits); }
int64_t bits(double v) { return std::bit_cast<int64_t>(v); }

[[gnu::cold]] Status failed(const char* what, int64_t a, int64_t b) {
  return overflow_error(b == 0 && (what[0] == 'd' || what[0] == 'm') ? fmt::format("{} of {} by zero", what, a) : fmt::format("{} of {} and {} overflows 64 bits", what, a, b));
}

}  // namespace

#define MSVM_CHECKED(OP, FUNCTION, WORD)                      \
  case Op::OP: {                                              \
    auto r = FUNCTION(v[c.b], v[c.c]);                        \
    if (!r) [[unlikely]] return failed(WORD, v[c.b], v[c.c]); \
    v[c.a] = *r;                                              \
    return {};                                                \
  }
#define MSVM_PLAIN(OP, EXPR) \
  case Op::OP:               \
    v[c.a] = (EXPR);         \
    return {};
#define MSVM_REAL(OP, EXPR)                                             \
  case Op::OP: {                                                        \
    double x = real(v[c.b]), y = c.c == kNoSlot ? 0.0 : real(v[c.c]);   \
    (void)y;                                                            \
    double r = (EXPR);                                                  \
    v[c.a] = bits(c.flags ? static_cast<double>(static_cast<float>(r)) : r); \
    return {};                                                          \
  }
#define MSVM_REAL_TEST(OP, EXPR)                        \
  case Op::OP: {                                        \
    double x = real(v[c.b]), y = real(v[c.c]);          \
    v[c.a] = (EXPR);                                    \
    return {};                                          \
  }

Status run_scalar(const Code& c, int64_t* v) {
  switch (c.op) {
    MSVM_CHECKED(kAdd, checked_add, "sum")
    MSVM_CHECKED(kSub, checked_sub, "difference")
    MSVM_CHECKED(kMul, checked_mul, "product")
    MSVM_CHECKED(kFloorDiv, checked_floordiv, "division")
    MSVM_CHECKED(kCeilDiv, checked_ceildiv, "division")
    MSVM_CHECKED(kMod, checked_mod, "modulus")
    MSVM_PLAIN(kMin, std::min(v[c.b], v[c.c]))
    MSVM_PLAIN(kMax, std::max(v[c.b], v[c.c]))
    case Op::kNeg: {
      auto r = checked_sub(0, v[c.b]);
      if (!r) return failed("negation", v[c.b], 1);
      v[c.a] = *r;
      return {};
    }
    case Op::kTruncDiv:
      if (v[c.c] == 0 || (v[c.b] == INT64_MIN && v[c.c] == -1)) return failed("division", v[c.b], v[c.c]);
      v[c.a] = v[c.b] / v[c.c];
      return {};
    case Op::kBroadcastDim: {
      int64_t a = v[c.b], b = v[c.c];
      if (a != b && a != 1 && b != 1) return shape_mismatch(fmt::format("sizes {} and {} don't broadcast", a, b));
      v[c.a] = b == 1 ? a : b;
      return {};
    }
    MSVM_PLAIN(kEq, v[c.b] == v[c.c])
    MSVM_PLAIN(kNe, v[c.b] != v[c.c])
    MSVM_PLAIN(kLt, v[c.b] < v[c.c])
    MSVM_PLAIN(kLe, v[c.b] <= v[c.c])
    MSVM_PLAIN(kGt, v[c.b] > v[c.c])
    MSVM_PLAIN(kGe, v[c.b] >= v[c.c])
    MSVM_PLAIN(kAnd, v[c.b] && v[c.c])
    MSVM_PLAIN(kOr, v[c.b] || v[c.c])
    MSVM_PLAIN(kNot, !v[c.b])
    MSVM_PLAIN(kSelect, v[c.b] ? v[c.c] : v[c.d])
    MSVM_PLAIN(kMove, v[c.b])
    MSVM_REAL(kFAdd, x + y)
    MSVM_REAL(kFSub, x - y)
    MSVM_REAL(kFMul, x * y)
    MSVM_REAL(kFDiv, x / y)
    MSVM_REAL(kFMin, std::isnan(x) || x < y ? x : y)
    MSVM_REAL(kFMax, std::isnan(x) || x > y ? x : y)
    MSVM_REAL(kFNeg, -x)
    MSVM_REAL(kFFloor, std::floor(x))
    MSVM_REAL(kFCeil, std::ceil(x))
    MSVM_REAL(kFRound, std::nearbyint(x))
    MSVM_REAL(kFSqrt, std::sqrt(x))
    case Op::kFFromInt: {
      auto r = static_cast<double>(v[c.b]);
      v[c.a] = bits(c.flags ? static_cast<double>(static_cast<float>(v[c.b])) : r);
      return {};
    }
    MSVM_PLAIN(kFFromBool, bits(v[c.b] ? 1.0 : 0.0))
    case Op::kFToInt: {
      double x = std::trunc(real(v[c.b]));
      if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0)) return out_of_range(fmt::format("cast of {} to i64", real(v[c.b])));
      v[c.a] = static_cast<int64_t>(x);
      return {};
    }
    MSVM_REAL_TEST(kFEq, x == y)
    MSVM_REAL_TEST(kFNe, x != y)
    MSVM_REAL_TEST(kFLt, x < y)
    MSVM_REAL_TEST(kFLe, x <= y)
    MSVM_REAL_TEST(kFGt, x > y)
    MSVM_REAL_TEST(kFGe, x >= y)
    default: return internal_error("not a scalar instruction");
  }
}

}  // namespace msvm::vm
