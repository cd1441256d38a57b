#include "msvm/kernels/simd_avx2.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {
namespace {
constexpr int kTileRows = 4, kTileVectors = 3;  // 12 of 16 registers hold sums
}
#include "msvm/kernels/vector_kernels.inc"
extern const VectorKernels kVectorKernelsAvx2 = MSVM_VECTOR_KERNELS;
}  // namespace msvm
