#include "msvm/kernels/body_kernels.h"

#include <cmath>

namespace msvm {

const BodyKernels* body_kernels(Isa isa) {
  switch (isa) {
    case Isa::kScalar: return nullptr;
    case Isa::kAvx2: return &kBodyKernelsAvx2;
    case Isa::kAvx512: return &kBodyKernelsAvx512;
  }
  return nullptr;
}

float body_step_scalar(BodyOp op, float a, float b, float p, float q) {
  auto clamp01 = [](float v) {
    v = v < 0 ? 0 : v;
    return v > 1 ? 1 : v;
  };
  auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
  auto softplus = [](float v) { return v > 0 ? v + std::log1p(std::exp(-v)) : std::log1p(std::exp(v)); };
  switch (op) {
    case BodyOp::kAdd: return a + b;
    case BodyOp::kSub: return a - b;
    case BodyOp::kMul: return a * b;
    case BodyOp::kDiv: return a / b;
    case BodyOp::kMin: return a < b || a != a ? a : b;
    case BodyOp::kMax: return a > b || a != a ? a : b;
    case BodyOp::kPow: return b == 2 ? a * a : std::pow(a, b);
    case BodyOp::kNeg: return -a;
    case BodyOp::kAbs: return std::fabs(a);
    case BodyOp::kSqrt: return std::sqrt(a);
    case BodyOp::kReciprocal: return 1 / a;
    case BodyOp::kExp: return std::exp(a);
    case BodyOp::kLog: return std::log(a);
    case BodyOp::kFloor: return std::floor(a);
    case BodyOp::kCeil: return std::ceil(a);
    case BodyOp::kRound: return std::nearbyint(a);
    case BodyOp::kErf: return std::erf(a);
    case BodyOp::kTanh: return std::tanh(a);
    case BodyOp::kSigmoid: return sigmoid(a);
    case BodyOp::kRelu: return a < 0 ? 0 : a;
    case BodyOp::kLeakyRelu: return a < 0 ? p * a : a;
    case BodyOp::kClip: {
      float v = a < p ? p : a;
      return v > q ? q : v;
    }
    case BodyOp::kHardSigmoid: return clamp01(p * a + q);
    case BodyOp::kHardSwish: return a * clamp01(a * (1.0f / 6) + 0.5f);
    case BodyOp::kSilu: return a * sigmoid(a);
    case BodyOp::kGelu: return 0.5f * a * std::erfc(-a * 0.70710678f);
    case BodyOp::kGeluTanh: return 0.5f * a * (1 + std::tanh(0.79788456f * (a + 0.044715f * a * a * a)));
    case BodyOp::kElu: return a < 0 ? p * std::expm1(a) : a;
    case BodyOp::kSoftplus: return softplus(a);
    case BodyOp::kMish: return a * std::tanh(softplus(a));
    case BodyOp::kSin: return std::sin(a);
    case BodyOp::kCos: return std::cos(a);
  }
  return 0;
}

double body_step_ns(BodyOp op) {
  switch (op) {
    case BodyOp::kPow: return 2;
    case BodyOp::kExp:
    case BodyOp::kLog:
    case BodyOp::kErf:
    case BodyOp::kTanh:
    case BodyOp::kSigmoid:
    case BodyOp::kSilu:
    case BodyOp::kGelu:
    case BodyOp::kGeluTanh:
    case BodyOp::kElu:
    case BodyOp::kSin:
    case BodyOp::kCos: return 0.4;
    case BodyOp::kSoftplus:
    case BodyOp::kMish: return 0.7;
    case BodyOp::kDiv:
    case BodyOp::kSqrt:
    case BodyOp::kReciprocal: return 0.15;
    default: return 0.05;
  }
}

}  // namespace msvm
