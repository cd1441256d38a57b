// Quantisation, its inverse, and the integer products and convolutions around them: references.
#include <algorithm>
#include <cmath>
#include <string>

#include "msvm/kernels/conv.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/matmul.h"

namespace msvm {

void add_quantize_vector_kernels(KernelList& list);  // quantize_vector.cpp

namespace {

struct Limits {
  double low, high;
};
Limits limits_of(DType t) {
  const DTypeInfo& info = dtype_info(t);
  bool is_signed = info.kind == DTypeKind::kSigned;
  return {is_signed ? -std::ldexp(1.0, info.bits - 1) : 0.0, std::ldexp(1.0, info.bits - is_signed) - 1};
}
// Round half to even, add the zero point, saturate; NaN becomes the zero point.
int32_t saturate(double v, int32_t zero_point, Limits l) {
  if (std::isnan(v)) v = 0;
  return static_cast<int32_t>(std::clamp(std::nearbyint(v) + zero_point, l.low, l.high));
}

// Which scale belongs to which element: one for all, one per index of an axis, or one per block along it.
struct Blocks {
  int64_t outer = 1, size = 1, inner = 1;  // of the data, around the axis
  int64_t count = 1, block = 0;            // scales along the axis; elements per scale (0: one for all)
  bool per_axis = false;

