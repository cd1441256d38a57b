// f32 normalisations of images whose channels lie side by side. Sums run over pixels: f32 over at most 64, those in f64.
#include <algorithm>
#include <cmath>

#include "msvm/kernels/channels_last.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/pixel_kernels.h"

namespace msvm {

void add_norm_channels_last_kernels(KernelList& list);

namespace {

constexpr int64_t kPixels = 512;  // of one piece of work; its borders depend on sizes alone

bool layouts_fit(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  if (!is_channels_last(x) || !is_channels_last(y) || y.dtype != DType::kF32 || y.rank != x.rank) return false;
  for (size_t i = 1; i < call.inputs.size(); ++i)
    if (!call.inputs[i] || call.inputs[i]->dtype != DType::kF32 || call.inputs[i]->rank != 1 || call.inputs[i]->shape[0] != x.shape[1]) return false;
  return true;
}
float at(const TensorMeta& m, int64_t i) { return m.as<float>()[i * m.strides[0]]; }

/// visit(x row, y row, pixels, their distances) over pixels [begin, end) of an image.
template <class F>
void pixel_runs(const ChannelsLast& x, const ChannelsLast& y, int64_t image, int64_t begin, int64_t end, F visit) {
  const float* from = reinterpret_cast<const float*>(x.data) + image * x.image_stride;
  float* to = reinterpret_cast<float*>(y.data) + image * y.image_stride;
  const int64_t width = x.even() && y.even() ? x.pixels() : x.size[2];
  for (int64_t p = begin; p < end;) {
    const int64_t row = p / width, column = p % width, n = std::min(width - column, end - p);
    const int64_t d = row / x.size[1], h = width == x.pixels() ? 0 : row % x.size[1], depth = width == x.pixels() ? 0 : d;
    visit(from + depth * x.stride[0] + h * x.stride[1] + column * x.stride[2], to + depth * y.stride[0] + h * y.stride[1] + column * y.stride[2], n);
    p += n;
  }
}
/// body(image, first pixel, last pixel) over all pieces, in parallel.
template <class F>
void for_each_piece(KernelCall& call, const ChannelsLast& x, F body) {
  const int64_t pieces = (x.pixels() - 1) / kPixels + 1, count = x.images * pieces;
  call.workers.parallel_for(count, grain_for(count, static_cast<double>(std::min(kPixels, x.pixels()) * x.channels) * 0.08), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i / pieces, i % pieces * kPixels, std::min((i % pieces + 1) * kPixels, x.pixels()));
  });
}

bool batch_norm_fits(const KernelCall& call) {
  return layouts_fit(call) && call.inputs.size() == 5 && call.attrs.get_int("training_mode", 0) == 0 && !output_or_null(call, 1) && !output_or_null(call, 2);
}
template <Isa kIsa>
Status fast_batch_norm(KernelCall& call) {
  const PixelKernels& k = *pixel_kernels(kIsa);
  if (call.outputs[0]->elements() == 0) return {};
  const ChannelsLast x = as_channels_last(*call.inputs[0]), y = as_channels_last(*call.outputs[0]);
  const double epsilon = call.attrs.get_float("epsilon", 1e-5);
  MSVM_ASSIGN_OR_RETURN(float* scale, scratch_array<float>(call.memory, 2 * x.channels));
  float* shift = scale + x.channels;
  for (int64_t c = 0; c < x.channels; ++c) {
    const double factor = static_cast<double>(at(*call.inputs[1], c)) / std::sqrt(static_cast<double>(at(*call.inputs[4], c)) + epsilon);
    scale[c] = static_cast<float>(factor);
    shift[c] = static_cast<float>(static_cast<double>(at(*call.inputs[2], c)) - static_cast<double>(at(*call.inputs[3], c)) * factor);
  }
  for_each_piece(call, x, [&](int64_t image, int64_t first, int64_t last) {
    pixel_runs(x, y, image, first, last, [&](const float* from, float* to, int64_t n) { k.scale_columns({from, x.stride[2], n, x.channels}, nullptr, scale, shift, to, y.stride[2]); });
  });
  return {};
}

