// f32 depthwise Conv over channels-last images: vectors along the channels, blocks of eight pixels, groups of rows while what they
// share is in L1.
#include <algorithm>

#include "msvm/kernels/conv_end.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/gemm.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/site.h"

namespace msvm {
namespace {

constexpr double kNsPerVectorTap = 0.32;

// Where pixels lie: at(d, h, w) of one image's.
struct Pixels {
  const float* data = nullptr;
  int64_t stride[3] = {};
  int64_t origin = 0;  // floats from (0, 0, 0), which needn't be there, to data
  const float* at(int64_t d, int64_t h, int64_t w) const { return data + (d * stride[0] + h * stride[1] + w * stride[2] - origin); }
};

constexpr int64_t kLine = 16;  // floats of a cache line

struct Depthwise {
  Window w;
  ChannelsLast x, y;
  const float* weights;  // [tap][padded channels]
  int64_t padded;
  int64_t inside_first, inside_last;  // columns whose taps all lie in the image
  const ConvKernels* tiles;
  bool joined;  // rows of taps side by side, of a width that tiles know
  bool packed;  // joined, from a copy of what a group of rows reads

  // Rows of a group read rows of the image in common, from L1.
  static constexpr int64_t kMostRows = 4;

  // Taps of the row (od, oh), columns of the window [kw0, kw1).
  int64_t list_taps(const Pixels& from, int64_t row, int64_t kw0, int64_t kw1, DepthwiseTap* to) const {
    int64_t d0, d1, h0, h1, count = 0;
    w.inside(0, row / w.out[1], d0, d1);
    w.inside(1, row % w.out[1], h0, h1);
    for (int64_t kd = d0; kd < d1; ++kd)
      for (int64_t kh = h0; kh < h1; ++kh)
        for (int64_t kw = kw0; kw < kw1; ++kw)
          to[count++] = {kd * w.dilation[0] * from.stride[0] + kh * w.dilation[1] * from.stride[1] + kw * w.dilation[2] * from.stride[2], ((kd * w.kernel[1] + kh) * w.kernel[2] + kw) * padded};
    return count;
  }
  // The first tap of (row, ow), also where the image ends before it.
  const float* x_at(const Pixels& from, int64_t row, int64_t ow) const {
    return from.at(row / w.out[1] * w.stride[0] - w.begin[0], row % w.out[1] * w.stride[1] - w.begin[1], ow * w.stride[2] - w.begin[2]);
  }
  float* y_at(int64_t n, int64_t row, int64_t ow) const {
    return reinterpret_cast<float*>(y.data) + n * y.image_stride + row / w.out[1] * y.stride[0] + row % w.out[1] * y.stride[1] + ow * y.stride[2];
  }

  // Outputs of image n: columns [begin, end) of the rows [first, last), channels from c on.
  struct Part {
    int64_t n, first, last, begin, end, c;
  };
  // `sums` has what is the same for all; scratch: taps, and a copy where there is one.
  void run(const DepthwiseSums& sums, const ConvEnd& conv_end, const Part& part, std::byte* scratch) const {
    const Pixels image{reinterpret_cast<const float*>(x.data) + part.n * x.image_stride + part.c, {x.stride[0], x.stride[1], x.stride[2]}};
    DepthwiseTap* taps = reinterpret_cast<DepthwiseTap*>(scratch);
    if (packed) run_packed(sums, conv_end, part, image, taps, reinterpret_cast<float*>(scratch + tap_bytes()));
    else if (joined) run_rows(sums, conv_end, part, image, taps);
    else run_tiles(sums, conv_end, part, image, taps);
  }

