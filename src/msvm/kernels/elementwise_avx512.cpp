#if defined(__AVX512F__) || defined(__AVX512__)
#define MSVM_F32_LOOPS_NAME kF32LoopsAvx512
#include "msvm/kernels/elementwise_f32.inc"
#else
#include "msvm/kernels/loops.h"
namespace msvm {
extern const F32Loops kF32LoopsAvx512 = {};
}
#endif
