#include "msvm/kernels/conv_tiles.h"
#include "msvm/kernels/simd_avx2.h"

#define MSVM_CONV_32_REGISTERS
namespace msvm {
namespace {
constexpr int kRegisters = 32;
}
#include "msvm/kernels/conv_tiles.inc"
extern const ConvKernels kConvKernelsAvx512Half = MSVM_CONV_KERNELS;
}  // namespace msvm
