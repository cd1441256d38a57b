// How a fused product ends: its epilogue as fields of a tile, and what is done to finished blocks.
#pragma once
#include "msvm/kernels/body_kernels.h"
#include "msvm/kernels/epilogue.h"
#include "msvm/kernels/panel_gemm.h"

namespace msvm {

class GemmEnding {
 public:
  /// Of a call with the bias as input 2 (may be absent) and the body's inputs from 3 on; without `fused` there is neither.
  Status open(KernelCall& call, Isa isa, bool fused);
  /// `offset`: of the product's result in the call's.
  void give(PanelGemm& t, int64_t offset) const;
  /// The block of product `item` is complete; `scratch` holds scratch_bytes().
  void finish(int64_t item, const PanelGemm& t, int64_t m0, int64_t m1, int64_t n0, int64_t n1, std::byte* scratch) const;
  bool finishes() const { return step_ || over_; }
  int64_t scratch_bytes() const { return over_ ? over_->scratch_bytes() : 0; }
  double ns_per_element() const { return ns_; }

 private:
  const float* bias_ = nullptr;
  const float* residual_ = nullptr;
  bool residual_last_ = false, bounded_ = false;
  float low_ = 0, high_ = 0;
  BodyStepFn step_ = nullptr, add_ = nullptr;
  float alpha_ = 0, beta_ = 0;
  const BodyOver* over_ = nullptr;
  double ns_ = 0;
};

}  // namespace msvm
