// f32 ConvTranspose over channels-last images. Outputs whose positions agree modulo the stride meet the same taps: each such phase is
// a convolution of stride 1, tap by tap, into its own pixels. With few filters and no overlap all taps are one product whose rows are
// spread over the result.
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

constexpr int64_t kFewFilters = 8;  // below: lanes of a tile of one tap would stay idle

// Where the call's window (roles of a Conv from y to x) keeps things.
struct Transpose {
  ConvShape s;
  Window w;  // three axes
  ChannelsLast x, y;
  const float* packed = nullptr;  // [group][tap][panel][channel][16], or [group][panel][channel][16] of (tap, filter)
  const float* bias = nullptr;
  const float* zeros = nullptr;
  int64_t channels() const { return s.group_in(); }
  int64_t filters() const { return s.group_out(); }
};

// First output of an axis that belongs to the phase, and how many do.
void phase_range(const Window& w, size_t d, int64_t phase, int64_t& first, int64_t& count) {
  // o + begin = phase modulo stride
  first = (phase - w.begin[d]) % w.stride[d];
  if (first < 0) first += w.stride[d];
  count = first >= w.in[d] ? 0 : (w.in[d] - 1 - first) / w.stride[d] + 1;
}

void run_phases(const Transpose& t, const ConvIsa& isa, int64_t n, int64_t g, int64_t part, int64_t parts, const ConvWalk::Memory& memory) {
  const Window& w = t.w;
  const int64_t channels = t.channels(), filters = t.filters(), panels = conv_panels_size(channels, filters);
  const float* in = reinterpret_cast<const float*>(t.x.data) + n * t.x.image_stride + g * channels;
  float* out = reinterpret_cast<float*>(t.y.data) + n * t.y.image_stride + g * filters;
  const float* packed = t.packed + g * w.taps() * panels;
  ConvImage image;
  image.origin = in;
  image.stride = t.x.stride;
  image.high = {w.out[0], w.out[1], w.out[2]};
  std::array<int64_t, 3> phase{};
  for (phase[0] = 0; phase[0] < w.stride[0]; ++phase[0])
    for (phase[1] = 0; phase[1] < w.stride[1]; ++phase[1])
      for (phase[2] = 0; phase[2] < w.stride[2]; ++phase[2]) {
        std::array<int64_t, 3> first{}, count{};
        for (size_t d = 0; d < 3; ++d) phase_range(w, d, phase[d], first[d], count[d]);
        const int64_t rows = count[0] * count[1], row0 = rows * part / parts, row1 = rows * (part + 1) / parts;
        if (row0 >= row1 || count[2] == 0) continue;
        Window one;
        one.rank = 3;
        one.in = {w.out[0], w.out[1], w.out[2]};
        one.out = {count[0], count[1], count[2]};
        one.kernel = one.stride = one.dilation = {1, 1, 1};
        auto place = [&](int64_t p, ConvTile& tile, int64_t m) {
          const int64_t q = p % count[2], r = p / count[2] % count[1], s = p / count[2] / count[1];
          tile.c = out + (first[0] + s * w.stride[0]) * t.y.stride[0] + (first[1] + r * w.stride[1]) * t.y.stride[1] + (first[2] + q * w.stride[2]) * t.y.stride[2] + m;
        };
        for (int64_t m = 0; m < filters;) {
          const ConvBlock cb = next_conv_block(isa, m, filters);
          // The last tap of the phase brings the bias.
          int64_t last_tap = -1;
          std::array<int64_t, 3> k{};
          auto taps = [&](auto&& visit) {
            for (k[0] = 0; k[0] < w.kernel[0]; ++k[0])
              for (k[1] = 0; k[1] < w.kernel[1]; ++k[1])
                for (k[2] = 0; k[2] < w.kernel[2]; ++k[2]) {
                  bool met = true;
                  for (size_t d = 0; d < 3; ++d) met = met && k[d] * w.dilation[d] % w.stride[d] == phase[d];
                  if (met) visit((k[0] * w.kernel[1] + k[1]) * w.kernel[2] + k[2]);
                }
          };
          taps([&](int64_t tap) { last_tap = tap; });
          bool begun = false;
          auto pass = [&](int64_t tap, int64_t steps) {
            for (size_t d = 0; d < 3; ++d) {
              // Output first + q * stride comes from input q + (first + begin - k * dilation) / stride.
              const int64_t shift = tap < 0 ? 0 : (first[d] + w.begin[d] - k[d] * w.dilation[d]) / w.stride[d];
              one.begin[d] = -shift;
            }
            ConvWalk walk(one, channels, image);
            ConvTile tile;
            tile.b = packed + std::max<int64_t>(tap, 0) * panels + m * channels;
            tile.b_panel = channels * kConvPanel;
            tile.c_row = w.stride[2] * t.y.stride[2];
            tile.cols = cb.count;
            tile.added = begun;
            tile.bias = t.bias && tap == last_tap ? t.bias + g * filters + m : nullptr;
            walk.run(*cb.tiles, cb.vectors, tile, row0 * count[2], row1 * count[2], 0, steps, true, memory, [&](int64_t p, ConvTile& to) { place(p, to, m); });
            begun = true;
          };
          if (last_tap < 0) pass(-1, 0);  // no tap comes here: the bias alone
          else taps([&](int64_t tap) { pass(tap, channels); });
          m += cb.count;
        }
      }
}

