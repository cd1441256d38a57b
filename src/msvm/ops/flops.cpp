#include "msvm/ops/flops.h"

#include <algorithm>
#include <iterator>

namespace msvm {
namespace {

struct Operands {
  const Attributes& attrs;
  std::span<const TensorMeta* const> inputs, outputs;

  const TensorMeta* in(size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  const TensorMeta* out() const { return outputs.empty() ? nullptr : outputs[0]; }
};

double elements(const TensorMeta* m) { return m ? static_cast<double>(m->elements()) : 0; }
double size(const TensorMeta* m, int axis) {  // from the end if negative; 1 where there is none
  if (m && axis < 0) axis += m->rank;
  return m && axis >= 0 && axis < m->rank ? static_cast<double>(m->shape[static_cast<size_t>(axis)]) : 1;
}
double per_first(const TensorMeta* weights) { return elements(weights) / std::max(1.0, size(weights, 0)); }

double conv(const Operands& o) { return 2 * elements(o.out()) * per_first(o.in(1)); }
double conv_transpose(const Operands& o) { return 2 * elements(o.in(0)) * per_first(o.in(1)); }
double qlinear_conv(const Operands& o) { return 2 * elements(o.out()) * per_first(o.in(3)); }
double matmul(const Operands& o) { return 2 * elements(o.out()) * size(o.in(0), -1); }
double gemm(const Operands& o) { return 2 * elements(o.out()) * size(o.in(0), o.attrs.get_int("transA", 0) ? 0 : -1); }
/// Scores and their product with the values: for each query, 2*T*(D + Dv).
double attention(const Operands& o) {
  const TensorMeta *q = o.in(0), *v = o.in(2);
  return 2 * size(v, -2) * (elements(q) + elements(o.out()));
}
/// Each step multiplies input and state by W and R, of all gates and directions.
double recurrent(const Operands& o) { return 2 * size(o.in(0), 0) * size(o.in(0), 1) * (elements(o.in(1)) + elements(o.in(2))); }

struct Row {
  std::string_view op;
  double (*count)(const Operands&);
};
constexpr Row kRows[] = {
    {"Attention", attention}, {"Conv", conv},         {"ConvInteger", conv},     {"ConvTranspose", conv_transpose}, {"DeformConv", conv},
    {"GRU", recurrent},       {"Gemm", gemm},         {"LSTM", recurrent},       {"MatMul", matmul},                {"MatMulInteger", matmul},
    {"QLinearConv", qlinear_conv}, {"QLinearMatMul", matmul}, {"RNN", recurrent}, {"msvm.Conv", conv},              {"msvm.MatMul", matmul},
};

}  // namespace

double flops(std::string_view op, const Attributes& attrs, std::span<const TensorMeta* const> inputs, std::span<const TensorMeta* const> outputs) {
  const Operands o{attrs, inputs, outputs};
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.op == op; });
  return row != std::end(kRows) ? row->count(o) : std::max(elements(o.in(0)), elements(o.out()));
}

}  // namespace msvm
