// Dense loops of the elementwise operators, by compute dtype.
#pragma once
#include "msvm/kernels/map.h"

namespace msvm {

// op, snake name of the kernel, ns per element of the reference loop
#define MSVM_UNARY_LOOPS(X)                                                                                                      \
  X(Abs, abs, 0.3) X(Neg, neg, 0.3) X(Sign, sign, 0.5) X(Relu, relu, 0.3) X(Sqrt, sqrt, 0.8) X(Exp, exp, 5) X(Log, log, 5)    \
  X(Reciprocal, reciprocal, 0.8) X(Ceil, ceil, 2) X(Floor, floor, 2) X(Round, round, 2) X(Sin, sin, 8) X(Cos, cos, 8)          \
  X(Tan, tan, 15) X(Asin, asin, 15) X(Acos, acos, 15) X(Atan, atan, 12) X(Sinh, sinh, 12) X(Cosh, cosh, 12) X(Tanh, tanh, 12) \
  X(Asinh, asinh, 20) X(Acosh, acosh, 20) X(Atanh, atanh, 20) X(Erf, erf, 12) X(Sigmoid, sigmoid, 6) X(Softplus, softplus, 15) \
  X(Softsign, softsign, 1) X(HardSwish, hardswish, 0.8) X(Mish, mish, 30) X(LeakyRelu, leakyrelu, 0.4) X(Elu, elu, 10)         \
  X(Selu, selu, 10) X(Celu, celu, 10) X(ThresholdedRelu, thresholdedrelu, 0.4) X(HardSigmoid, hardsigmoid, 0.6)               \
  X(Swish, swish, 7) X(Gelu, gelu, 14) X(Shrink, shrink, 1)
#define MSVM_BINARY_LOOPS(X) \
  X(Add, add, 0.3) X(Sub, sub, 0.3) X(Mul, mul, 0.3) X(Div, div, 1) X(Mod, mod, 8) X(Max, max, 0.4) X(Min, min, 0.4) X(PRelu, prelu, 0.5) X(SwiGLU, swiglu, 8)
#define MSVM_BITWISE_LOOPS(X) X(BitwiseAnd, bitwiseand, 0.3) X(BitwiseOr, bitwiseor, 0.3) X(BitwiseXor, bitwisexor, 0.3) X(BitShift, bitshift, 0.5)
#define MSVM_COMPARE_LOOPS(X) X(Equal, equal, 0.4) X(Greater, greater, 0.4) X(GreaterOrEqual, greaterorequal, 0.4) X(Less, less, 0.4) X(LessOrEqual, lessorequal, 0.4)
#define MSVM_LOGICAL_LOOPS(X) X(And, and, 0.3) X(Or, or, 0.3) X(Xor, xor, 0.3)

#define X(op, name, ns) extern const LoopTable k##op##Loops;
MSVM_UNARY_LOOPS(X)
MSVM_BINARY_LOOPS(X)
MSVM_BITWISE_LOOPS(X)
MSVM_COMPARE_LOOPS(X)
MSVM_LOGICAL_LOOPS(X)
#undef X
extern const LoopTable kPowLoops, kClipLoops, kNotLoops, kBitwiseNotLoops, kIsNaNLoops, kIsInfLoops, kScaleLoops;

// f32 loops that are compiled for each ISA with polynomial exp, tanh, erf. All give the same bits.
#define MSVM_F32_LOOPS(X)                                                                                                        \
  X(Add, add, 2) X(Sub, sub, 2) X(Mul, mul, 2) X(Div, div, 2) X(Relu, relu, 1) X(Clip, clip, 3) X(Sigmoid, sigmoid, 1)          \
  X(HardSigmoid, hardsigmoid, 1) X(HardSwish, hardswish, 1) X(Tanh, tanh, 1) X(Erf, erf, 1) X(Gelu, gelu, 1) X(Exp, exp, 1)      \
  X(Swish, swish, 1) X(LeakyRelu, leakyrelu, 1) X(PRelu, prelu, 2) X(Sqrt, sqrt, 1) X(Abs, abs, 1) \
  X(Neg, neg, 1) X(Reciprocal, reciprocal, 1) X(SwiGLU, swiglu, 2) X(Mish, mish, 1) X(Softplus, softplus, 1) X(Log, log, 1)     \
  X(Elu, elu, 1)

struct F32Loops {
#define X(op, name, inputs) DenseFn op;
  MSVM_F32_LOOPS(X)
#undef X
};
extern const F32Loops kF32LoopsAvx2, kF32LoopsAvx512;  // null entries where the compiler has no such target

}  // namespace msvm
