#define MSVM_BODY_KERNELS_NAME kBodyKernelsAvx512
#include "msvm/kernels/body_f32.inc"
