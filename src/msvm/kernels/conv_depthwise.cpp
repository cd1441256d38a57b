// f32 depthwise Conv in one or two dimensions: each output row is a weighted sum of rows, vectors along the width.
#include <algorithm>

#include "msvm/kernels/conv.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/phase_rows.h"

namespace msvm {
namespace {

Status conv_depthwise(KernelCall& call, const VectorKernels& v) {
  const TensorMeta* bias = input_or_null(call, 2);
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv(call, *call.inputs[0], *call.inputs[1], bias, *call.outputs[0], s));
  Window w;
  if (!as_three_axes(s.window, w) || s.group_in() != 1 || !PhaseRows::fits(w)) return internal_error("Conv: not depthwise");
  const int64_t in_size = w.in_size(), out_size = w.out_size(), taps = w.taps();
  if (s.batch == 0 || s.out_channels == 0 || out_size == 0) return {};
  const float* x = call.inputs[0]->as<float>();
  const float* weights = call.inputs[1]->as<float>();
  const float* b = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(b, dense_input<float>(call, *bias));
  }
  float* y = call.outputs[0]->as<float>();
  const PhaseRows rows(w);
  const int64_t strips = (w.out[1] - 1) / rows.strip() + 1, multiplier = s.group_out(), chunks = s.batch * s.groups * strips;
  const double chunk_ns = static_cast<double>(rows.strip() * w.out[2]) * (1.0 + 0.08 * static_cast<double>(taps * multiplier));
  return parallel_with_scratch(call, chunks, grain_for(chunks, chunk_ns), rows.floats() * 4, [&](int64_t begin, int64_t end, std::byte* scratch) {
    float* filled = reinterpret_cast<float*>(scratch);
    const float* tap_rows[PhaseRows::kMaxTaps];
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      int64_t plane = chunk / strips, oh = chunk % strips * rows.strip(), n = std::min(rows.strip(), w.out[1] - oh);
      int64_t image = plane / s.groups, channel = plane % s.groups;
      rows.fill(v, x + plane * in_size, oh, n, 0.0f, filled);
      for (int64_t kh = 0, t = 0; kh < w.kernel[1]; ++kh)
        for (int64_t kw = 0; kw < w.kernel[2]; ++kw) tap_rows[t++] = rows.tap(filled, 0, kh, kw);
      for (int64_t q = 0; q < multiplier; ++q) {
        int64_t m = channel * multiplier + q;
        WeightedRows job;
        job.rows = tap_rows, job.weights = weights + m * taps, job.taps = taps;
        job.n = w.out[2], job.count = n;
        job.in_step = rows.row_step(), job.out_step = w.out[2];
        job.bias = b ? b + m : nullptr;
        job.out = y + (image * s.out_channels + m) * out_size + oh * w.out[2];
        v.weighted_rows(job);
      }
    }
  });
}

template <Isa kIsa>
Status fast_depthwise(KernelCall& call) {
  return conv_depthwise(call, *vector_kernels(kIsa));
}

bool depthwise_fits(const KernelCall& call) {
  const TensorMeta& x = *call.inputs[0];
  if (x.rank < 3 || x.rank > 4 || call.attrs.get_int("group", 1) != x.shape[1] || !call.outputs[0]->dense()) return false;
  Window w, three;
  return describe_window(call, x, *call.outputs[0], call.inputs[1]->dims().subspan(2), w).ok() && as_three_axes(w, three) && PhaseRows::fits(three);
}

// Laying out an input element costs as much as seven multiply-adds; short rows leave vectors empty.
double depthwise_work(const KernelCall& call) {
  const TensorMeta& y = *call.outputs[0];
  double width = static_cast<double>(std::max<int64_t>(1, y.shape[y.rank - 1]));
  return (conv_multiply_adds(call) + 7 * static_cast<double>(call.inputs[0]->elements())) * (1 + 8 / width);
}

}  // namespace

void add_conv_depthwise_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_conv_f32_depthwise", .op = "Conv", .run = fast_depthwise<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .dense_inputs = true, .accepts = depthwise_fits, .work = depthwise_work, .default_ns_per_work = 0.03, .default_overhead_ns = 400});
  list.push_back({.name = "avx2_conv_f32_depthwise", .op = "Conv", .run = fast_depthwise<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .dense_inputs = true, .accepts = depthwise_fits, .work = depthwise_work, .default_ns_per_work = 0.036, .default_overhead_ns = 400});
}

}  // namespace msvm
