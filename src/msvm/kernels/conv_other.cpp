// DeformConv and CausalConvWithState: references.
#include <cmath>

#include "msvm/kernels/conv.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/fma_chain.h"

namespace msvm {
namespace {

// Bilinear (n-linear) value at a position given per axis; neighbours outside the plane count as zeros.
double sample(const double* plane, const Window& w, const std::array<double, kMaxSpatial>& at) {
  double sum = 0;
  for (int corner = 0; corner < 1 << w.rank; ++corner) {
    double weight = 1;
    int64_t offset = 0;
    bool inside = true;
    for (int d = 0; d < w.rank; ++d) {
      size_t i = static_cast<size_t>(d);
      double low = std::floor(at[i]), part = at[i] - low, p = low + (corner >> d & 1);
      weight *= corner >> d & 1 ? part : 1 - part;
      inside = inside && p >= 0 && p <= static_cast<double>(w.in[i] - 1);
      if (inside) offset = offset * w.in[i] + static_cast<int64_t>(p);
    }
    if (inside && weight != 0) sum += weight * plane[offset];
  }
  return sum;
}

Status ref_deform_conv(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1], &off = *call.inputs[2], &y = *call.outputs[0];
  const TensorMeta *bias = input_or_null(call, 3), *mask = input_or_null(call, 4);
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv(call, x, w, bias, y, s));
  const Window& win = s.window;
  const int64_t groups = call.attrs.get_int("offset_group", 1), taps = win.taps(), out_size = win.out_size(), in_size = win.in_size(), rank = win.rank;
  if (groups < 1 || s.in_channels % groups != 0) return shape_mismatch("DeformConv: channels don't divide into offset groups");
  if (off.elements() != s.batch * groups * taps * rank * out_size || (mask && mask->elements() != s.batch * groups * taps * out_size))
    return shape_mismatch("DeformConv: offset or mask has a wrong shape");
  MSVM_ASSIGN_OR_RETURN(const double* xv, dense_input<double>(call, x));
  MSVM_ASSIGN_OR_RETURN(const double* wv, dense_input<double>(call, w));
  MSVM_ASSIGN_OR_RETURN(const double* ov, dense_input<double>(call, off));
  const double *bv = nullptr, *mv = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(bv, dense_input<double>(call, *bias));
  }
  if (mask) {
    MSVM_ASSIGN_OR_RETURN(mv, dense_input<double>(call, *mask));
  }
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  const int64_t channels = s.group_in();
  for (int64_t i = 0; i < s.batch * s.out_channels; ++i) {
    int64_t n = i / s.out_channels, m = i % s.out_channels, g = m / s.group_out();
    std::array<int64_t, kMaxSpatial> at{};
    for (int64_t o = 0; o < out_size; ++o, next_position(win, at)) {
      double sum = bv ? bv[m] : 0;
      for (int64_t c = 0; c < channels; ++c) {
        int64_t channel = g * channels + c, og = channel / (s.in_channels / groups);
        for (int64_t t = 0; t < taps; ++t) {
          std::array<double, kMaxSpatial> p{};
          int64_t rest = t;
          for (int d = win.rank - 1; d >= 0; --d) {
            size_t a = static_cast<size_t>(d);
            int64_t k = rest % win.kernel[a];
            rest /= win.kernel[a];
            p[a] = static_cast<double>(at[a] * win.stride[a] - win.begin[a] + k * win.dilation[a]) + ov[(((n * groups + og) * taps + t) * rank + d) * out_size + o];
          }
          double v = sample(xv + (n * s.in_channels + channel) * in_size, win, p) * wv[(m * channels + c) * taps + t];
          sum += mv ? v * mv[((n * groups + og) * taps + t) * out_size + o] : v;
        }
      }
      out[i * out_size + o] = sum;
    }
  }
  out.commit();
  return {};
}

// Depthwise over time; the K - 1 values before the first come from the past (zeros if absent) and the last K - 1 go on.
template <class T>
Status causal_as(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1], &y = *call.outputs[0];
  if (x.rank != 3 || w.rank != 3 || w.shape[0] != x.shape[1] || w.shape[1] != 1 || w.shape[2] < 1 || y.elements() != x.elements()) return shape_mismatch("CausalConvWithState: shapes don't fit");
  const int64_t batch = x.shape[0], channels = x.shape[1], length = x.shape[2], k = w.shape[2], past = k - 1;
  const TensorMeta *bias = input_or_null(call, 2), *state = input_or_null(call, 3);
  TensorMeta* present = output_or_null(call, 1);
  if ((bias && bias->elements() != channels) || (state && state->elements() != batch * channels * past) || (present && present->elements() != batch * channels * past))
    return shape_mismatch("CausalConvWithState: bias or state has a wrong shape");
  MSVM_ASSIGN_OR_RETURN(const T* xv, dense_input<T>(call, x));
  MSVM_ASSIGN_OR_RETURN(const T* wv, dense_input<T>(call, w));
  const T *bv = nullptr, *sv = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(bv, dense_input<T>(call, *bias));
  }
  if (state) {
    MSVM_ASSIGN_OR_RETURN(sv, dense_input<T>(call, *state));
  }
  DenseOutput<T> out, next;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  MSVM_RETURN_IF_ERROR(next.open(call, present));
  MSVM_ASSIGN_OR_RETURN(T * line, scratch_array<T>(call.memory, past + length));
  std::string_view activation = call.attrs.get_string("activation", "none");
  for (int64_t i = 0; i < batch * channels; ++i) {
    for (int64_t j = 0; j < past; ++j) line[j] = sv ? sv[i * past + j] : T{};
    for (int64_t j = 0; j < length; ++j) line[past + j] = xv[i * length + j];
    for (int64_t j = 0; j < length; ++j) {
      T v = fma_chain(T{}, line + j, 1, wv + i % channels * k, 1, k);
      if (bv) v += bv[i % channels];
      out[i * length + j] = activation == "none" ? v : v / (1 + std::exp(-v));
    }
    for (int64_t j = 0; next && j < past; ++j) next[i * past + j] = line[length + j];
  }
  out.commit();
  if (next) next.commit();
  return {};
}
Status ref_causal_conv(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return causal_as<decltype(zero)>(call); });
}

}  // namespace

void add_conv_other_kernels(KernelList& list) {
  list.push_back({.name = "ref_deform_conv", .op = "DeformConv", .run = ref_deform_conv, .dtypes = kFloats, .work = conv_multiply_adds, .default_ns_per_work = 30});
  list.push_back({.name = "ref_causal_conv_with_state", .op = "CausalConvWithState", .run = ref_causal_conv, .dtypes = kFloats, .default_ns_per_work = 10});
}

}  // namespace msvm
