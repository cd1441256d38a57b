// f32 pools of images whose channels lie side by side: vectors along the channels.
#include <algorithm>
#include <limits>

#include "msvm/kernels/channels_last.h"
#include "msvm/kernels/dense.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/pixel_kernels.h"
#include "msvm/kernels/window.h"

namespace msvm {

void add_pool_channels_last_kernels(KernelList& list);

namespace {

constexpr int64_t kMaxRowTaps = 64;

bool describe(const KernelCall& call, Window& three) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  Window w;
  return is_channels_last(x) && is_channels_last(y) && y.rank == x.rank && y.shape[0] == x.shape[0] && y.shape[1] == x.shape[1] && y.dtype == DType::kF32 &&
         describe_window(call, x, y, call.attrs.get_ints("kernel_shape"), w).ok() && as_three_axes(w, three) && three.kernel[0] * three.kernel[1] <= kMaxRowTaps &&
         three.taps() > 0;
}

enum class Pool { kMax, kAverage };

class RowPool {
 public:
  RowPool(KernelCall& call, const PixelKernels& k, const Window& w, Pool kind)
      : k_(k), w_(w), kind_(kind), x_(as_channels_last(*call.inputs[0])), y_(as_channels_last(*call.outputs[0])), include_pad_(call.attrs.get_int("count_include_pad", 0) != 0) {
    const int64_t s = w.stride[2], reach = (w.kernel[2] - 1) * w.dilation[2];
    inner_first_ = std::min(w.out[2], (w.begin[2] + s - 1) / s);
    const int64_t room = w.in[2] - 1 + w.begin[2] - reach;
    inner_last_ = std::max(inner_first_, room < 0 ? 0 : std::min(w.out[2], room / s + 1));
    // Maxima of columns first, then of those: fewer loads where windows are large.
    const int64_t rows = w.kernel[0] * w.kernel[1], columns = w.kernel[2];
    apart_ = kind == Pool::kMax && rows > 1 && columns > 1 && w.in[2] * (rows + 1) + w.out[2] * (columns + 1) < w.out[2] * rows * columns;
  }
  int64_t rows() const { return y_.images * w_.out[0] * w_.out[1]; }
  int64_t scratch_floats() const { return apart_ ? w_.in[2] * x_.channels : 0; }
  double row_ns() const {
    const double taps = static_cast<double>(w_.taps()), vectors = static_cast<double>((x_.channels + 15) / 16);
    return static_cast<double>(w_.out[2]) * vectors * (1 + 0.35 * (apart_ ? static_cast<double>(w_.kernel[0] * w_.kernel[1] * w_.stride[2] + w_.kernel[2]) : taps));
  }

  void run(int64_t row, float* scratch) const {
    const int64_t oh = row % w_.out[1], od = row / w_.out[1] % w_.out[0], image = row / w_.out[1] / w_.out[0];
    const float* rows[kMaxRowTaps];
    int64_t count = 0, d_first, d_last, h_first, h_last;
    w_.inside(0, od, d_first, d_last);
    w_.inside(1, oh, h_first, h_last);
    for (int64_t d = d_first; d < d_last; ++d)
      for (int64_t h = h_first; h < h_last; ++h)
        rows[count++] = reinterpret_cast<const float*>(x_.data) + image * x_.image_stride + (od * w_.stride[0] - w_.begin[0] + d * w_.dilation[0]) * x_.stride[0] +
                        (oh * w_.stride[1] - w_.begin[1] + h * w_.dilation[1]) * x_.stride[1];
    float* out = reinterpret_cast<float*>(y_.data) + image * y_.image_stride + od * y_.stride[0] + oh * y_.stride[1];
    const int64_t row_taps = include_pad_ ? padded_taps(w_, 0, od) * padded_taps(w_, 1, oh) : count;
    int64_t pixel = x_.stride[2];
    if (apart_ && count > 0) {
      PoolRow p{.rows = rows, .row_taps = count, .column_taps = 1, .in_step = pixel, .channels = x_.channels, .n = w_.in[2], .out = scratch, .out_step = x_.channels};
      pool(p);
      rows[0] = scratch;
      count = 1;
      pixel = x_.channels;
    }
    const float* shifted[kMaxRowTaps];
    auto part = [&](int64_t o, int64_t n) {  // `n` results whose taps are all inside, or one at the border
      int64_t first, last;
      w_.inside(2, o, first, last);
      float* to = out + o * y_.stride[2];
      if (count == 0 || first >= last) {
        for (int64_t i = 0; i < n; ++i) std::fill_n(to + i * y_.stride[2], y_.channels, kind_ == Pool::kMax ? -std::numeric_limits<float>::infinity() : 0.0f);
        return;
      }
      for (int64_t r = 0; r < count; ++r) shifted[r] = rows[r] + (o * w_.stride[2] - w_.begin[2] + first * w_.dilation[2]) * pixel;
      PoolRow p{.rows = shifted, .row_taps = count, .column_taps = last - first, .in_step = w_.stride[2] * pixel, .tap_step = w_.dilation[2] * pixel, .channels = x_.channels, .n = n, .out = to, .out_step = y_.stride[2]};
      p.divisor = static_cast<float>(row_taps * (include_pad_ ? padded_taps(w_, 2, o) : last - first));
      pool(p);
    };
    for (int64_t o = 0; o < inner_first_; ++o) part(o, 1);
    if (inner_last_ > inner_first_) part(inner_first_, inner_last_ - inner_first_);
    for (int64_t o = inner_last_; o < w_.out[2]; ++o) part(o, 1);
  }

