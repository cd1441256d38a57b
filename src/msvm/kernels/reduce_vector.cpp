// f32 sums, means and extremes in vectors, where the reduced elements form rows or the results lie side by side: whichever of both
// the strides offer. Sums: f32 over short runs, those in f64, in an order that sizes and strides fix. Rows of at most 32 elements in f32.
#include <algorithm>
#include <cmath>
#include <limits>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/parallel.h"
#include "msvm/kernels/pixel_kernels.h"
#include "msvm/kernels/reduce_axes.h"

namespace msvm {

void add_reduce_vector_kernels(KernelList& list);

namespace {

enum class Kind { kSum, kMean, kSumSquare, kMax, kMin };
constexpr int64_t kPart = 65536;        // elements of one partial result
constexpr int64_t kColumnBlock = 1024;  // columns that one thread holds
constexpr float kZeros[kColumnBlock] = {};

constexpr bool is_sum(Kind k) { return k == Kind::kSum || k == Kind::kMean || k == Kind::kSumSquare; }

/// Partial results are doubles for sums, floats for extremes, in slots of 8 bytes for either.
struct Folder {
  const PixelKernels& k;
  Kind kind;

  double nothing() const { return is_sum(kind) ? 0 : kind == Kind::kMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity(); }
  double join(double a, double b) const {
    if (is_sum(kind)) return a + b;
    if (a != a || b != b) return a != a ? a : b;
    return kind == Kind::kMax ? std::max(a, b) : std::min(a, b);
  }
  double row(const float* x, int64_t n) const {
    if (kind == Kind::kSumSquare) return k.sum_squares_row(x, n);
    if (is_sum(kind)) return k.sum_row(x, n);
    return static_cast<double>(kind == Kind::kMax ? k.max_row(x, n) : k.min_row(x, n));
  }
};

constexpr int64_t kShortRow = 32;

/// Rows of few elements, turned so that vectors run over the rows: f32, a chain in the order of the elements.
void short_rows(const Folder& fold, const FloatRows& x, float* y, int64_t step) {
  constexpr int64_t kColumns = 64;
  alignas(64) float turned[kShortRow * kColumns], result[kColumns];
  const float divisor = fold.kind == Kind::kMean ? static_cast<float>(x.c) : 1.0f;
  for (int64_t i = 0; i < x.n; i += kColumns) {
    const int64_t m = std::min(kColumns, x.n - i);
    fold.k.transpose({x.data + i * x.row, x.row, m, x.c}, turned, m);
    if (is_sum(fold.kind)) {
      const float* first = turned;
      fold.k.sum_pool({.rows = &first, .row_taps = 1, .column_taps = x.c, .tap_step = m, .channels = m, .n = 1, .out = result, .divisor = divisor});
    } else {
      std::copy_n(turned, m, result);
      (fold.kind == Kind::kMax ? fold.k.max_columns : fold.k.min_columns)({turned, m, x.c, m}, result);
    }
    for (int64_t j = 0; j < m; ++j) y[(i + j) * step] = result[j];
  }
}

Status reduce_rows(KernelCall& call, const ReduceAxes& s, const Folder& fold) {
  const float* x = call.inputs[0]->as<float>();
  float* y = call.outputs[0]->as<float>();
  const int64_t count = s.reduced.count, parts = s.kept.count < 64 && count >= 2 * kPart ? (count - 1) / kPart + 1 : 1, part = parts > 1 ? kPart : count;
  MSVM_ASSIGN_OR_RETURN(double* partial, scratch_array<double>(call.memory, parts > 1 ? s.kept.count * parts : 1));
  auto finish = [&](double v) { return static_cast<float>(fold.kind == Kind::kMean ? v / static_cast<double>(count) : v); };
  const int64_t items = s.kept.count * parts;
  const bool one_run = s.reduced.rank <= 1;
  const double ns = static_cast<double>(part) * 0.05 + (one_run && count <= kShortRow ? 1 : 10);
  call.workers.parallel_for(items, grain_for(items, ns), [&](int64_t begin, int64_t end) {
    int64_t i = begin;
    // Whole results along the nest of kept axes; with parts one after the other.
    if (parts == 1 && one_run && count <= kShortRow && fold.kind != Kind::kSumSquare) {
      walk_rows(s.kept, begin, end, [&](int64_t n, const std::array<int64_t, 2>& at) { short_rows(fold, {x + at[1], s.kept.inner_stride(1), n, count}, y + at[0], s.kept.inner_stride(0)); });
      return;
    }
    if (parts == 1) {
      walk_rows(s.kept, begin, end, [&](int64_t n, const std::array<int64_t, 2>& at) {
        for (int64_t j = 0; j < n; ++j) {
          const float* from = x + at[1] + j * s.kept.inner_stride(1);
          double v = fold.nothing();
          if (one_run) v = fold.row(from, count);
          else walk_rows(s.reduced, 0, count, [&](int64_t m, const std::array<int64_t, 1>& r) { v = fold.join(v, fold.row(from + r[0], m)); });
          y[at[0] + j * s.kept.inner_stride(0)] = finish(v);
        }
      });
      return;
    }
    for (; i < end; ++i)
      walk_rows(s.kept, i / parts, i / parts + 1, [&](int64_t, const std::array<int64_t, 2>& at) {
        double v = fold.nothing();
        const int64_t first = i % parts * kPart;
        walk_rows(s.reduced, first, std::min(first + kPart, count), [&](int64_t m, const std::array<int64_t, 1>& r) { v = fold.join(v, fold.row(x + at[1] + r[0], m)); });
        partial[i] = v;
      });
  });
  if (parts == 1) return {};
  int64_t done = 0;
  walk_rows(s.kept, 0, s.kept.count, [&](int64_t n, const std::array<int64_t, 2>& at) {
    for (int64_t j = 0; j < n; ++j, ++done) {
      double v = partial[done * parts];
      for (int64_t p = 1; p < parts; ++p) v = fold.join(v, partial[done * parts + p]);
      y[at[0] + j * s.kept.inner_stride(0)] = finish(v);
    }
  });
  return {};
}

Status reduce_columns(KernelCall& call, const ReduceAxes& s, const Folder& fold) {
  const float* x = call.inputs[0]->as<float>();
  float* y = call.outputs[0]->as<float>();
  Nest<2> outer = s.kept;
  const int64_t columns = outer.inner(), y_step = outer.inner_stride(0), count = s.reduced.count;
  outer.count /= columns;
  --outer.rank;
  const int64_t blocks = (columns - 1) / kColumnBlock + 1, width = std::min(columns, kColumnBlock);
  const int64_t part = std::max<int64_t>(64, kPart / width / 64 * 64);  // rows
  const int64_t parts = outer.count * blocks < 64 && count >= 2 * part ? (count - 1) / part + 1 : 1, rows = parts > 1 ? part : count;
  const int64_t items = outer.count * blocks * parts;
  MSVM_ASSIGN_OR_RETURN(double* partial, scratch_array<double>(call.memory, parts > 1 ? items * width : 1));
  auto store = [&](int64_t at, int64_t n, const double* values) {
    for (int64_t i = 0; i < n; ++i) y[at + i * y_step] = static_cast<float>(fold.kind == Kind::kMean ? values[i] / static_cast<double>(count) : values[i]);
  };
  const double ns = static_cast<double>(rows) * (static_cast<double>(width) * 0.05 + 1);
  call.workers.parallel_for(items, grain_for(items, ns), [&](int64_t begin, int64_t end) {
    alignas(64) double sum[kColumnBlock];
    alignas(64) float best[kColumnBlock];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t p = i % parts, block = i / parts % blocks, o = i / parts / blocks;
      const int64_t first = block * kColumnBlock, n = std::min(kColumnBlock, columns - first);
      walk_rows(outer, o, o + 1, [&](int64_t, const std::array<int64_t, 2>& at) {
        const float* from = x + at[1] + first;
        if (is_sum(fold.kind)) std::fill_n(sum, n, 0.0);
        else std::fill_n(best, n, static_cast<float>(fold.nothing()));
        walk_rows(s.reduced, p * rows, std::min(count, (p + 1) * rows), [&](int64_t m, const std::array<int64_t, 1>& r) {
          const FloatRows run{from + r[0], s.reduced.inner_stride(0), m, n};
          if (is_sum(fold.kind)) fold.k.add_columns(run, fold.kind == Kind::kSumSquare ? kZeros : nullptr, sum);
          else (fold.kind == Kind::kMax ? fold.k.max_columns : fold.k.min_columns)(run, best);
        });
        if (!is_sum(fold.kind))
          for (int64_t j = 0; j < n; ++j) sum[j] = static_cast<double>(best[j]);
        if (parts == 1) store(at[0] + first * y_step, n, sum);
        else std::copy_n(sum, n, partial + i * width);
      });
    }
  });
  if (parts == 1) return {};
  for (int64_t o = 0; o < outer.count; ++o)
    walk_rows(outer, o, o + 1, [&](int64_t, const std::array<int64_t, 2>& at) {
      for (int64_t block = 0; block < blocks; ++block) {
        const int64_t first = block * kColumnBlock, n = std::min(kColumnBlock, columns - first);
        double* total = partial + (o * blocks + block) * parts * width;
        for (int64_t p = 1; p < parts; ++p)
          for (int64_t j = 0; j < n; ++j) total[j] = fold.join(total[j], total[p * width + j]);
        store(at[0] + first * y_step, n, total);
      }
    });
  return {};
}

bool has_rows(const ReduceAxes& s) { return s.reduced.rank > 0 && s.reduced.inner_stride(0) == 1; }
bool has_columns(const ReduceAxes& s) { return s.kept.rank > 0 && s.kept.inner_stride(1) == 1; }

bool axes_fit(const KernelCall& call, const ReduceAxes& s) {
  return call.outputs[0]->dtype == DType::kF32 && call.inputs[0]->elements() > 0 && s.reduced.count > 1 && (has_rows(s) || has_columns(s));
}
Status run(KernelCall& call, const ReduceAxes& s, Isa isa, Kind kind) {
  const Folder fold{*pixel_kernels(isa), kind};
  return has_rows(s) ? reduce_rows(call, s, fold) : reduce_columns(call, s, fold);
}

bool reduction_fits(const KernelCall& call) { return axes_fit(call, reduce_axes(call)); }
template <Isa kIsa, Kind kKind>
Status reduction(KernelCall& call) {
  return run(call, reduce_axes(call), kIsa, kKind);
}

ReduceAxes spatial(const KernelCall& call) { return reduce_axes(*call.inputs[0], *call.outputs[0], ((1u << call.inputs[0]->rank) - 1) & ~3u, true); }
bool global_fits(const KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  return x.rank >= 3 && y.rank == x.rank && y.shape[0] == x.shape[0] && y.shape[1] == x.shape[1] && axes_fit(call, spatial(call));
}
template <Isa kIsa, Kind kKind>
Status global_pool(KernelCall& call) {
  return run(call, spatial(call), kIsa, kKind);
}

double input_work(const KernelCall& call) { return static_cast<double>(call.inputs[0]->elements()); }

}  // namespace

