#include "msvm/kernels/attention_rows.h"
#include "msvm/kernels/simd_avx512.h"

namespace msvm {
#include "msvm/kernels/attention_rows.inc"
extern const AttentionRows kAttentionRowsAvx512 = {softmax_row, scale_row};
}  // namespace msvm
