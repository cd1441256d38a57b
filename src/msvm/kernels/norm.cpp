// Normalisations: references. Sums in f64, ascending.
#include <algorithm>
#include <cmath>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"

namespace msvm {

void add_norm_fast_kernels(KernelList& list);  // norm_fast.cpp
void add_norm_channels_last_kernels(KernelList& list);  // norm_channels_last.cpp
void add_lrn_vector_kernels(KernelList& list);  // lrn_vector.cpp

namespace {

struct Moments {
  double mean = 0, variance = 0;
};
template <class T>
Moments moments(const T* x, int64_t n) {
  Moments m;
  for (int64_t i = 0; i < n; ++i) m.mean += static_cast<double>(x[i]);
  m.mean /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    double d = static_cast<double>(x[i]) - m.mean;
    m.variance += d * d;
  }
  m.variance /= static_cast<double>(n);
  return m;
}

int axis_of(const KernelCall& call, int rank, int64_t fallback) {
  int64_t axis = call.attrs.get_int("axis", fallback);
  if (axis < 0) axis += rank;
  return static_cast<int>(axis);
}

template <class T>
Status layer_norm_as(KernelCall& call, bool center) {
  const TensorMeta& m = *call.inputs[0];
  int axis = axis_of(call, m.rank, -1);
  if (axis < 0 || axis > m.rank) return out_of_range(std::string(call.op.name) + ": axis out of range");
  int64_t rows = product(m.dims().first(static_cast<size_t>(axis))), n = product(m.dims().subspan(static_cast<size_t>(axis)));
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, m));
  MSVM_ASSIGN_OR_RETURN(const T* scale, broadcast_input<T>(call, *call.inputs[1], m.dims().subspan(static_cast<size_t>(axis))));
  const T* bias = nullptr;
  if (const TensorMeta* b = input_or_null(call, 2)) {
    MSVM_ASSIGN_OR_RETURN(bias, broadcast_input<T>(call, *b, m.dims().subspan(static_cast<size_t>(axis))));
  }
  DenseOutput<T> y;
  DenseOutput<float> mean, inverse;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  MSVM_RETURN_IF_ERROR(mean.open(call, output_or_null(call, 1)));
  MSVM_RETURN_IF_ERROR(inverse.open(call, output_or_null(call, 2)));
  double epsilon = call.attrs.get_float("epsilon", 1e-5);
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * n;
    Moments s;
    if (center) {
      s = moments(row, n);
    } else {
      for (int64_t i = 0; i < n; ++i) s.variance += static_cast<double>(row[i]) * static_cast<double>(row[i]);
      s.variance /= static_cast<double>(n);
    }
    double inv = 1.0 / std::sqrt(s.variance + epsilon);
    for (int64_t i = 0; i < n; ++i) {
      double v = (static_cast<double>(row[i]) - s.mean) * inv * static_cast<double>(scale[i]);
      y[r * n + i] = static_cast<T>(bias ? v + static_cast<double>(bias[i]) : v);
    }
    if (mean) mean[r] = static_cast<float>(s.mean);
    if (inverse) inverse[r] = static_cast<float>(inv);
  }
  y.commit();
  if (mean) mean.commit();
  if (inverse) inverse.commit();
  return {};
}
Status ref_layer_norm(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return layer_norm_as<decltype(zero)>(call, true); });
}
Status ref_rms_norm(KernelCall& call) {
  bool wide = call.inputs[0]->dtype == DType::kF64 || call.inputs[1]->dtype == DType::kF64;
  return with_accumulator(wide ? DType::kF64 : DType::kF32, [&](auto zero) { return layer_norm_as<decltype(zero)>(call, false); });
}

// One value per channel.
template <class T>
Result<const T*> channel_input(KernelCall& call, size_t i, int64_t channels) {
  const TensorMeta& m = *call.inputs[i];
  if (m.rank != 1 || m.shape[0] != channels) return shape_mismatch(std::string(call.op.name) + ": input " + std::to_string(i) + " isn't one value per channel");
  return dense_input<T>(call, m);
}

// Mean and variance over `groups` parts of the channels of each image; scale and bias per channel.
template <class T>
Status group_norm_as(KernelCall& call, int64_t groups) {
  const TensorMeta& m = *call.inputs[0];
  if (m.rank < 2) return shape_mismatch(std::string(call.op.name) + " takes [N, C, ...]");
  int64_t channels = m.shape[1], plane = product(m.dims().subspan(2));
  if (groups < 1 ? channels != 0 : channels % groups != 0) return shape_mismatch(std::string(call.op.name) + ": channels don't divide into groups");
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, m));
  MSVM_ASSIGN_OR_RETURN(const T* scale, channel_input<T>(call, 1, channels));
  MSVM_ASSIGN_OR_RETURN(const T* bias, channel_input<T>(call, 2, channels));
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  if (m.elements() == 0) return {};
  double epsilon = call.attrs.get_float("epsilon", 1e-5);
  int64_t per_group = channels / groups, n = per_group * plane;
  for (int64_t i = 0; i < m.shape[0] * groups; ++i) {
    Moments s = moments(x + i * n, n);
    double inv = 1.0 / std::sqrt(s.variance + epsilon);
    for (int64_t j = 0; j < n; ++j) {
      int64_t c = i % groups * per_group + j / plane;
      y[i * n + j] = static_cast<T>((static_cast<double>(x[i * n + j]) - s.mean) * inv * static_cast<double>(scale[c]) + static_cast<double>(bias[c]));
    }
  }
  y.commit();
  return {};
}
Status ref_group_norm(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return group_norm_as<decltype(zero)>(call, call.attrs.get_int("num_groups", 1)); });
}
Status ref_instance_norm(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return group_norm_as<decltype(zero)>(call, call.inputs[0]->rank > 1 ? call.inputs[0]->shape[1] : 1); });
}