  int64_t of(int64_t i) const {
    if (block == 0) return 0;
    int64_t along = i / inner % size / block;
    return per_axis ? along : (i / inner / size * count + along) * inner + i % inner;
  }
};

Status describe_blocks(const KernelCall& call, const TensorMeta& x, const TensorMeta& scale, const TensorMeta* zero_point, Blocks& b) {
  const std::string op(call.op.name);
  if (zero_point && (zero_point->rank != scale.rank || !std::equal(scale.dims().begin(), scale.dims().end(), zero_point->dims().begin())))
    return shape_mismatch(op + ": scale and zero point differ in shape");
  int64_t block = call.attrs.get_int("block_size", 0);
  if (block == 0 && scale.elements() == 1 && scale.rank <= 1) return {};
  int64_t axis = call.attrs.get_int("axis", 1);
  if (axis < 0) axis += x.rank;
  if (axis < 0 || axis >= x.rank) return out_of_range(op + ": axis out of range");
  const size_t d = static_cast<size_t>(axis);
  b.outer = product(x.dims().first(d)), b.size = x.shape[d], b.inner = product(x.dims().subspan(d + 1));
  if (block == 0) {
    if (scale.rank != 1 || scale.shape[0] != b.size) return shape_mismatch(op + ": scale " + to_string(scale) + " isn't one value, one per index of the axis or one per block");
    b.per_axis = true;
    b.count = b.size;
    b.block = 1;
    return {};
  }
  bool fits = block > 0 && scale.rank == x.rank;
  for (int i = 0; fits && i < x.rank; ++i) fits = scale.shape[i] == (i == axis ? (x.shape[i] + block - 1) / block : x.shape[i]);
  if (!fits) return shape_mismatch(op + ": scale " + to_string(scale) + " doesn't have one value per block of " + std::to_string(block));
  b.count = scale.shape[d];
  b.block = block;
  return {};
}

template <class T>
Status quantize_as(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &scale = *call.inputs[1];
  const TensorMeta* zero_point = input_or_null(call, 2);
  Blocks b;
  MSVM_RETURN_IF_ERROR(describe_blocks(call, x, scale, zero_point, b));
  MSVM_ASSIGN_OR_RETURN(const T* xv, dense_input<T>(call, x));
  MSVM_ASSIGN_OR_RETURN(const T* sv, dense_input<T>(call, scale));
  const int32_t* zv = nullptr;
  if (zero_point) {
    MSVM_ASSIGN_OR_RETURN(zv, dense_input<int32_t>(call, *zero_point));
  }
  DenseOutput<int32_t> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  Limits l = limits_of(call.outputs[0]->dtype);
  for (int64_t i = 0, n = x.elements(); i < n; ++i) {
    int64_t k = b.of(i);
    y[i] = saturate(static_cast<double>(xv[i] / sv[k]), zv ? zv[k] : 0, l);
  }
  y.commit();
  return {};
}
Status ref_quantize(KernelCall& call) {
  return with_accumulator(call.inputs[0]->dtype, [&](auto zero) { return quantize_as<decltype(zero)>(call); });
}

Status ref_dequantize(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &scale = *call.inputs[1];
  const TensorMeta* zero_point = input_or_null(call, 2);
  return with_accumulator(call.outputs[0]->dtype, [&](auto kind) -> Status {
    using T = decltype(kind);
    Blocks b;
    MSVM_RETURN_IF_ERROR(describe_blocks(call, x, scale, zero_point, b));
    MSVM_ASSIGN_OR_RETURN(const int32_t* xv, dense_input<int32_t>(call, x));
    MSVM_ASSIGN_OR_RETURN(const T* sv, dense_input<T>(call, scale));
    const int32_t* zv = nullptr;
    if (zero_point) {
      MSVM_ASSIGN_OR_RETURN(zv, dense_input<int32_t>(call, *zero_point));
    }
    DenseOutput<T> y;
    MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
    for (int64_t i = 0, n = x.elements(); i < n; ++i) {
      int64_t k = b.of(i);
      y[i] = static_cast<T>(static_cast<int64_t>(xv[i]) - (zv ? zv[k] : 0)) * sv[k];
    }
    y.commit();
    return {};
  });
}

Status ref_dynamic_quantize(KernelCall& call) {
  const TensorMeta& x = *call.inputs[0];
  if (call.outputs.size() != 3) return shape_mismatch("DynamicQuantizeLinear has three results");
  MSVM_ASSIGN_OR_RETURN(const float* v, dense_input<float>(call, x));
  float low = 0, high = 0;  // zero is always in the range
  const int64_t n = x.elements();
  for (int64_t i = 0; i < n; ++i) low = std::min(low, v[i]), high = std::max(high, v[i]);
  float scale = high == low ? 1.0f : (high - low) / 255.0f;
  Limits l = limits_of(DType::kU8);
  int32_t zero = saturate(static_cast<double>((0.0f - low) / scale), 0, l);
  DenseOutput<int32_t> y, zero_out;
  DenseOutput<float> scale_out;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  MSVM_RETURN_IF_ERROR(scale_out.open(call, call.outputs[1]));
  MSVM_RETURN_IF_ERROR(zero_out.open(call, call.outputs[2]));
  if (y) {
    for (int64_t i = 0; i < n; ++i) y[i] = saturate(static_cast<double>(v[i] / scale), zero, l);
    y.commit();
  }
  if (scale_out) scale_out[0] = scale, scale_out.commit();
  if (zero_out) zero_out[0] = zero, zero_out.commit();
  return {};
}

// One value, or one per line (`what` says which).
template <class T>
struct PerLine {
  const T* values = nullptr;
  int64_t count = 0;
  T at(int64_t line) const { return count == 0 ? T{} : values[count == 1 ? 0 : line]; }
};
template <class T>
Status read_lines(KernelCall& call, size_t i, int64_t lines, std::string_view what, PerLine<T>& p) {
  const TensorMeta* m = input_or_null(call, i);
  if (!m) return {};
  p.count = m->elements();
  if (p.count != 1 && p.count != lines) return shape_mismatch(std::string(call.op.name) + ": " + std::string(what) + " " + to_string(*m) + " is neither one value nor one per line");
  MSVM_ASSIGN_OR_RETURN(p.values, dense_input<T>(call, *m));
  return {};
}

// Sums (x - x_zero) * (w - w_zero) in i32 and hands them to store(output index, output channel, sum). Padding adds nothing.
template <class Store>
Status integer_conv(KernelCall& call, const TensorMeta& x, const TensorMeta& w, const TensorMeta* bias, size_t x_zero_at, size_t w_zero_at, Store store) {
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv(call, x, w, bias, *call.outputs[0], s));
  MSVM_ASSIGN_OR_RETURN(const int32_t* xv, dense_input<int32_t>(call, x));
  MSVM_ASSIGN_OR_RETURN(const int32_t* wv, dense_input<int32_t>(call, w));
  const int32_t* bv = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(bv, dense_input<int32_t>(call, *bias));
  }
  PerLine<int32_t> xz, wz;
  MSVM_RETURN_IF_ERROR(read_lines(call, x_zero_at, 1, "the input's zero point", xz));
  MSVM_RETURN_IF_ERROR(read_lines(call, w_zero_at, s.out_channels, "the weights' zero point", wz));
  const Window& win = s.window;
  const int64_t in_size = win.in_size(), out_size = win.out_size(), taps = win.taps(), channels = s.group_in();
  for (int64_t i = 0; i < s.batch * s.out_channels && out_size > 0; ++i) {
    int64_t n = i / s.out_channels, m = i % s.out_channels, g = m / s.group_out();
    const int32_t* image = xv + (n * s.in_channels + g * channels) * in_size;
    const int32_t* weights = wv + m * channels * taps;
    const int32_t x_zero = xz.at(0), w_zero = wz.at(m);
    std::array<int64_t, kMaxSpatial> at{};
    for (int64_t o = 0; o < out_size; ++o, next_position(win, at)) {
      uint32_t sum = bv ? static_cast<uint32_t>(bv[m]) : 0;
      for_each_tap(win, at, [&](int64_t tap, int64_t offset) {
        for (int64_t c = 0; c < channels; ++c) sum += static_cast<uint32_t>((image[c * in_size + offset] - x_zero) * (weights[c * taps + tap] - w_zero));
      });
      store(i * out_size + o, m, static_cast<int32_t>(sum));
    }
  }
  return {};
}

