// ConvTranspose. Declared order: per tap one chain over input channels from 0; taps ascending are added; the bias comes last.
#include <algorithm>
#include <cstring>

#include "msvm/kernels/conv.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/fma_chain.h"
#include "msvm/kernels/gemm.h"
#include "msvm/kernels/site.h"

namespace msvm {
Status describe_conv_transpose(const KernelCall& call, ConvShape& s) {
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1], &y = *call.outputs[0];
  const TensorMeta* bias = input_or_null(call, 2);
  if (x.rank < 3 || w.rank != x.rank || y.rank != x.rank) return shape_mismatch("ConvTranspose: input, weights and result don't have the same rank of at least 3");
  s.batch = x.shape[0];
  s.in_channels = x.shape[1];
  s.groups = call.attrs.get_int("group", 1);
  if (s.groups < 1 || s.in_channels % s.groups != 0 || w.shape[0] != s.in_channels) return shape_mismatch("ConvTranspose: channels don't fit the groups");
  s.out_channels = y.shape[1];
  if (y.shape[0] != s.batch || s.out_channels % s.groups != 0 || s.out_channels / s.groups != w.shape[1]) return shape_mismatch("ConvTranspose: wrong shape of the result");
  if (bias && (bias->rank != 1 || bias->shape[0] != s.out_channels)) return shape_mismatch("ConvTranspose: the bias isn't one value per output channel");
  MSVM_RETURN_IF_ERROR(describe_window(call, y, x, w.dims().subspan(2), s.window));
  const auto &extra = call.attrs.get_ints("output_padding"), &pads = call.attrs.get_ints("pads");
  std::string_view auto_pad = call.attrs.get_string("auto_pad", "NOTSET");
  bool given = call.attrs.has("output_shape") || auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  Window& win = s.window;
  for (int d = 0; d < win.rank; ++d) {
    if (!given) {
      win.begin[d] = auto_pad == "NOTSET" && !pads.empty() ? pads[static_cast<size_t>(d)] : 0;
      continue;
    }
    int64_t more = static_cast<size_t>(d) < extra.size() ? extra[static_cast<size_t>(d)] : 0;
    if (more < 0 || more > (int64_t{1} << 31)) return out_of_range("ConvTranspose: output_padding out of range");
    int64_t total = std::max<int64_t>(0, win.stride[d] * (std::max<int64_t>(win.out[d], 1) - 1) + more + (win.kernel[d] - 1) * win.dilation[d] + 1 - win.in[d]);
    win.begin[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return {};
}

double conv_transpose_multiply_adds(const KernelCall& call) {
  const TensorMeta& w = *call.inputs[1];
  double n = static_cast<double>(call.inputs[0]->elements());
  for (int d = 1; d < w.rank; ++d) n *= static_cast<double>(w.shape[d]);
  return n;
}

namespace {

// Adds column[i] of each input position i to its output, for one tap given by its position `k` per axis.
template <class T>
void scatter_tap(const Window& w, const std::array<int64_t, kMaxSpatial>& k, const T* column, T* plane) {
  const int last = w.rank - 1;
  std::array<int64_t, kMaxSpatial> at{};
  // Input positions [lo, hi) of the last axis whose output is inside.
  int64_t shift = k[last] * w.dilation[last] - w.begin[last], s = w.stride[last];
  int64_t lo = shift >= 0 ? 0 : std::min(w.out[last], (-shift + s - 1) / s);
  int64_t hi = shift >= w.in[last] ? lo : std::clamp((w.in[last] - 1 - shift) / s + 1, lo, w.out[last]);
  for (int64_t rows = w.out_size() / w.out[last]; rows > 0; --rows, column += w.out[last]) {
    bool inside = true;
    int64_t offset = 0;
    for (int d = 0; d < last; ++d) {
      int64_t o = at[d] * w.stride[d] - w.begin[d] + k[d] * w.dilation[d];
      inside = inside && o >= 0 && o < w.in[d];
      offset = offset * w.in[d] + o;
    }
    if (inside) {
      int64_t start = offset * w.in[last] + shift;
      for (int64_t i = lo; i < hi; ++i) plane[start + i * s] += column[i];
    }
    for (int d = last - 1; d >= 0; --d) {
      if (++at[d] < w.out[d]) break;
      at[d] = 0;
    }
  }
}

template <class T>
void scatter_taps(const Window& w, const T* columns, T* plane) {
  std::array<int64_t, kMaxSpatial> k{};
  const int64_t in_size = w.out_size();
  for (int64_t tap = 0; tap < w.taps(); ++tap) {
    scatter_tap(w, k, columns + tap * in_size, plane);
    for (int d = w.rank - 1; d >= 0; --d) {
      if (++k[d] < w.kernel[d]) break;
      k[d] = 0;
    }
  }
}

template <class T>
Status transpose_as(KernelCall& call) {
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv_transpose(call, s));
  MSVM_ASSIGN_OR_RETURN(const T* x, dense_input<T>(call, *call.inputs[0]));
  MSVM_ASSIGN_OR_RETURN(const T* w, dense_input<T>(call, *call.inputs[1]));
  const T* b = nullptr;
  if (const TensorMeta* bias = input_or_null(call, 2)) {
    MSVM_ASSIGN_OR_RETURN(b, dense_input<T>(call, *bias));
  }
  DenseOutput<T> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  const Window& win = s.window;
  const int64_t in_size = win.out_size(), out_size = win.in_size(), taps = win.taps(), channels = s.group_in(), filters = s.group_out();
  if (s.batch == 0 || s.out_channels == 0 || out_size == 0) return {};
  MSVM_ASSIGN_OR_RETURN(T * columns, scratch_array<T>(call.memory, taps * in_size));
  for (int64_t i = 0; i < s.batch * s.out_channels; ++i) {
    int64_t n = i / s.out_channels, m = i % s.out_channels, g = m / filters;
    const T* image = x + (n * s.in_channels + g * channels) * in_size;
    const T* weights = w + (g * channels * filters + m % filters) * taps;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t p = 0; p < in_size; ++p) columns[tap * in_size + p] = fma_chain(T{}, image + p, in_size, weights + tap, filters * taps, channels);
    T* plane = y.data() + i * out_size;
    std::fill(plane, plane + out_size, T{});
    if (in_size > 0) scatter_taps(win, columns, plane);
    if (b)
      for (int64_t o = 0; o < out_size; ++o) plane[o] += b[m];
  }
  y.commit();
  return {};
}

Status ref_conv_transpose(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return transpose_as<decltype(zero)>(call); });
}

