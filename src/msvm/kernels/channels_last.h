// Image tensors [N, C, (D,) (H,) W] whose channels lie side by side in memory.
#pragma once
#include <array>

#include "msvm/kernels/kernel.h"

namespace msvm {

/// Strides in elements; axes D and H that the tensor lacks have size 1.
struct ChannelsLast {
  std::byte* data = nullptr;
  int64_t images = 0, channels = 0, image_stride = 0;
  std::array<int64_t, 3> size{1, 1, 1}, stride{};
  int64_t pixels() const { return size[0] * size[1] * size[2]; }
  /// One stride leads from every pixel of an image to the next one.
  bool even() const {
    return (size[1] <= 1 || stride[1] == size[2] * stride[2]) && (size[0] <= 1 || stride[0] == size[1] * size[2] * stride[2] || (size[1] <= 1 && stride[0] == size[2] * stride[2]));
  }
};

/// Rank 3 to 5, channels at stride 1 (or fewer than two of them). A tensor whose channels are a slice of wider pixels is one too.
bool is_channels_last(const TensorMeta& m);
ChannelsLast as_channels_last(const TensorMeta& m);

}  // namespace msvm