template <class T>
Status batch_norm_as(KernelCall& call) {
  const TensorMeta& m = *call.inputs[0];
  if (m.rank < 1) return shape_mismatch("BatchNormalization takes [N, C, ...]");
  int64_t batch = m.shape[0], channels = m.rank > 1 ? m.shape[1] : 1, plane = m.rank > 2 ? product(m.dims().subspan(2)) : 1;
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, m));
  MSVM_ASSIGN_OR_RETURN(const double* scale, channel_input<double>(call, 1, channels));
  MSVM_ASSIGN_OR_RETURN(const double* bias, channel_input<double>(call, 2, channels));
  MSVM_ASSIGN_OR_RETURN(const double* mean, channel_input<double>(call, 3, channels));
  MSVM_ASSIGN_OR_RETURN(const double* variance, channel_input<double>(call, 4, channels));
  DenseOutput<T> y;
  DenseOutput<double> running_mean, running_variance;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  MSVM_RETURN_IF_ERROR(running_mean.open(call, output_or_null(call, 1)));
  MSVM_RETURN_IF_ERROR(running_variance.open(call, output_or_null(call, 2)));
  bool training = call.attrs.get_int("training_mode", 0) != 0;
  double epsilon = call.attrs.get_float("epsilon", 1e-5), momentum = call.attrs.get_float("momentum", 0.9);
  for (int64_t c = 0; c < channels; ++c) {
    Moments s{mean[c], variance[c]};
    if (training) {
      s = {};
      double n = static_cast<double>(batch * plane);
      for (int64_t i = 0; i < batch; ++i)
        for (int64_t j = 0; j < plane; ++j) s.mean += static_cast<double>(x[(i * channels + c) * plane + j]);
      s.mean /= n;
      for (int64_t i = 0; i < batch; ++i)
        for (int64_t j = 0; j < plane; ++j) {
          double d = static_cast<double>(x[(i * channels + c) * plane + j]) - s.mean;
          s.variance += d * d;
        }
      s.variance /= n;
    }
    if (running_mean) running_mean[c] = training ? mean[c] * momentum + s.mean * (1 - momentum) : mean[c];
    if (running_variance) running_variance[c] = training ? variance[c] * momentum + s.variance * (1 - momentum) : variance[c];
    double factor = scale[c] / std::sqrt(s.variance + epsilon);
    for (int64_t i = 0; i < batch; ++i)
      for (int64_t j = 0; j < plane; ++j) {
        int64_t at = (i * channels + c) * plane + j;
        y[at] = static_cast<T>((static_cast<double>(x[at]) - s.mean) * factor + bias[c]);
      }
  }
  y.commit();
  if (running_mean) running_mean.commit();
  if (running_variance) running_variance.commit();
  return {};
}
Status ref_batch_norm(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return batch_norm_as<decltype(zero)>(call); });
}

Status ref_lp_norm(KernelCall& call) {
  const TensorMeta& m = *call.inputs[0];
  int axis = axis_of(call, m.rank, -1);
  if (axis < 0 || axis >= m.rank) return out_of_range("LpNormalization: axis out of range");
  MSVM_ASSIGN_OR_RETURN(const double* x, dense_input<double>(call, m));
  DenseOutput<double> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  bool squares = call.attrs.get_int("p", 2) == 2;
  size_t a = static_cast<size_t>(axis);
  int64_t outer = product(m.dims().first(a)), n = m.shape[a], inner = product(m.dims().subspan(a + 1));
  for (int64_t i = 0; i < outer * inner && n > 0; ++i) {
    int64_t base = i / inner * n * inner + i % inner;
    double norm = 0;
    for (int64_t k = 0; k < n; ++k) {
      double v = x[base + k * inner];
      norm += squares ? v * v : std::fabs(v);
    }
    if (squares) norm = std::sqrt(norm);
    for (int64_t k = 0; k < n; ++k) y[base + k * inner] = norm == 0 ? 0 : x[base + k * inner] / norm;
  }
  y.commit();
  return {};
}

