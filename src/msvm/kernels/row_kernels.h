// Softmax and normalisation of rows, compiled once per instruction set.
#pragma once
#include <cstdint>

#include "msvm/device/cpu_features.h"

namespace msvm {

struct RowKernels {
  /// s[j] = exp(s[j] + mask[j * mask_step] - the greatest of these) for j < n; returns their sum. A row that is -infinity throughout becomes
  /// zeros with the sum 0; one with a NaN has the sum NaN. `mask` may be null, mask_step is 0 or 1. s may be written up to the next multiple of 16.
  float (*exponentials)(float* s, const float* mask, int64_t mask_step, int64_t n);
  /// y[j] *= factor.
  void (*scale)(float* y, float factor, int64_t n);
  /// y may be x. A row that is -infinity throughout becomes NaN.
  void (*softmax)(const float* x, int64_t n, float* y);
  /// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; without `center` the mean is taken as 0. Null scale or bias: 1, 0.
  void (*normalize)(const float* x, int64_t n, bool center, float epsilon, const float* scale, const float* bias, float* y, float* mean, float* inverse);
};

extern const RowKernels kRowKernelsAvx2, kRowKernelsAvx512;
/// Null for kScalar.
const RowKernels* row_kernels(Isa isa);

}  // namespace msvm