// InstanceNormalization has a group per channel.
template <Isa kIsa, bool kInstance>
Status fast_group_norm(KernelCall& call) {
  const PixelKernels& k = *pixel_kernels(kIsa);
  if (call.outputs[0]->elements() == 0) return {};
  const ChannelsLast x = as_channels_last(*call.inputs[0]), y = as_channels_last(*call.outputs[0]);
  const int64_t channels = x.channels, groups = kInstance ? channels : call.attrs.get_int("num_groups", 1), pixels = x.pixels();
  if (groups < 1 || channels % groups != 0) return shape_mismatch("GroupNormalization: channels don't divide into groups");
  const int64_t per_group = channels / groups, pieces = (pixels - 1) / kPixels + 1, all = x.images * channels;
  const double epsilon = call.attrs.get_float("epsilon", 1e-5), n = static_cast<double>(per_group * pixels);
  MSVM_ASSIGN_OR_RETURN(double* partial, scratch_array<double>(call.memory, x.images * pieces * channels));
  MSVM_ASSIGN_OR_RETURN(float* mean, scratch_array<float>(call.memory, 3 * all));
  float *scale = mean + all, *shift = scale + all;
  // Sums of a group, from those of each piece and channel, in order.
  auto sums = [&](const float* means) {
    for_each_piece(call, x, [&](int64_t image, int64_t first, int64_t last) {
      double* sum = partial + (image * pieces + first / kPixels) * channels;
      std::fill(sum, sum + channels, 0.0);
      pixel_runs(x, y, image, first, last, [&](const float* from, float*, int64_t m) { k.add_columns({from, x.stride[2], m, channels}, means ? means + image * channels : nullptr, sum); });
    });
  };
  auto of_group = [&](int64_t image, int64_t g) {
    double total = 0;
    for (int64_t p = 0; p < pieces; ++p)
      for (int64_t c = g * per_group; c < (g + 1) * per_group; ++c) total += partial[(image * pieces + p) * channels + c];
    return total;
  };
  sums(nullptr);
  for (int64_t i = 0; i < x.images; ++i)
    for (int64_t g = 0; g < groups; ++g) std::fill_n(mean + i * channels + g * per_group, per_group, static_cast<float>(of_group(i, g) / n));
  sums(mean);
  for (int64_t i = 0; i < x.images; ++i)
    for (int64_t g = 0; g < groups; ++g) {
      const double inverse = 1 / std::sqrt(of_group(i, g) / n + epsilon);
      for (int64_t c = g * per_group; c < (g + 1) * per_group; ++c) {
        scale[i * channels + c] = static_cast<float>(inverse * static_cast<double>(at(*call.inputs[1], c)));
        shift[i * channels + c] = at(*call.inputs[2], c);
      }
    }
  for_each_piece(call, x, [&](int64_t image, int64_t first, int64_t last) {
    const int64_t c = image * channels;
    pixel_runs(x, y, image, first, last, [&](const float* from, float* to, int64_t m) { k.scale_columns({from, x.stride[2], m, channels}, mean + c, scale + c, shift + c, to, y.stride[2]); });
  });
  return {};
}
bool group_norm_fits(const KernelCall& call) { return layouts_fit(call) && call.inputs.size() == 3; }

double pixel_work(const KernelCall& call) {
  const TensorMeta& y = *call.outputs[0];
  const int64_t channels = std::max<int64_t>(1, y.shape[1]);
  return static_cast<double>(y.elements() / channels * ((channels + 15) / 16 * 16));
}

template <Isa kIsa>
void add_for(KernelList& list, std::string_view group, std::string_view instance, std::string_view batch) {
  KernelInfo k{.dtypes = bit(DType::kF32), .isa = kIsa, .strict_order = false, .work = pixel_work};
  auto add = [&](std::string_view name, std::string_view op, KernelFn run, bool (*accepts)(const KernelCall&), double ns) {
    k.name = name, k.op = op, k.run = run, k.accepts = accepts, k.default_ns_per_work = ns;
    list.push_back(k);
  };
  add(group, "GroupNormalization", fast_group_norm<kIsa, false>, group_norm_fits, 0.2);
  add(instance, "InstanceNormalization", fast_group_norm<kIsa, true>, group_norm_fits, 0.2);
  add(batch, "BatchNormalization", fast_batch_norm<kIsa>, batch_norm_fits, 0.1);
}

}  // namespace

void add_norm_channels_last_kernels(KernelList& list) {
  add_for<Isa::kAvx512>(list, "avx512_group_normalization_f32_channels_last", "avx512_instance_normalization_f32_channels_last", "avx512_batch_normalization_f32_channels_last");
  add_for<Isa::kAvx2>(list, "avx2_group_normalization_f32_channels_last", "avx2_instance_normalization_f32_channels_last", "avx2_batch_normalization_f32_channels_last");
}

}  // namespace msvm
