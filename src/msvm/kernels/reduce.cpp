// Reductions over listed axes. Sums of floats are kept in f64 between rows; their order depends on shape and strides alone.
#include <cmath>
#include <limits>

#include "msvm/device/stoppable.h"
#include "msvm/kernels/families.h"
#include "msvm/kernels/kernel_util.h"
#include "msvm/kernels/map.h"
#include "msvm/kernels/polled.h"
#include "msvm/kernels/reduce_axes.h"
#include "msvm/kernels/reduce_rows.h"

namespace msvm {

void add_reduce_vector_kernels(KernelList& list);  // reduce_vector.cpp

namespace {

constexpr int64_t kPartial = 65536;  // elements per partial result where one output has very many

/// row(piece of the reduced axes as a dense tile of `compute`).
template <class F>
void reduced_tiles(const Nest<1>& reduced, const std::byte* x, DType from, DType compute, int64_t begin, int64_t end, F&& row) {
  alignas(64) std::byte tile[kMapTile * 8];
  const int64_t size = dtype_bytes(from), stride = reduced.inner_stride(0);
  walk_rows(reduced, begin, end, [&](int64_t n, const std::array<int64_t, 1>& at) {
    for (int64_t i = 0; i < n; i += kMapTile) {
      const int64_t m = std::min(kMapTile, n - i);
      row(load_tile(x + (at[0] + i * stride) * size, stride, m, from, compute, tile), m);
    }
  });
}

using Finish = void (*)(Accumulator& acc, int64_t count, DType compute);

/// acc_type: f64, i64 or u64, what `finish` leaves.
Status reduce(KernelCall& c, Fold fold, DType compute, Accumulator init, Finish finish) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  const ReduceAxes s = reduce_axes(c);
  if (s.kept.count == 0) return {};
  const FoldRows rows = fold_rows(fold, compute);
  const DType acc_type = compute == DType::kF32 ? DType::kF64 : compute;
  const CastRow store = cast_row(acc_type, y.dtype);
  const int64_t x_size = dtype_bytes(x.dtype), y_size = dtype_bytes(y.dtype), count = s.reduced.count;
  const int64_t kept_x = s.kept.inner_stride(1), kept_y = s.kept.inner_stride(0);
  auto put = [&](Accumulator acc, int64_t at) {
    if (finish) finish(acc, count, compute);
    store(&acc, y.data + at * y_size, 1);
  };

  if (s.kept.rank > 0 && s.kept.inner() >= 8 && count > 1 && kept_x < s.reduced.inner_stride(0)) {
    // Outputs lie side by side in the input: rows of accumulators.
    constexpr int64_t kColumns = 256;
    for_each_row(s.kept, c.workers, static_cast<double>(count) * 0.4, [&](int64_t n, const std::array<int64_t, 2>& at) {
      Accumulator acc[kColumns];
      alignas(64) std::byte tile[kColumns * 8];
      for (int64_t first = 0; first < n; first += kColumns) {
        const int64_t m = std::min(kColumns, n - first);
        std::fill_n(acc, m, init);
        const std::byte* base = x.data + (at[1] + first * kept_x) * x_size;
        walk_rows(s.reduced, 0, count, [&](int64_t k, const std::array<int64_t, 1>& r) {
          for (int64_t j = 0; j < k; ++j)
            rows.column(load_tile(base + (r[0] + j * s.reduced.inner_stride(0)) * x_size, kept_x, m, x.dtype, compute, tile), m, acc);
        });
        for (int64_t i = 0; i < m; ++i) put(acc[i], at[0] + (first + i) * kept_y);
      }
    });
    return {};
  }

