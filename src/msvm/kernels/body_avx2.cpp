#define MSVM_BODY_KERNELS_NAME kBodyKernelsAvx2
#include "msvm/kernels/body_f32.inc"
