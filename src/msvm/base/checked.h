// Arithmetic on sizes that can't wrap: every result is checked in 64 bits.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace msvm {

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> checked_sub(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
/// Rounds towards minus infinity; none for b == 0 and INT64_MIN / -1.
inline std::optional<int64_t> checked_floordiv(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
/// Rounds towards plus infinity; none for b == 0 and INT64_MIN / -1.
inline std::optional<int64_t> checked_ceildiv(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) == (b < 0))) ? q + 1 : q;
}
/// Remainder of floordiv: has the sign of b.
inline std::optional<int64_t> checked_mod(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  int64_t r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}
/// Product of non-negative sizes; none if a size is negative or the product leaves 64 bits. A zero size gives 0 only if
/// the other sizes' product fits as well, so that strides can't wrap either.
inline std::optional<int64_t> checked_product(std::span<const int64_t> sizes) {
  int64_t product = 1;
  bool zero = false;
  for (int64_t s : sizes) {
    if (s < 0) return std::nullopt;
    if (s == 0) { zero = true; continue; }
    auto p = checked_mul(product, s);
    if (!p) return std::nullopt;
    product = *p;
  }
  return zero ? 0 : product;
}

}  // namespace msvm