  void run_rows(const DepthwiseSums& sums, const ConvEnd& conv_end, const Part& part, const Pixels& from, DepthwiseTap* taps) const {
    DepthwiseRow rows[kMostRows];
    DepthwiseRows block{sums};
    block.rows = rows, block.count = part.last - part.first;
    block.taps_wide = w.kernel[2], block.stride = w.stride[2];
    block.x_column = from.stride[2], block.w_column = padded;
    for (int64_t r = 0; r < block.count; ++r) {
      rows[r].taps = taps;
      rows[r].count = list_taps(from, part.first + r, 0, 1, taps);
      taps += rows[r].count;
    }
    for (int64_t ow = part.begin; ow < part.end; ow += kDepthwisePixels) {
      const int64_t column = ow * w.stride[2] - w.begin[2];
      block.pixels = std::min<int64_t>(kDepthwisePixels, part.end - ow);
      block.first = std::max<int64_t>(0, -column), block.last = w.in[2] - column;
      for (int64_t r = 0; r < block.count; ++r) {
        rows[r].x = x_at(from, part.first + r, ow);
        rows[r].y = y_at(part.n, part.first + r, ow) + part.c;
        rows[r].residual = conv_end.residual(rows[r].y);
      }
      tiles->depthwise_rows(block);
    }
  }

  // Where the pixels of a window fall into few sets of L1, they drive each other out before the next row reads them: what a group of
  // rows reads is copied to lines side by side.
  void run_packed(const DepthwiseSums& sums, const ConvEnd& conv_end, const Part& part, const Pixels& image, DepthwiseTap* taps, float* copy) const {
    int64_t top, bottom, left, right;
    range(1, part.first, part.last, top, bottom);
    for (int64_t c = 0; c < sums.channels; c += kLine) {
      DepthwiseSums some = sums;
      some.w += c, some.channels = std::min(kLine, sums.channels - c);
      if (some.bias) some.bias += c;
      for (int64_t ow = part.begin; ow < part.end; ow += packed_columns()) {
        Part piece = part;
        piece.c += c, piece.begin = ow, piece.end = std::min(part.end, ow + packed_columns());
        range(2, piece.begin, piece.end, left, right);
        const int64_t wide = right - left;
        for (int64_t h = top; h < bottom; ++h) tiles->gather_lines(image.at(0, h, left) + c, image.stride[2], wide, some.channels, copy + (h - top) * wide * kLine);
        run_rows(some, conv_end, piece, Pixels{copy, {0, wide * kLine, kLine}, (top * wide + left) * kLine}, taps);
      }
    }
  }
  // What the outputs [first, last) of an axis read.
  void range(int axis, int64_t first, int64_t last, int64_t& begin, int64_t& end) const {
    end = std::clamp<int64_t>((last - 1) * w.stride[axis] - w.begin[axis] + w.kernel[axis], 0, w.in[axis]);
    begin = std::clamp<int64_t>(first * w.stride[axis] - w.begin[axis], 0, end);
  }
  int64_t packed_columns() const { return 4 * kDepthwisePixels / w.stride[2]; }
  int64_t tap_bytes() const { return round_up((kMostRows + 1) * w.taps() * static_cast<int64_t>(sizeof(DepthwiseTap)), 64); }
  int64_t copy_bytes() const {
    return packed ? ((kMostRows - 1) * w.stride[1] + w.kernel[1]) * ((packed_columns() - 1) * w.stride[2] + w.kernel[2]) * kLine * static_cast<int64_t>(sizeof(float)) : 0;
  }
  // Whether what a row of outputs reads, and the row itself, has more lines in a set than L1 has ways (8 in all these processors' 64 sets).
  bool crowded() const {
    constexpr int64_t kSets = 64, kWays = 8;
    if (!joined || w.kernel[0] != 1 || w.out[0] != 1 || w.dilation[1] != 1 || x.stride[2] < 8 * kLine) return false;
    int lines[kSets] = {}, most = 0;
    for (int64_t kh = 0; kh < w.kernel[1]; ++kh)
      for (int64_t i = 0; i < (kDepthwisePixels - 1) * w.stride[2] + w.kernel[2]; ++i) most = std::max(most, ++lines[(kh * x.stride[1] + i * x.stride[2]) / kLine % kSets]);
    return most >= (w.kernel[2] > 3 ? kWays : 3 * kWays / 2);
  }

