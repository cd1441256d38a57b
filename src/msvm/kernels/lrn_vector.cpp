// f32 LRN by rows of pixels: squares of a block of pixels, sums of neighbouring channels' rows, the power by body steps.
#include <algorithm>

#include "msvm/kernels/body_kernels.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/iterate.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/pixel_kernels.h"
#include "msvm/kernels/vector_kernels.h"

namespace msvm {

void add_lrn_vector_kernels(KernelList& list);

namespace {

constexpr int64_t kPixels = 64, kMaxSize = 64;

/// All axes but the channels, over y (0) and x (1).
Nest<2> pixels_of(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  Nest<2> nest;
  for (int d = 0; d < y.rank; ++d)
    if (d != 1) nest.add_axis(y.shape[d], {y.strides[d], x.strides[d]});
  simplify(nest);
  return nest;
}
/// Pixels or channels lie side by side in each tensor.
bool fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  if (x.rank < 2 || y.rank != x.rank || y.dtype != DType::kF32 || y.elements() == 0 || call.attrs.get_int("size", 1) > kMaxSize || call.attrs.get_int("size", 1) < 1) return false;
  const Nest<2> n = pixels_of(call);
  const bool one = x.shape[1] == 1;
  return (n.inner_stride(0) == 1 || one || y.strides[1] == 1) && (n.inner_stride(1) == 1 || one || x.strides[1] == 1);
}

template <Isa kIsa>
Status fast_lrn(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  const PixelKernels& k = *pixel_kernels(kIsa);
  const VectorKernels& v = *vector_kernels(kIsa);
  const auto& steps = body_kernels(kIsa)->step;
  auto step = [&](BodyOp op, BodyKernels::Kind kind) { return steps[static_cast<size_t>(op)][kind]; };
  const BodyStepFn mul = step(BodyOp::kMul, BodyKernels::kRows), times = step(BodyOp::kMul, BodyKernels::kNumberB), plus = step(BodyOp::kAdd, BodyKernels::kNumberB),
                   root = step(BodyOp::kSqrt, BodyKernels::kRows), divide = step(BodyOp::kDiv, BodyKernels::kRows), log = step(BodyOp::kLog, BodyKernels::kRows),
                   exp = step(BodyOp::kExp, BodyKernels::kRows);
  const int64_t size = call.attrs.get_int("size", 1), channels = x.shape[1];
  const float alpha = static_cast<float>(call.attrs.get_float("alpha", 1e-4) / static_cast<double>(size)), bias = static_cast<float>(call.attrs.get_float("bias", 1));
  const double beta = call.attrs.get_float("beta", 0.75);
  const float power = static_cast<float>(beta);
  const Nest<2> nest = pixels_of(call);
  const int64_t xp = nest.inner_stride(1), yp = nest.inner_stride(0), xc = x.strides[1], yc = y.strides[1];
  const int64_t width = nest.inner(), blocks = (width - 1) / kPixels + 1, items = nest.count / width * blocks;
  Nest<2> outer = nest;
  if (outer.rank) outer.count /= width, --outer.rank;
  return parallel_with_scratch(call, items, grain_for(items, static_cast<double>(channels * kPixels) * 0.8), 3 * channels * kPixels * 4, [&](int64_t begin, int64_t end, std::byte* scratch) {
    float *squares = reinterpret_cast<float*>(scratch), *in = squares + channels * kPixels, *out = in + channels * kPixels;
    alignas(64) float sum[kPixels], other[kPixels];
    for (int64_t i = begin; i < end; ++i)
      walk_rows(outer, i / blocks, i / blocks + 1, [&](int64_t, const std::array<int64_t, 2>& at) {
        const int64_t first = i % blocks * kPixels, m = std::min(kPixels, width - first);
        const float* from = x.as<float>() + at[1] + first * xp;
        float* to = y.as<float>() + at[0] + first * yp;
        const bool direct_in = xp == 1 || m == 1, direct_out = yp == 1 || m == 1;
        if (!direct_in) k.transpose({from, xp, m, channels}, in, m);
        auto row = [&](int64_t c) { return direct_in ? from + c * xc : in + c * m; };
        for (int64_t c = 0; c < channels; ++c) mul(row(c), row(c), 0, 0, squares + c * m, m);
        for (int64_t c = 0; c < channels; ++c) {
          const float* rows[kMaxSize];
          int64_t taps = 0;
          for (int64_t q = std::max<int64_t>(0, c - (size - 1) / 2); q <= std::min(channels - 1, c + size / 2); ++q) rows[taps++] = squares + q * m;
          v.sum_rows(rows, taps, m, sum);
          times(sum, &alpha, 0, 0, sum, m);
          plus(sum, &bias, 0, 0, sum, m);
          if (beta == 0.75) {  // the usual one: roots
            root(sum, nullptr, 0, 0, sum, m);
            root(sum, nullptr, 0, 0, other, m);
            mul(sum, other, 0, 0, sum, m);
          } else {
            log(sum, nullptr, 0, 0, sum, m);
            times(sum, &power, 0, 0, sum, m);
            exp(sum, nullptr, 0, 0, sum, m);
          }
          divide(row(c), sum, 0, 0, direct_out ? to + c * yc : out + c * m, m);
        }
        if (!direct_out) k.transpose({out, m, channels, m}, to, yp);
      });
  });
}

}  // namespace

void add_lrn_vector_kernels(KernelList& list) {
  list.push_back({.name = "avx512_lrn_f32", .op = "LRN", .run = fast_lrn<Isa::kAvx512>, .dtypes = bit(DType::kF32), .isa = Isa::kAvx512, .strict_order = false, .accepts = fits, .default_ns_per_work = 1});
  list.push_back({.name = "avx2_lrn_f32", .op = "LRN", .run = fast_lrn<Isa::kAvx2>, .dtypes = bit(DType::kF32), .isa = Isa::kAvx2, .strict_order = false, .accepts = fits, .default_ns_per_work = 1.2});
}

}  // namespace msvm
