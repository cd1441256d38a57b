// What a product or convolution does to its values while they are in cache: bias, a residual, an activation, and any body.
#pragma once
#include <span>

#include "msvm/kernels/body_program.h"
#include "msvm/kernels/kernel.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {

/// Activations that tile kernels apply before they store; `alpha`, `beta` as in ops/body_steps.def (Clip: low, high).
enum class Activation : uint8_t { kNone, kRelu, kClip, kLeakyRelu, kHardSigmoid, kHardSwish, kSigmoid, kSilu, kTanh, kGelu, kGeluTanh };

/// The step of a body that an activation stands for; not of kNone.
BodyOp step_of(Activation a);

/// How a fused call ends, from its attribute `body`. Order: value + bias, then `residual` if it comes first, the activation,
/// `residual` if it comes last. Or `rest`, alone.
struct Epilogue {
  int residual = -1;                  // input of the call that is added: of the result's shape and strides; -1: none
  bool residual_last = false;
  Activation activation = Activation::kNone;
  float alpha = 0, beta = 0;
  bool affine = false;                // then * scale and + shift; behind activations that are bounds (None, Relu, Clip, HardSigmoid, HardSwish) only
  float scale = 1, shift = -0.0f;     // -0 leaves every value as it is
  const BodyProgram* rest = nullptr;  // what the fields above can't say, the whole body: run over finished rows of the result while in L2
  bool simple() const { return !rest; }
};

/// Of this call; the body is parsed once a site. A body with a product or sum with a number goes to `rest` unless the caller does `affine`. A residual that doesn't have the result's exact shape and strides goes to `rest`.
Result<Epilogue> describe_epilogue(KernelCall& call, size_t first_extra, bool affine = false);

/// `rest` over rows of the result along `column_axis` (BodyOver): ready for over.run(...) from any thread; lives at the site.
Result<const BodyOver*> rest_over_rows(KernelCall& call, const VectorKernels& v, const Epilogue& epilogue, int column_axis);

}  // namespace msvm
