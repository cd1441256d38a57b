#include "msvm/kernels/attention_rows.h"
#include "msvm/kernels/simd_avx2.h"

namespace msvm {
#include "msvm/kernels/attention_rows.inc"
extern const AttentionRows kAttentionRowsAvx2 = {softmax_row, scale_row};
}  // namespace msvm
