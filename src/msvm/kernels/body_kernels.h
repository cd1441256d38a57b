// Arithmetic of body steps, compiled once per instruction set; the same bits as the separate operators' f32 kernels, except that
// Sin and Cos are polynomials here (errors: base/math_f32.inc).
#pragma once
#include <cstdint>

#include "msvm/device/cpu_features.h"
#include "msvm/ops/body.h"

namespace msvm {

constexpr int kBodyOps = 0
#define MSVM_BODY_STEP(name, ...) +1
#include "msvm/ops/body_steps.def"
#undef MSVM_BODY_STEP
    ;

/// out[i] = step of a[i] and b[i]; `p`, `q`: the constant operands in order. `out` may be a or b. Steps with one operand take no b.
using BodyStepFn = void (*)(const float* a, const float* b, float p, float q, float* out, int64_t n);

struct BodyKernels {
  enum Kind { kRows, kNumberA, kNumberB };  // which operand is one float for all i
  BodyStepFn step[kBodyOps][3];
};

extern const BodyKernels kBodyKernelsAvx2, kBodyKernelsAvx512;
/// Null for kScalar.
const BodyKernels* body_kernels(Isa isa);

/// One step by the C library: the truth for the others.
float body_step_scalar(BodyOp op, float a, float b, float p, float q);
/// About how long a step takes per element in vectors.
double body_step_ns(BodyOp op);

/// Operands that the table gives each step, and how many of them are numbers.
struct BodyStepShape {
  uint8_t operands, constants;
};
constexpr BodyStepShape kBodyStepShapes[kBodyOps] = {
#define MSVM_BODY_STEP(name, operands, constants, doc) {operands, constants},
#include "msvm/ops/body_steps.def"
#undef MSVM_BODY_STEP
};

}  // namespace msvm
