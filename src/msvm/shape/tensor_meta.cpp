#include "msvm/shape/tensor_meta.h"

#include <fmt/format.h>

#include <algorithm>

#include "msvm/base/checked.h"

namespace msvm {
namespace {
constexpr uint8_t kRowMajorOrder[kMaxRank] = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr uint8_t kNhwcOrder[kMaxRank + 1][kMaxRank] = {
    {}, {0}, {0, 1}, {0, 2, 1}, {0, 2, 3, 1}, {0, 2, 3, 4, 1}, {0, 2, 3, 4, 5, 1}, {0, 2, 3, 4, 5, 6, 1}, {0, 2, 3, 4, 5, 6, 7, 1}};
}  // namespace

std::span<const uint8_t> memory_order(Layout layout, int rank) {
  const uint8_t* order = layout == Layout::kNhwc ? kNhwcOrder[rank] : kRowMajorOrder;
  return {order, static_cast<size_t>(rank)};
}

bool TensorMeta::dense() const {
  if (std::count(shape.begin(), shape.begin() + rank, 0) > 0) return true;
  int64_t expected = 1;
  auto order = memory_order(layout, rank);
  for (size_t i = order.size(); i-- > 0;) {
    uint8_t axis = order[i];
    if (shape[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

bool set_dense_strides(TensorMeta& m) {
  if (m.rank > kMaxRank) return false;
  int64_t product = 1;
  auto order = memory_order(m.layout, m.rank);
  for (size_t i = order.size(); i-- > 0;) {
    uint8_t axis = order[i];
    if (m.shape[axis] < 0) return false;
    m.strides[axis] = product;
    auto next = checked_mul(product, std::max<int64_t>(m.shape[axis], 1));
    if (!next) return false;
    product = *next;
  }
  return checked_mul(product, dtype_bytes(m.dtype)).has_value();
}

std::string to_string(const TensorMeta& m) {
  return fmt::format("{}[{}]{}", dtype_name(m.dtype), fmt::join(m.dims(), ", "), m.layout == Layout::kNhwc ? "@nhwc" : "");
}

}  // namespace msvm
