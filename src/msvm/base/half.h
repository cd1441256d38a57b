// Conversions between f16/bf16 and f32: round to nearest, ties to even; NaN stays NaN (quiet).
#pragma once
#include <bit>
#include <cstdint>

namespace msvm {

inline float bf16_to_f32(uint16_t h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

inline uint16_t f32_to_bf16(float f) {
  uint32_t u = std::bit_cast<uint32_t>(f);
  uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  uint32_t nan = (u >> 16) | 0x40u;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

inline float f16_to_f32(uint16_t h) {
  uint32_t sign = (h & 0x8000u) << 16, magnitude = h & 0x7fffu;
  // Exponent and mantissa moved into place, then scaled by 2^112: exact, also for subnormals.
  float normal = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  uint32_t bits = std::bit_cast<uint32_t>(normal);
  uint32_t special = 0x7f800000u | (magnitude << 13) | (magnitude > 0x7c00u ? 0x400000u : 0u);
  return std::bit_cast<float>(sign | (magnitude >= 0x7c00u ? special : bits));
}

inline uint16_t f32_to_f16(float f) {
  uint32_t u = std::bit_cast<uint32_t>(f);
  uint32_t sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;
  // Normal results: rebias and round. Subnormal ones: let the adder round at 2^-24 by adding 0.5 (whose last bit is 2^-24).
  uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude < 0x38800000u ? magnitude : 0u) + 0.5f) - 0x3f000000u;
  uint32_t r = magnitude < 0x38800000u ? small : normal;
  r = magnitude >= 0x477ff000u ? 0x7c00u : r;                                              // rounds to 65536: infinity
  r = magnitude > 0x7f800000u ? (0x7e00u | ((magnitude >> 13) & 0x3ffu)) : r;
  return static_cast<uint16_t>(sign | r);
}

/// One rounding from f64: odd-rounded to f32 first, which keeps what the second rounding needs.
inline float f64_to_f32_odd(double d) {
  float f = static_cast<float>(d);
  double back = f;
  uint32_t u = std::bit_cast<uint32_t>(f);
  if (back == d || d != d) return f;
  if ((u & 0x7fffffffu) == 0x7f800000u) return d - d != 0 ? f : std::bit_cast<float>((u & 0x80000000u) | 0x7f7fffffu);
  if (u & 1u) return f;
  bool away = (back < 0 ? -back : back) > (d < 0 ? -d : d);
  return std::bit_cast<float>(away ? u - 1 : u + 1);
}
inline uint16_t f64_to_f16(double d) { return f32_to_f16(f64_to_f32_odd(d)); }
inline uint16_t f64_to_bf16(double d) { return f32_to_bf16(f64_to_f32_odd(d)); }

}  // namespace msvm
