// f32 Conv over channels-last images, all sizes run-time values: tiles of pixels by output channels straight over the image. Images that
// lie otherwise are laid out strip by strip first; results that do are turned strip by strip.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "msvm/kernels/conv_end.h"
#include "msvm/kernels/conv_walk.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/gemm.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/site.h"

namespace msvm {
namespace {

constexpr int64_t kStripBytes = 512 << 10;   // of input and output: leaves room for weights in a 1 MiB L2
constexpr int64_t kWeightBytes = 256 << 10;  // of one block of channels and steps
constexpr double kChunkNs = 12'000;

// A window without spatial structure where pixels of x and y meet one to one.
bool pointwise(const Window& w) {
  for (int d = 0; d < w.rank; ++d)
    if (w.kernel[d] != 1 || w.stride[d] != 1 || w.begin[d] != 0 || w.in[d] != w.out[d]) return false;
  return true;
}

// Output pixels [p0, p1) in row-major order: whole rows of one plane, or part of a row.
struct Strip {
  int64_t p0, p1;
};
// Strips of about `pixels`, cut at planes; those longer than a row hold whole rows.
class Strips {
 public:
  Strips() = default;
  Strips(const Window& w, int64_t pixels) : width_(w.out[2]), height_(w.out[1]) {
    if (pixels >= width_) {
      rows_ = std::min(height_, ceil_div(pixels, width_));
      columns_ = width_;
    } else {
      columns_ = round_up(pixels, std::min<int64_t>(width_, 24));
    }
    row_parts_ = ceil_div(width_, columns_), plane_parts_ = ceil_div(height_, rows_);
    count_ = w.out[0] * plane_parts_ * row_parts_;
  }
  int64_t count() const { return count_; }
  int64_t most_pixels() const { return rows_ * std::min(columns_, width_); }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return std::min(columns_, width_); }
  Strip at(int64_t i) const {
    const int64_t part = i % row_parts_, rows = i / row_parts_ % plane_parts_, plane = i / row_parts_ / plane_parts_;
    const int64_t first = (plane * height_ + rows * rows_) * width_;
    if (row_parts_ > 1) return {first + part * columns_, first + std::min((part + 1) * columns_, width_)};
    return {first, (plane * height_ + std::min((rows + 1) * rows_, height_)) * width_};
  }

