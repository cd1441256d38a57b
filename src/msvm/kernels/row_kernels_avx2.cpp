#include "msvm/kernels/row_kernels.h"
#include "msvm/kernels/simd_avx2.h"

namespace msvm {
#include "msvm/kernels/row_kernels.inc"
extern const RowKernels kRowKernelsAvx2 = {exponentials, scale_row, softmax_row, normalize_row};
}  // namespace msvm
