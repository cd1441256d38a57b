// Rows of f16 and bf16 to f32 and back; by hardware where it is there, with the bits of base/half.h.
#pragma once
#include "msvm/base/half.h"

namespace msvm {

void f16_to_f32_row(const uint16_t* in, float* out, int64_t n);
void f32_to_f16_row(const float* in, uint16_t* out, int64_t n);
void bf16_to_f32_row(const uint16_t* in, float* out, int64_t n);
void f32_to_bf16_row(const float* in, uint16_t* out, int64_t n);

}  // namespace msvm