 private:
  int64_t width_ = 1, height_ = 1, rows_ = 1, columns_ = 1, row_parts_ = 1, plane_parts_ = 1, count_ = 0;
};

// What a strip reads of an image, laid out with channels side by side; the columns of its padding too, so that all tiles are even. Of an
// upsampled image only here each pixel stands several times.
class Staging {
 public:
  Staging(const Window& w, const std::array<int64_t, 3>& upsample, int64_t channels, const Strips& strips) : w_(w), upsample_(upsample), channels_(channels) {
    width_ = (strips.columns() - 1) * w.stride[2] + (w.kernel[2] - 1) * w.dilation[2] + 1;
    height_ = std::min(w.in[1], (strips.rows() - 1) * w.stride[1] + (w.kernel[1] - 1) * w.dilation[1] + 1);
    depth_ = std::min(w.in[0], (w.kernel[0] - 1) * w.dilation[0] + 1);
  }
  int64_t floats() const { return depth_ * height_ * width_ * channels_; }
  /// `from` is channel 0 of pixel 0 of an image with those strides.
  ConvImage fill(const ConvIsa& isa, const float* from, const ChannelsLast& x, int64_t channel_stride, const Strip& strip, float* to) const {
    const int64_t row0 = strip.p0 / w_.out[2], row1 = (strip.p1 - 1) / w_.out[2], od = row0 / w_.out[1];
    const int64_t h0 = row0 % w_.out[1] * w_.stride[1] - w_.begin[1], h1 = row1 % w_.out[1] * w_.stride[1] - w_.begin[1] + (w_.kernel[1] - 1) * w_.dilation[1] + 1;
    const int64_t d0 = od * w_.stride[0] - w_.begin[0], d1 = d0 + (w_.kernel[0] - 1) * w_.dilation[0] + 1;
    const int64_t columns = row0 == row1 ? strip.p1 - strip.p0 : w_.out[2];
    ConvImage image;
    image.low = {std::clamp<int64_t>(d0, 0, w_.in[0]), std::clamp<int64_t>(h0, 0, w_.in[1]), strip.p0 % w_.out[2] * w_.stride[2] - w_.begin[2]};
    image.high = {std::clamp<int64_t>(d1, 0, w_.in[0]), std::clamp<int64_t>(h1, 0, w_.in[1]), image.low[2] + (columns - 1) * w_.stride[2] + (w_.kernel[2] - 1) * w_.dilation[2] + 1};
    const int64_t width = image.high[2] - image.low[2];
    image.stride = {(image.high[1] - image.low[1]) * width * channels_, width * channels_, channels_};
    image.origin = to - image.low[0] * image.stride[0] - image.low[1] * image.stride[1] - image.low[2] * channels_;
    // Columns [first, last) are in the image.
    const int64_t first = std::clamp<int64_t>(0, image.low[2], image.high[2]), last = std::clamp<int64_t>(w_.in[2], first, image.high[2]);
    for (int64_t d = image.low[0]; d < image.high[0]; ++d)
      for (int64_t h = image.low[1]; h < image.high[1]; ++h) {
        if (upsample_[1] > 1 && h > image.low[1] && h % upsample_[1] != 0) {
          to = std::copy_n(to - width * channels_, width * channels_, to);  // the row before once more
          continue;
        }
        const float* row = from + d / upsample_[0] * x.stride[0] + h / upsample_[1] * x.stride[1] + first / upsample_[2] * x.stride[2];
        to = std::fill_n(to, (first - image.low[2]) * channels_, 0.0f);
        const int64_t n = last - first;
        if (upsample_[2] > 1) {
          repeat_pixels(row, x.stride[2], channel_stride, first % upsample_[2], n, to);
        } else if (x.stride[2] == 1 && channels_ == 3) {
          isa.tiles->interleave3(row, channel_stride, n, to);
        } else if (x.stride[2] == 1 || n <= 1) {
          isa.vector->transpose(row, channel_stride, channels_, n, to, channels_);
        } else {
          for (int64_t i = 0; i < n; ++i)
            for (int64_t c = 0; c < channels_; ++c) to[i * channels_ + c] = row[i * x.stride[2] + c * channel_stride];
        }
        to = std::fill_n(to + n * channels_, (image.high[2] - last) * channels_, 0.0f);
      }
    return image;
  }

 private:
  // `n` pixels, each upsample[2] times, of the first one `done` times fewer.
  void repeat_pixels(const float* from, int64_t stride, int64_t channel_stride, int64_t done, int64_t n, float* to) const {
    for (int64_t i = 0; i < n; ++i, to += channels_) {
      if (i > 0 && done > 0) {
        std::memcpy(to, to - channels_, static_cast<size_t>(channels_) * sizeof(float));
      } else if (channel_stride == 1) {
        std::memcpy(to, from, static_cast<size_t>(channels_) * sizeof(float));
      } else {
        for (int64_t c = 0; c < channels_; ++c) to[c] = from[c * channel_stride];
      }
      if (++done == upsample_[2]) done = 0, from += stride;
    }
  }

