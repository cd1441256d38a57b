#include "msvm/vm/views.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

#include "msvm/base/checked.h"

namespace msvm::vm {
namespace {

void take_identity(const TensorMeta& s, TensorMeta& d) {
  d.data = s.data;
  d.dtype = s.dtype;
  d.layout = s.layout;
  d.device = s.device;
}

void move_data(TensorMeta& d, int64_t elements) {
  if (d.data) d.data += elements * dtype_bytes(d.dtype);
}

float half_to_float(uint16_t h) {
  uint32_t sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 0x1f, mantissa = h & 0x3ffu;
  if (exponent == 0) {
    float f = std::bit_cast<float>(0x38800000u | mantissa << 13) - std::bit_cast<float>(0x38800000u);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(f) | sign);
  }
  return std::bit_cast<float>(sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | mantissa << 13);
}

template <class T> T load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace

Status slice_view(const TensorMeta& s, std::span<const int64_t> bounds, std::span<const int64_t> axis_step, TensorMeta& d) {
  take_identity(s, d);
  d.rank = s.rank;
  d.shape = s.shape;
  d.strides = s.strides;
  int64_t offset = 0;
  for (size_t k = 0; k + 1 < bounds.size(); k += 2) {
    auto axis = static_cast<size_t>(axis_step[k]);
    int64_t step = axis_step[k + 1], from = bounds[k], to = bounds[k + 1];
    if (axis >= s.rank) return internal_error(fmt::format("slice axis {} of rank {}", axis, s.rank));
    if (from < 0 || to < from || to > s.shape[axis] || step < 1)
      return out_of_range(fmt::format("slice [{}:{}:{}] of axis {} with size {}: 0 <= from <= to <= size is needed", from, to, step, axis, s.shape[axis]));
    d.shape[axis] = (to - from) / step + ((to - from) % step != 0);
    offset += from * s.strides[axis];
    auto stride = checked_mul(s.strides[axis], step);
    if (!stride) {
      if (d.shape[axis] > 1) return overflow_error("slice step overflows");
      stride = s.strides[axis];
    }
    d.strides[axis] = *stride;
  }
  if (d.elements() > 0) move_data(d, offset);
  return {};
}

Status reshape_view(const TensorMeta& s, std::span<const int64_t> shape, TensorMeta& d) {
  if (shape.size() > kMaxRank) return unsupported(fmt::format("rank {} is above {}", shape.size(), kMaxRank));
  take_identity(s, d);
  d.rank = static_cast<uint8_t>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) d.shape[i] = shape[i];
  auto n = checked_product(shape);
  if (!n || *n != s.elements()) {
    TensorMeta t = d;
    return shape_mismatch(fmt::format("reshape of {} to {}: the number of elements differs", to_string(s), to_string(t)));
  }
  if (!s.dense()) return shape_mismatch(fmt::format("reshape of {}: it isn't dense; a TENSOR_COPY is needed before", to_string(s)));
  return set_dense_strides(d) ? Status() : overflow_error("reshape: sizes overflow");
}

Status transpose_view(const TensorMeta& s, std::span<const int32_t> permutation, TensorMeta& d) {
  take_identity(s, d);
  d.layout = Layout::kRowMajor;  // the strides say the rest
  d.rank = s.rank;
  if (permutation.size() != s.rank) return internal_error("transpose: permutation of another rank");
  for (size_t i = 0; i < permutation.size(); ++i) {
    auto from = static_cast<size_t>(permutation[i]);
    d.shape[i] = s.shape[from];
    d.strides[i] = s.strides[from];
  }
  return {};
}

Status broadcast_view(const TensorMeta& s, std::span<const int64_t> shape, TensorMeta& d) {
  if (shape.size() < s.rank || shape.size() > kMaxRank) return shape_mismatch(fmt::format("broadcast of {} to rank {}", to_string(s), shape.size()));
  take_identity(s, d);
  d.rank = static_cast<uint8_t>(shape.size());
  if (!checked_product(shape)) return overflow_error("broadcast: sizes are negative or overflow");
  size_t lead = shape.size() - s.rank;
  for (size_t i = 0; i < shape.size(); ++i) {
    d.shape[i] = shape[i];
    if (i < lead) { d.strides[i] = 0; continue; }
    int64_t have = s.shape[i - lead];
    if (have != shape[i] && have != 1) return shape_mismatch(fmt::format("broadcast of {}: axis {} has size {}, wanted {}", to_string(s), i - lead, have, shape[i]));
    d.strides[i] = have == shape[i] ? s.strides[i - lead] : 0;
  }
  return {};
}

