// Rows of an image plane laid out so that every tap of a 2-D window reads contiguous floats, whatever its stride and padding.
#pragma once
#include <algorithm>

#include "msvm/kernels/vector_kernels.h"
#include "msvm/kernels/window.h"

namespace msvm {

/// Columns x of a padded row are split by x mod stride: tap (kh, kw) of outputs 0, 1, 2, ... is one run. Of a three-axis window whose
/// first axis is trivial.
class PhaseRows {
 public:
  static constexpr int64_t kMaxStride = 8, kMaxTaps = 256;

  static bool fits(const Window& w) {
    return w.kernel[0] == 1 && w.stride[0] == 1 && w.begin[0] == 0 && w.in[0] == 1 && w.out[0] == 1 && w.stride[2] <= kMaxStride && w.taps() <= kMaxTaps && w.taps() > 0 &&
           w.dilation[1] <= 64 && w.dilation[2] <= 64 && w.stride[1] <= 64;
  }
  explicit PhaseRows(const Window& w) : w_(w) {
    length_ = (w.out[2] + (w.kernel[2] - 1) * w.dilation[2] / w.stride[2] + 15) / 16 * 16;
    for (int64_t k = 0; k < w.kernel[2]; ++k) used_[k * w.dilation[2] % w.stride[2]] = true;
    int64_t budget = (48 << 10) / (row_floats() * 4), extent = (w.kernel[1] - 1) * w.dilation[1] + 1;
    strip_ = std::clamp<int64_t>((budget - extent) / w.stride[1] + 1, 1, std::max<int64_t>(1, w.out[1]));
  }
  int64_t strip() const { return strip_; }  // output rows that one filling serves
  int64_t floats() const { return rows_of(strip_) * row_floats(); }

  /// Lays out what output rows [oh, oh + n) read; outside the image stands `pad`.
  void fill(const VectorKernels& v, const float* plane, int64_t oh, int64_t n, float pad, float* to) const {
    int64_t first = oh * w_.stride[1] - w_.begin[1];
    for (int64_t r = 0; r < rows_of(n); ++r, to += row_floats()) {
      int64_t ih = first + r;
      if (ih < 0 || ih >= w_.in[1]) {
        std::fill(to, to + row_floats(), pad);
        continue;
      }
      const float* row = plane + ih * w_.in[2];
      for (int64_t f = 0; f < w_.stride[2]; ++f) {
        if (!used_[f]) continue;
        float* line = to + f * length_;
        int64_t s = w_.stride[2], shift = w_.begin[2] - f;  // position i holds column i * s - shift
        int64_t lo = shift <= 0 ? 0 : std::min(length_, (shift + s - 1) / s);
        int64_t hi = w_.in[2] - 1 + shift < 0 ? lo : std::clamp((w_.in[2] - 1 + shift) / s + 1, lo, length_);
        std::fill(line, line + lo, pad);
        if (hi > lo) v.copy_strided(row + lo * s - shift, s, hi - lo, line + lo);
        std::fill(line + hi, line + length_, pad);
      }
    }
  }
  /// Where tap (kh, kw) of output row `j` of the strip begins.
  const float* tap(const float* filled, int64_t j, int64_t kh, int64_t kw) const {
    int64_t x = kw * w_.dilation[2];
    return filled + (j * w_.stride[1] + kh * w_.dilation[1]) * row_floats() + x % w_.stride[2] * length_ + x / w_.stride[2];
  }
  /// From a tap of one output row to that of the next.
  int64_t row_step() const { return w_.stride[1] * row_floats(); }
  /// Whether row kh of the window of output row oh lies in the image.
  bool row_inside(int64_t oh, int64_t kh) const {
    int64_t ih = oh * w_.stride[1] - w_.begin[1] + kh * w_.dilation[1];
    return ih >= 0 && ih < w_.in[1];
  }

 private:
  int64_t row_floats() const { return length_ * w_.stride[2]; }
  int64_t rows_of(int64_t n) const { return (n - 1) * w_.stride[1] + (w_.kernel[1] - 1) * w_.dilation[1] + 1; }

  Window w_;
  int64_t length_ = 0, strip_ = 1;
  bool used_[kMaxStride] = {};
};

}  // namespace msvm
