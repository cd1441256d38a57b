#if defined(__AVX2F__) || defined(__AVX2__)
#define MSVM_F32_LOOPS_NAME kF32LoopsAvx2
#include "msvm/kernels/elementwise_f32.inc"
#else
#include "msvm/kernels/loops.h"
namespace msvm {
extern const F32Loops kF32LoopsAvx2 = {};
}
#endif
