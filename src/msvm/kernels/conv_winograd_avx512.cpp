#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12 warns about its own AVX-512 headers
#endif
#include "msvm/kernels/conv_winograd_tiles.h"
#include "msvm/kernels/simd_avx512.h"

namespace msvm {
#include "msvm/kernels/conv_clamp.inc"
#include "msvm/kernels/conv_winograd_tiles.inc"
extern const WinogradKernels kWinogradAvx512 = {input_patch, output_patch};
}  // namespace msvm