  const Window& w_;
  std::array<int64_t, 3> upsample_;
  int64_t channels_, width_ = 0, height_ = 0, depth_ = 0;
};

// from[pixel][channel] of the pixels [p0, p1) to where they belong.
void turn(const VectorKernels& v, const Window& w, const float* from, int64_t row, int64_t channels, const Strip& strip, const ChannelsLast& y, int64_t channel_stride, float* to) {
  for (int64_t p = strip.p0; p < strip.p1;) {
    const int64_t ow = p % w.out[2], oh = p / w.out[2] % w.out[1], od = p / w.out[2] / w.out[1];
    const bool even = y.even();
    const int64_t n = even ? strip.p1 - p : std::min(w.out[2] - ow, strip.p1 - p);
    float* out = even ? to + p * y.stride[2] : to + od * y.stride[0] + oh * y.stride[1] + ow * y.stride[2];
    if (y.stride[2] == 1) {
      v.transpose(from, row, n, channels, out, channel_stride);
    } else {
      for (int64_t i = 0; i < n; ++i)
        for (int64_t c = 0; c < channels; ++c) out[i * y.stride[2] + c * channel_stride] = from[i * row + c];
    }
    from += n * row;
    p += n;
  }
}

// `narrow`: at most four filters, see kNarrowConvKernels.
Status conv_direct(KernelCall& call, const ConvIsa& isa, bool narrow) {
  const TensorMeta &x_meta = *call.inputs[0], &y_meta = *call.outputs[0];
  const TensorMeta* bias = input_or_null(call, 2);
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv(call, x_meta, *call.inputs[1], bias, y_meta, s));
  Window w;
  if (!as_three_axes(s.window, w)) return unsupported("Conv: more than three spatial axes");
  const int64_t channels = s.group_in(), filters = s.group_out(), k = channels * w.taps();
  if (s.batch == 0 || filters == 0 || w.out_size() == 0) return {};
  ChannelsLast x = as_channels_last(x_meta), y = as_channels_last(y_meta);
  const bool staged = s.upsampled || !is_channels_last(x_meta), turned = !is_channels_last(y_meta);
  const int64_t x_channel = is_channels_last(x_meta) ? 1 : x_meta.strides[1], y_channel = turned ? y_meta.strides[1] : 1;
  ConvEnd conv_end;
  MSVM_RETURN_IF_ERROR(conv_end.prepare(call, isa, turned));
  if (pointwise(w) && !s.upsampled && x.even() && y.even()) {
    // Pixels in one row; images too where they follow without a gap.
    int64_t pixels = w.in_size();
    if (s.batch > 1 && x.image_stride == pixels * x.stride[2] && y.image_stride == pixels * y.stride[2]) pixels *= s.batch, s.batch = 1;
    w.in = w.out = {1, 1, pixels};
    x.size = y.size = {1, 1, pixels};
  }
  MSVM_ASSIGN_OR_RETURN(const float* weights, dense_input<float>(call, *call.inputs[1]));
  const int64_t group_size = narrow ? filters * k : conv_panels_size(k, filters);
  MSVM_ASSIGN_OR_RETURN(const float* packed, packed_input(call, 1, narrow ? kKeyConvRows : kKeyConvPanels, group_size * s.groups, [&](float* to) {
    for (int64_t m = 0; narrow && m < s.out_channels; ++m)
      for (int64_t tap = 0; tap < w.taps(); ++tap)
        for (int64_t c = 0; c < channels; ++c) *to++ = weights[(m * channels + c) * w.taps() + tap];
    for (int64_t g = 0; !narrow && g < s.groups; ++g) pack_conv_panels(*isa.vector, weights + g * filters * k, filters, channels, w.taps(), to + g * group_size);
  }));
  const float* b = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(b, dense_input<float>(call, *bias));
  }
  MSVM_ASSIGN_OR_RETURN(float* zeros, scratch_array<float>(call.memory, w.kernel[2] * channels + 16));
  std::memset(zeros, 0, static_cast<size_t>(w.kernel[2] * channels + 16) * sizeof(float));

  const float* const x_data = x.data ? reinterpret_cast<const float*>(x.data) : zeros;  // an empty image may have no memory

  // Chunks: strips of pixels, blocks of output channels where weights outweigh the images.
  const int64_t pixels = w.out_size(), padded = round_up(filters, 8);
  const double segments = static_cast<double>(w.dilation[2] == 1 && (staged || x.stride[2] == channels) ? w.kernel[0] * w.kernel[1] : w.taps());
  const double pixel_ns = conv_pixel_work(filters, static_cast<double>(k), segments) * isa.ns_per_mac + static_cast<double>(filters) * conv_end.ns_per_element();
  const double total_ns = pixel_ns * static_cast<double>(pixels * s.batch * s.groups);
  const int64_t wanted = conv_chunks(total_ns);
  const int64_t split = ceil_div(wanted, s.batch * s.groups);
  const int64_t pixel_bytes = 4 * (channels * w.in_size() / pixels + filters + 1);
  int64_t parts = std::min(pixels, ceil_div(pixels * pixel_bytes, kStripBytes)), channel_blocks = 1;
  if (k * padded > pixels * (pixel_bytes / 4)) channel_blocks = std::min(split, ceil_div(filters, 64));
  else parts = std::max(parts, std::min(split, ceil_div(pixels, 24)));
  const ConvBlock first_block = next_conv_block(isa, 0, filters);
  const int64_t tile_pixels = first_block.tiles->most_rows[first_block.vectors];
  const int64_t strip_pixels = round_up(ceil_div(pixels, parts), std::min<int64_t>(pixels, tile_pixels)), block = round_up(ceil_div(filters, channel_blocks), kConvPanel);
  const Strips cut = staged ? Strips(w, strip_pixels) : Strips();
  std::array<int64_t, 3> upsample{1, 1, 1};
  for (int d = 0; d < s.window.rank && s.upsampled; ++d) upsample[static_cast<size_t>(3 - s.window.rank + d)] = s.upsample[static_cast<size_t>(d)];
  const Staging staging(w, upsample, channels, cut);
  const int64_t strips = staged ? cut.count() : ceil_div(pixels, strip_pixels);
  channel_blocks = ceil_div(filters, block);
  const int64_t chunks = s.batch * s.groups * strips * channel_blocks;
  const double chunk_ns = total_ns / static_cast<double>(chunks);
  const bool rows_apart = !turned && !y.even();

  // Of a thread: segments, pointers, the strip of the image, a block of the result.
  const int64_t segment_bytes = round_up(w.taps() * static_cast<int64_t>(sizeof(ConvSegment)), 64), pointer_bytes = round_up(w.taps() * kConvPointerRows * 8, 64);
  const int64_t staged_bytes = staged ? round_up(staging.floats() * 4, 64) : 0, most_block = 4 * 16;
  const int64_t turned_bytes = turned ? (staged ? cut.most_pixels() : strip_pixels) * most_block * 4 : 0;
  const int64_t fixed_bytes = segment_bytes + pointer_bytes + staged_bytes + round_up(turned_bytes, 64);
  MSVM_RETURN_IF_ERROR(parallel_with_scratch(call, chunks, std::max<int64_t>(1, static_cast<int64_t>(kChunkNs / chunk_ns)), fixed_bytes + conv_end.scratch_bytes(), [&](int64_t begin, int64_t end, std::byte* scratch) {
    const ConvWalk::Memory memory = {reinterpret_cast<ConvSegment*>(scratch), reinterpret_cast<const float**>(scratch + segment_bytes), zeros};
    float* const staged_at = reinterpret_cast<float*>(scratch + segment_bytes + pointer_bytes);
    float* const turned_at = reinterpret_cast<float*>(scratch + segment_bytes + pointer_bytes + staged_bytes);
    std::byte* const end_at = scratch + fixed_bytes;
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      int64_t rest = chunk;
      const int64_t channel_block = rest % channel_blocks;
      rest /= channel_blocks;
      const int64_t part = rest % strips;
      const Strip strip = staged ? cut.at(part) : Strip{part * strip_pixels, std::min((part + 1) * strip_pixels, pixels)};
      rest /= strips;
      const int64_t g = rest % s.groups, n = rest / s.groups;
      ConvImage image;
      image.origin = x_data + n * x.image_stride + g * channels * x_channel;
      image.stride = x.stride;
      std::copy(w.in.begin(), w.in.begin() + 3, image.high.begin());
      if (staged) image = staging.fill(isa, image.origin, x, x_channel, strip, staged_at);
      ConvWalk walk(w, channels, image);
      float* out = reinterpret_cast<float*>(y.data) + n * y.image_stride + g * filters * y_channel;
      const int64_t last = std::min(filters, (channel_block + 1) * block);
      for (int64_t m = channel_block * block; m < last;) {
        const ConvBlock cb = narrow ? ConvBlock{isa.narrow, static_cast<int>(filters), 0, filters} : next_conv_block(isa, m, last);
        const int64_t most_steps = narrow ? k + 1 : kWeightBytes / 4 / (cb.vectors * cb.tiles->width);
        const int64_t steps = ceil_div(k, std::max<int64_t>(1, ceil_div(k, most_steps + most_steps / 4)));
        int64_t k0 = 0;
        do {
          const int64_t k1 = std::min(k0 + steps, k);
          ConvTile tile;
          tile.b = packed + g * group_size + m * k;
          tile.b_panel = narrow ? k : k * kConvPanel;
          tile.c_row = turned ? most_block : y.stride[2];
          tile.cols = cb.count;
          tile.accumulate = k0 > 0;
          if (k1 == k) {
            tile.bias = b ? b + g * filters + m : nullptr;
            tile.activation = conv_end.activation();
            tile.residual_row = tile.c_row;
          }
          walk.run(*cb.tiles, cb.vectors, tile, strip.p0, strip.p1, k0, k1, rows_apart, memory, [&](int64_t p, ConvTile& t) {
            if (turned) {
              t.c = turned_at + (p - strip.p0) * most_block;
            } else if (!rows_apart) {
              t.c = out + p * y.stride[2] + m;
            } else {
              const int64_t ow = p % w.out[2], oh = p / w.out[2] % w.out[1], od = p / w.out[2] / w.out[1];
              t.c = out + od * y.stride[0] + oh * y.stride[1] + ow * y.stride[2] + m;
            }
            if (k1 == k) t.residual = conv_end.residual(t.c);
          });
          k0 = k1;
        } while (k0 < k);
        if (turned) conv_end.activate(turned_at, most_block, strip.p1 - strip.p0, cb.count);
        if (turned) turn(*isa.vector, w, turned_at, most_block, cb.count, strip, y, y_channel, out + m * y_channel);
        m += cb.count;
      }
      if (!turned) conv_end.finish(y, w, n, strip.p0, strip.p1, g * filters + channel_block * block, g * filters + last, end_at);
    }
  }));
  return conv_end.run_behind(call, isa);
}

