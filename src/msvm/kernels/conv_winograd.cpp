// f32 3x3 Conv of stride 1 over channels-last images by Winograd's F(4x4, 3x3): a quarter of the multiply-adds, sums in another order.
// Error: a few millionths of the largest |y|; conv_nhwc_test holds it to 1e-5 of that (of 1 if it is less).
#include <algorithm>
#include <cstring>

#include "msvm/kernels/conv_end.h"
#include "msvm/kernels/conv_winograd_tiles.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/gemm.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/site.h"

namespace msvm {
namespace {

constexpr int kKeyWinogradPanels = 230;
constexpr int64_t kMostPackedBytes = int64_t{5} << 19;  // four times the weights: only where that is little
constexpr int64_t kPatches = 24;                        // of a chunk: whole tiles of 6, 8 and 12 rows

// G g G^T of each filter and channel into 36 sets of panels.
void pack_winograd(const float* w, int64_t filters, int64_t channels, float* to) {
  constexpr double kG[6][3] = {{1.0 / 4, 0, 0}, {-1.0 / 6, -1.0 / 6, -1.0 / 6}, {-1.0 / 6, 1.0 / 6, -1.0 / 6}, {1.0 / 24, 1.0 / 12, 1.0 / 6}, {1.0 / 24, -1.0 / 12, 1.0 / 6}, {0, 0, 1}};
  const int64_t set = conv_panels_size(channels, filters);
  for (int64_t m = 0; m < filters; m += kConvPanel, to += channels * kConvPanel) {
    const int64_t lanes = std::min(kConvPanel, filters - m);
    for (int64_t c = 0; c < channels; ++c) {
      double g[9][kConvPanel] = {}, half[6][3][kConvPanel];
      for (int64_t f = 0; f < lanes; ++f)
        for (int i = 0; i < 9; ++i) g[i][f] = static_cast<double>(w[((m + f) * channels + c) * 9 + i]);
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 3; ++j)
          for (int64_t f = 0; f < kConvPanel; ++f) half[i][j][f] = kG[i][0] * g[j][f] + kG[i][1] * g[3 + j][f] + kG[i][2] * g[6 + j][f];
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
          for (int64_t f = 0; f < kConvPanel; ++f) to[(i * 6 + j) * set + c * kConvPanel + f] = static_cast<float>(half[i][0][f] * kG[j][0] + half[i][1][f] * kG[j][1] + half[i][2][f] * kG[j][2]);
    }
  }
}

Status conv_winograd(KernelCall& call, const ConvIsa& isa, const WinogradKernels& kernels) {
  const TensorMeta* bias = input_or_null(call, 2);
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv(call, *call.inputs[0], *call.inputs[1], bias, *call.outputs[0], s));
  Window w;
  if (!as_three_axes(s.window, w)) return internal_error("Conv: not two axes");
  const int64_t channels = s.in_channels, filters = s.out_channels;
  if (s.batch == 0 || filters == 0 || w.out_size() == 0) return {};
  const ChannelsLast x = as_channels_last(*call.inputs[0]), y = as_channels_last(*call.outputs[0]);
  ConvEnd conv_end;
  MSVM_RETURN_IF_ERROR(conv_end.prepare(call, isa, false));
  MSVM_ASSIGN_OR_RETURN(const float* weights, dense_input<float>(call, *call.inputs[1]));
  const int64_t set = conv_panels_size(channels, filters);
  MSVM_ASSIGN_OR_RETURN(const float* packed, packed_input(call, 1, kKeyWinogradPanels, set * kWinogradIn, [&](float* to) { pack_winograd(weights, filters, channels, to); }));
  const float* b = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(b, dense_input<float>(call, *bias));
  }
  MSVM_ASSIGN_OR_RETURN(float* zeros, scratch_array<float>(call.memory, channels + 16));
  std::memset(zeros, 0, static_cast<size_t>(channels + 16) * sizeof(float));
  const int64_t up_h = s.upsample[0], up_w = s.upsample[1];
  const int64_t across = ceil_div(w.out[2], 4), down = ceil_div(w.out[1], 4), patches = across * down;
  const int64_t least = ceil_div(patches, kPatches), strip = ceil_div(patches, least > 1 ? round_up(least, 2) : 1), strips = ceil_div(patches, strip);
  // With one strip the output channels are shared; each share transforms the input anew.
  const double total_ns = static_cast<double>(s.batch * patches * 36) * static_cast<double>(channels * round_up(filters, kConvPanel)) * isa.ns_per_mac;
  const int64_t shares = s.batch * strips == 1 && conv_chunks(total_ns) > 1 ? std::min<int64_t>(2, ceil_div(filters, 64)) : 1;
  const int64_t share = round_up(ceil_div(filters, shares), 64), parts = ceil_div(filters, share);
  const int64_t chunks = s.batch * strips * parts, row = 64;  // a block of channels has 64 at most
  const int64_t in_bytes = round_up(kWinogradIn * strip * channels * 4, 64), out_bytes = kWinogradIn * strip * row * 4;
  return parallel_with_scratch(call, chunks, grain_for(chunks, total_ns / static_cast<double>(chunks)), in_bytes + out_bytes + conv_end.scratch_bytes(), [&](int64_t begin, int64_t end, std::byte* scratch) {
    float* const turned = reinterpret_cast<float*>(scratch);
    float* const products = reinterpret_cast<float*>(scratch + in_bytes);
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t part = chunk % parts, t0 = chunk / parts % strips * strip, n = chunk / parts / strips, count = std::min(strip, patches - t0);
      if (count <= 0) continue;
      const float* image = reinterpret_cast<const float*>(x.data) + n * x.image_stride;
      for (int64_t t = 0; t < count; ++t) {
        const int64_t h0 = (t0 + t) / across * 4 - w.begin[1], w0 = (t0 + t) % across * 4 - w.begin[2];
        const float* pixels[kWinogradIn];
        for (int64_t i = 0; i < 6; ++i)
          for (int64_t j = 0; j < 6; ++j) {
            const int64_t ih = h0 + i, iw = w0 + j;
            pixels[i * 6 + j] = ih >= 0 && ih < w.in[1] && iw >= 0 && iw < w.in[2] ? image + ih / up_h * x.stride[1] + iw / up_w * x.stride[2] : zeros;
          }
        kernels.input(pixels, channels, turned + t * channels, strip * channels);
      }
      const int64_t last = std::min(filters, (part + 1) * share);
      float* out = reinterpret_cast<float*>(y.data) + n * y.image_stride;
      for (int64_t m = part * share; m < last;) {
        const ConvBlock cb = next_conv_block(isa, m, last);
        const int most = cb.tiles->most_rows[cb.vectors];
        const ConvSegment segment = {0, 0, channels};
        ConvTile tile;
        tile.segments = &segment, tile.count = 1;
        tile.a_row = channels, tile.c_row = row;
        tile.b_panel = channels * kConvPanel;
        tile.cols = cb.vectors * cb.tiles->width;
        for (int64_t i = 0; i < kWinogradIn; ++i) {
          tile.b = packed + i * set + m * channels;
          // Tiles of about equal height.
          for (int64_t t = 0, left = ceil_div(count, most); left > 0; --left) {
            const int64_t height = ceil_div(count - t, left);
            tile.a = turned + (i * strip + t) * channels;
            tile.c = products + (i * strip + t) * row;
            cb.tiles->strided(tile, static_cast<int>(height), cb.vectors);
            t += height;
          }
        }
        WinogradEnd finish;
        finish.bias = b ? b + m : nullptr;
        finish.activation = conv_end.activation();
        for (int64_t t = 0; t < count; ++t) {
          const int64_t h0 = (t0 + t) / across * 4, w0 = (t0 + t) % across * 4;
          float* pixels[kWinogradOut];
          for (int64_t i = 0; i < 4; ++i)
            for (int64_t j = 0; j < 4; ++j) pixels[i * 4 + j] = h0 + i < w.out[1] && w0 + j < w.out[2] ? out + (h0 + i) * y.stride[1] + (w0 + j) * y.stride[2] + m : nullptr;
          if (const float* residual = conv_end.residual(pixels[0])) finish.residual = residual - pixels[0], finish.has_residual = true;
          kernels.output(products + t * row, strip * row, cb.count, pixels, finish);
        }
        m += cb.count;
      }
      // Patches of this chunk, row by row of each.
      for (int64_t t = 0; t < count; ++t) {
        const int64_t h0 = (t0 + t) / across * 4, w0 = (t0 + t) % across * 4, until = std::min(w0 + 4, w.out[2]);
        for (int64_t h = h0; h < std::min(h0 + 4, w.out[1]); ++h) conv_end.finish(y, w, n, h * w.out[2] + w0, h * w.out[2] + until, part * share, last, scratch + in_bytes + out_bytes);
      }
    }
  });
}

