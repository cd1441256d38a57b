// Softmax of attention's rows, compiled once per instruction set.
#pragma once
#include <cstdint>

#include "msvm/device/cpu_features.h"

namespace msvm {

struct AttentionRows {
  /// s[j] = exp(s[j] + mask[j * mask_step] - the greatest of these) for j < n; returns their sum. A row that is -infinity throughout becomes
  /// zeros with the sum 0; one with a NaN has the sum NaN. `mask` may be null, mask_step is 0 or 1. s may be written up to the next multiple of 16.
  float (*softmax)(float* s, const float* mask, int64_t mask_step, int64_t n);
  /// y[j] *= factor.
  void (*scale)(float* y, float factor, int64_t n);
};

extern const AttentionRows kAttentionRowsAvx2, kAttentionRowsAvx512;

}  // namespace msvm
