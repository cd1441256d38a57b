// Loops between f32 and 8-bit integers with one scale and zero point, compiled once per instruction set.
#pragma once
#include <cstdint>

#include "msvm/device/cpu_features.h"

namespace msvm {

struct QuantizeRows {
  /// Rounds x / scale half to even, NaN to 0, limits it to [low, high] and adds the zero point: its low 8 bits.
  void (*quantize)(const float* x, int64_t n, float scale, float low, float high, int32_t zero_point, uint8_t* y);
  void (*dequantize_u8)(const uint8_t* x, int64_t n, float scale, int32_t zero_point, float* y);
  void (*dequantize_i8)(const int8_t* x, int64_t n, float scale, int32_t zero_point, float* y);
};
extern const QuantizeRows kQuantizeRowsAvx2, kQuantizeRowsAvx512;

}  // namespace msvm