Status squeeze_view(const TensorMeta& s, std::span<const int32_t> axes, TensorMeta& d) {
  take_identity(s, d);
  uint32_t gone = 0;
  for (int32_t a : axes) {
    if (a < 0 || a >= s.rank || s.shape[static_cast<size_t>(a)] != 1) return shape_mismatch(fmt::format("squeeze of axis {} of {}: its size must be 1", a, to_string(s)));
    gone |= 1u << a;
  }
  int rank = 0;
  for (int i = 0; i < s.rank; ++i)
    if (!(gone >> i & 1)) {
      d.shape[static_cast<size_t>(rank)] = s.shape[static_cast<size_t>(i)];
      d.strides[static_cast<size_t>(rank++)] = s.strides[static_cast<size_t>(i)];
    }
  d.rank = static_cast<uint8_t>(rank);
  return {};
}

Status unsqueeze_view(const TensorMeta& s, std::span<const int32_t> axes, TensorMeta& d) {
  size_t rank = s.rank + axes.size();
  if (rank > kMaxRank) return unsupported(fmt::format("rank {} is above {}", rank, kMaxRank));
  take_identity(s, d);
  d.rank = static_cast<uint8_t>(rank);
  uint32_t come = 0;
  for (int32_t a : axes) come |= 1u << a;
  size_t from = 0;
  for (size_t i = 0; i < rank; ++i) {
    bool fresh = come >> i & 1;
    if (!fresh && from >= s.rank) return internal_error("unsqueeze: axes don't fit the rank");
    d.shape[i] = fresh ? 1 : s.shape[from];
    d.strides[i] = fresh ? (from < s.rank ? s.shape[from] * s.strides[from] : 1) : s.strides[from];
    from += !fresh;
  }
  return {};
}

Status window_view(const TensorMeta& s, int axis, int64_t from, int64_t to, TensorMeta& d) {
  const int64_t bounds[] = {from, to}, step[] = {axis, 1};
  return slice_view(s, bounds, step, d);
}

Status element_address(const TensorMeta& s, std::span<const int64_t> index, const std::byte*& at) {
  if (index.size() != s.rank) return shape_mismatch(fmt::format("read of {} with {} indices", to_string(s), index.size()));
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= s.shape[i]) [[unlikely]]
      return out_of_range(fmt::format("read of element {} along axis {} of {}", index[i], i, to_string(s)));
    offset += index[i] * s.strides[i];
  }
  at = s.data + offset * dtype_bytes(s.dtype);
  return {};
}

Status load_element(DType dtype, const std::byte* p, int64_t& value) {
  auto real = [](double v) { return std::bit_cast<int64_t>(v); };
  switch (dtype) {
    case DType::kF64: value = load<int64_t>(p); return {};
    case DType::kF32: value = real(load<float>(p)); return {};
    case DType::kF16: value = real(half_to_float(load<uint16_t>(p))); return {};
    case DType::kBF16: value = real(std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(p)) << 16)); return {};
    case DType::kI8: value = load<int8_t>(p); return {};
    case DType::kI16: value = load<int16_t>(p); return {};
    case DType::kI32: value = load<int32_t>(p); return {};
    case DType::kI64: value = load<int64_t>(p); return {};
    case DType::kU8: value = load<uint8_t>(p); return {};
    case DType::kU16: value = load<uint16_t>(p); return {};
    case DType::kU32: value = load<uint32_t>(p); return {};
    case DType::kU64: {
      const auto v = load<uint64_t>(p);
      if (v > static_cast<uint64_t>(INT64_MAX)) return out_of_range(fmt::format("the element {} doesn't fit i64", v));
      value = static_cast<int64_t>(v);
      return {};
    }
    case DType::kBool: value = load<uint8_t>(p) != 0; return {};
    case DType::kString: return unsupported("a string can't be read as a scalar");
  }
  return internal_error("unknown dtype");
}

}  // namespace msvm::vm