template <Isa kIsa>
Status fast_conv(KernelCall& call) {
  return conv_direct(call, conv_isa(kIsa), false);
}

template <Isa kIsa>
Status narrow_conv(KernelCall& call) {
  return conv_direct(call, conv_isa(kIsa), true);
}

constexpr int64_t kMostNarrow = 4;

bool nhwc_fits(const KernelCall& call) { return conv_window_fits(call) && is_channels_last(*call.inputs[0]) && is_channels_last(*call.outputs[0]); }
bool nhwc_first_fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  // Conv between row-major images has kernels of its own.
  return x.rank <= 5 && conv_window_fits(call) && !(is_channels_last(x) && is_channels_last(y)) && (call.op.name != "Conv" || is_channels_last(x) || is_channels_last(y));
}
bool nhwc_upsampled_fits(const KernelCall& call) {
  return call.inputs[0]->rank <= 5 && conv_window_fits(call, true);
}
bool nhwc_pointwise_fits(const KernelCall& call) {
  return one_tap(call) && nhwc_fits(call);
}

double nhwc_work(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1], &y = *call.outputs[0];
  if (w.shape[0] == 0) return 0;
  const int64_t groups = std::max<int64_t>(1, call.attrs.get_int("group", 1)), filters = std::max<int64_t>(1, w.shape[0] / groups);
  double taps = 1;
  for (int d = 2; d < w.rank; ++d) taps *= static_cast<double>(w.shape[d]);
  const int last = w.rank - 1;
  const bool joined = groups == 1 && (!is_channels_last(x) || x.strides[last] == x.shape[1]) && (call.attrs.get_ints("dilations").empty() || call.attrs.get_ints("dilations").back() == 1);
  const double segments = joined ? taps / static_cast<double>(std::max<int64_t>(1, w.shape[last])) : taps;
  const double pixels = static_cast<double>(y.elements()) / static_cast<double>(w.shape[0]);
  return pixels * static_cast<double>(groups) * conv_pixel_work(filters, taps * static_cast<double>(w.shape[1]), segments);
}