 private:
  void pool(PoolRow p) const {
    if (p.in_step == p.channels && p.out_step == p.channels) p.channels *= p.n, p.n = 1;  // pixels in one run
    (kind_ == Pool::kMax ? k_.max_pool : k_.sum_pool)(p);
  }

  const PixelKernels& k_;
  const Window& w_;
  Pool kind_;
  ChannelsLast x_, y_;
  bool include_pad_, apart_ = false;
  int64_t inner_first_, inner_last_;
};

template <Isa kIsa, Pool kKind>
Status fast_pool(KernelCall& call) {
  Window w;
  if (!describe(call, w)) return internal_error(std::string(call.op.name) + ": window or layout not for this kernel");
  if (call.outputs[0]->elements() == 0) return {};
  const RowPool rows(call, *pixel_kernels(kIsa), w, kKind);
  return parallel_with_scratch(call, rows.rows(), grain_for(rows.rows(), rows.row_ns()), rows.scratch_floats() * 4, [&](int64_t begin, int64_t end, std::byte* scratch) {
    for (int64_t r = begin; r < end; ++r) rows.run(r, reinterpret_cast<float*>(scratch));
  });
}

bool max_fits(const KernelCall& call) {
  Window w;
  return !output_or_null(call, 1) && describe(call, w);
}
bool average_fits(const KernelCall& call) {
  Window w;
  return describe(call, w);
}
/// Vectors are filled by channels alone.
double pool_work(const KernelCall& call) {
  double taps = 1;
  for (int64_t k : call.attrs.get_ints("kernel_shape")) taps *= static_cast<double>(k);
  const TensorMeta& y = *call.outputs[0];
  const int64_t channels = std::max<int64_t>(1, y.shape[1]);
  return static_cast<double>(y.elements() / channels * ((channels + 15) / 16 * 16)) * (taps + 3);
}

}  // namespace

void add_pool_channels_last_kernels(KernelList& list) {
  const DTypeSet f32 = bit(DType::kF32);
  list.push_back({.name = "avx512_max_pool_f32_channels_last", .op = "MaxPool", .run = fast_pool<Isa::kAvx512, Pool::kMax>, .dtypes = f32, .isa = Isa::kAvx512, .accepts = max_fits, .work = pool_work, .default_ns_per_work = 0.025, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_max_pool_f32_channels_last", .op = "MaxPool", .run = fast_pool<Isa::kAvx2, Pool::kMax>, .dtypes = f32, .isa = Isa::kAvx2, .accepts = max_fits, .work = pool_work, .default_ns_per_work = 0.03, .default_overhead_ns = 300});
  list.push_back({.name = "avx512_average_pool_f32_channels_last", .op = "AveragePool", .run = fast_pool<Isa::kAvx512, Pool::kAverage>, .dtypes = f32, .isa = Isa::kAvx512, .accepts = average_fits, .work = pool_work, .default_ns_per_work = 0.025, .default_overhead_ns = 300});
  list.push_back({.name = "avx2_average_pool_f32_channels_last", .op = "AveragePool", .run = fast_pool<Isa::kAvx2, Pool::kAverage>, .dtypes = f32, .isa = Isa::kAvx2, .accepts = average_fits, .work = pool_work, .default_ns_per_work = 0.03, .default_overhead_ns = 300});
}

}  // namespace msvm
