// For this room's tests: the same tensor in other memory layouts.
#pragma once
#include "msvm/kernels/kernel_testing.h"

namespace msvm::testing {

enum class Memory { kRowMajor, kChannelsLast, kChannelSlice, kGaps };  // kChannelSlice: channels-last, part of wider pixels
inline const std::vector<Memory>& all_memories() {
  static const std::vector<Memory> all = {Memory::kRowMajor, Memory::kChannelsLast, Memory::kChannelSlice, Memory::kGaps};
  return all;
}
inline const char* name_of(Memory m) {
  switch (m) {
    case Memory::kRowMajor: return "row-major";
    case Memory::kChannelsLast: return "channels-last";
    case Memory::kChannelSlice: return "channel slice";
    case Memory::kGaps: return "gaps";
  }
  return "";
}

/// The values of `t` (row-major axes, any strides) in memory of that kind; rank below 3 has no channels: gaps for all but row-major. The
/// gaps hold NaNs of another kind than results, and nothing lies behind the last element.
inline Tensor in_memory(const Tensor& t, Memory memory) {
  if (memory == Memory::kRowMajor || t.meta.rank == 0) {
    Tensor d(t.meta.dtype, t.shape());
    d.set(t.values());
    return d;
  }
  if (memory == Memory::kGaps || t.meta.rank < 3) return strided(t);
  Tensor s = t;
  const int rank = t.meta.rank;
  const int64_t pixel = t.meta.shape[1] + (memory == Memory::kChannelSlice ? 5 : 0);
  int64_t stride = std::max<int64_t>(pixel, 1);
  s.meta.strides[1] = 1;
  for (int d = rank - 1; d >= 2; --d) {
    s.meta.strides[static_cast<size_t>(d)] = stride;
    stride *= std::max<int64_t>(t.meta.shape[static_cast<size_t>(d)], 1);
  }
  s.meta.strides[0] = stride;
  int64_t last = 1;
  for (int d = 0; d < rank; ++d) last += (t.meta.shape[static_cast<size_t>(d)] - 1) * s.meta.strides[static_cast<size_t>(d)];
  if (t.meta.elements() == 0) last = 0;
  const int64_t lead = memory == Memory::kChannelSlice && last > 0 ? 3 : 0;  // the slice begins inside a pixel
  s.bytes.assign(static_cast<size_t>((lead + last) * dtype_bytes(t.meta.dtype)), std::byte{0x7f});
  s.meta.data = s.bytes.data() + lead * dtype_bytes(t.meta.dtype);
  s.set(t.values());
  return s;
}

/// Whether every byte outside the elements is as in_memory left it.
inline bool gaps_untouched(const Tensor& t) {
  const int64_t element = dtype_bytes(t.meta.dtype);
  std::vector<bool> used(t.bytes.size());
  const int64_t n = t.meta.elements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = t.meta.data - t.bytes.data(), rest = i;
    for (int d = t.meta.rank - 1; d >= 0; --d) {
      at += rest % t.meta.shape[static_cast<size_t>(d)] * t.meta.strides[static_cast<size_t>(d)] * element;
      rest /= t.meta.shape[static_cast<size_t>(d)];
    }
    for (int64_t b = 0; b < element; ++b) used[static_cast<size_t>(at + b)] = true;
  }
  for (size_t i = 0; i < t.bytes.size(); ++i)
    if (!used[i] && t.bytes[i] != std::byte{0x7f}) return false;
  return true;
}

}  // namespace msvm::testing