void add_reduce_vector_kernels(KernelList& list) {
  KernelInfo k{.dtypes = bit(DType::kF32), .work = input_work};
  auto add = [&](std::string_view name, std::string_view op, Isa isa, KernelFn fn, bool exact, bool (*accepts)(const KernelCall&)) {
    k.name = name, k.op = op, k.isa = isa, k.run = fn, k.strict_order = exact, k.accepts = accepts;
    k.default_ns_per_work = isa == Isa::kAvx512 ? 0.06 : 0.07;
    list.push_back(k);
  };
#define BOTH(name, op, fn, kind, exact, accepts)                                                    \
  add("avx512_" name, op, Isa::kAvx512, fn<Isa::kAvx512, Kind::kind>, exact, accepts);              \
  add("avx2_" name, op, Isa::kAvx2, fn<Isa::kAvx2, Kind::kind>, exact, accepts);
  BOTH("reducesum_f32", "ReduceSum", reduction, kSum, false, reduction_fits)
  BOTH("reducemean_f32", "ReduceMean", reduction, kMean, false, reduction_fits)
  BOTH("reducesumsquare_f32", "ReduceSumSquare", reduction, kSumSquare, false, reduction_fits)
  BOTH("reducemax_f32", "ReduceMax", reduction, kMax, true, reduction_fits)
  BOTH("reducemin_f32", "ReduceMin", reduction, kMin, true, reduction_fits)
  BOTH("global_average_pool_f32_strided", "GlobalAveragePool", global_pool, kMean, false, global_fits)
  BOTH("global_max_pool_f32", "GlobalMaxPool", global_pool, kMax, true, global_fits)
#undef BOTH
}

}  // namespace msvm
