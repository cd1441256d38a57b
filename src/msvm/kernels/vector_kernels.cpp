#include "msvm/kernels/vector_kernels.h"

namespace msvm {

const VectorKernels* vector_kernels(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return nullptr;
    case Isa::kAvx2: return &kVectorKernelsAvx2;
    case Isa::kAvx512: return &kVectorKernelsAvx512;
  }
  return nullptr;
}

}  // namespace msvm