bool nhwc_narrow_fits(const KernelCall& call) {
  const TensorMeta& w = *call.inputs[1];
  return nhwc_fits(call) && call.attrs.get_int("group", 1) == 1 && w.shape[0] <= kMostNarrow;
}
// In multiply-adds of full vectors: parts of vectors count whole, and a sum of lanes costs as much as about six.
double nhwc_narrow_work(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1];
  const int last = w.rank - 1;
  double rows = 1, run = static_cast<double>(w.shape[1]);
  for (int d = 2; d < last; ++d) rows *= static_cast<double>(w.shape[d]);
  const bool joined = x.strides[last] == x.shape[1];
  (joined ? run : rows) *= static_cast<double>(w.shape[last]);
  return static_cast<double>(call.outputs[0]->elements()) * 16 * (rows * (std::ceil(run / 16) + 2.5) + 6);
}

// Laying out an element costs as much as about eight multiply-adds.
double nhwc_first_work(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  return nhwc_work(call) + 8 * static_cast<double>((is_channels_last(x) ? 0 : x.elements()) + (is_channels_last(y) ? 0 : y.elements()));
}

double nhwc_upsampled_work(const KernelCall& call) { return nhwc_first_work(call) + 2 * static_cast<double>(call.outputs[0]->elements()); }

}  // namespace

