#include "msvm/kernels/simd_avx512.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {
namespace {
constexpr int kTileRows = 8, kTileVectors = 3;  // 24 of 32 registers hold sums
}
#include "msvm/kernels/vector_kernels.inc"
extern const VectorKernels kVectorKernelsAvx512 = MSVM_VECTOR_KERNELS;
}  // namespace msvm