template <Isa kIsa>
Status fast_winograd(KernelCall& call) {
  return conv_winograd(call, conv_isa(kIsa), kIsa == Isa::kAvx512 ? kWinogradAvx512 : kWinogradAvx2);
}

bool winograd_fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &w = *call.inputs[1];
  if (!conv_window_fits(call, has_upsample(call)) || x.rank != 4 || w.rank != 4 || w.shape[2] != 3 || w.shape[3] != 3 || call.attrs.get_int("group", 1) != 1) return false;
  for (const char* name : {"strides", "dilations"})
    for (int64_t v : call.attrs.get_ints(name))
      if (v != 1) return false;
  const int64_t bytes = kWinogradIn * 4 * conv_panels_size(w.shape[1], w.shape[0]);
  return w.shape[1] >= 16 && w.shape[0] >= 16 && bytes <= kMostPackedBytes && (call.const_inputs >> 1 & 1) && is_channels_last(x) && is_channels_last(*call.outputs[0]);
}

// Products; the transforms, about 200 multiply-adds for each value; the way of the weights to the core. All of it grows with the batch, so
// that an image's result doesn't depend on its company.
double winograd_work(const KernelCall& call) {
  const TensorMeta &w = *call.inputs[1], &y = *call.outputs[0];
  const double patches = static_cast<double>(y.shape[0] * ceil_div(y.shape[2], 4) * ceil_div(y.shape[3], 4));
  const double channels = static_cast<double>(w.shape[1]), filters = static_cast<double>(round_up(w.shape[0], kConvPanel));
  return patches * (36 * filters * (channels + 5) + 200 * channels + 200 * filters) + 6 * 36 * channels * filters * static_cast<double>(y.shape[0]);
}

}  // namespace

void add_conv_winograd_kernels(KernelList& list) {
  add_conv_kernel(list, "avx512_conv_f32_nhwc_winograd", "avx512_fused_conv_f32_nhwc_winograd", {.run = fast_winograd<Isa::kAvx512>, .isa = Isa::kAvx512, .strict_order = false, .packed_inputs = 0b10, .accepts = winograd_fits, .work = winograd_work, .default_ns_per_work = 0.02, .default_overhead_ns = 400});
  add_conv_kernel(list, "avx2_conv_f32_nhwc_winograd", "avx2_fused_conv_f32_nhwc_winograd", {.run = fast_winograd<Isa::kAvx2>, .isa = Isa::kAvx2, .strict_order = false, .packed_inputs = 0b10, .accepts = winograd_fits, .work = winograd_work, .default_ns_per_work = 0.022, .default_overhead_ns = 400});
}

}  // namespace msvm