Status ref_conv_integer(KernelCall& call) {
  DenseOutput<int32_t> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  MSVM_RETURN_IF_ERROR(integer_conv(call, *call.inputs[0], *call.inputs[1], nullptr, 2, 3, [&](int64_t o, int64_t, int32_t sum) { y[o] = sum; }));
  y.commit();
  return {};
}

// Inputs: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?.
Status ref_qlinear_conv(KernelCall& call) {
  const int64_t channels = call.inputs[3]->rank ? call.inputs[3]->shape[0] : 0;
  PerLine<float> xs, ws, ys;
  PerLine<int32_t> yz;
  MSVM_RETURN_IF_ERROR(read_lines(call, 1, 1, "x_scale", xs));
  MSVM_RETURN_IF_ERROR(read_lines(call, 4, channels, "w_scale", ws));
  MSVM_RETURN_IF_ERROR(read_lines(call, 6, 1, "y_scale", ys));
  MSVM_RETURN_IF_ERROR(read_lines(call, 7, 1, "y_zero_point", yz));
  DenseOutput<int32_t> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  Limits l = limits_of(call.outputs[0]->dtype);
  MSVM_RETURN_IF_ERROR(integer_conv(call, *call.inputs[0], *call.inputs[3], input_or_null(call, 8), 2, 5, [&](int64_t o, int64_t m, int32_t sum) {
    float scale = xs.at(0) * ws.at(m) / ys.at(0);
    y[o] = saturate(static_cast<double>(static_cast<float>(sum) * scale), yz.at(0), l);
  }));
  y.commit();
  return {};
}

