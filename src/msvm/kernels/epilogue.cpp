#include "msvm/kernels/epilogue.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "msvm/kernels/site.h"

namespace msvm {
namespace {

constexpr std::pair<Activation, BodyOp> kActivations[] = {
    {Activation::kRelu, BodyOp::kRelu},           {Activation::kClip, BodyOp::kClip},       {Activation::kLeakyRelu, BodyOp::kLeakyRelu}, {Activation::kHardSigmoid, BodyOp::kHardSigmoid},
    {Activation::kHardSwish, BodyOp::kHardSwish}, {Activation::kSigmoid, BodyOp::kSigmoid}, {Activation::kSilu, BodyOp::kSilu},           {Activation::kTanh, BodyOp::kTanh},
    {Activation::kGelu, BodyOp::kGelu},           {Activation::kGeluTanh, BodyOp::kGeluTanh},
};

Activation activation_of(BodyOp op) {
  for (auto [activation, step] : kActivations)
    if (step == op) return activation;
  return Activation::kNone;
}

bool is_bounds(Activation a) {
  return a == Activation::kNone || a == Activation::kRelu || a == Activation::kClip || a == Activation::kHardSigmoid || a == Activation::kHardSwish;
}

/// Takes a product with a number and a sum with one behind it, in this order.
bool take_affine(BodyOp op, const BodyOperand& number, Epilogue& e) {
  if (number.kind != BodyOperand::kNumber || e.residual_last || !is_bounds(e.activation)) return false;
  const bool shifted = e.affine && !(e.shift == 0.0f && std::signbit(e.shift));
  if (shifted || (op == BodyOp::kMul && e.affine)) return false;
  (op == BodyOp::kMul ? e.scale : e.shift) = number.number;
  e.affine = true;
  return true;
}

/// Follows the value from y through the steps; false where a step is neither the one sum with an input, nor the one activation, nor of the affine end.
bool say_with_fields(const Body& body, Epilogue& e) {
  const auto& steps = body.steps;
  auto is_value = [](const BodyOperand& o, size_t s) { return s == 0 ? o.kind == BodyOperand::kResult : o.kind == BodyOperand::kStep && o.index + 1u == s; };
  for (size_t s = 0; s < steps.size(); ++s) {
    const BodyStep& step = steps[s];
    const auto& in = step.operands;
    if (step.op == BodyOp::kAdd || step.op == BodyOp::kMul) {
      const bool first = is_value(in[0], s), second = is_value(in[1], s);
      const BodyOperand& other = first ? in[1] : in[0];
      if (first == second) return false;
      if (take_affine(step.op, other, e)) continue;
      if (step.op == BodyOp::kMul || other.kind != BodyOperand::kInput || e.residual >= 0 || e.affine) return false;
      e.residual = other.index;
      e.residual_last = e.activation != Activation::kNone;
      continue;
    }
    if (e.activation != Activation::kNone || e.affine || !is_value(in[0], s)) return false;
    // a * sigmoid(a) and a * hardsigmoid(a), written as two steps
    if (s + 1 < steps.size() && steps[s + 1].op == BodyOp::kMul) {
      const auto& pair = steps[s + 1].operands;
      if ((is_value(pair[0], s) && is_value(pair[1], s + 1)) || (is_value(pair[1], s) && is_value(pair[0], s + 1))) {
        if (step.op == BodyOp::kSigmoid) e.activation = Activation::kSilu;
        else if (step.op == BodyOp::kHardSigmoid && in[1].number == 1.0f / 6 && in[2].number == 0.5f) e.activation = Activation::kHardSwish;
        else return false;
        ++s;  // what follows reads the product as its value
        continue;
      }
    }
    e.activation = activation_of(step.op);
    if (e.activation == Activation::kNone) return false;
    const BodyStepShape shape = kBodyStepShapes[static_cast<size_t>(step.op)];
    if (shape.constants > 0) e.alpha = in[1].number;
    if (shape.constants > 1) e.beta = in[2].number;
  }
  return true;
}

bool same_memory(const TensorMeta& a, const TensorMeta& y) {
  if (a.rank != y.rank || a.dtype != y.dtype) return false;
  for (int d = 0; d < y.rank; ++d)
    if (a.shape[d] != y.shape[d] || (y.shape[d] != 1 && a.strides[d] != y.strides[d])) return false;
  return true;
}

struct EpilogueSite final : KernelSiteState {
  bool known = false;
  bool fields = false;
  Epilogue epilogue;
};
struct RestSite final : KernelSiteState {
  BodyOver over;
};

}  // namespace

BodyOp step_of(Activation a) {
  for (auto [activation, step] : kActivations)
    if (activation == a) return step;
  return BodyOp::kRelu;
}

Result<Epilogue> describe_epilogue(KernelCall& call, size_t first_extra, bool affine) {
  MSVM_ASSIGN_OR_RETURN(const BodyProgram* program, body_program(call, first_extra, true));
  if (!program) return Epilogue{};
  EpilogueSite& site = PackedConstants::at(call).part<EpilogueSite>();
  if (!site.known) {
    site.fields = say_with_fields(program->body(), site.epilogue);
    site.known = true;
  }
  Epilogue e;
  const bool fields = site.fields && (affine || !site.epilogue.affine);
  if (fields) e = site.epilogue;
  if (e.residual >= 0) {
    const TensorMeta* m = static_cast<size_t>(e.residual) < call.inputs.size() ? call.inputs[static_cast<size_t>(e.residual)] : nullptr;
    if (!m || !same_memory(*m, *call.outputs[0])) e = {};
    else return e;
  } else if (fields) {
    return e;
  }
  e.rest = program;
  return e;
}

Result<const BodyOver*> rest_over_rows(KernelCall& call, const VectorKernels& v, const Epilogue& epilogue, int column_axis) {
  BodyOver& over = PackedConstants::at(call).part<RestSite>().over;
  MSVM_RETURN_IF_ERROR(over.prepare(call, v, *epilogue.rest, true, column_axis));
  return const_cast<const BodyOver*>(&over);
}

}  // namespace msvm
