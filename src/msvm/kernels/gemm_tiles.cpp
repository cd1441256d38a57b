#include "msvm/kernels/gemm_tiles.h"

namespace msvm {

const GemmKernels* gemm_kernels(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return nullptr;
    case Isa::kAvx2: return &kGemmKernelsAvx2;
    case Isa::kAvx512: return &kGemmKernelsAvx512;
  }
  return nullptr;
}

}  // namespace msvm