  if (s.kept.count < 8 && count >= 2 * kPartial) {
    const int64_t parts = (count - 1) / kPartial + 1;
    MSVM_ASSIGN_OR_RETURN(std::byte * memory, c.memory.scratch(s.kept.count * parts * static_cast<int64_t>(sizeof(Accumulator))));
    auto* acc = reinterpret_cast<Accumulator*>(memory);
    int64_t done = 0;
    walk_rows(s.kept, 0, s.kept.count, [&](int64_t n, const std::array<int64_t, 2>& at) {
      for (int64_t i = 0; i < n; ++i, ++done) {
        const std::byte* base = x.data + (at[1] + i * kept_x) * x_size;
        Accumulator* mine = acc + done * parts;
        stoppable_for(c.workers, parts, 1, [&](int64_t begin, int64_t end) {
          for (int64_t p = begin; p < end; ++p) {
            mine[p] = init;
            reduced_tiles(s.reduced, base, x.dtype, compute, p * kPartial, std::min(count, (p + 1) * kPartial), [&](const void* t, int64_t m) { rows.row(t, m, mine[p]); });
          }
        });
        for (int64_t p = 1; p < parts; ++p) rows.combine(mine[0], mine[p]);
        put(mine[0], at[0] + i * kept_y);
      }
    });
    return {};
  }

  for_each_row(s.kept, c.workers, static_cast<double>(count) * 0.3 + 5, [&](int64_t n, const std::array<int64_t, 2>& at) {
    for (int64_t i = 0; i < n; ++i) {
      Accumulator acc = init;
      reduced_tiles(s.reduced, x.data + (at[1] + i * kept_x) * x_size, x.dtype, compute, 0, count, [&](const void* t, int64_t m) { rows.row(t, m, acc); });
      put(acc, at[0] + i * kept_y);
    }
  });
  return {};
}

/// f32 for what fits it, f64, i64, u64.
DType accumulated_in(DType t) {
  switch (dtype_info(t).kind) {
    case DTypeKind::kFloat: return compute_dtype(t);
    case DTypeKind::kSigned: return DType::kI64;
    case DTypeKind::kUnsigned:
    case DTypeKind::kBool:
    case DTypeKind::kString: return DType::kU64;
  }
  return DType::kU64;
}
/// Operators whose result is no integer even of integers compute those in f64.
DType real_of(DType t) { return is_float(t) ? compute_dtype(t) : DType::kF64; }

Accumulator of_type(DType compute, double f, uint64_t bits) {
  Accumulator a;
  if (is_float(compute)) a.f = f;
  else a.u = bits;
  return a;
}

/// What nothing gives: the end of the dtype's range.
Accumulator limit(DType t, bool greatest) {
  Accumulator a;
  a.u = 0;
  const int bits = dtype_info(t).bits;
  switch (dtype_info(t).kind) {
    case DTypeKind::kFloat: a.f = greatest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity(); break;
    case DTypeKind::kSigned: {
      const int64_t top = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
      a.i = greatest ? top : -top - 1;
      break;
    }
    case DTypeKind::kUnsigned: a.u = greatest ? ~uint64_t{0} >> (64 - bits) : 0; break;
    case DTypeKind::kBool: a.u = greatest; break;
    case DTypeKind::kString: break;
  }
  return a;
}

void mean_of(Accumulator& a, int64_t n, DType compute) {
  if (is_float(compute)) a.f /= static_cast<double>(n);
  else if (compute == DType::kI64) a.i /= n;
  else a.u /= static_cast<uint64_t>(n);
}
void root_of(Accumulator& a, int64_t, DType) { a.f = std::sqrt(a.f); }
void log_of(Accumulator& a, int64_t, DType) { a.f = std::log(a.f); }

template <Fold kFold>
Status run_fold(KernelCall& c) {
  const DType t = c.inputs[0]->dtype, compute = accumulated_in(t);
  Accumulator init = of_type(compute, 0, 0);
  if (kFold == Fold::kProd) init = of_type(compute, 1, 1);
  if (kFold == Fold::kMax) init = limit(t, false);
  if (kFold == Fold::kMin) init = limit(t, true);
  return reduce(c, kFold, compute, init, nullptr);
}

Status run_mean(KernelCall& c) {
  const DType compute = accumulated_in(c.inputs[0]->dtype);
  if (!is_float(compute) && c.inputs[0]->elements() == 0 && c.outputs[0]->elements() > 0)
    return out_of_range("ReduceMean: the mean of no integers");
  return reduce(c, Fold::kSum, compute, of_type(compute, 0, 0), mean_of);
}
Status run_l2(KernelCall& c) {
  // Squares of f32 may overflow it.
  const DType t = real_of(c.inputs[0]->dtype);
  return reduce(c, Fold::kSumSquare, t == DType::kF32 ? DType::kF64 : t, of_type(DType::kF64, 0, 0), root_of);
}
Status run_log_sum(KernelCall& c) { return reduce(c, Fold::kSum, real_of(c.inputs[0]->dtype), of_type(DType::kF64, 0, 0), log_of); }

/// max + log(sum(exp(x - max))), so that nothing overflows.
Status run_log_sum_exp(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  const ReduceAxes s = reduce_axes(c);
  if (s.kept.count == 0) return {};
  const int64_t x_size = dtype_bytes(x.dtype), y_size = dtype_bytes(y.dtype), count = s.reduced.count;
  const CastRow store = cast_row(DType::kF64, y.dtype);
  const FoldRows max = fold_rows(Fold::kMax, DType::kF64);
  RunControl* control = RunControl::current();
  for_each_row(s.kept, c.workers, static_cast<double>(count) * 12, [&](int64_t n, const std::array<int64_t, 2>& at) {
    Poll poll(control);
    for (int64_t i = 0; i < n; ++i) {
      const std::byte* base = x.data + (at[1] + i * s.kept.inner_stride(1)) * x_size;
      Accumulator top = limit(DType::kF64, false);
      reduced_tiles(s.reduced, base, x.dtype, DType::kF64, 0, count, [&](const void* t, int64_t m) { max.row(t, m, top); });
      double result = top.f;
      if (std::isfinite(top.f)) {
        double sum = 0;
        reduced_tiles(s.reduced, base, x.dtype, DType::kF64, 0, count, [&](const void* t, int64_t m) {
          for (int64_t k = 0; k < m && !poll.stop(); ++k) sum += std::exp(static_cast<const double*>(t)[k] - top.f);
        });
        result = top.f + std::log(sum);
      }
      store(&result, y.data + (at[0] + i * s.kept.inner_stride(0)) * y_size, 1);
    }
  });
  return {};
}

double reduce_work(const KernelCall& c) { return static_cast<double>(c.inputs[0]->elements()); }

}  // namespace