  void run_tiles(const DepthwiseSums& sums, const ConvEnd& conv_end, const Part& part, const Pixels& image, DepthwiseTap* taps) const {
    DepthwiseTile tile{sums};
    tile.x_row = w.stride[2] * x.stride[2];
    const int64_t group = part.last - part.first, whole = w.taps();
    DepthwiseTap* edge = taps + group * whole;
    int64_t counts[kMostRows];
    for (int64_t r = 0; r < group; ++r) counts[r] = list_taps(image, part.first + r, 0, w.kernel[2], taps + r * whole);
    for (int64_t ow = part.begin; ow < part.end;) {
      const bool inside = ow >= inside_first && ow < inside_last;
      const int64_t pixels = inside ? std::min<int64_t>({kDepthwisePixels, part.end - ow, inside_last - ow}) : 1;
      for (int64_t r = 0; r < group; ++r) {
        tile.taps = taps + r * whole, tile.count = counts[r];
        if (!inside) {
          int64_t kw0, kw1;
          w.inside(2, ow, kw0, kw1);
          tile.count = list_taps(image, part.first + r, kw0, kw1, edge);
          tile.taps = edge;
        }
        tile.x = x_at(image, part.first + r, ow);
        tile.y = y_at(part.n, part.first + r, ow) + part.c;
        tile.residual = conv_end.residual(tile.y);
        tiles->depthwise(tile, static_cast<int>(pixels));
      }
      ow += pixels;
    }
  }
};

// The same image in dense pixels of its channels.
ChannelsLast dense_pixels(const ChannelsLast& from, float* data) {
  ChannelsLast c = from;
  c.data = reinterpret_cast<std::byte*>(data);
  c.stride = {c.size[1] * c.size[2] * c.channels, c.size[2] * c.channels, c.channels};
  c.image_stride = c.size[0] * c.stride[0];
  return c;
}
// Of row r of all images.
int64_t row_offset(const ChannelsLast& c, int64_t r) {
  return r / c.size[1] / c.size[0] * c.image_stride + r / c.size[1] % c.size[0] * c.stride[0] + r % c.size[1] * c.stride[1];
}
void move_pixels(const VectorKernels& v, const float* from, int64_t pixel, int64_t channel, int64_t pixels, int64_t channels, float* to) {
  if (pixel == 1) return v.transpose(from, channel, channels, pixels, to, channels);
  for (int64_t i = 0; i < pixels; ++i)
    for (int64_t c = 0; c < channels; ++c) to[i * channels + c] = from[i * pixel + c * channel];
}

Status conv_depthwise(KernelCall& call, const ConvIsa& isa) {
  const TensorMeta* bias = input_or_null(call, 2);
  ConvShape s;
  const TensorMeta &x_meta = *call.inputs[0], &y_meta = *call.outputs[0];
  MSVM_RETURN_IF_ERROR(describe_conv(call, x_meta, *call.inputs[1], bias, y_meta, s));
  Depthwise job;
  Window& w = job.w;
  if (!as_three_axes(s.window, w) || s.group_in() != 1 || s.group_out() != 1) return internal_error("Conv: not depthwise");
  if (s.batch == 0 || s.out_channels == 0 || w.out_size() == 0) return {};
  const int64_t channels = s.out_channels, taps = w.taps();
  job.x = as_channels_last(x_meta), job.y = as_channels_last(y_meta);
  if (!job.x.data) job.x.data = reinterpret_cast<std::byte*>(job.y.data);  // an empty image may have no memory; nothing is read
  const bool moved = !is_channels_last(x_meta), turned = !is_channels_last(y_meta);
  const ChannelsLast x_there = job.x, y_there = job.y;
  if (moved) {
    MSVM_ASSIGN_OR_RETURN(float* dense, scratch_array<float>(call.memory, s.batch * channels * w.in_size()));
    job.x = dense_pixels(x_there, dense);
    const int64_t rows = s.batch * w.in[0] * w.in[1];
    call.workers.parallel_for(rows, grain_for(rows, static_cast<double>(channels * w.in[2]) * 0.3), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const float* from = reinterpret_cast<const float*>(x_there.data) + row_offset(x_there, r);
        move_pixels(*isa.vector, from, x_there.stride[2], x_meta.strides[1], w.in[2], channels, dense + r * w.in[2] * channels);
      }
    });
  }
  if (turned) {
    MSVM_ASSIGN_OR_RETURN(float* dense, scratch_array<float>(call.memory, s.batch * channels * w.out_size()));
    job.y = dense_pixels(y_there, dense);
  }
  job.padded = round_up(channels, kConvPanel);
  job.tiles = isa.tiles;
  ConvEnd conv_end;
  MSVM_RETURN_IF_ERROR(conv_end.prepare(call, isa, turned));
  MSVM_ASSIGN_OR_RETURN(const float* weights, dense_input<float>(call, *call.inputs[1]));
  MSVM_ASSIGN_OR_RETURN(job.weights, packed_input(call, 1, kKeyConvTaps, job.padded * taps, [&](float* to) {
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t c = 0; c < job.padded; ++c) *to++ = c < channels ? weights[c * taps + t] : 0.0f;
  }));
  const float* b = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(b, dense_input<float>(call, *bias));
  }
  const int64_t extent = (w.kernel[2] - 1) * w.dilation[2] + 1, until = w.in[2] - extent + w.begin[2];
  job.inside_first = w.begin[2] <= 0 ? 0 : ceil_div(w.begin[2], w.stride[2]);
  job.inside_last = std::min(w.out[2], until < 0 ? 0 : until / w.stride[2] + 1);

  job.joined = w.dilation[2] == 1 && w.stride[2] <= 2 && (w.kernel[2] == 3 || w.kernel[2] == 5 || w.kernel[2] == 7);
  job.packed = job.crowded();

  // Chunks: groups of rows, then columns, then channels.
  const int64_t rows = w.out[0] * w.out[1], vectors = ceil_div(channels, isa.tiles->width);
  const double pixel_ns = static_cast<double>(vectors * std::max<int64_t>(taps, 2)) * kNsPerVectorTap * isa.tiles->width / 16 + static_cast<double>(channels) * conv_end.ns_per_element();
  const double total_ns = pixel_ns * static_cast<double>(rows * w.out[2] * s.batch);
  const int64_t wanted = conv_chunks(total_ns);
  const int64_t group = std::clamp<int64_t>(ceil_div(rows * s.batch, wanted), 1, rows);
  const int64_t groups = ceil_div(rows, group);
  const int64_t column_parts = std::clamp<int64_t>(wanted / std::max<int64_t>(1, groups * s.batch), 1, ceil_div(w.out[2], 16));
  const int64_t columns = round_up(ceil_div(w.out[2], column_parts), kDepthwisePixels), parts = ceil_div(w.out[2], columns);
  const int64_t channel_parts = std::clamp<int64_t>(wanted / (groups * s.batch * parts), 1, ceil_div(channels, 64));
  const int64_t channel_part = round_up(ceil_div(channels, channel_parts), kConvPanel), blocks = ceil_div(channels, channel_part);
  const int64_t chunks = s.batch * groups * parts * blocks;
  const int64_t scratch_bytes = job.tap_bytes() + round_up(job.copy_bytes(), 64);
  MSVM_RETURN_IF_ERROR(parallel_with_scratch(call, chunks, grain_for(chunks, total_ns / static_cast<double>(chunks)), scratch_bytes + conv_end.scratch_bytes(), [&](int64_t begin, int64_t end, std::byte* scratch) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      int64_t rest = chunk;
      const int64_t c = rest % blocks * channel_part;
      rest /= blocks;
      const int64_t column = rest % parts * columns;
      rest /= parts;
      const int64_t row = rest % groups * group, n = rest / groups;
      DepthwiseSums sums;
      sums.y_row = sums.residual_row = job.y.stride[2];
      sums.w = job.weights + c;
      sums.channels = std::min(channel_part, channels - c);
      sums.bias = b ? b + c : nullptr;
      sums.activation = conv_end.activation();
      const int64_t row_end = std::min(row + group, rows), column_end = std::min(column + columns, w.out[2]);
      for (int64_t r = row; r < row_end; r += Depthwise::kMostRows) {
        const int64_t end_row = std::min(r + Depthwise::kMostRows, row_end);
        job.run(sums, conv_end, {n, r, end_row, column, column_end, c}, scratch);
        if (column == 0 && column_end == w.out[2]) {
          conv_end.finish(job.y, w, n, r * w.out[2], end_row * w.out[2], c, c + sums.channels, scratch + scratch_bytes);
        } else {
          for (int64_t q = r; q < end_row; ++q) conv_end.finish(job.y, w, n, q * w.out[2] + column, q * w.out[2] + column_end, c, c + sums.channels, scratch + scratch_bytes);
        }
      }
    }
  }));
  if (!turned) return {};
  const int64_t all_rows = s.batch * rows;
  call.workers.parallel_for(all_rows, grain_for(all_rows, static_cast<double>(channels * w.out[2]) * 0.3), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* to = reinterpret_cast<float*>(y_there.data) + row_offset(y_there, r);
      const float* from = reinterpret_cast<const float*>(job.y.data) + r * w.out[2] * channels;
      if (y_there.stride[2] == 1) {
        isa.vector->transpose(from, channels, w.out[2], channels, to, y_meta.strides[1]);
      } else {
        for (int64_t i = 0; i < w.out[2]; ++i)
          for (int64_t c = 0; c < channels; ++c) to[i * y_there.stride[2] + c * y_meta.strides[1]] = from[i * channels + c];
      }
    }
  });
  return conv_end.run_behind(call, isa);
}

