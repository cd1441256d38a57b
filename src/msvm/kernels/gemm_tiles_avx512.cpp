#include "msvm/kernels/gemm_tiles.h"
#include "msvm/kernels/simd_avx512.h"

namespace msvm {
#include "msvm/kernels/gemm_tiles.inc"
extern const GemmKernels kGemmKernelsAvx512 = MSVM_GEMM_KERNELS;
}  // namespace msvm