Status ref_lrn(KernelCall& call) {
  const TensorMeta& m = *call.inputs[0];
  if (m.rank < 2) return shape_mismatch("LRN takes [N, C, ...]");
  MSVM_ASSIGN_OR_RETURN(const double* x, dense_input<double>(call, m));
  DenseOutput<double> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  int64_t size = std::clamp<int64_t>(call.attrs.get_int("size", 1), 1, INT64_MAX / 4), channels = m.shape[1], plane = product(m.dims().subspan(2));
  double alpha = call.attrs.get_float("alpha", 1e-4), beta = call.attrs.get_float("beta", 0.75), bias = call.attrs.get_float("bias", 1);
  for (int64_t n = 0; n < m.shape[0]; ++n)
    for (int64_t c = 0; c < channels; ++c) {
      int64_t first = std::max<int64_t>(0, c - (size - 1) / 2), last = std::min(channels - 1, c + size / 2);
      for (int64_t p = 0; p < plane; ++p) {
        double sum = 0;
        for (int64_t k = first; k <= last; ++k) sum += x[(n * channels + k) * plane + p] * x[(n * channels + k) * plane + p];
        int64_t at = (n * channels + c) * plane + p;
        y[at] = x[at] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
      }
    }
  y.commit();
  return {};
}

Status ref_mean_variance_norm(KernelCall& call) {
  const TensorMeta& m = *call.inputs[0];
  static const std::vector<int64_t> kDefaultAxes = {0, 2, 3};
  const auto& axes = call.attrs.has("axes") ? call.attrs.get_ints("axes") : kDefaultAxes;
  bool reduced[kMaxRank] = {};
  for (int64_t a : axes) {
    if (a < 0) a += m.rank;
    if (a < 0 || a >= m.rank) return out_of_range("MeanVarianceNormalization: axis out of range");
    reduced[a] = true;
  }
  MSVM_ASSIGN_OR_RETURN(const double* x, dense_input<double>(call, m));
  DenseOutput<double> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  int64_t groups = 1, total = m.elements();
  std::array<int64_t, kMaxRank> stride{};
  for (int d = m.rank - 1; d >= 0; --d)
    if (!reduced[d]) {
      stride[static_cast<size_t>(d)] = groups;
      groups *= m.shape[d];
    }
  if (total == 0) return {};
  MSVM_ASSIGN_OR_RETURN(double* sums, scratch_array<double>(call.memory, 2 * groups));
  std::fill(sums, sums + 2 * groups, 0.0);
  auto each = [&](auto use) {
    std::array<int64_t, kMaxRank> at{};
    int64_t g = 0;
    for (int64_t i = 0; i < total; ++i) {
      use(i, g);
      for (int d = m.rank - 1; d >= 0; --d) {
        g += stride[static_cast<size_t>(d)];
        if (++at[static_cast<size_t>(d)] < m.shape[d]) break;
        g -= stride[static_cast<size_t>(d)] * m.shape[d];
        at[static_cast<size_t>(d)] = 0;
      }
    }
  };
  const double n = static_cast<double>(total / groups);
  each([&](int64_t i, int64_t g) { sums[2 * g] += x[i] / n; });
  each([&](int64_t i, int64_t g) { sums[2 * g + 1] += (x[i] - sums[2 * g]) * (x[i] - sums[2 * g]) / n; });
  each([&](int64_t i, int64_t g) { y[i] = (x[i] - sums[2 * g]) / (std::sqrt(sums[2 * g + 1]) + 1e-9); });
  y.commit();
  return {};
}

}  // namespace

void add_norm_kernels(KernelList& list) {
  list.push_back({.name = "ref_layer_normalization", .op = "LayerNormalization", .run = ref_layer_norm, .dtypes = kFloats, .default_ns_per_work = 4});
  list.push_back({.name = "ref_rms_normalization", .op = "RMSNormalization", .run = ref_rms_norm, .dtypes = kFloats, .default_ns_per_work = 3});
  list.push_back({.name = "ref_group_normalization", .op = "GroupNormalization", .run = ref_group_norm, .dtypes = kFloats, .default_ns_per_work = 5});
  list.push_back({.name = "ref_instance_normalization", .op = "InstanceNormalization", .run = ref_instance_norm, .dtypes = kFloats, .default_ns_per_work = 5});
  list.push_back({.name = "ref_batch_normalization", .op = "BatchNormalization", .run = ref_batch_norm, .dtypes = kFloats, .default_ns_per_work = 2});
  list.push_back({.name = "ref_lp_normalization", .op = "LpNormalization", .run = ref_lp_norm, .dtypes = kFloats, .default_ns_per_work = 5});
  list.push_back({.name = "ref_lrn", .op = "LRN", .run = ref_lrn, .dtypes = kFloats, .default_ns_per_work = 60});
  list.push_back({.name = "ref_mean_variance_normalization", .op = "MeanVarianceNormalization", .run = ref_mean_variance_norm, .dtypes = kFloats, .default_ns_per_work = 10});
  add_norm_fast_kernels(list);
  add_norm_channels_last_kernels(list);
  add_lrn_vector_kernels(list);
}

}  // namespace msvm
