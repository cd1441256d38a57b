// Sliding windows over spatial axes: what convolutions and pools share.
#pragma once
#include <array>

#include "msvm/kernels/kernel.h"

namespace msvm {

constexpr int kMaxSpatial = kMaxRank - 2;

/// Tap `k` of output `o` lies at input position o * stride - begin + k * dilation, if that is in [0, in).
struct Window {
  int rank = 0;  // spatial axes
  std::array<int64_t, kMaxSpatial> in{}, out{}, kernel{}, stride{}, dilation{}, begin{}, end{};  // begin, end: padding

  int64_t taps() const { return total(kernel); }
  int64_t in_size() const { return total(in); }
  int64_t out_size() const { return total(out); }
  /// Taps [first, last) of axis d that lie inside the input, for output position o.
  void inside(int d, int64_t o, int64_t& first, int64_t& last) const {
    int64_t start = o * stride[d] - begin[d];
    first = start >= 0 ? 0 : (-start + dilation[d] - 1) / dilation[d];
    last = start >= in[d] ? 0 : (in[d] - 1 - start) / dilation[d] + 1;
    if (last > kernel[d]) last = kernel[d];
    if (first > last) first = last;
  }

 private:
  int64_t total(const std::array<int64_t, kMaxSpatial>& s) const {
    int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= s[d];
    return n;
  }
};

/// From the call's attributes and the sizes of input, output ([N, C, spatial...]) and kernel (spatial). Refuses what would leave
/// 64 bits and outputs whose windows begin beyond the padded input.
Status describe_window(const KernelCall& call, const TensorMeta& x, const TensorMeta& y, std::span<const int64_t> kernel, Window& w);

/// The same window with leading axes of size 1 added or neighbouring axes left alone so that it has three; false for more than three.
bool as_three_axes(const Window& w, Window& three);

/// visit(tap, input offset) over the taps of output position `at` that are inside, in ascending order; the offset counts
/// elements of a dense spatial plane.
template <class Visit>
void for_each_tap(const Window& w, const std::array<int64_t, kMaxSpatial>& at, Visit&& visit) {
  std::array<int64_t, kMaxSpatial> first{}, last{}, k{};
  for (int d = 0; d < w.rank; ++d) {
    w.inside(d, at[d], first[d], last[d]);
    if (first[d] >= last[d]) return;
    k[d] = first[d];
  }
  for (;;) {
    int64_t tap = 0, offset = 0;
    for (int d = 0; d < w.rank; ++d) {
      tap = tap * w.kernel[d] + k[d];
      offset = offset * w.in[d] + at[d] * w.stride[d] - w.begin[d] + k[d] * w.dilation[d];
    }
    visit(tap, offset);
    int d = w.rank - 1;
    for (; d >= 0; --d) {
      if (++k[d] < last[d]) break;
      k[d] = first[d];
    }
    if (d < 0) return;
  }
}

/// Taps of axis d at output position o that lie in the input or its padding: what AveragePool counts with count_include_pad.
inline int64_t padded_taps(const Window& w, int d, int64_t o) {
  int64_t start = o * w.stride[d], room = w.in[d] + w.begin[d] + w.end[d];
  if (start >= room) return 0;
  int64_t n = (room - 1 - start) / w.dilation[d] + 1;
  return n < w.kernel[d] ? n : w.kernel[d];
}

/// The position after `at` in row-major order over w.out.
inline void next_position(const Window& w, std::array<int64_t, kMaxSpatial>& at) {
  for (int d = w.rank - 1; d >= 0; --d) {
    if (++at[d] < w.out[d]) return;
    at[d] = 0;
  }
}

}  // namespace msvm
