// Greatest common divisors of 64-bit integers, safe at the extremes.
#pragma once
#include <cstdint>
#include <numeric>

namespace msvm {

inline uint64_t magnitude(int64_t v) { return v < 0 ? ~static_cast<uint64_t>(v) + 1 : static_cast<uint64_t>(v); }

/// A common divisor >= 0 of both: the greatest that fits; gcd(0, b) == |b|.
inline int64_t gcd64(int64_t a, int64_t b) {
  if (a == 1 || b == 1) return 1;
  uint64_t g = std::gcd(magnitude(a), magnitude(b));
  return g > static_cast<uint64_t>(INT64_MAX) ? int64_t{1} << 62 : static_cast<int64_t>(g);
}

}  // namespace msvm
