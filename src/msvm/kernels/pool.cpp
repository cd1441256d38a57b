// Pools over sliding windows and whole planes, and MaxUnpool: references.
#include <algorithm>
#include <cmath>
#include <limits>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/window.h"

namespace msvm {

void add_pool_fast_kernels(KernelList& list);           // pool_fast.cpp
void add_pool_channels_last_kernels(KernelList& list);  // pool_channels_last.cpp

namespace {

Status describe_pool(const KernelCall& call, Window& w) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  if (x.rank < 3 || y.rank != x.rank || y.shape[0] != x.shape[0] || y.shape[1] != x.shape[1]) return shape_mismatch(std::string(call.op.name) + ": wrong shape of input or result");
  return describe_window(call, x, y, call.attrs.get_ints("kernel_shape"), w);
}

// planes(plane index, at, output index) for every output element.
template <class Each>
void for_each_output(KernelCall& call, const Window& w, Each each) {
  int64_t planes = call.inputs[0]->shape[0] * call.inputs[0]->shape[1], out_size = w.out_size();
  if (planes == 0 || out_size == 0) return;
  call.workers.parallel_for(planes, grain_for(planes, static_cast<double>(out_size * w.taps()) * 2), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      std::array<int64_t, kMaxSpatial> at{};
      for (int64_t o = 0; o < out_size; ++o, next_position(w, at)) each(p, at, p * out_size + o);
    }
  });
}

// Position in a plane counted with the first axis fastest.
int64_t column_major(const Window& w, int64_t offset) {
  int64_t result = 0, scale = 1;
  std::array<int64_t, kMaxSpatial> at{};
  for (int d = w.rank - 1; d >= 0; --d) {
    at[d] = offset % w.in[d];
    offset /= w.in[d];
  }
  for (int d = 0; d < w.rank; ++d) {
    result += at[d] * scale;
    scale *= w.in[d];
  }
  return result;
}

template <class T>
Status max_pool_as(KernelCall& call) {
  Window w;
  MSVM_RETURN_IF_ERROR(describe_pool(call, w));
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, *call.inputs[0]));
  DenseOutput<T> y;
  DenseOutput<int64_t> indices;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  MSVM_RETURN_IF_ERROR(indices.open(call, output_or_null(call, 1)));
  bool by_columns = call.attrs.get_int("storage_order", 0) != 0;
  int64_t in_size = w.in_size();
  T lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
             : call.inputs[0]->dtype == DType::kU8 ? T{0}
                                                   : T{-128};
  for_each_output(call, w, [&](int64_t p, const auto& at, int64_t o) {
    T best = lowest;
    int64_t where = -1;
    for_each_tap(w, at, [&](int64_t, int64_t offset) {
      T v = x[p * in_size + offset];
      if (where < 0 || v > best || std::isnan(static_cast<double>(v))) {  // the last NaN stays
        best = v;
        where = offset;
      }
    });
    y[o] = best;
    if (indices) indices[o] = p * in_size + (where < 0 ? 0 : by_columns ? column_major(w, where) : where);
  });
  y.commit();
  if (indices) indices.commit();
  return {};
}
Status ref_max_pool(KernelCall& call) {
  if (is_float(call.inputs[0]->dtype)) return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return max_pool_as<decltype(zero)>(call); });
  return max_pool_as<int32_t>(call);
}

template <class T>
Status average_pool_as(KernelCall& call) {
  Window w;
  MSVM_RETURN_IF_ERROR(describe_pool(call, w));
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, *call.inputs[0]));
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  bool include_pad = call.attrs.get_int("count_include_pad", 0) != 0;
  int64_t in_size = w.in_size();
  for_each_output(call, w, [&](int64_t p, const auto& at, int64_t o) {
    T sum{};
    int64_t count = 0;
    for_each_tap(w, at, [&](int64_t, int64_t offset) {
      sum += x[p * in_size + offset];
      ++count;
    });
    if (include_pad) {
      count = 1;
      for (int d = 0; d < w.rank; ++d) count *= padded_taps(w, d, at[d]);
    }
    y[o] = count ? sum / static_cast<T>(count) : T{};
  });
  y.commit();
  return {};
}
Status ref_average_pool(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return average_pool_as<decltype(zero)>(call); });
}

template <class T>
T power_mean(double sum, int64_t p) {
  return static_cast<T>(p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1.0 / static_cast<double>(p)));
}
inline double power(double v, int64_t p) {
  v = std::fabs(v);
  return p == 1 ? v : p == 2 ? v * v : std::pow(v, static_cast<double>(p));
}

template <class T>
Status lp_pool_as(KernelCall& call) {
  Window w;
  MSVM_RETURN_IF_ERROR(describe_pool(call, w));
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, *call.inputs[0]));
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  int64_t p = call.attrs.get_int("p", 2), in_size = w.in_size();
  if (p < 1) return out_of_range("LpPool: p must be positive");
  for_each_output(call, w, [&](int64_t plane, const auto& at, int64_t o) {
    double sum = 0;
    for_each_tap(w, at, [&](int64_t, int64_t offset) { sum += power(static_cast<double>(x[plane * in_size + offset]), p); });
    y[o] = power_mean<T>(sum, p);
  });
  y.commit();
  return {};
}
Status ref_lp_pool(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return lp_pool_as<decltype(zero)>(call); });
}

// ---- whole planes ----

enum class Global { kAverage, kMax, kLp };