// Inputs: a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero.
Status ref_qlinear_matmul(KernelCall& call) {
  MSVM_ASSIGN_OR_RETURN(const int32_t* a, dense_input<int32_t>(call, *call.inputs[0]));
  MSVM_ASSIGN_OR_RETURN(const int32_t* b, dense_input<int32_t>(call, *call.inputs[3]));
  TensorMeta ma = *call.inputs[0], mb = *call.inputs[3], my = *call.outputs[0];
  if (!set_dense_strides(ma) || !set_dense_strides(mb) || !set_dense_strides(my)) return internal_error("QLinearMatMul: sizes leave 64 bits");
  BatchedProduct p;
  MSVM_RETURN_IF_ERROR(describe_product(ma, mb, my, p));
  PerLine<float> as, bs, ys;
  PerLine<int32_t> az, bz, yz;
  MSVM_RETURN_IF_ERROR(read_lines(call, 1, p.m, "a_scale", as));
  MSVM_RETURN_IF_ERROR(read_lines(call, 2, p.m, "a_zero_point", az));
  MSVM_RETURN_IF_ERROR(read_lines(call, 4, p.n, "b_scale", bs));
  MSVM_RETURN_IF_ERROR(read_lines(call, 5, p.n, "b_zero_point", bz));
  MSVM_RETURN_IF_ERROR(read_lines(call, 6, 1, "y_scale", ys));
  MSVM_RETURN_IF_ERROR(read_lines(call, 7, 1, "y_zero_point", yz));
  DenseOutput<int32_t> y;
  MSVM_RETURN_IF_ERROR(y.open(call, call.outputs[0]));
  Limits l = limits_of(call.outputs[0]->dtype);
  for (int64_t i = 0; i < p.count && p.m * p.n > 0; ++i) {
    auto o = p.at(i);
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t j = 0; j < p.n; ++j) {
        uint32_t sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += static_cast<uint32_t>((a[o.a + r * p.a_row + k * p.a_step] - az.at(r)) * (b[o.b + j * p.b_col + k * p.b_step] - bz.at(j)));
        float scale = as.at(r) * bs.at(j) / ys.at(0);
        y[o.c + r * p.c_row + j * p.c_col] = saturate(static_cast<double>(static_cast<float>(static_cast<int32_t>(sum)) * scale), yz.at(0), l);
      }
  }
  y.commit();
  return {};
}

double qlinear_conv_work(const KernelCall& call) {
  const TensorMeta& w = *call.inputs[3];
  double n = static_cast<double>(call.outputs[0]->elements());
  for (int d = 1; d < w.rank; ++d) n *= static_cast<double>(w.shape[d]);
  return n;
}
double product_work(const KernelCall& call) {
  const TensorMeta& a = *call.inputs[0];
  return (a.rank ? static_cast<double>(a.shape[a.rank - 1]) : 1) * static_cast<double>(call.outputs[0]->elements());
}

}  // namespace

void add_quantize_kernels(KernelList& list) {
  const DTypeSet bytes = bit(DType::kI8) | bit(DType::kU8), small = bytes | bit(DType::kI16) | bit(DType::kU16) | bit(DType::kI32);
  list.push_back({.name = "ref_quantize_linear", .op = "QuantizeLinear", .run = ref_quantize, .dtypes = kFloats | bit(DType::kI32), .default_ns_per_work = 8});
  list.push_back({.name = "ref_dequantize_linear", .op = "DequantizeLinear", .run = ref_dequantize, .dtypes = small, .default_ns_per_work = 4});
  list.push_back({.name = "ref_dynamic_quantize_linear", .op = "DynamicQuantizeLinear", .run = ref_dynamic_quantize, .dtypes = bit(DType::kF32), .default_ns_per_work = 8});
  list.push_back({.name = "ref_conv_integer", .op = "ConvInteger", .run = ref_conv_integer, .dtypes = bytes, .work = conv_multiply_adds, .default_ns_per_work = 1.2});
  list.push_back({.name = "ref_qlinear_conv", .op = "QLinearConv", .run = ref_qlinear_conv, .dtypes = bytes, .work = qlinear_conv_work, .default_ns_per_work = 1.2});
  list.push_back({.name = "ref_qlinear_matmul", .op = "QLinearMatMul", .run = ref_qlinear_matmul, .dtypes = bytes, .work = product_work, .default_ns_per_work = 1.2});
  add_quantize_vector_kernels(list);
}

}  // namespace msvm
