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

struct Depthwise {
  Window w;
  ChannelsLast x, y;
  const float* weights;  // [tap][padded channels]
  int64_t padded;
  int64_t inside_first, inside_last;  // columns whose taps all lie in the image
  const ConvKernels* tiles;
  bool joined;  // rows of taps side by side, of a width that tiles know

  // Taps of the row (od, oh), columns of the window [kw0, kw1).
  int64_t list_taps(int64_t od, int64_t oh, int64_t kw0, int64_t kw1, DepthwiseTap* to) const {
    int64_t d0, d1, h0, h1, count = 0;
    w.inside(0, od, d0, d1);
    w.inside(1, oh, h0, h1);
    for (int64_t kd = d0; kd < d1; ++kd)
      for (int64_t kh = h0; kh < h1; ++kh)
        for (int64_t kw = kw0; kw < kw1; ++kw)
          to[count++] = {kd * w.dilation[0] * x.stride[0] + kh * w.dilation[1] * x.stride[1] + kw * w.dilation[2] * x.stride[2], ((kd * w.kernel[1] + kh) * w.kernel[2] + kw) * padded};
    return count;
  }
  // Columns [begin, end) of the rows [first, last); `tile` has what is the same for all.
  void run(DepthwiseTile& tile, const ConvEnd& conv_end, int64_t n, int64_t first, int64_t last, int64_t begin, int64_t end, int64_t c, DepthwiseTap* taps) const {
    // Row by row would read the rows of the window again from L2 for each of them.
    const int64_t group = last - first;
    const int64_t whole = w.taps();
    DepthwiseTap* edge = taps + group * whole;
    DepthwiseTap* row_taps = edge + whole;
    const int64_t lines = w.kernel[0] * w.kernel[1];
    int64_t counts[kMostRows], row_counts[kMostRows];
    for (int64_t r = 0; r < group; ++r) row_counts[r] = list_taps((first + r) / w.out[1], (first + r) % w.out[1], 0, 1, row_taps + r * lines);
    for (int64_t r = 0; r < group; ++r) counts[r] = list_taps((first + r) / w.out[1], (first + r) % w.out[1], 0, w.kernel[2], taps + r * whole);
    for (int64_t ow = begin; ow < end;) {
      const bool inside = ow >= inside_first && ow < inside_last;
      const int64_t pixels = inside ? std::min<int64_t>({kDepthwisePixels, end - ow, inside_last - ow}) : 1;
      for (int64_t r = 0; r < group; ++r) {
        const int64_t od = (first + r) / w.out[1], oh = (first + r) % w.out[1];
        tile.taps = taps + r * whole, tile.count = counts[r];
        if (!inside) {
          int64_t kw0, kw1;
          w.inside(2, ow, kw0, kw1);
          tile.count = list_taps(od, oh, kw0, kw1, edge);
          tile.taps = edge;
        }
        tile.x = reinterpret_cast<const float*>(x.data) + n * x.image_stride + (od * w.stride[0] - w.begin[0]) * x.stride[0] + (oh * w.stride[1] - w.begin[1]) * x.stride[1] + (ow * w.stride[2] - w.begin[2]) * x.stride[2] + c;
        tile.y = reinterpret_cast<float*>(y.data) + n * y.image_stride + od * y.stride[0] + oh * y.stride[1] + ow * y.stride[2] + c;
        tile.residual = conv_end.residual(tile.y);
        if (pixels == kDepthwisePixels && joined) {
          tile.taps = row_taps + r * lines, tile.count = row_counts[r];
          tiles->depthwise_rows(tile, w.kernel[2], w.stride[2]);
        } else {
          tiles->depthwise(tile, static_cast<int>(pixels));
        }
      }
      ow += pixels;
    }
  }
  static constexpr int64_t kMostRows = 4;
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
  const int64_t tap_bytes = round_up((2 * Depthwise::kMostRows + 1) * taps * static_cast<int64_t>(sizeof(DepthwiseTap)), 64);
  MSVM_RETURN_IF_ERROR(parallel_with_scratch(call, chunks, grain_for(chunks, total_ns / static_cast<double>(chunks)), tap_bytes + conv_end.scratch_bytes(), [&](int64_t begin, int64_t end, std::byte* scratch) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      int64_t rest = chunk;
      const int64_t c = rest % blocks * channel_part;
      rest /= blocks;
      const int64_t column = rest % parts * columns;
      rest /= parts;
      const int64_t row = rest % groups * group, n = rest / groups;
      DepthwiseTile tile;
      tile.x_row = w.stride[2] * job.x.stride[2], tile.y_row = job.y.stride[2];
      tile.x_column = job.x.stride[2], tile.w_column = job.padded;
      tile.w = job.weights + c;
      tile.channels = std::min(channel_part, channels - c);
      tile.bias = b ? b + c : nullptr;
      tile.clamp = conv_end.clamp(), tile.low = conv_end.low(), tile.high = conv_end.high();
      tile.residual_row = tile.y_row;
      const int64_t row_end = std::min(row + group, rows), column_end = std::min(column + columns, w.out[2]);
      for (int64_t r = row; r < row_end; r += Depthwise::kMostRows) {
        const int64_t end_row = std::min(r + Depthwise::kMostRows, row_end);
        job.run(tile, conv_end, n, r, end_row, column, column_end, c, reinterpret_cast<DepthwiseTap*>(scratch));
        if (column == 0 && column_end == w.out[2]) {
          conv_end.finish(job.y, w, n, r * w.out[2], end_row * w.out[2], c, c + tile.channels, scratch + tap_bytes);
        } else {
          for (int64_t q = r; q < end_row; ++q) conv_end.finish(job.y, w, n, q * w.out[2] + column, q * w.out[2] + column_end, c, c + tile.channels, scratch + tap_bytes);
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
