#include "msvm/kernels/pixel_kernels.h"

namespace msvm {

const PixelKernels* pixel_kernels(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return nullptr;
    case Isa::kAvx2: return &kPixelKernelsAvx2;
    case Isa::kAvx512: return &kPixelKernelsAvx512;
  }
  return nullptr;
}

}  // namespace msvm