// Rows of (tap, filter) for each input pixel, then spread. Kernel and stride are equal.
void run_product(const Transpose& t, const ConvIsa& isa, int64_t n, int64_t g, int64_t p0, int64_t p1, const ConvWalk::Memory& memory, float* rows) {
  const Window& w = t.w;
  const int64_t channels = t.channels(), filters = t.filters(), columns = w.taps() * filters, row = round_up(columns, 8);
  ConvImage image;
  image.origin = reinterpret_cast<const float*>(t.x.data) + n * t.x.image_stride + g * channels;
  image.stride = t.x.stride;
  image.high = {w.out[0], w.out[1], w.out[2]};
  Window one;
  one.rank = 3;
  one.in = one.out = w.out;
  one.kernel = one.stride = one.dilation = {1, 1, 1};
  ConvWalk walk(one, channels, image);
  for (int64_t m = 0; m < columns;) {
    const ConvBlock cb = next_conv_block(isa, m, columns);
    ConvTile tile;
    tile.b = t.packed + g * conv_panels_size(channels, columns) + m * channels;
    tile.b_panel = channels * kConvPanel;
    tile.c_row = row;
    tile.cols = std::min<int64_t>(row - m, cb.vectors * cb.tiles->width);  // rows have room for whole vectors
    walk.run(*cb.tiles, cb.vectors, tile, p0, p1, 0, channels, false, memory, [&](int64_t p, ConvTile& to) { to.c = rows + (p - p0) * row + m; });
    m += cb.count;
  }
  float* out = reinterpret_cast<float*>(t.y.data) + n * t.y.image_stride + g * filters;
  const float* bias = t.bias ? t.bias + g * filters : nullptr;
  for (int64_t p = p0; p < p1;) {
    const int64_t q = p % w.out[2], r = p / w.out[2] % w.out[1], d = p / w.out[2] / w.out[1], end = std::min(p1, p + w.out[2] - q);
    for (int64_t kd = 0; kd < w.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
        const int64_t od = d * w.stride[0] - w.begin[0] + kd, oh = r * w.stride[1] - w.begin[1] + kh;
        if (od < 0 || od >= w.in[0] || oh < 0 || oh >= w.in[1]) continue;
        for (int64_t f = 0; f < filters; ++f) {
          const float b = bias ? bias[f] : 0.0f;
          float* to = out + od * t.y.stride[0] + oh * t.y.stride[1] + f;
          const float* from = rows + (p - p0) * row + (kd * w.kernel[1] + kh) * w.kernel[2] * filters + f;
          const int64_t step = t.y.stride[2];
          int64_t ow = q * w.stride[2] - w.begin[2], i = p;
          if (w.kernel[2] == 2 && ow >= 0) {
            // Pairs that lie inside.
            const int64_t inside = std::min(end, p + (w.in[2] - ow) / 2);
            for (float* pair = to + ow * step; i < inside; ++i, from += row, ow += 2, pair += 2 * step) {
              const float first = from[0], second = from[filters];
              pair[0] = bias ? first + b : first;
              pair[step] = bias ? second + b : second;
            }
          }
          for (; i < end; ++i, from += row, ow += w.stride[2])
            for (int64_t kw = 0; kw < w.kernel[2]; ++kw)
              if (ow + kw >= 0 && ow + kw < w.in[2]) to[(ow + kw) * step] = bias ? from[kw * filters] + b : from[kw * filters];
        }
      }
    p = end;
  }
}

// Every output belongs to exactly one tap of one input, or to none.
bool without_overlap(const Window& w) {
  for (int d = 0; d < 3; ++d)
    if (w.kernel[d] != w.stride[d] || w.dilation[d] != 1) return false;
  return true;
}
// ... and none belongs to none.
bool covered(const Window& w) {
  for (int d = 0; d < 3; ++d)
    if (w.begin[d] < 0 || w.out[d] * w.stride[d] - w.begin[d] < w.in[d]) return false;
  return true;
}