constexpr int kKeyTransposeWeights = 210;

Status transpose_product(KernelCall& call, const VectorKernels& v) {
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv_transpose(call, s));
  const Window& win = s.window;
  const int64_t in_size = win.out_size(), out_size = win.in_size(), taps = win.taps(), channels = s.group_in(), filters = s.group_out(), rows = filters * taps;
  if (s.batch == 0 || s.out_channels == 0 || out_size == 0) return {};
  const float* x = call.inputs[0]->as<float>();
  const float* w = call.inputs[1]->as<float>();
  const float* b = nullptr;
  if (const TensorMeta* bias = input_or_null(call, 2)) {
    MSVM_ASSIGN_OR_RETURN(b, dense_input<float>(call, *bias));
  }
  const int64_t group_size = packed_rows_size(channels, rows);
  MSVM_ASSIGN_OR_RETURN(const float* packed, packed_input(call, 1, kKeyTransposeWeights, group_size * s.groups, [&](float* to) {
    for (int64_t g = 0; g < s.groups; ++g) pack_rows(w + g * channels * rows, 1, rows, rows, channels, to + g * group_size);
  }));
  MSVM_ASSIGN_OR_RETURN(float* columns, scratch_array<float>(call.memory, rows * in_size));
  float* y = call.outputs[0]->as<float>();
  for (int64_t image = 0; image < s.batch * s.groups; ++image) {
    int64_t n = image / s.groups, g = image % s.groups;
    Gemm p;
    p.m = rows, p.n = in_size, p.k = channels;
    p.a = packed + g * group_size, p.a_packed = true;
    p.b = x + (n * s.in_channels + g * channels) * in_size, p.b_step = in_size;
    p.c = columns, p.c_row = in_size;
    gemm(v, call.workers, p);
    double ns = static_cast<double>(taps * in_size) + static_cast<double>(out_size) / 8;
    call.workers.parallel_for(filters, grain_for(filters, ns), [&](int64_t begin, int64_t end) {
      for (int64_t f = begin; f < end; ++f) {
        int64_t m = g * filters + f;
        float* plane = y + (n * s.out_channels + m) * out_size;
        std::memset(plane, 0, static_cast<size_t>(out_size) * sizeof(float));
        if (in_size > 0) scatter_taps(win, columns + f * taps * in_size, plane);
        if (b)
          for (int64_t o = 0; o < out_size; ++o) plane[o] += b[m];
      }
    });
  }
  return {};
}

template <Isa kIsa>
Status fast_transpose(KernelCall& call) {
  return transpose_product(call, *vector_kernels(kIsa));
}
bool transpose_fits(const KernelCall& call) { return call.outputs[0]->dense(); }

}  // namespace

void add_conv_transpose_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "ref_conv_transpose", .op = "ConvTranspose", .run = ref_conv_transpose, .dtypes = kFloats, .work = conv_transpose_multiply_adds, .default_ns_per_work = 2, .default_overhead_ns = 200});
  list.push_back({.name = "avx512_conv_transpose_f32_gemm", .op = "ConvTranspose", .run = fast_transpose<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .dense_inputs = true, .packed_inputs = 0b10, .accepts = transpose_fits, .work = conv_transpose_multiply_adds, .default_ns_per_work = 0.06, .default_overhead_ns = 400});
  list.push_back({.name = "avx2_conv_transpose_f32_gemm", .op = "ConvTranspose", .run = fast_transpose<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .dense_inputs = true, .packed_inputs = 0b10, .accepts = transpose_fits, .work = conv_transpose_multiply_adds, .default_ns_per_work = 0.065, .default_overhead_ns = 400});
}

}  // namespace msvm
