#include "msvm/kernels/conv_tiles.h"
#include "msvm/kernels/simd_avx2.h"

namespace msvm {
namespace {
constexpr int kRegisters = 16;
}
#include "msvm/kernels/conv_clamp.inc"
#include "msvm/kernels/conv_depthwise_tiles.inc"
#include "msvm/kernels/conv_narrow_tiles.inc"
#include "msvm/kernels/conv_tiles.inc"
extern const ConvKernels kConvKernelsAvx2 = MSVM_CONV_KERNELS;
extern const ConvKernels kNarrowConvKernelsAvx2 = MSVM_NARROW_CONV_KERNELS;
}  // namespace msvm