Status conv_transpose(KernelCall& call, const ConvIsa& isa) {
  Transpose t;
  MSVM_RETURN_IF_ERROR(describe_conv_transpose(call, t.s));
  if (!as_three_axes(t.s.window, t.w)) return unsupported("ConvTranspose: more than three spatial axes");
  const Window& w = t.w;
  const int64_t channels = t.channels(), filters = t.filters(), taps = w.taps(), groups = t.s.groups;
  if (t.s.batch == 0 || t.s.out_channels == 0 || w.in_size() == 0) return {};
  t.x = as_channels_last(*call.inputs[0]), t.y = as_channels_last(*call.outputs[0]);
  if (!t.x.data) t.x.data = t.y.data;  // an empty image may have no memory; nothing is read
  const bool product = filters < kFewFilters && without_overlap(w) && covered(w) && w.out_size() > 0;
  MSVM_ASSIGN_OR_RETURN(const float* weights, dense_input<float>(call, *call.inputs[1]));
  const int64_t columns = product ? taps * filters : filters, tables = product ? 1 : taps, size = conv_panels_size(channels, columns);
  MSVM_ASSIGN_OR_RETURN(t.packed, packed_input(call, 1, product ? kKeyConvTransposePanels + 1 : kKeyConvTransposePanels, groups * tables * size, [&](float* to) {
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t table = 0; table < tables; ++table)
        for (int64_t m = 0; m < columns; m += kConvPanel)
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t j = m; j < m + kConvPanel; ++j) {
              const int64_t tap = product ? j / filters : table, f = product ? j % filters : j;
              *to++ = j < columns ? weights[((g * channels + c) * filters + f) * taps + tap] : 0.0f;
            }
  }));
  if (const TensorMeta* bias = input_or_null(call, 2)) {
    MSVM_ASSIGN_OR_RETURN(t.bias, dense_input<float>(call, *bias));
  }
  MSVM_ASSIGN_OR_RETURN(float* zeros, scratch_array<float>(call.memory, channels + 16));
  std::memset(zeros, 0, static_cast<size_t>(channels + 16) * sizeof(float));
  t.zeros = zeros;
  const int64_t pixels = w.out_size();
  const double total_ns = (static_cast<double>(pixels * taps) * static_cast<double>(round_up(columns, 8) * std::max<int64_t>(channels, 8)) / (product ? static_cast<double>(taps) : 1.0) * isa.ns_per_mac + static_cast<double>(w.in_size() * filters) * 0.1) *
                          static_cast<double>(t.s.batch * groups);
  const int64_t wanted = ceil_div(conv_chunks(total_ns), t.s.batch * groups);
  const int64_t rows = product ? 0 : std::max<int64_t>(1, ceil_div(w.in[0], w.stride[0]) * ceil_div(w.in[1], w.stride[1]));
  const int64_t strip = product ? std::min<int64_t>(512, round_up(ceil_div(pixels, wanted), 16)) : 0;
  const int64_t parts = product ? ceil_div(pixels, strip) : std::min(rows, wanted);
  const int64_t chunks = t.s.batch * groups * parts, fixed = 64 + kConvPointerRows * 8;
  const int64_t row_bytes = product ? strip * round_up(columns, 8) * 4 : 0;
  return parallel_with_scratch(call, chunks, grain_for(chunks, total_ns / static_cast<double>(chunks)), fixed + row_bytes, [&](int64_t begin, int64_t end, std::byte* scratch) {
    const ConvWalk::Memory memory = {reinterpret_cast<ConvSegment*>(scratch), reinterpret_cast<const float**>(scratch + 64), t.zeros};
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t part = chunk % parts, g = chunk / parts % groups, n = chunk / parts / groups;
      if (product) run_product(t, isa, n, g, part * strip, std::min((part + 1) * strip, pixels), memory, reinterpret_cast<float*>(scratch + fixed));
      else run_phases(t, isa, n, g, part, parts, memory);
    }
  });
}

template <Isa kIsa>
Status fast_transpose(KernelCall& call) {
  return conv_transpose(call, conv_isa(kIsa));
}

// Phases are counted in whole pixels: strides beyond this would only make empty ones.
bool nhwc_transpose_fits(const KernelCall& call) {
  for (int64_t s : call.attrs.get_ints("strides"))
    if (s > 64) return false;
  return conv_window_fits(call) && is_channels_last(*call.inputs[0]) && is_channels_last(*call.outputs[0]);
}
double nhwc_transpose_work(const KernelCall& call) {
  const double filters = static_cast<double>(std::max<int64_t>(1, call.inputs[1]->shape[1]));
  const double lanes = filters < kFewFilters ? filters + 2 : static_cast<double>(round_up(call.inputs[1]->shape[1], 8));
  return conv_transpose_multiply_adds(call) * lanes / filters + 6 * static_cast<double>(call.outputs[0]->elements());
}

}  // namespace

void add_conv_nhwc_transpose_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_conv_transpose_f32_nhwc", .op = "ConvTranspose", .run = fast_transpose<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .packed_inputs = 0b10, .accepts = nhwc_transpose_fits, .work = nhwc_transpose_work, .default_ns_per_work = 0.02, .default_overhead_ns = 400});
  list.push_back({.name = "avx2_conv_transpose_f32_nhwc", .op = "ConvTranspose", .run = fast_transpose<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .packed_inputs = 0b10, .accepts = nhwc_transpose_fits, .work = nhwc_transpose_work, .default_ns_per_work = 0.021, .default_overhead_ns = 400});
}

}  // namespace msvm
