#include "msvm/kernels/operations.h"

#include <algorithm>
#include <string_view>

namespace msvm {
namespace {

// The work of their reference kernels is counted in multiply-adds.
constexpr std::string_view kProducts[] = {"Attention", "Conv",        "ConvInteger",  "ConvTranspose", "DeformConv",   "Gemm", "GRU", "LSTM",
                                          "MatMul",    "MatMulInteger", "QLinearConv", "QLinearMatMul", "RNN", "msvm.Conv", "msvm.MatMul"};

double elements(const KernelCall& call) {
  if (!call.outputs.empty() && call.outputs[0]) return static_cast<double>(call.outputs[0]->elements());
  return !call.inputs.empty() && call.inputs[0] ? static_cast<double>(call.inputs[0]->elements()) : 0;
}

double bytes_of(const TensorMeta* m) { return m && m->dtype != DType::kString ? static_cast<double>(m->elements()) * static_cast<double>(dtype_bytes(m->dtype)) : 0; }

}  // namespace

double call_operations(const KernelCall& call) {
  const std::string_view op = call.op.name;
  const double body = elements(call) * static_cast<double>(call.attrs.get_strings("body").size());  // of fused calls
  if (op == "msvm.Pointwise") return body;
  const KernelInfo* reference = reference_kernel(op);
  if (!reference || !reference->work) return elements(call);
  return body + reference->work(call) * (std::find(std::begin(kProducts), std::end(kProducts), op) != std::end(kProducts) ? 2 : 1);
}

double call_bytes(const KernelCall& call) {
  double sum = 0;
  for (const TensorMeta* m : call.inputs) sum += bytes_of(m);
  for (const TensorMeta* m : call.outputs) sum += bytes_of(m);
  return sum;
}

}  // namespace msvm
