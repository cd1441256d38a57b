// f32 Conv over channels-last images, all sizes run-time values: tiles of pixels by output channels straight over the image.
#include <algorithm>
#include <cstring>

#include "msvm/kernels/conv_nhwc.h"
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

Status conv_direct(KernelCall& call, const ConvIsa& isa, const Epilogue& epilogue) {
  const TensorMeta* bias = input_or_null(call, 2);
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv(call, *call.inputs[0], *call.inputs[1], bias, *call.outputs[0], s));
  Window w;
  if (!as_three_axes(s.window, w)) return unsupported("Conv: more than three spatial axes");
  const int64_t channels = s.group_in(), filters = s.group_out(), k = channels * w.taps();
  if (s.batch == 0 || filters == 0 || w.out_size() == 0) return {};
  ChannelsLast x = as_channels_last(*call.inputs[0]), y = as_channels_last(*call.outputs[0]);
  if (pointwise(w) && x.even() && y.even()) {
    // Pixels in one row; images too where they follow without a gap.
    int64_t pixels = w.in_size();
    if (s.batch > 1 && x.image_stride == pixels * x.stride[2] && y.image_stride == pixels * y.stride[2]) pixels *= s.batch, s.batch = 1;
    w.in = w.out = {1, 1, pixels};
    x.size = y.size = {1, 1, pixels};
  }
  MSVM_ASSIGN_OR_RETURN(const float* weights, dense_input<float>(call, *call.inputs[1]));
  const int64_t group_size = conv_panels_size(k, filters);
  MSVM_ASSIGN_OR_RETURN(const float* packed, packed_input(call, 1, kKeyConvPanels, group_size * s.groups, [&](float* to) {
    for (int64_t g = 0; g < s.groups; ++g) pack_conv_panels(*isa.vector, weights + g * filters * k, filters, channels, w.taps(), to + g * group_size);
  }));
  const float* b = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(b, dense_input<float>(call, *bias));
  }
  MSVM_ASSIGN_OR_RETURN(float* zeros, scratch_array<float>(call.memory, w.kernel[2] * channels + 16));
  std::memset(zeros, 0, static_cast<size_t>(w.kernel[2] * channels + 16) * sizeof(float));

  // Chunks: strips of pixels, blocks of output channels where weights outweigh the images.
  const int64_t pixels = w.out_size(), padded = round_up(filters, 8);
  const double pixel_ns = static_cast<double>(std::max<int64_t>(k, 8) * padded) * isa.ns_per_mac;
  const double total_ns = pixel_ns * static_cast<double>(pixels * s.batch * s.groups);
  const int64_t wanted = static_cast<int64_t>(std::clamp(total_ns / kChunkNs, 1.0, 16.0));
  const int64_t split = ceil_div(wanted, s.batch * s.groups);
  const int64_t pixel_bytes = 4 * (channels * w.in_size() / pixels + filters + 1);
  int64_t strips = std::min(pixels, ceil_div(pixels * pixel_bytes, kStripBytes)), channel_blocks = 1;
  if (k * padded > pixels * (pixel_bytes / 4)) channel_blocks = std::min(split, ceil_div(filters, 64));
  else strips = std::max(strips, std::min(split, ceil_div(pixels, 24)));
  const int64_t strip = round_up(ceil_div(pixels, strips), std::min<int64_t>(pixels, 24)), block = round_up(ceil_div(filters, channel_blocks), kConvPanel);
  strips = ceil_div(pixels, strip), channel_blocks = ceil_div(filters, block);
  const int64_t chunks = s.batch * s.groups * strips * channel_blocks;
  const double chunk_ns = total_ns / static_cast<double>(chunks);
  const bool rows_apart = !y.even();
  const bool relu = epilogue.activation == Activation::kRelu, clip = epilogue.activation == Activation::kClip;

  const int64_t segment_bytes = round_up(w.taps() * static_cast<int64_t>(sizeof(ConvSegment)), 64), pointer_bytes = w.taps() * kConvPointerRows * 8;
  return parallel_with_scratch(call, chunks, std::max<int64_t>(1, static_cast<int64_t>(kChunkNs / chunk_ns)), segment_bytes + pointer_bytes, [&](int64_t begin, int64_t end, std::byte* scratch) {
    const ConvWalk::Memory memory = {reinterpret_cast<ConvSegment*>(scratch), reinterpret_cast<const float**>(scratch + segment_bytes), zeros};
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      int64_t rest = chunk;
      const int64_t channel_block = rest % channel_blocks;
      rest /= channel_blocks;
      const int64_t p0 = rest % strips * strip, p1 = std::min(p0 + strip, pixels);
      rest /= strips;
      const int64_t g = rest % s.groups, n = rest / s.groups;
      ConvImage image;
      image.origin = reinterpret_cast<const float*>(x.data) + n * x.image_stride + g * channels;
      image.stride = x.stride;
      std::copy(w.in.begin(), w.in.begin() + 3, image.high.begin());
      ConvWalk walk(w, channels, image);
      float* out = reinterpret_cast<float*>(y.data) + n * y.image_stride + g * filters;
      const int64_t last = std::min(filters, (channel_block + 1) * block);
      for (int64_t m = channel_block * block; m < last;) {
        const ConvBlock cb = next_conv_block(isa, m, last);
        const int64_t most_steps = kWeightBytes / 4 / (cb.vectors * cb.tiles->width);
        const int64_t steps = ceil_div(k, std::max<int64_t>(1, ceil_div(k, most_steps + most_steps / 4)));
        int64_t k0 = 0;
        do {
          const int64_t k1 = std::min(k0 + steps, k);
          ConvTile tile;
          tile.b = packed + g * group_size + m * k;
          tile.b_panel = k * kConvPanel;
          tile.c_row = y.stride[2];
          tile.cols = cb.count;
          tile.accumulate = k0 > 0;
          if (k1 == k) {
            tile.bias = b ? b + g * filters + m : nullptr;
            tile.bounded = relu || clip;
            tile.low = relu ? 0.0f : epilogue.alpha, tile.high = relu ? __builtin_inff() : epilogue.beta;
          }
          walk.run(*cb.tiles, cb.vectors, tile, p0, p1, k0, k1, rows_apart, memory, [&](int64_t p, ConvTile& t) {
            if (!rows_apart) {
              t.c = out + p * y.stride[2] + m;
              return;
            }
            const int64_t ow = p % w.out[2], oh = p / w.out[2] % w.out[1], od = p / w.out[2] / w.out[1];
            t.c = out + od * y.stride[0] + oh * y.stride[1] + ow * y.stride[2] + m;
          });
          k0 = k1;
        } while (k0 < k);
        m += cb.count;
      }
    }
  });
}

