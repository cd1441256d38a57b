#include "msvm/kernels/conv_end.h"

#include <algorithm>

namespace msvm {
namespace {

constexpr int64_t kPiece = 2048;  // floats between an activation and the sum behind it

}  // namespace

Status ConvEnd::prepare(KernelCall& call, const ConvIsa& isa, bool turned) {
  if (call.op.name != "msvm.Conv") return {};
  MSVM_ASSIGN_OR_RETURN(epilogue_, describe_epilogue(call, 3, true));
  if (turned && (epilogue_.residual >= 0 || epilogue_.rest)) {
    MSVM_ASSIGN_OR_RETURN(behind_, body_program(call, 3, true));
    epilogue_ = Epilogue{};
    return {};
  }
  if (epilogue_.rest) {
    MSVM_ASSIGN_OR_RETURN(over_, rest_over_rows(call, *isa.vector, epilogue_, 1));
    ns_ = epilogue_.rest->ns_per_element();
    return {};
  }
  const BodyKernels& steps = *body_kernels(isa.isa);
  auto row_step = [&](BodyOp op) { return steps.step[static_cast<size_t>(op)][BodyKernels::kRows]; };
  if (epilogue_.residual >= 0) {
    residual_ = call.inputs[static_cast<size_t>(epilogue_.residual)]->as<float>();
    result_ = call.outputs[0]->as<float>();
    residual_in_tile_ = !epilogue_.residual_last;
    residual_after_ = epilogue_.residual_last;
    add_ = row_step(BodyOp::kAdd);
    if (residual_after_) ns_ += 0.05;
  }
  in_tile_.affine = epilogue_.affine, in_tile_.scale = epilogue_.scale, in_tile_.shift = epilogue_.shift;
  switch (epilogue_.activation) {
    case Activation::kNone: break;
    case Activation::kRelu: in_tile_.clamp = ConvClamp::kBounds; break;
    case Activation::kClip: in_tile_.clamp = ConvClamp::kBounds, in_tile_.low = epilogue_.alpha, in_tile_.high = epilogue_.beta; break;
    case Activation::kHardSigmoid: in_tile_.clamp = ConvClamp::kGate, in_tile_.low = epilogue_.alpha, in_tile_.high = epilogue_.beta; break;
    case Activation::kHardSwish: in_tile_.clamp = ConvClamp::kGated, in_tile_.low = 1.0f / 6, in_tile_.high = 0.5f; break;
    default:
      activation_ = row_step(step_of(epilogue_.activation));
      ns_ += body_step_ns(step_of(epilogue_.activation));
  }
  return {};
}

void ConvEnd::run(float* y, int64_t n) const {
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = std::min(kPiece, n - i);
    if (activation_) activation_(y + i, y + i, epilogue_.alpha, epilogue_.beta, y + i, count);
    if (residual_after_) add_(y + i, residual_ + (y + i - result_), 0, 0, y + i, count);
  }
}

void ConvEnd::finish(const ChannelsLast& y, const Window& w, int64_t n, int64_t p0, int64_t p1, int64_t c0, int64_t c1, std::byte* scratch) const {
  if (over_) return over_->run(n * w.out_size() + p0, n * w.out_size() + p1, c0, c1, scratch);
  if (!activation_ && !residual_after_) return;
  float* const image = reinterpret_cast<float*>(y.data) + n * y.image_stride + c0;
  for (int64_t p = p0; p < p1;) {
    const int64_t ow = p % w.out[2], oh = p / w.out[2] % w.out[1], od = p / w.out[2] / w.out[1];
    const int64_t count = y.even() ? p1 - p : std::min(p1 - p, w.out[2] - ow);
    float* row = image + od * y.stride[0] + oh * y.stride[1] + ow * y.stride[2];
    if (y.even()) row = image + p * y.stride[2];
    if (y.stride[2] == c1 - c0) {
      run(row, count * (c1 - c0));
    } else {
      for (int64_t i = 0; i < count; ++i) run(row + i * y.stride[2], c1 - c0);
    }
    p += count;
  }
}

void ConvEnd::activate(float* rows, int64_t row, int64_t count, int64_t n) const {
  if (!activation_) return;
  for (int64_t i = 0; i < count; ++i) activation_(rows + i * row, rows + i * row, epilogue_.alpha, epilogue_.beta, rows + i * row, n);
}

Status ConvEnd::run_behind(KernelCall& call, const ConvIsa& isa) const { return behind_ ? run_body(call, *isa.vector, *behind_, true) : Status(); }

}  // namespace msvm
