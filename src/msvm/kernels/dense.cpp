#include "msvm/kernels/dense.h"

#include <array>
#include <limits>

#include "msvm/kernels/half.h"

namespace msvm {
namespace {

template <class S, class T, class F>
void load_row(const std::byte* from, int64_t stride, int64_t n, T* to, F convert) {
  const S* p = reinterpret_cast<const S*>(from);
  for (int64_t i = 0; i < n; ++i) to[i] = convert(p[i * stride]);
}
template <class S, class T, class F>
void store_row(const T* from, int64_t stride, int64_t n, std::byte* to, F convert) {
  S* p = reinterpret_cast<S*>(to);
  for (int64_t i = 0; i < n; ++i) p[i * stride] = convert(from[i]);
}

// Float to integer without undefined behaviour: saturated, NaN is 0.
template <class To, class From>
To to_number(From v) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (!(v == v)) return 0;
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    if (v <= low) return std::numeric_limits<To>::min();
    if (v >= -low) return std::numeric_limits<To>::max();
  }
  return static_cast<To>(v);
}

template <class T>
void load(DType d, const std::byte* from, int64_t stride, int64_t n, T* to) {
  auto plain = [](auto v) { return to_number<T>(v); };
  switch (d) {
    case DType::kF64: return load_row<double>(from, stride, n, to, plain);
    case DType::kF32: return load_row<float>(from, stride, n, to, plain);
    case DType::kF16: return load_row<uint16_t>(from, stride, n, to, [](uint16_t v) { return to_number<T>(f16_to_f32(v)); });
    case DType::kBF16: return load_row<uint16_t>(from, stride, n, to, [](uint16_t v) { return to_number<T>(bf16_to_f32(v)); });
    case DType::kI8: return load_row<int8_t>(from, stride, n, to, plain);
    case DType::kI16: return load_row<int16_t>(from, stride, n, to, plain);
    case DType::kI32: return load_row<int32_t>(from, stride, n, to, plain);
    case DType::kI64: return load_row<int64_t>(from, stride, n, to, plain);
    case DType::kU8: return load_row<uint8_t>(from, stride, n, to, plain);
    case DType::kU16: return load_row<uint16_t>(from, stride, n, to, plain);
    case DType::kU32: return load_row<uint32_t>(from, stride, n, to, plain);
    case DType::kU64: return load_row<uint64_t>(from, stride, n, to, plain);
    case DType::kBool: return load_row<uint8_t>(from, stride, n, to, [](uint8_t v) { return static_cast<T>(v != 0); });
    case DType::kString: return;
  }
}

template <class T>
void store(DType d, const T* from, int64_t stride, int64_t n, std::byte* to) {
  auto as = [](auto zero) { return [](T v) { return to_number<decltype(zero)>(v); }; };
  auto wrapped = [](auto zero) { return [](T v) { return static_cast<decltype(zero)>(to_number<int64_t>(v)); }; };
  switch (d) {
    case DType::kF64: return store_row<double>(from, stride, n, to, as(double{}));
    case DType::kF32: return store_row<float>(from, stride, n, to, as(float{}));
    case DType::kF16: return store_row<uint16_t>(from, stride, n, to, [](T v) { return std::is_same_v<T, double> ? f64_to_f16(static_cast<double>(v)) : f32_to_f16(static_cast<float>(v)); });
    case DType::kBF16: return store_row<uint16_t>(from, stride, n, to, [](T v) { return std::is_same_v<T, double> ? f64_to_bf16(static_cast<double>(v)) : f32_to_bf16(static_cast<float>(v)); });
    case DType::kI8: return store_row<int8_t>(from, stride, n, to, wrapped(int8_t{}));
    case DType::kI16: return store_row<int16_t>(from, stride, n, to, wrapped(int16_t{}));
    case DType::kI32: return store_row<int32_t>(from, stride, n, to, wrapped(int32_t{}));
    case DType::kI64: return store_row<int64_t>(from, stride, n, to, wrapped(int64_t{}));
    case DType::kU8: return store_row<uint8_t>(from, stride, n, to, wrapped(uint8_t{}));
    case DType::kU16: return store_row<uint16_t>(from, stride, n, to, wrapped(uint16_t{}));
    case DType::kU32: return store_row<uint32_t>(from, stride, n, to, wrapped(uint32_t{}));
    case DType::kU64: return store_row<uint64_t>(from, stride, n, to, wrapped(uint64_t{}));
    case DType::kBool: return store_row<uint8_t>(from, stride, n, to, [](T v) { return static_cast<uint8_t>(v != T{}); });
    case DType::kString: return;
  }
}

// Calls row(element offset, row number) for each run along the last axis; rank 0 is one row of one element.
template <class Row>
void for_each_row(const TensorMeta& m, Row row) {
  if (m.elements() == 0) return;
  std::array<int64_t, kMaxRank> index{};
  int outer = m.rank > 0 ? m.rank - 1 : 0;
  for (int64_t r = 0, offset = 0;; ++r) {
    row(offset, r);
    int a = outer - 1;
    for (; a >= 0; --a) {
      offset += m.strides[a];
      if (++index[a] < m.shape[a]) break;
      offset -= m.strides[a] * m.shape[a];
      index[a] = 0;
    }
    if (a < 0) return;
  }
}

}  // namespace

template <class T>
void read_elements(const TensorMeta& from, T* to) {
  int64_t n = from.rank ? from.shape[from.rank - 1] : 1, stride = from.rank ? from.strides[from.rank - 1] : 1, size = dtype_bytes(from.dtype);
  for_each_row(from, [&](int64_t offset, int64_t r) { load(from.dtype, from.data + offset * size, stride, n, to + r * n); });
}
template <class T>
void write_elements(const T* from, const TensorMeta& to) {
  int64_t n = to.rank ? to.shape[to.rank - 1] : 1, stride = to.rank ? to.strides[to.rank - 1] : 1, size = dtype_bytes(to.dtype);
  for_each_row(to, [&](int64_t offset, int64_t r) { store(to.dtype, from + r * n, stride, n, to.data + offset * size); });
}

template void read_elements(const TensorMeta&, float*);
template void read_elements(const TensorMeta&, double*);
template void read_elements(const TensorMeta&, int32_t*);
template void read_elements(const TensorMeta&, int64_t*);
template void write_elements(const float*, const TensorMeta&);
template void write_elements(const double*, const TensorMeta&);
template void write_elements(const int32_t*, const TensorMeta&);
template void write_elements(const int64_t*, const TensorMeta&);

}  // namespace msvm