template <Isa kIsa>
Status fast_depthwise(KernelCall& call) {
  return conv_depthwise(call, conv_isa(kIsa));
}

bool nhwc_depthwise_fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1];
  // Conv between row-major images has kernels of its own.
  const bool there = call.op.name == "Conv" ? is_channels_last(x) && is_channels_last(*call.outputs[0]) : x.rank <= 5;
  return there && conv_window_fits(call) && call.attrs.get_int("group", 1) == x.shape[1] && w.shape[0] == x.shape[1] && w.shape[1] == 1;
}

// Lanes that stay idle count; an element costs about three multiply-adds on its way through L2.
double nhwc_depthwise_work(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  const double moved = static_cast<double>((is_channels_last(x) ? 0 : x.elements()) + (is_channels_last(y) ? 0 : y.elements()));
  const double lanes = static_cast<double>(round_up(x.shape[1], 16)) / static_cast<double>(std::max<int64_t>(1, x.shape[1]));
  return conv_multiply_adds(call) * lanes + 15 * moved + 3 * static_cast<double>(call.inputs[0]->elements() + call.outputs[0]->elements());
}

}  // namespace

void add_conv_nhwc_depthwise_kernels(KernelList& list) {
  add_conv_kernel(list, "avx512_conv_f32_nhwc_depthwise", "avx512_fused_conv_f32_nhwc_depthwise", {.run = fast_depthwise<Isa::kAvx512>, .isa = Isa::kAvx512, .packed_inputs = 0b10, .accepts = nhwc_depthwise_fits, .work = nhwc_depthwise_work, .default_ns_per_work = 0.02, .default_overhead_ns = 300});
  add_conv_kernel(list, "avx2_conv_f32_nhwc_depthwise", "avx2_fused_conv_f32_nhwc_depthwise", {.run = fast_depthwise<Isa::kAvx2>, .isa = Isa::kAvx2, .packed_inputs = 0b10, .accepts = nhwc_depthwise_fits, .work = nhwc_depthwise_work, .default_ns_per_work = 0.021, .default_overhead_ns = 300});
}

}  // namespace msvm
