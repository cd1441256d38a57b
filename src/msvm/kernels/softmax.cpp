// Softmax, LogSoftmax and Hardmax along one axis.
#include <algorithm>
#include <cmath>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/iterate.h"
#include "msvm/kernels/pixel_kernels.h"
#include "msvm/kernels/row_kernels.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {
namespace {

enum class Kind { kSoftmax, kLog, kHard };

struct Axis {
  int64_t outer = 1, n = 1, inner = 1;
};
bool axis_of(const KernelCall& call, Axis& a) {
  const TensorMeta& m = *call.inputs[0];
  if (m.rank == 0) return true;  // one element is its own axis
  int64_t axis = call.attrs.get_int("axis", -1);
  if (axis < 0) axis += m.rank;
  if (axis < 0 || axis >= m.rank) return false;
  size_t d = static_cast<size_t>(axis);
  a = {product(m.dims().first(d)), m.shape[d], product(m.dims().subspan(d + 1))};
  return true;
}

template <class T>
Status along_axis(KernelCall& call, Kind kind) {
  Axis a;
  if (!axis_of(call, a)) return out_of_range(std::string(call.op.name) + ": axis out of range");
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, *call.inputs[0]));
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  if (a.n == 0) return {};
  for (int64_t i = 0; i < a.outer * a.inner; ++i) {
    const int64_t base = i / a.inner * a.n * a.inner + i % a.inner;
    int64_t top = 0;  // the first of the largest; a NaN is larger than all
    for (int64_t k = 1; k < a.n; ++k) {
      T v = x[base + k * a.inner], best = x[base + top * a.inner];
      if (v > best || (std::isnan(v) && !std::isnan(best))) top = k;
    }
    const double largest = static_cast<double>(x[base + top * a.inner]);
    if (kind == Kind::kHard) {
      for (int64_t k = 0; k < a.n; ++k) y[base + k * a.inner] = k == top ? T{1} : T{0};
      continue;
    }
    double sum = 0;
    for (int64_t k = 0; k < a.n; ++k) sum += std::exp(static_cast<double>(x[base + k * a.inner]) - largest);
    const double log_sum = std::log(sum);
    for (int64_t k = 0; k < a.n; ++k) {
      double v = static_cast<double>(x[base + k * a.inner]) - largest;
      y[base + k * a.inner] = static_cast<T>(kind == Kind::kLog ? v - log_sum : std::exp(v) / sum);
    }
  }
  y.commit();
  return {};
}

template <Kind kKind>
Status ref_softmax(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return along_axis<decltype(zero)>(call, kKind); });
}

bool rows_fit(const KernelCall& call) {
  Axis a;
  return axis_of(call, a) && a.inner == 1 && call.outputs[0]->dense();
}

template <Isa kIsa, Kind kKind>
Status fast_softmax(KernelCall& call) {
  const VectorKernels& v = *vector_kernels(kIsa);
  Axis a;
  if (!axis_of(call, a)) return internal_error("Softmax: axis out of range");
  const float* x = call.inputs[0]->as<float>();
  float* y = call.outputs[0]->as<float>();
  if (a.outer == 0 || a.n == 0) return {};
  call.workers.parallel_for(a.outer, grain_for(a.outer, static_cast<double>(a.n) * 0.5 + 10), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) (kKind == Kind::kLog ? v.log_softmax : row_kernels(kIsa)->softmax)(x + i * a.n, a.n, y + i * a.n);
  });
  return {};
}

constexpr int64_t kMaxColumns = 256;

/// Over `n` rows of `m` columns each, rows `row` apart in both; at most kMaxColumns.
void softmax_columns(const VectorKernels& v, const float* from, float* to, int64_t n, int64_t m, int64_t row) {
  alignas(64) float top[kMaxColumns], sum[kMaxColumns];
  v.copy_strided(from, 1, m, top);
  for (int64_t k = 1; k < n; ++k) {
    const float* rows[2] = {top, from + k * row};
    v.max_rows(rows, 2, m, top);
  }
  std::fill(sum, sum + m, 0.0f);
  for (int64_t k = 0; k < n; ++k) {
    float* e = to + k * row;
    for (int64_t j = 0; j < m; ++j) e[j] = from[k * row + j] - top[j];
    v.exp(e, m, e);
    v.add_in_place(sum, e, m);
  }
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < m; ++j) to[k * row + j] /= sum[j];
}

// Rows of few elements go by the dozen, turned.
constexpr int64_t kFewChannels = 48, kColumns = 64;

