#include "msvm/kernels/pixel_kernels.h"
#include "msvm/kernels/simd_avx2.h"

namespace msvm {
#include "msvm/kernels/pixel_kernels.inc"
extern const PixelKernels kPixelKernelsAvx2 = MSVM_PIXEL_KERNELS;
}  // namespace msvm
