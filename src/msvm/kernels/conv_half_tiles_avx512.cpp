#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ 12 warns about its own AVX-512 headers
#endif
#include "msvm/kernels/conv_tiles.h"
#include "msvm/kernels/simd_half_avx512.h"

#define MSVM_CONV_32_REGISTERS
namespace msvm {
namespace {
constexpr int kRegisters = 32;
}
#include "msvm/kernels/conv_clamp.inc"
#include "msvm/kernels/conv_depthwise_tiles.inc"
#include "msvm/kernels/conv_tiles.inc"
extern const ConvKernels kConvKernelsAvx512Half = MSVM_CONV_KERNELS;
}  // namespace msvm
