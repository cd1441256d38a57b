// f32 Conv as a product: packed weights (rows) by panels of 48 output pixels gathered from the image (columns), strip by strip.
// The sum runs over taps ascending, then input channels: the reference's order, one fma chain per output.
#include <algorithm>

#include "msvm/kernels/conv.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/gemm.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/site.h"

namespace msvm {
namespace {

constexpr int kKeyConvWeights = 200;
constexpr int64_t kStripBytes = 384 << 10;  // of packed pixels: leaves room for weights in a 1 MiB L2

// Gathers rows [k0, k1) of the columns [p0, p1) into panels of depth k1 - k0.
void gather_panels(const VectorKernels& v, const Window& w, const float* image, int64_t channels, int64_t k0, int64_t k1, int64_t p0, int64_t p1, float* panels) {
  const int64_t depth = k1 - k0, plane = w.in_size(), width = w.out[2], height = w.out[1];
  if (depth == 0) return;
  for (int64_t p = p0; p < p1;) {
    int64_t row = p / width, ow = p % width, in_panel = (p - p0) % kPanelCols;
    int64_t n = std::min({width - ow, p1 - p, kPanelCols - in_panel});  // a run within one output row and one panel
    int64_t oh = row % height, od = row / height;
    float* to = panels + (p - p0) / kPanelCols * depth * kPanelCols + in_panel;
    for (int64_t tap = k0 / channels; tap * channels < k1; ++tap) {
      int64_t c0 = std::max<int64_t>(k0 - tap * channels, 0), c1 = std::min(k1 - tap * channels, channels);
      int64_t kw = tap % w.kernel[2], kh = tap / w.kernel[2] % w.kernel[1], kd = tap / w.kernel[2] / w.kernel[1];
      int64_t id = od * w.stride[0] - w.begin[0] + kd * w.dilation[0], ih = oh * w.stride[1] - w.begin[1] + kh * w.dilation[1];
      int64_t iw = ow * w.stride[2] - w.begin[2] + kw * w.dilation[2], s = w.stride[2];
      // Columns [lo, hi) of the run are inside the image.
      int64_t lo = iw >= 0 ? 0 : std::min(n, (-iw + s - 1) / s);
      int64_t hi = iw >= w.in[2] ? lo : std::clamp((w.in[2] - 1 - iw) / s + 1, lo, n);
      if (id < 0 || id >= w.in[0] || ih < 0 || ih >= w.in[1]) lo = hi = 0;
      const float* from = hi > lo ? image + c0 * plane + (id * w.in[1] + ih) * w.in[2] + iw + lo * s : image;
      v.gather_channels(from, plane, s, lo, hi, n, c1 - c0, to + (tap * channels + c0 - k0) * kPanelCols, kPanelCols);
    }
    p += n;
  }
}

// The window without spatial structure where every output pixel is one input pixel.
bool pointwise(const Window& w) {
  for (int d = 0; d < w.rank; ++d)
    if (w.kernel[d] != 1 || w.stride[d] != 1 || w.begin[d] != 0 || w.in[d] != w.out[d]) return false;
  return true;
}

Status conv_product(KernelCall& call, const VectorKernels& v) {
  const TensorMeta* bias = input_or_null(call, 2);
  ConvShape s;
  MSVM_RETURN_IF_ERROR(describe_conv(call, *call.inputs[0], *call.inputs[1], bias, *call.outputs[0], s));
  Window w;
  if (!as_three_axes(s.window, w)) return unsupported("Conv: more than three spatial axes");
  if (pointwise(w)) {
    w.in = {1, 1, w.in_size()};
    w.out = w.in;
  }
  const int64_t in_size = w.in_size(), out_size = w.out_size(), channels = s.group_in(), rows = s.group_out(), k = channels * w.taps();
  if (s.batch == 0 || rows == 0 || out_size == 0) return {};
  const float* x = call.inputs[0]->as<float>();
  const float* weights = call.inputs[1]->as<float>();
  const int64_t group_size = packed_rows_size(k, rows);
  auto pack = [&](float* to) {
    for (int64_t g = 0; g < s.groups; ++g) {
      const float* from = weights + g * rows * k;
      float* p = to + g * group_size;
      for (int64_t i = 0; i < rows; i += kPanelRows)
        for (int64_t tap = 0; tap < w.taps(); ++tap)
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t r = i; r < i + kPanelRows; ++r) *p++ = r < rows ? from[(r * channels + c) * w.taps() + tap] : 0.0f;
    }
  };
  MSVM_ASSIGN_OR_RETURN(const float* packed, packed_input(call, 1, kKeyConvWeights, group_size * s.groups, pack));
  const float* b = nullptr;
  if (bias) {
    MSVM_ASSIGN_OR_RETURN(b, dense_input<float>(call, *bias));
  }
  float* y = call.outputs[0]->as<float>();

