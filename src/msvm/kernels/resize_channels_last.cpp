// f32 Resize of images whose channels lie side by side: nearest and linear over the last two axes, rows of pixels.
#include <algorithm>
#include <cstring>

#include "msvm/kernels/channels_last.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/pixel_kernels.h"
#include "msvm/kernels/resize_site.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {

void add_resize_channels_last_kernels(KernelList& list);

namespace {

bool fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  return x.rank == 4 && y.rank == 4 && is_channels_last(x) && is_channels_last(y) && y.dtype == DType::kF32 && plane_resize_fits(call);
}

template <Isa kIsa>
Status fast_resize(KernelCall& call) {
  const PixelKernels& k = *pixel_kernels(kIsa);
  const VectorKernels& v = *vector_kernels(kIsa);
  if (call.outputs[0]->elements() == 0) return {};
  MSVM_ASSIGN_OR_RETURN(const PlaneResize* plan, plane_resize(call));
  const ChannelsLast x = as_channels_last(*call.inputs[0]), y = as_channels_last(*call.outputs[0]);
  const ResizedAxis &rows = plan->rows, &columns = plan->columns;
  const int64_t channels = y.channels, out_w = y.size[2], pixel = x.stride[2], out_pixel = y.stride[2], line = out_w * channels;
  const bool linear = plan->linear, dense_out = out_pixel == channels;
  const int64_t strip = 8, strips = (y.size[1] - 1) / strip + 1, chunks = y.images * strips;
  const double chunk_ns = static_cast<double>(strip * line) * (linear ? 0.4 : 0.12);
  return parallel_with_scratch(call, chunks, grain_for(chunks, chunk_ns), linear ? 3 * line * 4 : 64, [&](int64_t begin, int64_t end, std::byte* scratch) {
    float* lines = reinterpret_cast<float*>(scratch);
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t image = chunk / strips, first = chunk % strips * strip, last = std::min(first + strip, y.size[1]);
      const float* from = reinterpret_cast<const float*>(x.data) + image * x.image_stride;
      float* out = reinterpret_cast<float*>(y.data) + image * y.image_stride;
      int64_t held[2] = {-1, -1};  // input rows that lines[] hold, at the new width
      for (int64_t o = first; o < last; ++o) {
        float* to = out + o * y.stride[1];
        const int64_t a = rows.left[o], b = rows.right[o];
        if (!linear) {
          if (o > first && rows.left[o - 1] == a) k.copy_rows(dense_out ? FloatRows{to - y.stride[1], line, 1, line} : FloatRows{to - y.stride[1], out_pixel, out_w, channels}, to, out_pixel);
          else k.gather_pixels(from + a * x.stride[1], pixel, columns.left, out_w, channels, to, out_pixel);
          continue;
        }
        auto stretched = [&](int64_t row, int64_t keep) -> const float* {
          if (columns.identity && pixel == channels) return from + row * x.stride[1];
          for (int i = 0; i < 2; ++i)
            if (held[i] == row) return lines + i * line;
          const int i = held[0] == keep ? 1 : 0;
          if (columns.identity) k.copy_rows({from + row * x.stride[1], pixel, out_w, channels}, lines + i * line, channels);
          else k.interpolate_pixels(from + row * x.stride[1], pixel, columns.left, columns.right, columns.t, out_w, channels, lines + i * line);
          held[i] = row;
          return lines + i * line;
        };
        const float* upper = stretched(a, b);
        if (rows.t[o] == 0) {
          k.copy_rows({upper, channels, out_w, channels}, to, out_pixel);
          continue;
        }
        const float* lower = stretched(b, a);
        float* whole = dense_out ? to : lines + 2 * line;
        v.interpolate_rows(upper, lower, rows.t[o], line, whole);
        if (!dense_out) k.copy_rows({whole, channels, out_w, channels}, to, out_pixel);
      }
    }
  });
}

double pixel_work(const KernelCall& call) {
  const TensorMeta& y = *call.outputs[0];
  const int64_t channels = std::max<int64_t>(1, y.shape[1]);
  return static_cast<double>(y.elements() / channels * ((channels + 15) / 16 * 16));
}

}  // namespace

void add_resize_channels_last_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_resize_f32_channels_last", .op = "Resize", .run = fast_resize<Isa::kAvx512>, .dtypes = f32, .isa = Isa::kAvx512, .accepts = fits, .work = pixel_work, .default_ns_per_work = 0.2, .default_overhead_ns = 500});
  list.push_back({.name = "avx2_resize_f32_channels_last", .op = "Resize", .run = fast_resize<Isa::kAvx2>, .dtypes = f32, .isa = Isa::kAvx2, .accepts = fits, .work = pixel_work, .default_ns_per_work = 0.24, .default_overhead_ns = 500});
}

}  // namespace msvm