template <Isa kIsa>
Status fast_conv(KernelCall& call) {
  return conv_direct(call, conv_isa(kIsa), Epilogue{});
}

bool nhwc_fits(const KernelCall& call) { return is_channels_last(*call.inputs[0]) && is_channels_last(*call.outputs[0]); }
bool nhwc_pointwise_fits(const KernelCall& call) {
  const TensorMeta& w = *call.inputs[1];
  for (int d = 2; d < w.rank; ++d)
    if (w.shape[d] != 1) return false;
  for (int64_t s : call.attrs.get_ints("strides"))
    if (s != 1) return false;
  for (int64_t p : call.attrs.get_ints("pads"))
    if (p != 0) return false;
  return nhwc_fits(call);
}

double nhwc_work(const KernelCall& call) {
  const TensorMeta& w = *call.inputs[1];
  if (w.shape[0] == 0) return 0;
  const int64_t filters = std::max<int64_t>(1, w.shape[0] / std::max<int64_t>(1, call.attrs.get_int("group", 1)));
  double k = 1;
  for (int d = 1; d < w.rank; ++d) k *= static_cast<double>(w.shape[d]);
  // Lanes that stay idle, and what a tile costs beside its sum: about twelve steps.
  return conv_multiply_adds(call) * static_cast<double>(round_up(filters, 8)) / static_cast<double>(filters) * (1 + 12 / std::max(k, 1.0));
}

}  // namespace

void add_conv_direct_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_conv_f32_nhwc_pointwise", .op = "Conv", .run = fast_conv<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .accepts = nhwc_pointwise_fits, .work = nhwc_work, .default_ns_per_work = 0.0178, .default_overhead_ns = 300});
  list.push_back({.name = "avx512_conv_f32_nhwc", .op = "Conv", .run = fast_conv<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .accepts = nhwc_fits, .work = nhwc_work, .default_ns_per_work = 0.018, .default_overhead_ns = 400});
  list.push_back({.name = "avx2_conv_f32_nhwc_pointwise", .op = "Conv", .run = fast_conv<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .accepts = nhwc_pointwise_fits, .work = nhwc_work, .default_ns_per_work = 0.0187, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_conv_f32_nhwc", .op = "Conv", .run = fast_conv<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .accepts = nhwc_fits, .work = nhwc_work, .default_ns_per_work = 0.019, .default_overhead_ns = 400});
}

}  // namespace msvm
