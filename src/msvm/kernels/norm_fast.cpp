// f32 normalisations by rows of vectors; sums are trees of lanes in f32.
#include <cmath>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/row_kernels.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {

void add_norm_fast_kernels(KernelList& list);

namespace {

struct Rows {
  int64_t count, n;
};
bool rows_of(const KernelCall& call, Rows& r) {
  const TensorMeta& m = *call.inputs[0];
  int64_t axis = call.attrs.get_int("axis", -1);
  if (axis < 0) axis += m.rank;
  if (axis < 0 || axis >= m.rank) return false;
  r = {product(m.dims().first(static_cast<size_t>(axis))), product(m.dims().subspan(static_cast<size_t>(axis)))};
  return true;
}

bool layer_norm_fits(const KernelCall& call) {
  Rows r;
  if (!rows_of(call, r) || !call.outputs[0]->dense() || call.outputs[0]->dtype != DType::kF32) return false;
  for (size_t i = 1; i < call.inputs.size(); ++i)
    if (call.inputs[i] && (call.inputs[i]->elements() != r.n || call.inputs[i]->dtype != DType::kF32)) return false;
  for (size_t i = 1; i < call.outputs.size(); ++i)
    if (call.outputs[i] && !call.outputs[i]->dense()) return false;
  return true;
}

template <Isa kIsa, bool kCenter>
Status fast_layer_norm(KernelCall& call) {
  Rows r;
  if (!rows_of(call, r)) return internal_error("LayerNormalization: axis out of range");
  const float* x = call.inputs[0]->as<float>();
  const float* scale = call.inputs[1]->as<float>();
  const float* bias = input_or_null(call, 2) ? call.inputs[2]->as<float>() : nullptr;
  float* y = call.outputs[0]->as<float>();
  float* mean = output_or_null(call, 1) ? call.outputs[1]->as<float>() : nullptr;
  float* inverse = output_or_null(call, 2) ? call.outputs[2]->as<float>() : nullptr;
  const float epsilon = static_cast<float>(call.attrs.get_float("epsilon", 1e-5));
  if (r.count == 0 || r.n == 0) return {};
  call.workers.parallel_for(r.count, grain_for(r.count, static_cast<double>(r.n) * 0.3 + 10), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) row_kernels(kIsa)->normalize(x + i * r.n, r.n, kCenter, epsilon, scale, bias, y + i * r.n, mean ? mean + i : nullptr, inverse ? inverse + i : nullptr);
  });
  return {};
}

bool channels_fit(const KernelCall& call) {
  const TensorMeta& m = *call.inputs[0];
  if (m.rank < 2 || !call.outputs[0]->dense()) return false;
  for (size_t i = 1; i < call.inputs.size(); ++i)
    if (!call.inputs[i] || call.inputs[i]->dtype != DType::kF32 || call.inputs[i]->rank != 1 || call.inputs[i]->shape[0] != m.shape[1]) return false;
  return true;
}

// InstanceNormalization has a group per channel.
template <Isa kIsa, bool kInstance>
Status fast_group_norm(KernelCall& call) {
  const VectorKernels& v = *vector_kernels(kIsa);
  const TensorMeta& m = *call.inputs[0];
  int64_t channels = m.shape[1], groups = kInstance ? channels : call.attrs.get_int("num_groups", 1), plane = product(m.dims().subspan(2));
  if (m.elements() == 0) return {};
  if (groups < 1 || channels % groups != 0) return shape_mismatch("GroupNormalization: channels don't divide into groups");
  int64_t per_group = channels / groups, n = per_group * plane, count = m.shape[0] * groups;
  const float* x = m.as<float>();
  const float* scale = call.inputs[1]->as<float>();
  const float* bias = call.inputs[2]->as<float>();
  float* y = call.outputs[0]->as<float>();
  const float epsilon = static_cast<float>(call.attrs.get_float("epsilon", 1e-5));
  call.workers.parallel_for(count, grain_for(count, static_cast<double>(n) * 0.5 + 10), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      row_kernels(kIsa)->normalize(x + i * n, n, true, epsilon, nullptr, nullptr, y + i * n, nullptr, nullptr);
      for (int64_t c = 0; c < per_group; ++c) {
        int64_t channel = i % groups * per_group + c;
        v.scale_shift(y + i * n + c * plane, plane, scale[channel], bias[channel], y + i * n + c * plane);
      }
    }
  });
  return {};
}

bool batch_norm_fits(const KernelCall& call) {
  return channels_fit(call) && call.attrs.get_int("training_mode", 0) == 0 && !output_or_null(call, 1) && !output_or_null(call, 2) && call.inputs[0]->rank > 2;
}
template <Isa kIsa>
Status fast_batch_norm(KernelCall& call) {
  const VectorKernels& v = *vector_kernels(kIsa);
  const TensorMeta& m = *call.inputs[0];
  int64_t channels = m.shape[1], plane = product(m.dims().subspan(2)), count = m.shape[0] * channels;
  const float* x = m.as<float>();
  float* y = call.outputs[0]->as<float>();
  const float *scale = call.inputs[1]->as<float>(), *bias = call.inputs[2]->as<float>(), *mean = call.inputs[3]->as<float>(), *variance = call.inputs[4]->as<float>();
  const double epsilon = call.attrs.get_float("epsilon", 1e-5);
  if (count == 0) return {};
  call.workers.parallel_for(count, grain_for(count, static_cast<double>(plane) * 0.1 + 10), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t c = i % channels;
      double factor = static_cast<double>(scale[c]) / std::sqrt(static_cast<double>(variance[c]) + epsilon);
      v.scale_shift(x + i * plane, plane, static_cast<float>(factor), static_cast<float>(static_cast<double>(bias[c]) - static_cast<double>(mean[c]) * factor), y + i * plane);
    }
  });
  return {};
}

template <Isa kIsa>
void add_for(KernelList& list, std::string_view layer, std::string_view rms, std::string_view group, std::string_view instance, std::string_view batch) {
  KernelInfo k{.dtypes = bit(DType::kF32), .isa = kIsa, .dense_inputs = true, .strict_order = false, .default_ns_per_work = 0.25};
  auto add = [&](std::string_view name, std::string_view op, KernelFn run, bool (*accepts)(const KernelCall&)) {
    k.name = name, k.op = op, k.run = run, k.accepts = accepts;
    list.push_back(k);
  };
  add(layer, "LayerNormalization", fast_layer_norm<kIsa, true>, layer_norm_fits);
  add(rms, "RMSNormalization", fast_layer_norm<kIsa, false>, layer_norm_fits);
  add(group, "GroupNormalization", fast_group_norm<kIsa, false>, channels_fit);
  add(instance, "InstanceNormalization", fast_group_norm<kIsa, true>, channels_fit);
  add(batch, "BatchNormalization", fast_batch_norm<kIsa>, batch_norm_fits);
}

}  // namespace

void add_norm_fast_kernels(KernelList& list) {
  add_for<Isa::kAvx512>(list, "avx512_layer_normalization_f32", "avx512_rms_normalization_f32", "avx512_group_normalization_f32", "avx512_instance_normalization_f32", "avx512_batch_normalization_f32");
  add_for<Isa::kAvx2>(list, "avx2_layer_normalization_f32", "avx2_rms_normalization_f32", "avx2_group_normalization_f32", "avx2_instance_normalization_f32", "avx2_batch_normalization_f32");
}

}  // namespace msvm
