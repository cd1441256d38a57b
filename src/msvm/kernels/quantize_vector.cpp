// QuantizeLinear and DequantizeLinear between f32 and 8-bit integers in vectors: one scale for all, or one per index of an axis.
#include <algorithm>
#include <string>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/iterate.h"
#include "msvm/kernels/map.h"
#include "msvm/kernels/quantize_rows.h"

namespace msvm {

void add_quantize_vector_kernels(KernelList& list);

namespace {

bool is_byte(DType t) { return t == DType::kU8 || t == DType::kI8; }

/// -1: one scale for all; the axis of the scales; or none of both.
struct Scales {
  bool fits = false;
  int axis = -1;
};
Scales scales_of(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &scale = *call.inputs[1];
  const TensorMeta* zero = input_or_null(call, 2);
  Scales s;
  if (call.attrs.get_int("block_size", 0) != 0 || scale.rank > 1 || scale.dtype != DType::kF32) return s;
  if (zero && (zero->rank != scale.rank || (scale.rank == 1 && zero->shape[0] != scale.shape[0]))) return s;
  s.fits = scale.elements() == 1;
  if (s.fits) return s;
  int64_t axis = call.attrs.get_int("axis", 1);
  if (axis < 0) axis += x.rank;
  if (axis < 0 || axis >= x.rank || scale.shape[0] != x.shape[axis]) return s;
  return {true, static_cast<int>(axis)};
}
bool same_shape(const TensorMeta& x, const TensorMeta& y) { return x.rank == y.rank && std::equal(x.shape.begin(), x.shape.begin() + x.rank, y.shape.begin()); }

/// row(n, x offset, y offset, index of the scale): dense rows.
template <class F>
void rows_of(KernelCall& call, const Scales& s, F row) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  Nest<3> nest;
  for (int a = 0; a < y.rank; ++a) nest.add_axis(y.shape[a], {y.strides[a], x.strides[a], a == s.axis ? 1 : 0});
  simplify(nest);
  for_each_row(nest, call.workers, 0.15, [&](int64_t n, const std::array<int64_t, 3>& at) { row(n, at[1], at[0], at[2]); });
}
/// Whether the innermost axis in memory is dense in both and has one scale.
bool dense_rows(const KernelCall& call, const Scales& s) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  if (y.rank == 0) return true;
  Nest<3> nest;
  for (int a = 0; a < y.rank; ++a) nest.add_axis(y.shape[a], {y.strides[a], x.strides[a], a == s.axis ? 1 : 0});
  simplify(nest);
  return nest.rank == 0 || (nest.inner_stride(0) == 1 && nest.inner_stride(1) == 1 && nest.inner_stride(2) == 0);
}

int32_t zero_point_at(const TensorMeta* zero, int64_t k) {
  if (!zero) return 0;
  const int64_t i = zero->rank ? k * zero->strides[0] : 0;
  return zero->dtype == DType::kU8 ? static_cast<int32_t>(zero->as<uint8_t>()[i]) : static_cast<int32_t>(zero->as<int8_t>()[i]);
}
float scale_at(const TensorMeta& scale, int64_t k) { return scale.as<float>()[scale.rank ? k * scale.strides[0] : 0]; }

bool quantize_fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  const TensorMeta* zero = input_or_null(call, 2);
  const Scales s = scales_of(call);
  return s.fits && is_byte(y.dtype) && (!zero || zero->dtype == y.dtype) && same_shape(x, y) && y.elements() > 0 && dense_rows(call, s);
}
template <const QuantizeRows& kRows>
Status fast_quantize(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &scale = *call.inputs[1], &y = *call.outputs[0];
  const TensorMeta* zero = input_or_null(call, 2);
  const int32_t least = y.dtype == DType::kU8 ? 0 : -128;
  rows_of(call, scales_of(call), [&](int64_t n, int64_t from, int64_t to, int64_t k) {
    const int32_t z = zero_point_at(zero, k);
    kRows.quantize(x.as<float>() + from, n, scale_at(scale, k), static_cast<float>(least - z), static_cast<float>(least + 255 - z), z, y.as<uint8_t>() + to);
  });
  return {};
}

bool dequantize_fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  const TensorMeta* zero = input_or_null(call, 2);
  const Scales s = scales_of(call);
  return s.fits && is_byte(x.dtype) && y.dtype == DType::kF32 && (!zero || zero->dtype == x.dtype) && same_shape(x, y) && y.elements() > 0 && dense_rows(call, s);
}
template <const QuantizeRows& kRows>
Status fast_dequantize(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &scale = *call.inputs[1], &y = *call.outputs[0];
  const TensorMeta* zero = input_or_null(call, 2);
  rows_of(call, scales_of(call), [&](int64_t n, int64_t from, int64_t to, int64_t k) {
    const int32_t z = zero_point_at(zero, k);
    if (x.dtype == DType::kU8) kRows.dequantize_u8(x.as<uint8_t>() + from, n, scale_at(scale, k), z, y.as<float>() + to);
    else kRows.dequantize_i8(x.as<int8_t>() + from, n, scale_at(scale, k), z, y.as<float>() + to);
  });
  return {};
}

}  // namespace

void add_quantize_vector_kernels(KernelList& list) {
  auto add = [&](std::string_view name, std::string_view op, Isa isa, DTypeSet dtypes, KernelFn run, bool (*accepts)(const KernelCall&)) {
    list.push_back({.name = name, .op = op, .run = run, .dtypes = dtypes, .isa = isa, .accepts = accepts, .default_ns_per_work = isa == Isa::kAvx512 ? 0.1 : 0.12});
  };
  const DTypeSet bytes = bit(DType::kU8) | bit(DType::kI8);
  add("avx512_quantize_linear_f32", "QuantizeLinear", Isa::kAvx512, bit(DType::kF32), fast_quantize<kQuantizeRowsAvx512>, quantize_fits);
  add("avx2_quantize_linear_f32", "QuantizeLinear", Isa::kAvx2, bit(DType::kF32), fast_quantize<kQuantizeRowsAvx2>, quantize_fits);
  add("avx512_dequantize_linear_f32", "DequantizeLinear", Isa::kAvx512, bytes, fast_dequantize<kQuantizeRowsAvx512>, dequantize_fits);
  add("avx2_dequantize_linear_f32", "DequantizeLinear", Isa::kAvx2, bytes, fast_dequantize<kQuantizeRowsAvx2>, dequantize_fits);
}

}  // namespace msvm
