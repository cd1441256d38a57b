// msvm.Pointwise, and the references of msvm.Conv and msvm.MatMul: the plain operator's reference, then the body element by element.
#include <algorithm>
#include <string>

#include "msvm/kernels/body_program.h"
#include "msvm/kernels/conv.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/iterate.h"
#include "msvm/kernels/kernel_util.h"

namespace msvm {
namespace {

/// The value of a body at one element: y, and input k at `offsets[k]`.
float body_value(const Body& body, float y, const KernelCall& call, const int64_t* offsets) {
  float values[kMaxBodySteps] = {};
  auto value = [&](const BodyOperand& o) {
    switch (o.kind) {
      case BodyOperand::kResult: return y;
      case BodyOperand::kInput: return call.inputs[o.index]->as<float>()[offsets[o.index]];
      case BodyOperand::kStep: return values[o.index];
      case BodyOperand::kNumber: return o.number;
    }
    return 0.0f;
  };
  for (size_t s = 0; s < body.steps.size(); ++s) {
    const BodyStep& step = body.steps[s];
    const BodyStepShape shape = kBodyStepShapes[static_cast<size_t>(step.op)];
    const size_t rows = static_cast<size_t>(shape.operands - shape.constants);
    values[s] = body_step_scalar(step.op, value(step.operands[0]), rows > 1 ? value(step.operands[1]) : 0, shape.constants > 0 ? step.operands[rows].number : 0,
                                 shape.constants > 1 ? step.operands[rows + 1].number : 0);
  }
  return body.steps.empty() ? y : values[body.steps.size() - 1];
}

/// The body over the result, whatever the strides. With `has_result` the result holds y.
Status body_by_elements(KernelCall& call, size_t first_input, bool has_result) {
  const auto& text = call.attrs.get_strings("body");
  if (text.empty()) return {};
  MSVM_ASSIGN_OR_RETURN(Body body, parse_body(text, first_input, call.inputs.size(), has_result));
  const TensorMeta& y = *call.outputs[0];
  const size_t inputs = call.inputs.size();
  for (size_t i = first_input; i < inputs; ++i) {
    const TensorMeta* m = call.inputs[i];
    if (!m) return invalid_argument(std::string(call.op.name) + ": input " + std::to_string(i) + " of the body is absent");
    bool fits = m->dtype == DType::kF32 && m->rank <= y.rank;
    for (int d = 0; fits && d < m->rank; ++d) fits = m->shape[d] == 1 || m->shape[d] == y.shape[d + y.rank - m->rank];
    if (!fits) return shape_mismatch(std::string(call.op.name) + ": input " + std::to_string(i) + ", " + to_string(*m) + ", doesn't broadcast to the result, " + to_string(y));
  }
  MSVM_ASSIGN_OR_RETURN(int64_t * offsets, scratch_array<int64_t>(call.memory, static_cast<int64_t>(inputs) + 1));
  const int64_t count = y.elements();
  for (int64_t flat = 0; flat < count; ++flat) {
    std::fill(offsets, offsets + inputs, 0);
    int64_t rest = flat, at = 0;
    for (int d = y.rank - 1; d >= 0; --d) {
      const int64_t x = rest % y.shape[d];
      rest /= y.shape[d];
      at += x * y.strides[d];
      for (size_t i = first_input; i < inputs; ++i) {
        const TensorMeta& m = *call.inputs[i];
        const int b = d - (y.rank - m.rank);
        if (b >= 0 && m.shape[b] != 1) offsets[i] += x * m.strides[b];
      }
    }
    float& out = y.as<float>()[at];
    out = body_value(body, has_result ? out : 0.0f, call, offsets);
  }
  return {};
}

/// The reference of another operator on these inputs, to this call's result.
Status run_reference(KernelCall& call, std::string_view op, std::span<const TensorMeta* const> inputs) {
  const KernelInfo* kernel = reference_kernel(op);
  if (!kernel) return internal_error("no reference kernel of " + std::string(op));
  KernelCall plain{call.op, call.attrs, inputs, call.args, call.outputs, 0, call.workers, call.memory, call.site, call.strict};
  return kernel->run(plain);
}

Status ref_pointwise(KernelCall& call) { return body_by_elements(call, 0, false); }

Status ref_fused_conv(KernelCall& call) {
  const TensorMeta* inputs[3] = {call.inputs[0], call.inputs[1], input_or_null(call, 2)};
  MSVM_RETURN_IF_ERROR(run_reference(call, "Conv", inputs));
  return body_by_elements(call, 3, true);
}

Status ref_fused_matmul(KernelCall& call) {
  TensorMeta b = *call.inputs[1];
  if (call.attrs.get_int("transB", 0) != 0) {
    if (b.rank < 2) return shape_mismatch("msvm.MatMul: B has no two axes to swap");
    std::swap(b.shape[b.rank - 1], b.shape[b.rank - 2]);
    std::swap(b.strides[b.rank - 1], b.strides[b.rank - 2]);
  }
  const TensorMeta* inputs[2] = {call.inputs[0], &b};
  MSVM_RETURN_IF_ERROR(run_reference(call, "MatMul", inputs));
  if (const TensorMeta* bias = input_or_null(call, 2)) {
    const TensorMeta& y = *call.outputs[0];
    if (bias->dtype != DType::kF32 || bias->rank != 1 || y.rank < 1 || bias->shape[0] != y.shape[y.rank - 1]) return shape_mismatch("msvm.MatMul: the bias isn't one value per column");
    for (int64_t i = 0, n = y.elements(); i < n; ++i) y.as<float>()[offset_of(y, i)] += bias->as<float>()[i % bias->shape[0] * bias->strides[0]];
  }
  return body_by_elements(call, 3, true);
}

template <Isa kIsa>
Status fast_pointwise(KernelCall& call) {
  MSVM_ASSIGN_OR_RETURN(const BodyProgram* program, body_program(call, 0, false));
  if (!program) return invalid_argument("msvm.Pointwise: body has no steps");
  return run_body(call, *vector_kernels(kIsa), *program, false);
}

double pointwise_work(const KernelCall& call) {
  return static_cast<double>(call.outputs[0]->elements()) * static_cast<double>(2 + call.attrs.get_strings("body").size());
}
double matmul_multiply_adds(const KernelCall& call) {
  const TensorMeta& a = *call.inputs[0];
  return static_cast<double>(call.outputs[0]->elements()) * static_cast<double>(a.rank ? a.shape[a.rank - 1] : 1);
}

}  // namespace

void add_fused_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "ref_pointwise", .op = "msvm.Pointwise", .run = ref_pointwise, .dtypes = f32, .work = pointwise_work, .default_ns_per_work = 10});
  list.push_back({.name = "ref_fused_conv", .op = "msvm.Conv", .run = ref_fused_conv, .dtypes = f32, .work = conv_multiply_adds, .default_ns_per_work = 1.7, .default_overhead_ns = 200});
  list.push_back({.name = "ref_fused_matmul", .op = "msvm.MatMul", .run = ref_fused_matmul, .dtypes = f32, .work = matmul_multiply_adds, .default_ns_per_work = 1.7, .default_overhead_ns = 200});
  list.push_back({.name = "avx512_pointwise_f32", .op = "msvm.Pointwise", .run = fast_pointwise<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .work = pointwise_work, .default_ns_per_work = 0.08});
  list.push_back({.name = "avx2_pointwise_f32", .op = "msvm.Pointwise", .run = fast_pointwise<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .work = pointwise_work, .default_ns_per_work = 0.09});
}

}  // namespace msvm
