// Searching, ordering and running along an axis.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "msvm/kernels/families.h"
#include "msvm/kernels/half.h"
#include "msvm/kernels/kernel_util.h"
#include "msvm/kernels/map.h"
#include "msvm/kernels/polled.h"

namespace msvm {
namespace {

/// Exact wider types for comparing: f32 (also f16, bf16), f64, i64, u64 (also bool).
DType comparable(DType t) {
  switch (dtype_info(t).kind) {
    case DTypeKind::kFloat: return compute_dtype(t);
    case DTypeKind::kSigned: return DType::kI64;
    default: return DType::kU64;
  }
}
template <class F>
auto with_comparable(DType t, F&& f) {
  switch (comparable(t)) {
    case DType::kF32: return f(float{});
    case DType::kF64: return f(double{});
    case DType::kI64: return f(int64_t{});
    default: return f(uint64_t{});
  }
}
/// A total order for sorting: NaN above all numbers, and equal to itself.
template <class T>
int order(T a, T b) {
  if (a < b) return -1;
  if (b < a) return 1;
  if constexpr (std::is_floating_point_v<T>) return static_cast<int>(a != a) - static_cast<int>(b != b);
  return 0;
}

/// All axes but one, over output and input; strides in elements.
Nest<2> others(const TensorMeta& y, const TensorMeta& x, int axis, bool y_has_axis) {
  Nest<2> n;
  for (int a = 0; a < x.rank; ++a)
    if (a != axis) n.add_axis(x.shape[a], {y.strides[a - (!y_has_axis && a > axis)], x.strides[a]});
  simplify(n);
  return n;
}

// ---- ArgMax, ArgMin --------------------------------------------------------------------------------------------------------

/// `better(x, best)` decides; NaN wins over numbers, as in numpy.
template <class T, bool kMax, bool kLast>
bool better(T x, T best) {
  if constexpr (std::is_floating_point_v<T>) {
    if (best != best) return kLast && x != x;
    if (x != x) return true;
  }
  if (kLast) return kMax ? x >= best : x <= best;
  return kMax ? x > best : x < best;
}

template <class T, bool kMax, bool kLast>
void arg_search(const TensorMeta& x, const TensorMeta& y, int axis, const Nest<2>& kept, WorkerPool& workers) {
  constexpr int64_t kColumns = 256;
  const DType compute = comparable(x.dtype);
  const int64_t size = dtype_bytes(x.dtype), count = x.rank ? x.shape[axis] : 1, step = x.rank ? x.strides[axis] : 0;
  const int64_t sx = kept.inner_stride(1), sy = kept.inner_stride(0);
  auto* out = y.as<int64_t>();
  const bool by_rows = kept.inner() < 8 || sx >= step;
  RunControl* control = RunControl::current();
  for_each_row(kept, workers, static_cast<double>(count) + 5, [&](int64_t n, const std::array<int64_t, 2>& at) {
    Poll poll(control);
    alignas(64) std::byte tile[kMapTile * 8];
    if (by_rows) {
      for (int64_t i = 0; i < n; ++i) {
        const std::byte* base = x.data + (at[1] + i * sx) * size;
        T best{};
        int64_t where = 0;
        for (int64_t j = 0; j < count; j += kMapTile) {
          const int64_t m = std::min(kMapTile, count - j);
          if (poll.stop(m)) return;
          const T* v = static_cast<const T*>(load_tile(base + j * step * size, step, m, x.dtype, compute, tile));
          if (j == 0) best = v[0];
          for (int64_t k = j == 0; k < m; ++k)
            if (better<T, kMax, kLast>(v[k], best)) best = v[k], where = j + k;
        }
        out[at[0] + i * sy] = where;
      }
      return;
    }
    T best[kColumns];
    int64_t where[kColumns];
    for (int64_t first = 0; first < n; first += kColumns) {
      const int64_t m = std::min(kColumns, n - first);
      for (int64_t j = 0; j < count; ++j) {
        if (poll.stop(m)) return;
        const T* v = static_cast<const T*>(load_tile(x.data + (at[1] + first * sx + j * step) * size, sx, m, x.dtype, compute, tile));
        for (int64_t i = 0; i < m; ++i) {
          const bool take = j == 0 || better<T, kMax, kLast>(v[i], best[i]);
          best[i] = take ? v[i] : best[i];
          where[i] = take ? j : where[i];
        }
      }
      for (int64_t i = 0; i < m; ++i) out[at[0] + (first + i) * sy] = where[i];
    }
  });
}

template <bool kMax>
Status run_arg(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  const int axis = normal_axis(c.attrs.get_int("axis", 0), x.rank);
  if (y.elements() == 0) return {};
  if (x.rank && x.shape[axis] == 0) return out_of_range(std::string(c.op.name) + ": the axis is empty");
  const bool last = c.attrs.get_int("select_last_index", 0) != 0;
  const Nest<2> kept = others(y, x, axis, c.attrs.get_int("keepdims", 1) != 0);
  with_comparable(x.dtype, [&](auto type) {
    using T = decltype(type);
    if (last) arg_search<T, kMax, true>(x, y, axis, kept, c.workers);
    else arg_search<T, kMax, false>(x, y, axis, kept, c.workers);
  });
  return {};
}

// ---- CumSum, CumProd, msvm.CumLogSumExp ------------------------------------------------------------------------------------

enum class Running { kSum, kProduct, kLogSumExp };

/// log(exp(a) + exp(b)), so that nothing overflows.
double add_logs(double a, double b) {
  if (a == b && std::isinf(a)) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

/// Floats run in f64, integers wrap.
template <class T, Running kHow>
void cumulate(KernelCall& c, const TensorMeta& x, const TensorMeta& y, int axis) {
  constexpr int64_t kColumns = 256;
  const bool exclusive = c.attrs.get_int("exclusive", 0) != 0, reverse = c.attrs.get_int("reverse", 0) != 0;
  const DType wide = std::is_same_v<T, double> ? DType::kF64 : DType::kU64;
  const int64_t x_size = dtype_bytes(x.dtype), y_size = dtype_bytes(y.dtype), count = x.rank ? x.shape[axis] : 1;
  const int64_t x_step = x.rank ? x.strides[axis] : 0, y_step = x.rank ? y.strides[axis] : 0;
  const Nest<2> rows = others(y, x, axis, true);
  const int64_t sx = rows.inner_stride(1), sy = rows.inner_stride(0);
  const CastRow store = cast_row(wide, y.dtype);
  RunControl* control = RunControl::current();
  auto with = [](T a, T v) -> T {
    if constexpr (kHow == Running::kLogSumExp) return add_logs(a, v);
    else return kHow == Running::kProduct ? a * v : a + v;
  };
  const T nothing = kHow == Running::kLogSumExp ? static_cast<T>(-std::numeric_limits<double>::infinity()) : T(kHow == Running::kProduct);
  for_each_row(rows, c.workers, static_cast<double>(count) * (kHow == Running::kLogSumExp ? 30 : 2), [&](int64_t n, const std::array<int64_t, 2>& at) {
    Poll poll(control);
    T acc[kColumns];
    alignas(64) std::byte tile[kColumns * 8], stored[kColumns * 8];
    for (int64_t first = 0; first < n; first += kColumns) {
      const int64_t m = std::min(kColumns, n - first);
      std::fill_n(acc, m, nothing);
      for (int64_t k = 0; k < count; ++k) {
        if (poll.stop(m)) return;
        const int64_t j = reverse ? count - 1 - k : k;
        const T* v = static_cast<const T*>(load_tile(x.data + (at[1] + first * sx + j * x_step) * x_size, sx, m, x.dtype, wide, tile));
        std::byte* to = y.data + (at[0] + first * sy + j * y_step) * y_size;
        if (exclusive) {
          // y may be x: read before it is written.
          if (static_cast<const void*>(v) != tile) std::memcpy(tile, v, static_cast<size_t>(m) * sizeof(T)), v = reinterpret_cast<const T*>(tile);
          store(acc, stored, m);
        }
        for (int64_t i = 0; i < m; ++i) acc[i] = with(acc[i], v[i]);
        if (!exclusive) store(acc, stored, m);
        scatter_row(stored, m, y_size, to, sy);
      }
    }
  });
}

template <Running kHow>
Status run_cumulate(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &y = *c.outputs[0];
  const int axis = normal_axis(c.attrs.get_int("axis", 0), x.rank);
  if (y.elements() == 0) return {};
  if constexpr (kHow == Running::kLogSumExp) {
    cumulate<double, kHow>(c, x, y, axis);
  } else {
    if (is_float(x.dtype)) cumulate<double, kHow>(c, x, y, axis);
    else cumulate<uint64_t, kHow>(c, x, y, axis);
  }
  return {};
}

// ---- msvm.CumMax, msvm.CumMin ----------------------------------------------------------------------------------------------

/// The best element so far and its place: of equal ones the last, and the last NaN from the first one on.
template <class T, bool kMax>
void cumulate_best(KernelCall& c, const TensorMeta& x, const TensorMeta* values, const TensorMeta* places, int axis) {
  const DType compute = comparable(x.dtype);
  const int64_t size = dtype_bytes(x.dtype), count = x.rank ? x.shape[axis] : 1, step = x.rank ? x.strides[axis] : 0;
  const int64_t values_step = values && x.rank ? values->strides[axis] : 0, places_step = places && x.rank ? places->strides[axis] : 0;
  Nest<3> rows;  // x, values, places
  for (int a = 0; a < x.rank; ++a)
    if (a != axis) rows.add_axis(x.shape[a], {x.strides[a], values ? values->strides[a] : 0, places ? places->strides[a] : 0});
  RunControl* control = RunControl::current();
  for_each_row(rows, c.workers, static_cast<double>(count) * 4, [&](int64_t n, const std::array<int64_t, 3>& at) {
    Poll poll(control);
    alignas(64) std::byte tile[kMapTile * 8];
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = at[0] + i * rows.inner_stride(0), to_value = at[1] + i * rows.inner_stride(1), to_place = at[2] + i * rows.inner_stride(2);
      T best{};
      int64_t where = 0;
      for (int64_t j = 0; j < count; j += kMapTile) {
        const int64_t m = std::min(kMapTile, count - j);
        if (poll.stop(m)) return;
        const T* v = static_cast<const T*>(load_tile(x.data + (from + j * step) * size, step, m, x.dtype, compute, tile));
        for (int64_t k = 0; k < m; ++k) {
          if (j + k == 0 || better<T, kMax, true>(v[k], best)) best = v[k], where = j + k;
          if (values) std::memcpy(values->data + (to_value + (j + k) * values_step) * size, x.data + (from + where * step) * size, static_cast<size_t>(size));
          if (places) places->as<int64_t>()[to_place + (j + k) * places_step] = where;
        }
      }
    }
  });
}

template <bool kMax>
Status run_cumulate_best(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  const int axis = normal_axis(c.attrs.get_int("axis", 0), x.rank);
  if (x.elements() == 0) return {};
  with_comparable(x.dtype, [&](auto type) { cumulate_best<decltype(type), kMax>(c, x, optional_output(c, 0), optional_output(c, 1), axis); });
  return {};
}

// ---- TopK ------------------------------------------------------------------------------------------------------------------

template <class T>
struct Ranked {
  T value;
  int64_t index;
};

template <class T>
Status top_k(KernelCall& c, const TensorMeta& x, const TensorMeta* values, const TensorMeta* indices, int axis, int64_t k, bool largest) {
  const DType compute = comparable(x.dtype);
  const int64_t size = dtype_bytes(x.dtype), count = x.rank ? x.shape[axis] : 1, step = x.rank ? x.strides[axis] : 0;
  Nest<3> rows;  // x, values, indices
  for (int a = 0; a < x.rank; ++a)
    if (a != axis) rows.add_axis(x.shape[a], {x.strides[a], values ? values->strides[a] : 0, indices ? indices->strides[a] : 0});
  const int64_t bytes = (count * static_cast<int64_t>(sizeof(Ranked<T>)) + 63) / 64 * 64;
  // Rows are cut by hand, so that each chunk has memory of its own.
  const int64_t grain = std::max(grain_for(rows.count, static_cast<double>(count) * 6), (rows.count - 1) / 64 + 1), chunks = (rows.count - 1) / grain + 1;
  MSVM_ASSIGN_OR_RETURN(std::byte * memory, c.memory.scratch(std::max<int64_t>(chunks * bytes, 64)));
  RunControl* control = RunControl::current();
  c.workers.parallel_for(chunks, 1, [&](int64_t chunk_begin, int64_t chunk_end) {
    Poll poll(control);
    for (int64_t chunk = chunk_begin; chunk < chunk_end; ++chunk) {
      auto* list = reinterpret_cast<Ranked<T>*>(memory + chunk * bytes);
      alignas(64) std::byte tile[kMapTile * 8];
      const auto before = [largest](const Ranked<T>& a, const Ranked<T>& b) {
        const int o = order(a.value, b.value);
        return o == 0 ? a.index < b.index : largest ? o > 0 : o < 0;
      };
      for (int64_t r = chunk * grain; r < std::min(rows.count, (chunk + 1) * grain); ++r) {
        int64_t rest = r;
        std::array<int64_t, 3> at{};
        for (int a = rows.rank - 1; a >= 0; --a) {
          const int64_t i = rest % rows.shape[a];
          rest /= rows.shape[a];
          for (int o = 0; o < 3; ++o) at[o] += i * rows.strides[o][a];
        }
        for (int64_t j = 0; j < count; j += kMapTile) {
          const int64_t m = std::min(kMapTile, count - j);
          if (poll.stop(m)) return;
          const T* v = static_cast<const T*>(load_tile(x.data + (at[0] + j * step) * size, step, m, x.dtype, compute, tile));
          for (int64_t i = 0; i < m; ++i) list[j + i] = {v[i], j + i};
        }
        if (k < count) nth_polled(list, list + k, list + count, before, poll);
        sort_polled(list, list + k, before, poll);
        for (int64_t i = 0; i < k; ++i) {
          if (poll.stop()) return;
          if (values)
            std::memcpy(values->data + (at[1] + i * (x.rank ? values->strides[axis] : 0)) * size, x.data + (at[0] + list[i].index * step) * size, static_cast<size_t>(size));
          if (indices) indices->as<int64_t>()[at[2] + i * (x.rank ? indices->strides[axis] : 0)] = list[i].index;
        }
      }
    }
  });
  return {};
}

Status run_top_k(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  const TensorMeta *values = optional_output(c, 0), *indices = optional_output(c, 1);
  const int axis = normal_axis(c.attrs.get_int("axis", -1), x.rank);
  const int64_t k = c.args.empty() ? 1 : c.args[0], count = x.rank ? x.shape[axis] : 1;
  if (k < 0 || k > count) return out_of_range("TopK: k is " + std::to_string(k) + " for an axis of " + std::to_string(count));
  if (x.elements() == 0 || k == 0) return {};
  const bool largest = c.attrs.get_int("largest", 1) != 0;
  return with_comparable(x.dtype, [&](auto type) { return top_k<decltype(type)>(c, x, values, indices, axis, k, largest); });
}

// ---- NonZero, Compress -----------------------------------------------------------------------------------------------------

bool is_nonzero(const std::byte* p, DType t) {
  switch (t) {
    case DType::kF64: { double v; std::memcpy(&v, p, 8); return v != 0; }
    case DType::kF32: { float v; std::memcpy(&v, p, 4); return v != 0; }
    case DType::kF16:
    case DType::kBF16: { uint16_t v; std::memcpy(&v, p, 2); return (v & 0x7fff) != 0; }
    case DType::kI64:
    case DType::kU64: { uint64_t v; std::memcpy(&v, p, 8); return v != 0; }
    case DType::kI32:
    case DType::kU32: { uint32_t v; std::memcpy(&v, p, 4); return v != 0; }
    case DType::kI16:
    case DType::kU16: { uint16_t v; std::memcpy(&v, p, 2); return v != 0; }
    case DType::kI8:
    case DType::kU8:
    case DType::kBool: return *p != std::byte{0};
    case DType::kString: return false;
  }
  return false;
}

/// visit(index) for each element in row-major order that is not 0. False where the run is to stop.
template <class F>
bool visit_nonzero(const TensorMeta& x, F&& visit) {
  Poll poll;
  const int64_t n = x.elements(), size = dtype_bytes(x.dtype);
  std::array<int64_t, kMaxRank> index{};
  int64_t at = 0;
  for (int64_t flat = 0; flat < n; ++flat) {
    if (poll.stop()) return false;
    if (is_nonzero(x.data + at * size, x.dtype)) visit(index);
    for (int a = x.rank - 1; a >= 0; --a) {
      at += x.strides[a];
      if (++index[a] < x.shape[a]) break;
      at -= x.strides[a] * x.shape[a];
      index[a] = 0;
    }
  }
  return true;
}

Status run_non_zero(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  int64_t count = 0;
  if (!visit_nonzero(x, [&](const auto&) { ++count; })) return run_cancelled();
  const int64_t rank = std::max<int64_t>(x.rank, 1), shape[2] = {rank, count};
  MSVM_RETURN_IF_ERROR(new_output(c, 0, DType::kI64, shape));
  const TensorMeta& y = *c.outputs[0];
  int64_t next = 0;
  visit_nonzero(x, [&](const auto& index) {
    for (int64_t a = 0; a < rank; ++a) y.as<int64_t>()[a * y.strides[0] + next * y.strides[1]] = index[static_cast<size_t>(a)];
    ++next;
  });
  return {};
}

Status run_compress(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &condition = *c.inputs[1];
  const bool flat = !c.attrs.has("axis");
  const int axis = normal_axis(c.attrs.get_int("axis", 0), x.rank);
  const int64_t size = flat ? x.elements() : x.shape[axis], given = std::min(condition.elements(), size), element = dtype_bytes(x.dtype);
  auto wanted = [&](int64_t i) { return condition.as<uint8_t>()[i * condition.strides[0]] != 0; };
  int64_t count = 0;
  Poll poll;
  for (int64_t i = 0; i < given && !poll.stop(); ++i) count += wanted(i);
  if (poll.stopped()) return run_cancelled();
  if (flat) {
    MSVM_RETURN_IF_ERROR(new_output(c, 0, x.dtype, {&count, 1}));
  } else {
    std::array<int64_t, kMaxRank> shape = x.shape;
    shape[axis] = count;
    MSVM_RETURN_IF_ERROR(new_output(c, 0, x.dtype, {shape.data(), x.rank}));
  }
  const TensorMeta& y = *c.outputs[0];
  int64_t next = 0;
  for (int64_t i = 0; i < given && !poll.stop(); ++i) {
    if (!wanted(i)) continue;
    if (flat) {
      std::byte* to = y.data + next++ * y.strides[0] * element;
      const std::byte* from = x.data + offset_of(x, i) * element;
      if (is_string(x)) *reinterpret_cast<std::string*>(to) = *reinterpret_cast<const std::string*>(from);
      else std::memcpy(to, from, static_cast<size_t>(element));
      continue;
    }
    int64_t run = 1;  // neighbours in one copy
    while (i + run < given && wanted(i + run)) ++run;
    MSVM_RETURN_IF_ERROR(copy(window(x, axis, i, run), window(y, axis, next, run), c.workers));
    poll.stop(run);
    next += run;
    i += run - 1;
  }
  return {};
}

// ---- Unique ----------------------------------------------------------------------------------------------------------------

template <class T>
int compare_at(const std::byte* a, const std::byte* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return order(x, y);
}
using CompareFn = int (*)(const std::byte*, const std::byte*);
CompareFn compare_for(DType t) {
  switch (t) {
    case DType::kF64: return compare_at<double>;
    case DType::kF32: return compare_at<float>;
    case DType::kF16:
      return [](const std::byte* a, const std::byte* b) {
        uint16_t x, y;
        std::memcpy(&x, a, 2), std::memcpy(&y, b, 2);
        return order(f16_to_f32(x), f16_to_f32(y));
      };
    case DType::kBF16:
      return [](const std::byte* a, const std::byte* b) {
        uint16_t x, y;
        std::memcpy(&x, a, 2), std::memcpy(&y, b, 2);
        return order(bf16_to_f32(x), bf16_to_f32(y));
      };
    case DType::kI8: return compare_at<int8_t>;
    case DType::kI16: return compare_at<int16_t>;
    case DType::kI32: return compare_at<int32_t>;
    case DType::kI64: return compare_at<int64_t>;
    case DType::kU8: return compare_at<uint8_t>;
    case DType::kU16: return compare_at<uint16_t>;
    case DType::kU32: return compare_at<uint32_t>;
    case DType::kU64: return compare_at<uint64_t>;
    case DType::kBool: return [](const std::byte* a, const std::byte* b) { return static_cast<int>(*a != std::byte{0}) - static_cast<int>(*b != std::byte{0}); };
    case DType::kString:
      return [](const std::byte* a, const std::byte* b) {
        const int o = reinterpret_cast<const std::string*>(a)->compare(*reinterpret_cast<const std::string*>(b));
        return (o > 0) - (o < 0);
      };
  }
  return nullptr;
}

Status run_unique(KernelCall& c) {
  const TensorMeta& x = *c.inputs[0];
  const bool flat = !c.attrs.has("axis"), sorted = c.attrs.get_int("sorted", 1) != 0;
  const int axis = normal_axis(c.attrs.get_int("axis", 0), x.rank);
  const int64_t element = dtype_bytes(x.dtype), n = flat ? x.elements() : x.shape[axis];
  const CompareFn compare = compare_for(x.dtype);
  // Slices are compared element by element, in row-major order of the other axes.
  TensorMeta slice = flat ? TensorMeta{} : at_index(x, axis, 0);
  const int64_t slice_count = flat ? 1 : slice.elements();
  MSVM_ASSIGN_OR_RETURN(std::byte * memory, c.memory.scratch(std::max<int64_t>(n, 1) * 24 + std::max<int64_t>(slice_count, 1) * 8));
  auto* sequence = reinterpret_cast<int64_t*>(memory);  // slices in order of value, equal ones in order of place
  int64_t* group = sequence + n;                         // of each slice
  int64_t* first = group + n;                            // first slice of each group
  int64_t* within = first + n;                           // byte offsets inside a slice
  if (flat) within[0] = 0;
  else
    for (int64_t i = 0; i < slice_count; ++i) within[i] = offset_of(slice, i) * element;
  auto place = [&](int64_t i) { return x.data + (flat ? offset_of(x, i) : i * x.strides[axis]) * element; };
  auto order_of = [&](int64_t a, int64_t b) {
    const std::byte *p = place(a), *q = place(b);
    for (int64_t i = 0; i < slice_count; ++i)
      if (int o = compare(p + within[i], q + within[i])) return o;
    return 0;
  };
  constexpr int64_t kSlowSteps = Poll::kSteps / 32;  // each looks at elements anywhere
  Poll poll(RunControl::current(), kSlowSteps);
  for (int64_t i = 0; i < n && !poll.stop(); ++i) sequence[i] = i;
  if (poll.stopped()) return run_cancelled();
  auto before = [&](int64_t a, int64_t b) {
    const int o = order_of(a, b);
    return o == 0 ? a < b : o < 0;
  };
  sort_polled(sequence, sequence + n, before, poll);
  int64_t groups = 0;
  for (int64_t i = 0; i < n && !poll.stop(); ++i) {
    if (i == 0 || order_of(sequence[i - 1], sequence[i]) != 0) first[groups++] = sequence[i];
    group[sequence[i]] = groups - 1;
  }
  if (poll.stopped()) return run_cancelled();
  if (!sorted && groups > 0) {
    // Groups renumbered by first occurrence; `sequence` becomes old number -> new number.
    std::vector<int64_t> by_place(first, first + groups);
    sort_polled(by_place.data(), by_place.data() + groups, std::less<>(), poll);
    if (poll.stopped()) return run_cancelled();
    for (int64_t g = 0; g < groups && !poll.stop(); ++g) sequence[group[by_place[static_cast<size_t>(g)]]] = g;
    for (int64_t i = 0; i < n && !poll.stop(); ++i) group[i] = sequence[group[i]];
    if (poll.stopped()) return run_cancelled();
    std::copy(by_place.begin(), by_place.end(), first);
  }
  if (flat) {
    MSVM_RETURN_IF_ERROR(new_output(c, 0, x.dtype, {&groups, 1}));
  } else {
    std::array<int64_t, kMaxRank> shape = x.shape;
    shape[axis] = groups;
    MSVM_RETURN_IF_ERROR(new_output(c, 0, x.dtype, {shape.data(), x.rank}));
  }
  MSVM_RETURN_IF_ERROR(new_output(c, 1, DType::kI64, {&groups, 1}));
  MSVM_RETURN_IF_ERROR(new_output(c, 2, DType::kI64, {&n, 1}));
  MSVM_RETURN_IF_ERROR(new_output(c, 3, DType::kI64, {&groups, 1}));
  if (const TensorMeta* y = optional_output(c, 0)) {
    for (int64_t g = 0; g < groups && !poll.stop(); ++g) {
      if (flat) {
        std::byte* to = y->data + g * y->strides[0] * element;
        if (is_string(x)) *reinterpret_cast<std::string*>(to) = *reinterpret_cast<const std::string*>(place(first[g]));
        else std::memcpy(to, place(first[g]), static_cast<size_t>(element));
      } else {
        MSVM_RETURN_IF_ERROR(copy(window(x, axis, first[g], 1), window(*y, axis, g, 1), c.workers));
      }
    }
  }
  auto put = [](const TensorMeta& m, int64_t i) -> int64_t& { return m.as<int64_t>()[i * m.strides[0]]; };
  if (const TensorMeta* y = optional_output(c, 1))
    for (int64_t g = 0; g < groups && !poll.stop(); ++g) put(*y, g) = first[g];
  if (const TensorMeta* y = optional_output(c, 2))
    for (int64_t i = 0; i < n && !poll.stop(); ++i) put(*y, i) = group[i];
  if (const TensorMeta* y = optional_output(c, 3)) {
    for (int64_t g = 0; g < groups; ++g) put(*y, g) = 0;
    for (int64_t i = 0; i < n && !poll.stop(); ++i) ++put(*y, group[i]);
  }
  return {};
}

double input_work(const KernelCall& c) { return static_cast<double>(c.inputs[0]->elements()); }

}  // namespace

void add_select_kernels(KernelList& list) {
  const size_t before = list.size();
  add_kernel(list, "ref_argmax", "ArgMax", run_arg<true>, 1);
  add_kernel(list, "ref_argmin", "ArgMin", run_arg<false>, 1);
  add_kernel(list, "ref_cumsum", "CumSum", run_cumulate<Running::kSum>, 2);
  add_kernel(list, "ref_cumprod", "CumProd", run_cumulate<Running::kProduct>, 2);
  add_kernel(list, "ref_cumlogsumexp", "msvm.CumLogSumExp", run_cumulate<Running::kLogSumExp>, 30);
  add_kernel(list, "ref_cummax", "msvm.CumMax", run_cumulate_best<true>, 4);
  add_kernel(list, "ref_cummin", "msvm.CumMin", run_cumulate_best<false>, 4);
  add_kernel(list, "ref_topk", "TopK", run_top_k, 6);
  add_kernel(list, "ref_nonzero", "NonZero", run_non_zero, 2);
  add_kernel(list, "ref_compress", "Compress", run_compress, 1);
  add_kernel(list, "ref_unique", "Unique", run_unique, 60);
  for (size_t i = before; i < list.size(); ++i) list[i].work = input_work;
}

}  // namespace msvm
