// Tensors as contiguous arrays of an accumulator type: what reference kernels compute on, whatever the strides and dtypes.
#pragma once
#include <cstdint>
#include <span>
#include <type_traits>

#include "msvm/kernels/kernel.h"

namespace msvm {

/// The accumulator of a float dtype is double for f64, else float; `body` is called with a value of that type.
template <class Body>
Status with_accumulator(DType dtype, Body&& body) {
  return dtype == DType::kF64 ? body(double{}) : body(float{});
}

/// Copies every element of `from`, converted, row-major to `to`. `T` is float, double, int32_t or int64_t.
template <class T>
void read_elements(const TensorMeta& from, T* to);
/// The inverse: stores row-major `from` into `to`; floats round to nearest even, integers wrap.
template <class T>
void write_elements(const T* from, const TensorMeta& to);

extern template void read_elements(const TensorMeta&, float*);
extern template void read_elements(const TensorMeta&, double*);
extern template void read_elements(const TensorMeta&, int32_t*);
extern template void read_elements(const TensorMeta&, int64_t*);
extern template void write_elements(const float*, const TensorMeta&);
extern template void write_elements(const double*, const TensorMeta&);
extern template void write_elements(const int32_t*, const TensorMeta&);
extern template void write_elements(const int64_t*, const TensorMeta&);

/// Scratch for `count` elements.
template <class T>
Result<T*> scratch_array(KernelMemory& memory, int64_t count) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(sizeof(T)), &bytes)) return resource_limit("a kernel's scratch memory leaves 64 bits");
  Result<std::byte*> p = memory.scratch(bytes);
  if (!p.ok()) return p.status();
  return reinterpret_cast<T*>(*p);
}

template <class T>
constexpr DType storage_dtype() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  else if constexpr (std::is_same_v<T, double>) return DType::kF64;
  else if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  else return DType::kI64;
}

/// The tensor's own memory where it already is dense `T`, else a converted copy in scratch.
template <class T>
Result<const T*> dense_input(KernelCall& call, const TensorMeta& m) {
  if (m.dtype == storage_dtype<T>() && m.dense()) return const_cast<const T*>(m.as<T>());
  Result<T*> copy = scratch_array<T>(call.memory, m.elements());
  if (!copy.ok()) return copy.status();
  read_elements(m, *copy);
  return const_cast<const T*>(*copy);
}

/// The tensor broadcast (numpy's rule) to `shape`, as a dense array.
template <class T>
Result<const T*> broadcast_input(KernelCall& call, const TensorMeta& m, std::span<const int64_t> shape) {
  const int rank = static_cast<int>(shape.size());
  TensorMeta wide = m;
  for (int d = 0; d < m.rank - rank; ++d)
    if (m.shape[d] != 1) return shape_mismatch(to_string(m) + " has too many axes to broadcast");
  for (int d = 0; d < rank; ++d) {
    int from = d - (rank - m.rank);
    int64_t size = from >= 0 ? m.shape[from] : 1;
    if (size != 1 && size != shape[d]) return shape_mismatch(to_string(m) + " doesn't broadcast: size " + std::to_string(size) + " against " + std::to_string(shape[d]));
    wide.shape[d] = shape[d];
    wide.strides[d] = size == 1 ? 0 : m.strides[from];
  }
  wide.rank = static_cast<uint8_t>(rank);
  return dense_input<T>(call, wide);
}

/// A dense `T` array that becomes the output's content by `commit`.
template <class T>
class DenseOutput {
 public:
  /// An absent output (null) gives no array.
  Status open(KernelCall& call, const TensorMeta* m) {
    meta_ = m;
    if (!m) return {};
    if (m->dtype == storage_dtype<T>() && m->dense()) {
      data_ = m->as<T>();
      return {};
    }
    Result<T*> copy = scratch_array<T>(call.memory, m->elements());
    if (!copy.ok()) return copy.status();
    data_ = *copy;
    copied_ = true;
    return {};
  }
  T* data() const { return data_; }
  explicit operator bool() const { return meta_ != nullptr; }
  T& operator[](int64_t i) const { return data_[i]; }
  void commit() const {
    if (copied_) write_elements(data_, *meta_);
  }

 private:
  const TensorMeta* meta_ = nullptr;
  T* data_ = nullptr;
  bool copied_ = false;
};

inline int64_t product(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

inline const TensorMeta* input_or_null(const KernelCall& call, size_t i) { return i < call.inputs.size() ? call.inputs[i] : nullptr; }
inline TensorMeta* output_or_null(const KernelCall& call, size_t i) { return i < call.outputs.size() ? call.outputs[i] : nullptr; }

}  // namespace msvm
