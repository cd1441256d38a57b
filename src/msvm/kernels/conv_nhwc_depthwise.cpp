// f32 depthwise Conv over channels-last images: vectors along the channels, blocks of eight pixels, groups of rows while what they
// share is in L1.
#include <algorithm>

#include "msvm/kernels/conv_nhwc.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/gemm.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/site.h"

namespace msvm {
namespace {

constexpr double kNsPerVectorTap = 0.32, kChunkNs = 12'000;

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
  void run(DepthwiseTile& tile, int64_t n, int64_t first, int64_t last, int64_t begin, int64_t end, int64_t c, DepthwiseTap* taps) const {
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

Status conv_depthwise(KernelCall& call, const ConvIsa& isa, const Epilogue& epilogue) {
  const TensorMeta* bias = input_or_null(call, 2);
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv(call, *call.inputs[0], *call.inputs[1], bias, *call.outputs[0], s));
  Depthwise job;
  Window& w = job.w;
  if (!as_three_axes(s.window, w) || s.group_in() != 1 || s.group_out() != 1) return internal_error("Conv: not depthwise");
  if (s.batch == 0 || s.out_channels == 0 || w.out_size() == 0) return {};
  const int64_t channels = s.out_channels, taps = w.taps();
  job.x = as_channels_last(*call.inputs[0]), job.y = as_channels_last(*call.outputs[0]);
  job.padded = round_up(channels, kConvPanel);
  job.tiles = isa.tiles;
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
  const double pixel_ns = static_cast<double>(vectors * std::max<int64_t>(taps, 2)) * kNsPerVectorTap * isa.tiles->width / 16;
  const double total_ns = pixel_ns * static_cast<double>(rows * w.out[2] * s.batch);
  const int64_t wanted = static_cast<int64_t>(std::clamp(total_ns / kChunkNs, 1.0, 16.0));
  const int64_t group = std::clamp<int64_t>(ceil_div(rows * s.batch, wanted), 1, std::min<int64_t>(Depthwise::kMostRows, rows));
  const int64_t groups = ceil_div(rows, group);
  const int64_t column_parts = std::clamp<int64_t>(wanted / std::max<int64_t>(1, groups * s.batch), 1, ceil_div(w.out[2], 16));
  const int64_t columns = round_up(ceil_div(w.out[2], column_parts), kDepthwisePixels), parts = ceil_div(w.out[2], columns);
  const int64_t channel_parts = std::clamp<int64_t>(wanted / (groups * s.batch * parts), 1, ceil_div(channels, 64));
  const int64_t channel_part = round_up(ceil_div(channels, channel_parts), kConvPanel), blocks = ceil_div(channels, channel_part);
  const int64_t chunks = s.batch * groups * parts * blocks;
  const bool relu = epilogue.activation == Activation::kRelu, clip = epilogue.activation == Activation::kClip;
  return parallel_with_scratch(call, chunks, grain_for(chunks, total_ns / static_cast<double>(chunks)), (2 * Depthwise::kMostRows + 1) * taps * static_cast<int64_t>(sizeof(DepthwiseTap)), [&](int64_t begin, int64_t end, std::byte* scratch) {
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
      tile.low = relu ? 0.0f : clip ? epilogue.alpha : -__builtin_inff(), tile.high = clip ? epilogue.beta : __builtin_inff();
      job.run(tile, n, row, std::min(row + group, rows), column, std::min(column + columns, w.out[2]), c, reinterpret_cast<DepthwiseTap*>(scratch));
    }
  });
}

template <Isa kIsa>
Status fast_depthwise(KernelCall& call) {
  return conv_depthwise(call, conv_isa(kIsa), Epilogue{});
}

bool nhwc_depthwise_fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1];
  return is_channels_last(x) && is_channels_last(*call.outputs[0]) && call.attrs.get_int("group", 1) == x.shape[1] && w.shape[0] == x.shape[1] && w.shape[1] == 1;
}

// An element costs about three multiply-adds on its way through L2.
double nhwc_depthwise_work(const KernelCall& call) {
  return conv_multiply_adds(call) + 3 * static_cast<double>(call.inputs[0]->elements() + call.outputs[0]->elements());
}

}  // namespace

void add_conv_nhwc_depthwise_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_conv_f32_nhwc_depthwise", .op = "Conv", .run = fast_depthwise<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .accepts = nhwc_depthwise_fits, .work = nhwc_depthwise_work, .default_ns_per_work = 0.02, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_conv_f32_nhwc_depthwise", .op = "Conv", .run = fast_depthwise<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .accepts = nhwc_depthwise_fits, .work = nhwc_depthwise_work, .default_ns_per_work = 0.021, .default_overhead_ns = 300});
}

}  // namespace msvm
