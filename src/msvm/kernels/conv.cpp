// Conv: the reference, in the declared order (taps ascending, then input channels), and the family's list.
#include "msvm/kernels/conv.h"

#include <algorithm>

#include "msvm/device/stoppable.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/fma_chain.h"

namespace msvm {

Status describe_conv(const KernelCall& call, const TensorMeta& x, const TensorMeta& w, const TensorMeta* bias, const TensorMeta& y, ConvShape& s) {
  const std::string op(call.op.name);
  if (x.rank < 3 || w.rank != x.rank || y.rank != x.rank) return shape_mismatch(op + ": input, weights and result don't have the same rank of at least 3");
  s.batch = x.shape[0];
  s.in_channels = x.shape[1];
  s.out_channels = w.shape[0];
  s.groups = call.attrs.get_int("group", 1);
  if (s.groups < 1 || s.in_channels % s.groups != 0 || s.out_channels % s.groups != 0 || w.shape[1] != s.in_channels / s.groups)
    return shape_mismatch(op + ": channels of " + to_string(x) + " and " + to_string(w) + " don't fit " + std::to_string(s.groups) + " groups");
  if (y.shape[0] != s.batch || y.shape[1] != s.out_channels) return shape_mismatch(op + ": wrong shape of the result");
  if (bias && (bias->rank != 1 || bias->shape[0] != s.out_channels)) return shape_mismatch(op + ": the bias isn't one value per output channel");
  TensorMeta read = x;
  if (s.upsampled = has_upsample(call); s.upsampled) {
    const auto& times = call.attrs.get_ints("upsample");
    if (times.size() != static_cast<size_t>(x.rank - 2)) return shape_mismatch(op + ": upsample doesn't have one number for each spatial axis");
    for (size_t d = 0; d < times.size(); ++d) {
      s.upsample[d] = times[d];
      if (times[d] < 1 || __builtin_mul_overflow(x.shape[d + 2], times[d], &read.shape[d + 2])) return overflow_error(op + ": the upsampled input's size leaves 64 bits");
    }
  }
  return describe_window(call, read, y, w.dims().subspan(2), s.window);
}

bool has_upsample(const KernelCall& call) {
  const auto& times = call.attrs.get_ints("upsample");
  return std::any_of(times.begin(), times.end(), [](int64_t t) { return t != 1; });
}

bool one_tap(const KernelCall& call) {
  const TensorMeta& w = *call.inputs[1];
  for (int d = 2; d < w.rank; ++d)
    if (w.shape[d] != 1) return false;
  for (int64_t s : call.attrs.get_ints("strides"))
    if (s != 1) return false;
  for (int64_t p : call.attrs.get_ints("pads"))
    if (p != 0) return false;
  return true;
}

double conv_multiply_adds(const KernelCall& call) {
  const TensorMeta& w = *call.inputs[1];
  double n = static_cast<double>(call.outputs[0]->elements());
  for (int d = 1; d < w.rank; ++d) n *= static_cast<double>(w.shape[d]);
  return n;
}

namespace {

// Dense [images, in...] of dense x [images, in / upsample...].
template <class T>
Result<const T*> upsampled(KernelCall& call, const T* x, int64_t images, const ConvShape& s) {
  const Window& w = s.window;
  const int64_t size = w.in_size();
  int64_t all;
  if (__builtin_mul_overflow(images, size, &all)) return overflow_error("Conv: the upsampled input's size leaves 64 bits");
  MSVM_ASSIGN_OR_RETURN(T * to, scratch_array<T>(call.memory, all));
  const T* const result = to;
  int64_t before = 1;
  for (int d = 0; d < w.rank; ++d) before *= w.in[d] / s.upsample[d];
  for (int64_t i = 0; i < images && size > 0; ++i, x += before) {
    std::array<int64_t, kMaxSpatial> at{};
    for (int64_t p = 0; p < size; ++p) {
      int64_t from = 0;
      for (int d = 0; d < w.rank; ++d) from = from * (w.in[d] / s.upsample[d]) + at[d] / s.upsample[d];
      *to++ = x[from];
      for (int d = w.rank; d-- > 0;) {
        if (++at[d] < w.in[d]) break;
        at[d] = 0;
      }
    }
  }
  return result;
}

template <class T>
Status conv_as(KernelCall& call) {
  const TensorMeta* bias = input_or_null(call, 2);
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv(call, *call.inputs[0], *call.inputs[1], bias, *call.outputs[0], s));
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, *call.inputs[0]));
  if (s.upsampled) {
    MSVM_ASSIGN_OR_RETURN(x, upsampled(call, x, s.batch * s.in_channels, s));
  }
  MSVM_ASSIGN_OR_RETURN(const T* w, dense_input<T>(call, *call.inputs[1]));
  const T* b = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(b, dense_input<T>(call, *bias));
  }
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  const Window& win = s.window;
  const int64_t in_size = win.in_size(), out_size = win.out_size(), taps = win.taps(), channels = s.group_in();
  if (s.batch == 0 || s.out_channels == 0 || out_size == 0) return {};
  double ns = static_cast<double>(out_size) * static_cast<double>(taps) * static_cast<double>(channels);
  stoppable_for(call.workers, s.batch * s.out_channels, grain_for(s.batch * s.out_channels, ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t n = i / s.out_channels, m = i % s.out_channels, g = m / s.group_out();
      const T* plane = x + (n * s.in_channels + g * channels) * in_size;
      const T* weights = w + m * channels * taps;
      std::array<int64_t, kMaxSpatial> at{};
      for (int64_t o = 0; o < out_size; ++o, next_position(win, at)) {
        T sum{};
        for_each_tap(win, at, [&](int64_t tap, int64_t offset) { sum = fma_chain(sum, plane + offset, in_size, weights + tap, taps, channels); });
        y[i * out_size + o] = b ? sum + b[m] : sum;
      }
    }
  });
  y.commit();
  return {};
}

Status ref_conv(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return conv_as<decltype(zero)>(call); });
}

}  // namespace

void add_conv_kernels(KernelList& list) {
  list.push_back({.name = "ref_conv", .op = "Conv", .run = ref_conv, .dtypes = kFloats, .work = conv_multiply_adds, .default_ns_per_work = 1.5, .default_overhead_ns = 200});
  add_conv_im2col_kernels(list);
  add_conv_depthwise_kernels(list);
  add_conv_direct_kernels(list);
  add_conv_nhwc_depthwise_kernels(list);
  add_conv_winograd_kernels(list);
  add_conv_transpose_kernels(list);
  add_conv_nhwc_transpose_kernels(list);
  add_conv_other_kernels(list);
}

}  // namespace msvm
