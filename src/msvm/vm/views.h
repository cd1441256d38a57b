// Views, resizing and element reads: pure arithmetic on metadata.
#pragma once
#include <span>

#include "msvm/base/status.h"
#include "msvm/shape/tensor_meta.h"

namespace msvm::vm {

/// Result's dtype, layout, device and data come from `s`; sizes and strides are computed and checked.
Status slice_view(const TensorMeta& s, std::span<const int64_t> bounds /* from, to pairs */, std::span<const int64_t> axis_step, TensorMeta& d);
Status reshape_view(const TensorMeta& s, std::span<const int64_t> shape, TensorMeta& d);
Status transpose_view(const TensorMeta& s, std::span<const int32_t> permutation, TensorMeta& d);
Status broadcast_view(const TensorMeta& s, std::span<const int64_t> shape, TensorMeta& d);
Status squeeze_view(const TensorMeta& s, std::span<const int32_t> axes, TensorMeta& d);
Status unsqueeze_view(const TensorMeta& s, std::span<const int32_t> axes, TensorMeta& d);
Status window_view(const TensorMeta& s, int axis, int64_t from, int64_t to, TensorMeta& d);
/// Where the element at `index` lies; its axes are checked.
Status element_address(const TensorMeta& s, std::span<const int64_t> index, const std::byte*& at);
/// An element as a scalar slot: integers as i64, floats as f64 bits, bool as 0/1.
Status load_element(DType dtype, const std::byte* p, int64_t& value);

}  // namespace msvm::vm