void add_conv_direct_kernels(KernelList& list) {
  add_conv_kernel(list, "avx512_conv_f32_nhwc_pointwise", "avx512_fused_conv_f32_nhwc_pointwise", {.run = fast_conv<Isa::kAvx512>, .isa = Isa::kAvx512, .packed_inputs = 0b10, .accepts = nhwc_pointwise_fits, .work = nhwc_work, .default_ns_per_work = 0.0178, .default_overhead_ns = 300});
  add_conv_kernel(list, "avx512_conv_f32_nhwc", "avx512_fused_conv_f32_nhwc", {.run = fast_conv<Isa::kAvx512>, .isa = Isa::kAvx512, .packed_inputs = 0b10, .accepts = nhwc_fits, .work = nhwc_work, .default_ns_per_work = 0.018, .default_overhead_ns = 400});
  add_conv_kernel(list, "avx512_conv_f32_nhwc_first", "avx512_fused_conv_f32_nhwc_first", {.run = fast_conv<Isa::kAvx512>, .isa = Isa::kAvx512, .packed_inputs = 0b10, .accepts = nhwc_first_fits, .work = nhwc_first_work, .default_ns_per_work = 0.018, .default_overhead_ns = 500});
  add_conv_kernel(list, "avx512_conv_f32_nhwc_narrow", "avx512_fused_conv_f32_nhwc_narrow", {.run = narrow_conv<Isa::kAvx512>, .isa = Isa::kAvx512, .strict_order = false, .packed_inputs = 0b10, .accepts = nhwc_narrow_fits, .work = nhwc_narrow_work, .default_ns_per_work = 0.024, .default_overhead_ns = 400});
  add_conv_kernel(list, "avx2_conv_f32_nhwc_pointwise", "avx2_fused_conv_f32_nhwc_pointwise", {.run = fast_conv<Isa::kAvx2>, .isa = Isa::kAvx2, .packed_inputs = 0b10, .accepts = nhwc_pointwise_fits, .work = nhwc_work, .default_ns_per_work = 0.0187, .default_overhead_ns = 300});
  add_conv_kernel(list, "avx2_conv_f32_nhwc", "avx2_fused_conv_f32_nhwc", {.run = fast_conv<Isa::kAvx2>, .isa = Isa::kAvx2, .packed_inputs = 0b10, .accepts = nhwc_fits, .work = nhwc_work, .default_ns_per_work = 0.019, .default_overhead_ns = 400});
  add_conv_kernel(list, "avx2_conv_f32_nhwc_first", "avx2_fused_conv_f32_nhwc_first", {.run = fast_conv<Isa::kAvx2>, .isa = Isa::kAvx2, .packed_inputs = 0b10, .accepts = nhwc_first_fits, .work = nhwc_first_work, .default_ns_per_work = 0.019, .default_overhead_ns = 500});
  add_conv_kernel(list, "avx2_conv_f32_nhwc_narrow", "avx2_fused_conv_f32_nhwc_narrow", {.run = narrow_conv<Isa::kAvx2>, .isa = Isa::kAvx2, .strict_order = false, .packed_inputs = 0b10, .accepts = nhwc_narrow_fits, .work = nhwc_narrow_work, .default_ns_per_work = 0.025, .default_overhead_ns = 400});
  KernelInfo upsampled{.op = "msvm.Conv", .dtypes = bit(DType::kF32), .packed_inputs = 0b10, .accepts = nhwc_upsampled_fits, .work = nhwc_upsampled_work, .default_overhead_ns = 500};
  upsampled.name = "avx512_fused_conv_f32_nhwc_upsampled", upsampled.run = fast_conv<Isa::kAvx512>, upsampled.isa = Isa::kAvx512, upsampled.default_ns_per_work = 0.018;
  list.push_back(upsampled);
  upsampled.name = "avx2_fused_conv_f32_nhwc_upsampled", upsampled.run = fast_conv<Isa::kAvx2>, upsampled.isa = Isa::kAvx2, upsampled.default_ns_per_work = 0.019;
  list.push_back(upsampled);
}

}  // namespace msvm
