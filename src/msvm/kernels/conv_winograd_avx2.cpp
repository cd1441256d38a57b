#include "msvm/kernels/conv_winograd_tiles.h"
#include "msvm/kernels/simd_avx2.h"

namespace msvm {
#include "msvm/kernels/conv_clamp.inc"
#include "msvm/kernels/conv_winograd_tiles.inc"
extern const WinogradKernels kWinogradAvx2 = {input_patch, output_patch};
}  // namespace msvm
