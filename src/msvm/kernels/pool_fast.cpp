// f32 pools: rows of results from rows of the image, vectors along the width.
#include <algorithm>
#include <limits>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/phase_rows.h"

namespace msvm {

void add_pool_fast_kernels(KernelList& list);

namespace {

bool pool_window(const KernelCall& call, Window& three) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  Window w;
  return x.rank >= 3 && x.rank <= 4 && y.dense() && describe_window(call, x, y, call.attrs.get_ints("kernel_shape"), w).ok() && as_three_axes(w, three) && PhaseRows::fits(three);
}

enum class Pool { kMax, kAverage };

Status pool_rows(KernelCall& call, const VectorKernels& v, Pool kind) {
  Window w;
  if (!pool_window(call, w)) return internal_error("pool: window not for this kernel");
  const int64_t planes = call.inputs[0]->shape[0] * call.inputs[0]->shape[1], in_size = w.in_size(), out_size = w.out_size();
  if (planes == 0 || out_size == 0) return {};
  const bool include_pad = call.attrs.get_int("count_include_pad", 0) != 0;
  const float* x = call.inputs[0]->as<float>();
  float* y = call.outputs[0]->as<float>();
  const PhaseRows rows(w);
  const int64_t strips = (w.out[1] - 1) / rows.strip() + 1, chunks = planes * strips, width = w.out[2];
  // Taps per column that count for the average.
  MSVM_ASSIGN_OR_RETURN(float* column_taps, scratch_array<float>(call.memory, kind == Pool::kAverage ? width : 0));
  for (int64_t o = 0; kind == Pool::kAverage && o < width; ++o) {
    int64_t first, last;
    w.inside(2, o, first, last);
    column_taps[o] = static_cast<float>(include_pad ? padded_taps(w, 2, o) : last - first);
  }
  const float pad = kind == Pool::kMax ? -std::numeric_limits<float>::infinity() : 0.0f;
  const double chunk_ns = static_cast<double>(rows.strip() * width) * (0.8 + 0.06 * static_cast<double>(w.taps()));
  return parallel_with_scratch(call, chunks, grain_for(chunks, chunk_ns), rows.floats() * 4, [&](int64_t begin, int64_t end, std::byte* scratch) {
    float* filled = reinterpret_cast<float*>(scratch);
    const float* taps[PhaseRows::kMaxTaps];
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      int64_t plane = chunk / strips, oh = chunk % strips * rows.strip(), n = std::min(rows.strip(), w.out[1] - oh);
      rows.fill(v, x + plane * in_size, oh, n, pad, filled);
      for (int64_t j = 0; j < n; ++j) {
        int64_t count = 0, inside = 0;
        for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
          inside += rows.row_inside(oh + j, kh);
          for (int64_t kw = 0; kw < w.kernel[2]; ++kw) taps[count++] = rows.tap(filled, j, kh, kw);
        }
        float* out = y + plane * out_size + (oh + j) * width;
        if (kind == Pool::kMax) {
          v.max_rows(taps, count, width, out);
          continue;
        }
        v.sum_rows(taps, count, width, out);
        float row_taps = static_cast<float>(include_pad ? padded_taps(w, 1, oh + j) : inside);
        for (int64_t o = 0; o < width; ++o) {
          float t = row_taps * column_taps[o];
          out[o] = t > 0 ? out[o] / t : 0.0f;
        }
      }
    }
  });
}

template <Isa kIsa, Pool kKind>
Status fast_pool(KernelCall& call) {
  return pool_rows(call, *vector_kernels(kIsa), kKind);
}
bool max_fits(const KernelCall& call) {
  Window w;
  return !output_or_null(call, 1) && pool_window(call, w);
}
bool average_fits(const KernelCall& call) {
  Window w;
  return pool_window(call, w);
}

template <Isa kIsa>
Status fast_global_average(KernelCall& call) {
  const VectorKernels& v = *vector_kernels(kIsa);
  const TensorMeta& m = *call.inputs[0];
  int64_t planes = m.shape[0] * m.shape[1], size = product(m.dims().subspan(2));
  const float* x = m.as<float>();
  float* y = call.outputs[0]->as<float>();
  if (planes == 0) return {};
  call.workers.parallel_for(planes, grain_for(planes, static_cast<double>(size) * 0.1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = v.sum(x + i * size, size) / static_cast<float>(size);
  });
  return {};
}
bool global_fits(const KernelCall& call) { return call.inputs[0]->rank >= 2 && call.outputs[0]->dense() && call.outputs[0]->elements() == call.inputs[0]->shape[0] * call.inputs[0]->shape[1]; }

double pool_work(const KernelCall& call) {
  double taps = 1;
  for (int64_t k : call.attrs.get_ints("kernel_shape")) taps *= static_cast<double>(k);
  return static_cast<double>(call.outputs[0]->elements()) * (taps + 10);
}
double input_work(const KernelCall& call) { return static_cast<double>(call.inputs[0]->elements()); }

}  // namespace

void add_pool_fast_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_max_pool_f32_rows", .op = "MaxPool", .run = fast_pool<Isa::kAvx512, Pool::kMax>, .dtypes = f32, .isa = Isa::kAvx512, .dense_inputs = true, .accepts = max_fits, .work = pool_work, .default_ns_per_work = 0.07, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_max_pool_f32_rows", .op = "MaxPool", .run = fast_pool<Isa::kAvx2, Pool::kMax>, .dtypes = f32, .isa = Isa::kAvx2, .dense_inputs = true, .accepts = max_fits, .work = pool_work, .default_ns_per_work = 0.09, .default_overhead_ns = 300});
  list.push_back({.name = "avx512_average_pool_f32_rows", .op = "AveragePool", .run = fast_pool<Isa::kAvx512, Pool::kAverage>, .dtypes = f32, .isa = Isa::kAvx512, .dense_inputs = true, .accepts = average_fits, .work = pool_work, .default_ns_per_work = 0.07, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_average_pool_f32_rows", .op = "AveragePool", .run = fast_pool<Isa::kAvx2, Pool::kAverage>, .dtypes = f32, .isa = Isa::kAvx2, .dense_inputs = true, .accepts = average_fits, .work = pool_work, .default_ns_per_work = 0.08, .default_overhead_ns = 300});
  list.push_back({.name = "avx512_global_average_pool_f32", .op = "GlobalAveragePool", .run = fast_global_average<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .dense_inputs = true, .strict_order = false, .accepts = global_fits, .work = input_work, .default_ns_per_work = 0.05});
  list.push_back({.name = "avx2_global_average_pool_f32", .op = "GlobalAveragePool", .run = fast_global_average<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .dense_inputs = true, .strict_order = false, .accepts = global_fits, .work = input_work, .default_ns_per_work = 0.05});
}

}  // namespace msvm