template <class T>
Status global_as(KernelCall& call, Global kind) {
  const TensorMeta& m = *call.inputs[0];
  if (m.rank < 2) return shape_mismatch(std::string(call.op.name) + " takes [N, C, ...]");
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, m));
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  int64_t planes = m.shape[0] * m.shape[1], size = product(m.dims().subspan(2)), p = call.attrs.get_int("p", 2);
  if (call.outputs[0]->elements() != planes) return shape_mismatch(std::string(call.op.name) + ": wrong shape of the result");
  if (kind == Global::kLp && p < 1) return out_of_range("GlobalLpPool: p must be positive");
  for (int64_t i = 0; i < planes; ++i) {
    const T* plane = x + i * size;
    double sum = 0;
    T best = -std::numeric_limits<T>::infinity();
    for (int64_t j = 0; j < size; ++j) {
      if (kind == Global::kMax) best = plane[j] > best || std::isnan(plane[j]) ? plane[j] : best;
      else sum += kind == Global::kLp ? power(static_cast<double>(plane[j]), p) : static_cast<double>(plane[j]);
    }
    y[i] = kind == Global::kMax ? best : kind == Global::kLp ? power_mean<T>(sum, p) : static_cast<T>(sum / static_cast<double>(size));
  }
  y.commit();
  return {};
}
template <Global kKind>
Status ref_global(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return global_as<decltype(zero)>(call, kKind); });
}

// ---- MaxUnpool ----

// Indices count elements of the tensor that pooling had (its spatial sizes follow from kernel, strides and pads); a larger
// result keeps their coordinates.
Status ref_max_unpool(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  if (x.rank < 3 || y.rank != x.rank || y.shape[0] != x.shape[0] || y.shape[1] != x.shape[1]) return shape_mismatch("MaxUnpool: wrong shape of input or result");
  if (call.inputs[1]->elements() != x.elements()) return shape_mismatch("MaxUnpool: one index per element is needed");
  const auto &kernel = call.attrs.get_ints("kernel_shape"), &strides = call.attrs.get_ints("strides"), &pads = call.attrs.get_ints("pads");
  const size_t n = static_cast<size_t>(x.rank - 2);
  if (kernel.size() != n || (!strides.empty() && strides.size() != n) || (!pads.empty() && pads.size() != 2 * n)) return shape_mismatch("MaxUnpool: attributes don't have one value per spatial axis");
  std::array<int64_t, kMaxRank> pooled{};
  int64_t total = x.shape[0] * x.shape[1];
  for (size_t d = 0; d < n; ++d) {
    __int128 size = static_cast<__int128>(x.shape[d + 2] - 1) * (strides.empty() ? 1 : strides[d]) + kernel[d] - (pads.empty() ? 0 : static_cast<__int128>(pads[d]) + pads[d + n]);
    if (size < 0) size = 0;
    if (size * std::max<int64_t>(total, 1) > INT64_MAX / 2) return overflow_error("MaxUnpool: sizes leave 64 bits");
    pooled[d] = static_cast<int64_t>(size);
    total *= pooled[d];
  }
  DenseOutput<double> out;
  MSVM_ASSIGN_OR_RETURN(const double* values, dense_input<double>(call, x));
  MSVM_ASSIGN_OR_RETURN(const int64_t* indices, dense_input<int64_t>(call, *call.inputs[1]));
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  int64_t count = y.elements();
  std::fill(out.data(), out.data() + count, 0.0);
  for (int64_t i = 0, m = x.elements(); i < m; ++i) {
    int64_t rest = indices[i], offset = 0, scale = 1;
    if (rest < 0 || rest >= total) return out_of_range("MaxUnpool: index " + std::to_string(rest) + " is outside [0, " + std::to_string(total) + ")");
    for (size_t d = n; d-- > 0;) {
      int64_t at = rest % pooled[d], size = y.shape[d + 2];
      rest /= pooled[d];
      if (at >= size) return out_of_range("MaxUnpool: index " + std::to_string(indices[i]) + " is outside the result");
      offset += at * scale;
      scale *= size;
    }
    out[rest * scale + offset] = values[i];
  }
  out.commit();
  return {};
}

double pool_work(const KernelCall& call) {
  double n = static_cast<double>(call.outputs[0]->elements());
  for (int64_t k : call.attrs.get_ints("kernel_shape")) n *= static_cast<double>(k);
  return n;
}
double input_work(const KernelCall& call) { return static_cast<double>(call.inputs[0]->elements()); }

}  // namespace

void add_pool_kernels(KernelList& list) {
  list.push_back({.name = "ref_max_pool", .op = "MaxPool", .run = ref_max_pool, .dtypes = kFloats | bit(DType::kI8) | bit(DType::kU8), .work = pool_work, .default_ns_per_work = 2.5});
  list.push_back({.name = "ref_average_pool", .op = "AveragePool", .run = ref_average_pool, .dtypes = kFloats, .work = pool_work, .default_ns_per_work = 2.5});
  list.push_back({.name = "ref_lp_pool", .op = "LpPool", .run = ref_lp_pool, .dtypes = kFloats, .work = pool_work, .default_ns_per_work = 3});
  list.push_back({.name = "ref_global_average_pool", .op = "GlobalAveragePool", .run = ref_global<Global::kAverage>, .dtypes = kFloats, .work = input_work, .default_ns_per_work = 1});
  list.push_back({.name = "ref_global_max_pool", .op = "GlobalMaxPool", .run = ref_global<Global::kMax>, .dtypes = kFloats, .work = input_work, .default_ns_per_work = 1.2});
  list.push_back({.name = "ref_global_lp_pool", .op = "GlobalLpPool", .run = ref_global<Global::kLp>, .dtypes = kFloats, .work = input_work, .default_ns_per_work = 1.2});
  list.push_back({.name = "ref_max_unpool", .op = "MaxUnpool", .run = ref_max_unpool, .dtypes = kFloats, .default_ns_per_work = 3});
  add_pool_fast_kernels(list);
  add_pool_channels_last_kernels(list);
}

}  // namespace msvm