  const int64_t blocks = std::max<int64_t>(1, ceil_div(k, kGemmDepth)), depth = ceil_div(k, blocks);
  const int64_t all_panels = ceil_div(out_size, kPanelCols);
  int64_t panels = std::clamp<int64_t>(kStripBytes / (std::max<int64_t>(depth, 1) * kPanelCols * 4), 1, 16);
  panels = std::min(panels, all_panels);
  // Enough chunks to share: first shorter strips, then blocks of output channels (each gathers its pixels anew).
  const double panel_ns = static_cast<double>(std::max<int64_t>(k, 1)) * kPanelCols * static_cast<double>(rows) / 45.0;
  while (panels > 1 && s.batch * s.groups * ceil_div(all_panels, panels) < 8 && panel_ns * static_cast<double>(panels) > 4e4) panels = (panels + 1) / 2;
  const int64_t strips = ceil_div(all_panels, panels);
  int64_t row_block = rows;
  while (s.batch * s.groups * strips * ceil_div(rows, row_block) < 4 && row_block >= 128) row_block = round_up(ceil_div(row_block, 2), kPanelRows);
  const int64_t row_blocks = ceil_div(rows, row_block), chunks = s.batch * s.groups * strips * row_blocks;
  const double chunk_ns = panel_ns * static_cast<double>(panels) / static_cast<double>(row_blocks);
  return parallel_with_scratch(call, chunks, grain_for(chunks, chunk_ns), panels * depth * kPanelCols * 4, [&](int64_t begin, int64_t end, std::byte* scratch) {
    float* columns = reinterpret_cast<float*>(scratch);
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      int64_t rest = chunk, block_of_rows = rest % row_blocks;
      rest /= row_blocks;
      int64_t strip = rest % strips, image = rest / strips, g = image % s.groups, n = image / s.groups;
      int64_t p0 = strip * panels * kPanelCols, p1 = std::min(p0 + panels * kPanelCols, out_size);
      int64_t m0 = block_of_rows * row_block, m1 = std::min(m0 + row_block, rows);
      const float* in = x + (n * s.in_channels + g * channels) * in_size;
      float* out = y + (n * s.out_channels + g * rows) * out_size;
      for (int64_t block = 0; block < blocks; ++block) {
        int64_t k0 = block * depth, k1 = std::min(k0 + depth, k);
        gather_panels(v, w, in, channels, k0, k1, p0, p1, columns);
        GemmTile t;
        t.a_row = 1, t.a_step = kPanelRows, t.b_step = kPanelCols, t.b_padded = true, t.c_row = out_size;
        t.k = k1 - k0;
        t.accumulate = block > 0;
        for (int64_t m = m0; m < m1; m += kPanelRows) {
          t.a = packed + g * group_size + m * k + k0 * kPanelRows;
          t.row_bias = b && block + 1 == blocks ? b + g * rows + m : nullptr;
          for (int64_t p = p0; p < p1; p += kPanelCols) {
            t.b = columns + (p - p0) * t.k;
            t.c = out + m * out_size + p;
            v.gemm_tile(t, static_cast<int>(std::min<int64_t>(kPanelRows, m1 - m)), static_cast<int>(std::min<int64_t>(kPanelCols, p1 - p)));
          }
        }
      }
    }
  });
}

template <Isa kIsa>
Status fast_conv(KernelCall& call) {
  return conv_product(call, *vector_kernels(kIsa));
}

bool im2col_fits(const KernelCall& call) {
  return call.inputs[0]->rank <= 5 && call.outputs[0]->dense();
}
bool pointwise_fits(const KernelCall& call) {
  return one_tap(call) && im2col_fits(call);
}

// In multiply-adds of a well-fed tile: gathering an element costs about as much as `gather` of them, rows come in eights.
double product_work(const KernelCall& call, double gather) {
  const TensorMeta& w = *call.inputs[1];
  if (w.shape[0] == 0) return 0;
  double rows = static_cast<double>(w.shape[0]) / static_cast<double>(std::max<int64_t>(1, call.attrs.get_int("group", 1)));
  double tile_rows = std::max(rows, 8.0);
  return conv_multiply_adds(call) / rows * (tile_rows + gather);
}
double im2col_work(const KernelCall& call) { return product_work(call, 12); }
double pointwise_work(const KernelCall& call) { return product_work(call, 5); }

}  // namespace

void add_conv_im2col_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_conv_f32_pointwise", .op = "Conv", .run = fast_conv<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .dense_inputs = true, .packed_inputs = 0b10, .accepts = pointwise_fits, .work = pointwise_work, .default_ns_per_work = 0.0185, .default_overhead_ns = 400});
  list.push_back({.name = "avx512_conv_f32_im2col", .op = "Conv", .run = fast_conv<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .dense_inputs = true, .packed_inputs = 0b10, .accepts = im2col_fits, .work = im2col_work, .default_ns_per_work = 0.0185, .default_overhead_ns = 500});
  list.push_back({.name = "avx2_conv_f32_pointwise", .op = "Conv", .run = fast_conv<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .dense_inputs = true, .packed_inputs = 0b10, .accepts = pointwise_fits, .work = pointwise_work, .default_ns_per_work = 0.021, .default_overhead_ns = 400});
  list.push_back({.name = "avx2_conv_f32_im2col", .op = "Conv", .run = fast_conv<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .dense_inputs = true, .packed_inputs = 0b10, .accepts = im2col_fits, .work = im2col_work, .default_ns_per_work = 0.021, .default_overhead_ns = 500});
}

}  // namespace msvm
