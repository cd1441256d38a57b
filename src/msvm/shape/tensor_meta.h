// Run-time metadata of a tensor: what the interpreter and kernels see. Owns nothing.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "msvm/shape/tensor_type.h"

namespace msvm {

/// Strides count elements, may be 0 (broadcast), never negative. Sizes were checked: shape product, strides and bytes fit
/// 64 bits. `data` may be null where the tensor is empty.
struct TensorMeta {
  std::byte* data = nullptr;
  DType dtype = DType::kF32;
  Layout layout = Layout::kRowMajor;
  uint8_t rank = 0;
  Device device;
  std::array<int64_t, kMaxRank> shape{};
  std::array<int64_t, kMaxRank> strides{};

  std::span<const int64_t> dims() const { return {shape.data(), rank}; }
  int64_t elements() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= shape[i];
    return n;
  }
  /// Without gaps in the order of its layout (sizes of 1 may have any stride; empty tensors are dense).
  bool dense() const;
  template <class T> T* as() const { return reinterpret_cast<T*>(data); }
};

/// Axes of `rank` from the outermost in memory to the innermost. nhwc puts axis 1, the channels, innermost.
std::span<const uint8_t> memory_order(Layout layout, int rank);
/// Row-major (or nhwc) strides for `m.shape`; false when sizes are negative or products, in elements or bytes, leave 64 bits.
/// Strides of an empty tensor are those of the same shape with 1 in place of 0.
[[nodiscard]] bool set_dense_strides(TensorMeta& m);
std::string to_string(const TensorMeta& m);  // "f32[1, 3, 480, 640]"

}  // namespace msvm
