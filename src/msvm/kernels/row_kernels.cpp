#include "msvm/kernels/row_kernels.h"

namespace msvm {

const RowKernels* row_kernels(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return nullptr;
    case Isa::kAvx2: return &kRowKernelsAvx2;
    case Isa::kAvx512: return &kRowKernelsAvx512;
  }
  return nullptr;
}

}  // namespace msvm
