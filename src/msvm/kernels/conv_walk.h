// How the pixels of a result meet an image: tiles within a row read at even steps, tiles at borders through pointers.
#pragma once
#include <algorithm>
#include <array>

#include "msvm/kernels/conv_tiles.h"
#include "msvm/kernels/window.h"

namespace msvm {

/// Part of an image with channels side by side. Indices outside [low, high) read as zero; `origin` is where index 0 would stand.
struct ConvImage {
  const float* origin = nullptr;
  std::array<int64_t, 3> stride{}, low{}, high{};
};

/// Walks tiles over a run of output pixels. `w` has three axes.
class ConvWalk {
 public:
  /// `channels` are read side by side from each tap; k = tap * channels + channel.
  ConvWalk(const Window& w, int64_t channels, const ConvImage& image) : w_(w), channels_(channels), image_(image) {
    joined_ = w.dilation[2] == 1 && image.stride[2] == channels;
    const int64_t extent = (w.kernel[2] - 1) * w.dilation[2] + 1;
    // Columns whose taps all are inside.
    const int64_t from = image.low[2] + w.begin[2], until = image.high[2] - extent + w.begin[2];
    first_ = from <= 0 ? 0 : (from + w.stride[2] - 1) / w.stride[2];
    last_ = until < 0 ? 0 : until / w.stride[2] + 1;
    last_ = std::min(last_, w.out[2]);
  }
  static int64_t segments_for(const Window& w) { return w.taps(); }

  struct Memory {
    ConvSegment* segments;    // [taps]
    const float** pointers;   // [taps][kConvPointerRows]
    const float* zeros;       // kernel width * channels of them
  };

  /// The pixels [p, end) in tiles; `tile` has what doesn't change from tile to tile, c (and residual) of pixel `p`. Steps [k0, k1).
  /// With `rows_apart` no tile reaches beyond a row: place(row's first pixel) leads to c and residual.
  template <class Place>
  void run(const ConvKernels& kernels, int vectors, ConvTile& tile, int64_t p, int64_t end, int64_t k0, int64_t k1, bool rows_apart, const Memory& memory, Place&& place) {
    const int most = kernels.most_rows[vectors], most_pointers = std::min(most, kConvPointerRows);
    int64_t ow = p % w_.out[2], oh = p / w_.out[2] % w_.out[1], od = p / w_.out[2] / w_.out[1];
    bool built = false;
    while (p < end) {
      const int64_t row_left = w_.out[2] - ow;
      const int64_t run = ow >= first_ ? std::max<int64_t>(0, std::min(last_ - ow, end - p)) : 0;
      int64_t n;
      place(p, tile);
      if (run >= most_pointers || (run > 0 && run == end - p)) {
        n = std::min<int64_t>(most, run);
        if (!built) tile.count = strided_segments(od, oh, k0, k1, memory.segments), built = true;
        tile.segments = memory.segments;
        tile.a = image_.origin + base(od, oh, ow);
        tile.a_row = w_.stride[2] * image_.stride[2];
        kernels.strided(tile, static_cast<int>(n), vectors);
      } else {
        n = std::min<int64_t>(most_pointers, rows_apart ? std::min(row_left, end - p) : end - p);
        tile.count = pointer_segments(od, oh, ow, static_cast<int>(n), k0, k1, memory);
        tile.segments = memory.segments;
        tile.rows = memory.pointers;
        kernels.pointers(tile, static_cast<int>(n), vectors);
        built = false;
      }
      p += n;
      for (ow += n; ow >= w_.out[2]; built = false) {
        ow -= w_.out[2];
        if (++oh == w_.out[1]) oh = 0, ++od;
      }
    }
  }

 private:
  int64_t base(int64_t od, int64_t oh, int64_t ow) const {
    return (od * w_.stride[0] - w_.begin[0]) * image_.stride[0] + (oh * w_.stride[1] - w_.begin[1]) * image_.stride[1] + (ow * w_.stride[2] - w_.begin[2]) * image_.stride[2];
  }
  bool inside(size_t d, int64_t o, int64_t k) const {
    const int64_t i = o * w_.stride[d] - w_.begin[d] + k * w_.dilation[d];
    return i >= image_.low[d] && i < image_.high[d];
  }

  int64_t strided_segments(int64_t od, int64_t oh, int64_t k0, int64_t k1, ConvSegment* to) const {
    int64_t count = 0;
    const int64_t run = joined_ ? w_.kernel[2] * channels_ : channels_;
    for (int64_t kd = 0; kd < w_.kernel[0]; ++kd) {
      if (!inside(0, od, kd)) continue;
      for (int64_t kh = 0; kh < w_.kernel[1]; ++kh) {
        if (!inside(1, oh, kh)) continue;
        int64_t a = kd * w_.dilation[0] * image_.stride[0] + kh * w_.dilation[1] * image_.stride[1];
        int64_t k = (kd * w_.kernel[1] + kh) * w_.kernel[2] * channels_;
        for (int64_t kw = 0; kw < (joined_ ? 1 : w_.kernel[2]); ++kw, a += w_.dilation[2] * image_.stride[2], k += channels_) {
          const int64_t from = std::max(k, k0), until = std::min(k + run, k1);
          if (from < until) to[count++] = {a + from - k, from, until - from};
        }
      }
    }
    return count;
  }

  int64_t pointer_segments(int64_t od, int64_t oh, int64_t ow, int n, int64_t k0, int64_t k1, const Memory& memory) const {
    struct Pixel {
      int64_t od, oh, ow;
      const float* base;
    } pixel[kConvPointerRows];
    bool all_wide = true;
    for (int i = 0; i < n; ++i) {
      pixel[i] = {od, oh, ow, image_.origin + base(od, oh, ow)};
      all_wide = all_wide && ow >= first_ && ow < last_;
      if (++ow == w_.out[2]) {
        ow = 0;
        if (++oh == w_.out[1]) oh = 0, ++od;
      }
    }
    const bool joined = joined_ && all_wide;
    const int64_t run = joined ? w_.kernel[2] * channels_ : channels_;
    int64_t count = 0;
    const float** to = memory.pointers;
    for (int64_t kd = 0; kd < w_.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < w_.kernel[1]; ++kh) {
        bool row_inside[kConvPointerRows], any = false;
        for (int i = 0; i < n; ++i) {
          row_inside[i] = inside(0, pixel[i].od, kd) && inside(1, pixel[i].oh, kh);
          any = any || row_inside[i];
        }
        if (!any) continue;
        const int64_t row = kd * w_.dilation[0] * image_.stride[0] + kh * w_.dilation[1] * image_.stride[1];
        int64_t k = (kd * w_.kernel[1] + kh) * w_.kernel[2] * channels_;
        for (int64_t kw = 0; kw < (joined ? 1 : w_.kernel[2]); ++kw, k += channels_) {
          const int64_t from = std::max(k, k0), until = std::min(k + run, k1);
          if (from >= until) continue;
          const int64_t offset = row + kw * w_.dilation[2] * image_.stride[2] + from - k;
          for (int i = 0; i < n; ++i) to[i] = row_inside[i] && (all_wide || inside(2, pixel[i].ow, kw)) ? pixel[i].base + offset : memory.zeros;
          to += n;
          memory.segments[count++] = {0, from, until - from};
        }
      }
    return count;
  }

  const Window& w_;
  int64_t channels_;
  ConvImage image_;
  bool joined_ = false;
  int64_t first_ = 0, last_ = 0;
};

}  // namespace msvm
