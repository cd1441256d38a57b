#include "msvm/kernels/channels_last.h"

namespace msvm {

bool is_channels_last(const TensorMeta& m) { return m.rank >= 3 && m.rank <= 5 && (m.shape[1] <= 1 || m.strides[1] == 1); }

ChannelsLast as_channels_last(const TensorMeta& m) {
  ChannelsLast c;
  c.data = m.data;
  c.images = m.shape[0], c.channels = m.shape[1];
  c.image_stride = m.strides[0];
  const int spatial = m.rank - 2, skip = 3 - spatial;
  for (int d = 0; d < spatial; ++d) {
    c.size[static_cast<size_t>(skip + d)] = m.shape[static_cast<size_t>(2 + d)];
    c.stride[static_cast<size_t>(skip + d)] = m.strides[static_cast<size_t>(2 + d)];
  }
  // An axis of size 1 has no stride of its own: give it the one that lets neighbours merge.
  for (size_t d = 3; d-- > 0;)
    if (c.size[d] == 1) c.stride[d] = d == 2 ? c.channels : c.size[d + 1] * c.stride[d + 1];
  return c;
}

}  // namespace msvm
