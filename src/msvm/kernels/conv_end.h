// How a convolution over channels-last results ends: what its tiles do, and what runs over finished pixels while they are in cache.
#pragma once
#include "msvm/kernels/body_kernels.h"
#include "msvm/kernels/conv_nhwc.h"

namespace msvm {

class ConvEnd {
 public:
  /// Of a call of Conv (nothing) or msvm.Conv (its body). `turned`: tiles don't write the result itself; bodies then run over the whole of
  /// it behind the convolution, by run_behind.
  Status prepare(KernelCall& call, const ConvIsa& isa, bool turned);

  int64_t scratch_bytes() const { return over_ ? over_->scratch_bytes() : 0; }  // of a thread

  // For tiles, at their last steps. `c` lies in the result.
  const ConvActivation& activation() const { return in_tile_; }
  const float* residual(const float* c) const { return residual_in_tile_ ? residual_ + (c - result_) : nullptr; }

  /// Over pixels [p0, p1) of image n, flattened, and channels [c0, c1), all of them written by tiles.
  void finish(const ChannelsLast& y, const Window& w, int64_t n, int64_t p0, int64_t p1, int64_t c0, int64_t c1, std::byte* scratch) const;
  /// The activation over rows in scratch (turned results).
  void activate(float* rows, int64_t row, int64_t count, int64_t n) const;
  Status run_behind(KernelCall& call, const ConvIsa& isa) const;
  /// About what `finish` costs.
  double ns_per_element() const { return ns_; }

 private:
  void run(float* y, int64_t n) const;

  Epilogue epilogue_;
  const float* residual_ = nullptr;
  const float* result_ = nullptr;
  bool residual_in_tile_ = false, residual_after_ = false;
  ConvActivation in_tile_{.high = __builtin_inff()};
  BodyStepFn activation_ = nullptr, add_ = nullptr;
  const BodyOver* over_ = nullptr;
  const BodyProgram* behind_ = nullptr;
  double ns_ = 0;
};

}  // namespace msvm