// The axis runs densely in memory, the others anyhow: the channels of channels-last images.
bool strided_rows_fit(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  Axis a;
  if (!axis_of(call, a) || a.n < 2 || y.dtype != DType::kF32) return false;
  const int axis = normal_axis(call.attrs.get_int("axis", -1), x.rank);
  return x.strides[axis] == 1 && y.strides[axis] == 1;
}
template <Isa kIsa, Kind kKind>
Status fast_softmax_strided(KernelCall& call) {
  const VectorKernels& v = *vector_kernels(kIsa);
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  const int axis = normal_axis(call.attrs.get_int("axis", -1), x.rank);
  const int64_t n = x.shape[axis];
  Nest<2> rows;
  for (int d = 0; d < x.rank; ++d)
    if (d != axis) rows.add_axis(x.shape[d], {y.strides[d], x.strides[d]});
  simplify(rows);
  if (n == 0) return {};
  const PixelKernels& k = *pixel_kernels(kIsa);
  const bool together = n <= kFewChannels && kKind == Kind::kSoftmax;
  for_each_row(rows, call.workers, static_cast<double>(n) * 0.5 + (together ? 2 : 10), [&](int64_t count, const std::array<int64_t, 2>& at) {
    const float* from = x.as<float>() + at[1];
    float* to = y.as<float>() + at[0];
    const int64_t x_row = rows.inner_stride(1), y_row = rows.inner_stride(0);
    if (together) {
      alignas(64) float block[kFewChannels * kColumns], turned[kFewChannels * kColumns];
      for (int64_t i = 0; i < count; i += kColumns) {
        const int64_t m = std::min(kColumns, count - i);
        k.transpose({from + i * x_row, x_row, m, n}, block, m);
        softmax_columns(v, block, turned, n, m, m);
        k.transpose({turned, m, n, m}, to + i * y_row, y_row);
      }
      return;
    }
    for (int64_t i = 0; i < count; ++i) (kKind == Kind::kLog ? v.log_softmax : row_kernels(kIsa)->softmax)(from + i * x_row, n, to + i * y_row);
  });
  return {};
}

// An axis with others inside it: blocks of columns, vectors along them.
bool columns_fit(const KernelCall& call) {
  Axis a;
  return axis_of(call, a) && a.inner > 1 && call.outputs[0]->dense();
}

template <Isa kIsa>
Status fast_softmax_columns(KernelCall& call) {
  const VectorKernels& v = *vector_kernels(kIsa);
  constexpr int64_t kBlock = kMaxColumns;
  Axis a;
  if (!axis_of(call, a)) return internal_error("Softmax: axis out of range");
  if (a.outer == 0 || a.n == 0 || a.inner == 0) return {};
  const float* x = call.inputs[0]->as<float>();
  float* y = call.outputs[0]->as<float>();
  const int64_t blocks = (a.inner - 1) / kBlock + 1, chunks = a.outer * blocks;
  call.workers.parallel_for(chunks, grain_for(chunks, static_cast<double>(a.n * kBlock) * 0.7), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i % blocks * kBlock, first = i / blocks * a.n * a.inner + column;
      softmax_columns(v, x + first, y + first, a.n, std::min(kBlock, a.inner - column), a.inner);
    }
  });
  return {};
}

}  // namespace

void add_softmax_kernels(KernelList& list) {
  list.push_back({.name = "ref_softmax", .op = "Softmax", .run = ref_softmax<Kind::kSoftmax>, .dtypes = kFloats, .default_ns_per_work = 15});
  list.push_back({.name = "ref_log_softmax", .op = "LogSoftmax", .run = ref_softmax<Kind::kLog>, .dtypes = kFloats, .default_ns_per_work = 10});
  list.push_back({.name = "ref_hardmax", .op = "Hardmax", .run = ref_softmax<Kind::kHard>, .dtypes = kFloats, .default_ns_per_work = 3});
  KernelInfo k{.dtypes = bit(DType::kF32), .dense_inputs = true, .strict_order = false, .accepts = rows_fit, .default_ns_per_work = 0.4};
  auto add = [&](std::string_view name, std::string_view op, Isa isa, KernelFn run) {
    k.name = name, k.op = op, k.isa = isa, k.run = run;
    list.push_back(k);
  };
  add("avx512_softmax_f32_rows", "Softmax", Isa::kAvx512, fast_softmax<Isa::kAvx512, Kind::kSoftmax>);
  add("avx512_log_softmax_f32_rows", "LogSoftmax", Isa::kAvx512, fast_softmax<Isa::kAvx512, Kind::kLog>);
  add("avx2_softmax_f32_rows", "Softmax", Isa::kAvx2, fast_softmax<Isa::kAvx2, Kind::kSoftmax>);
  k.dense_inputs = false;
  k.accepts = strided_rows_fit;
  k.default_ns_per_work = 0.45;
  add("avx512_softmax_f32_strided_rows", "Softmax", Isa::kAvx512, fast_softmax_strided<Isa::kAvx512, Kind::kSoftmax>);
  add("avx512_log_softmax_f32_strided_rows", "LogSoftmax", Isa::kAvx512, fast_softmax_strided<Isa::kAvx512, Kind::kLog>);
  add("avx2_softmax_f32_strided_rows", "Softmax", Isa::kAvx2, fast_softmax_strided<Isa::kAvx2, Kind::kSoftmax>);
  add("avx2_log_softmax_f32_strided_rows", "LogSoftmax", Isa::kAvx2, fast_softmax_strided<Isa::kAvx2, Kind::kLog>);
  k.dense_inputs = true;
  k.accepts = columns_fit;
  k.default_ns_per_work = 0.7;
  add("avx512_softmax_f32_columns", "Softmax", Isa::kAvx512, fast_softmax_columns<Isa::kAvx512>);
  add("avx2_softmax_f32_columns", "Softmax", Isa::kAvx2, fast_softmax_columns<Isa::kAvx2>);
  k.accepts = rows_fit;
  k.default_ns_per_work = 0.4;
  add("avx2_log_softmax_f32_rows", "LogSoftmax", Isa::kAvx2, fast_softmax<Isa::kAvx2, Kind::kLog>);
}

}  // namespace msvm
