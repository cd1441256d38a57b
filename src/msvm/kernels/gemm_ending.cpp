#include "msvm/kernels/gemm_ending.h"

#include <limits>

#include "msvm/kernels/dense.h"

namespace msvm {

Status GemmEnding::open(KernelCall& call, Isa isa, bool fused) {
  if (!fused) return {};
  const TensorMeta& y = *call.outputs[0];
  if (const TensorMeta* bias = input_or_null(call, 2)) {
    if (bias->dtype != DType::kF32 || bias->rank != 1 || y.rank < 1 || bias->shape[0] != y.shape[y.rank - 1]) return shape_mismatch("msvm.MatMul: the bias isn't one value per column");
    MSVM_ASSIGN_OR_RETURN(bias_, dense_input<float>(call, *bias));
  }
  MSVM_ASSIGN_OR_RETURN(Epilogue e, describe_epilogue(call, 3));
  if (e.rest) {
    MSVM_ASSIGN_OR_RETURN(over_, rest_over_rows(call, *vector_kernels(isa), e, y.rank - 1));
    ns_ = e.rest->ns_per_element();
    return {};
  }
  if (e.residual >= 0) {
    residual_ = call.inputs[static_cast<size_t>(e.residual)]->as<float>();
    residual_last_ = e.residual_last;
  }
  if (e.activation == Activation::kRelu) {
    bounded_ = true, low_ = 0, high_ = std::numeric_limits<float>::infinity();
  } else if (e.activation == Activation::kClip) {
    bounded_ = true, low_ = e.alpha, high_ = e.beta;
  } else if (e.activation != Activation::kNone) {
    const BodyOp op = step_of(e.activation);
    step_ = body_kernels(isa)->step[static_cast<size_t>(op)][BodyKernels::kRows];
    add_ = body_kernels(isa)->step[static_cast<size_t>(BodyOp::kAdd)][BodyKernels::kRows];
    alpha_ = e.alpha, beta_ = e.beta;
    ns_ = body_step_ns(op);
  }
  return {};
}

void GemmEnding::give(PanelGemm& t, int64_t offset) const {
  t.bias = bias_;
  t.bounded = bounded_, t.low = low_, t.high = high_;
  if (!residual_) return;
  if (step_ && residual_last_) {
    t.residual_after = residual_ + offset;
    return;
  }
  t.residual = residual_ + offset, t.residual_row = t.c_row, t.residual_last = residual_last_;
}

void GemmEnding::finish(int64_t item, const PanelGemm& t, int64_t m0, int64_t m1, int64_t n0, int64_t n1, std::byte* scratch) const {
  if (over_) return over_->run(item * t.m + m0, item * t.m + m1, n0, n1, scratch);
  if (!step_) return;
  int64_t rows = m1 - m0, cols = n1 - n0;
  float* c = t.c + m0 * t.c_row + n0;
  const bool add = residual_ && residual_last_;
  if (!add && cols == t.c_row) cols *= rows, rows = 1;
  for (int64_t r = 0; r < rows; ++r) {
    step_(c + r * t.c_row, nullptr, alpha_, beta_, c + r * t.c_row, cols);
    if (add) add_(c + r * t.c_row, t.residual_after + (m0 + r) * t.c_row + n0, 0, 0, c + r * t.c_row, cols);
  }
}

}  // namespace msvm