void add_reduce_kernels(KernelList& list) {
  add_kernel(list, "ref_reducesum", "ReduceSum", run_fold<Fold::kSum>, 0.3);
  add_kernel(list, "ref_reducemean", "ReduceMean", run_mean, 0.3);
  add_kernel(list, "ref_reduceprod", "ReduceProd", run_fold<Fold::kProd>, 1);
  add_kernel(list, "ref_reducemax", "ReduceMax", run_fold<Fold::kMax>, 0.3);
  add_kernel(list, "ref_reducemin", "ReduceMin", run_fold<Fold::kMin>, 0.3);
  add_kernel(list, "ref_reducel1", "ReduceL1", run_fold<Fold::kSumAbs>, 0.4);
  add_kernel(list, "ref_reducesumsquare", "ReduceSumSquare", run_fold<Fold::kSumSquare>, 0.3);
  add_kernel(list, "ref_reducel2", "ReduceL2", run_l2, 0.5);
  add_kernel(list, "ref_reducelogsum", "ReduceLogSum", run_log_sum, 0.4);
  add_kernel(list, "ref_reducelogsumexp", "ReduceLogSumExp", run_log_sum_exp, 12);
  for (KernelInfo& k : list)
    if (k.op.starts_with("Reduce")) k.work = reduce_work;
  add_reduce_vector_kernels(list);
}

}  // namespace msvm
