// Reads and writes at positions that tensors hold. All positions are checked before anything is written.
#include <atomic>
#include <cstring>
#include <type_traits>

#include "msvm/kernels/families.h"
#include "msvm/kernels/half.h"
#include "msvm/kernels/kernel_util.h"
#include "msvm/kernels/map.h"

namespace msvm {
namespace {

Status index_error(std::string_view op, int64_t index, int64_t size) {
  return out_of_range(std::string(op) + ": index " + std::to_string(index) + " is outside [" + std::to_string(-size) + ", " + std::to_string(size) + ")");
}

int64_t read_index(const TensorMeta& m, int64_t offset) { return m.dtype == DType::kI32 ? m.as<int32_t>()[offset] : m.as<int64_t>()[offset]; }

/// Index tensor in row-major order as an array of positions in [0, size).
Result<const int64_t*> positions(KernelCall& c, const TensorMeta& indices, int64_t size) {
  const int64_t n = indices.elements();
  MSVM_ASSIGN_OR_RETURN(std::byte * memory, c.memory.scratch(std::max<int64_t>(n, 1) * 8));
  auto* out = reinterpret_cast<int64_t*>(memory);
  Nest<1> nest;
  for (int a = 0; a < indices.rank; ++a) nest.add_axis(indices.shape[a], {indices.strides[a]});
  simplify(nest, false);
  int64_t next = 0, bad = -1;
  walk_rows(nest, 0, nest.count, [&](int64_t k, const std::array<int64_t, 1>& at) {
    for (int64_t i = 0; i < k; ++i) {
      int64_t v = read_index(indices, at[0] + i * nest.inner_stride(0));
      const int64_t p = v < 0 ? v + size : v;
      if ((p < 0 || p >= size) && bad < 0) bad = next;
      out[next++] = p;
    }
  });
  if (bad >= 0) return index_error(c.op.name, read_index(indices, offset_of(indices, bad)), size);
  return const_cast<const int64_t*>(out);
}

/// Bytes of `element` size and of strings; the size is a constant in each branch.
template <class F>
void by_element(int64_t element, F&& f) {
  switch (element) {
    case 1: f(std::integral_constant<int, 1>()); break;
    case 2: f(std::integral_constant<int, 2>()); break;
    case 4: f(std::integral_constant<int, 4>()); break;
    case 8: f(std::integral_constant<int, 8>()); break;
    default: f(std::integral_constant<int, 32>()); break;
  }
}
template <int kSize>
void assign(std::byte* to, const std::byte* from) {
  if constexpr (kSize == 32) *reinterpret_cast<std::string*>(to) = *reinterpret_cast<const std::string*>(from);
  else std::memcpy(to, from, kSize);
}

/// The axes [first, last) of two tensors as a copy nest in bytes, simplified.
CopyNest slice_nest(const TensorMeta& to, int to_first, const TensorMeta& from, int from_first, int count) {
  const int64_t element = dtype_bytes(from.dtype);
  CopyNest n;
  for (int i = 0; i < count; ++i) n.add_axis(from.shape[from_first + i], {to.strides[to_first + i] * element, from.strides[from_first + i] * element});
  simplify(n);
  return n;
}

/// One small copy on this thread.
void copy_slice(const CopyNest& n, std::byte* to, const std::byte* from, int64_t element) {
  const int64_t ts = n.inner_stride(0), fs = n.inner_stride(1);
  const bool dense = n.rank == 0 || (ts == element && fs == element);
  walk_rows(n, 0, n.count, [&](int64_t k, const std::array<int64_t, 2>& at) {
    if (dense && element != 32) {
      std::memcpy(to + at[0], from + at[1], static_cast<size_t>(k * element));
      return;
    }
    by_element(element, [&](auto size) {
      for (int64_t i = 0; i < k; ++i) assign<size()>(to + at[0] + i * ts, from + at[1] + i * fs);
    });
  });
}

// ---- Gather ----------------------------------------------------------------------------------------------------------------

Status run_gather(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &indices = *c.inputs[1], &y = *c.outputs[0];
  const int axis = normal_axis(c.attrs.get_int("axis", 0), x.rank);
  const int64_t element = dtype_bytes(x.dtype), size = x.shape[axis];
  MSVM_ASSIGN_OR_RETURN(const int64_t* at, positions(c, indices, size));
  if (y.elements() == 0) return {};
  const CopyNest slice = slice_nest(y, axis + indices.rank, x, axis + 1, x.rank - axis - 1);
  // Outer axes and the axes of the indices, walked in order (the indices' positions are in row-major order).
  Nest<2> outer;
  for (int a = 0; a < axis; ++a) outer.add_axis(x.shape[a], {y.strides[a] * element, x.strides[a] * element});
  const int64_t n = indices.elements(), axis_stride = x.strides[axis] * element;
  Nest<1> place;  // of an index in y
  for (int a = 0; a < indices.rank; ++a) place.add_axis(indices.shape[a], {y.strides[axis + a] * element});
  simplify(place, false);
  const bool single = slice.count == 1;
  parallel_items(c.workers, outer.count * n, static_cast<double>(slice.count * element) * 0.1 + (single ? 2 : 15), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t o = begin / n, first = begin % n, last = std::min(n, first + (end - begin));
      int64_t rest = o, to = 0, from = 0;
      for (int a = outer.rank - 1; a >= 0; --a) {
        const int64_t i = rest % outer.shape[a];
        rest /= outer.shape[a];
        to += i * outer.strides[0][a];
        from += i * outer.strides[1][a];
      }
      int64_t k = first;
      walk_rows(place, first, last, [&](int64_t m, const std::array<int64_t, 1>& p) {
        std::byte* out = y.data + to + p[0];
        const int64_t step = place.inner_stride(0);
        if (single) {
          by_element(element, [&](auto bytes) {
            for (int64_t i = 0; i < m; ++i) assign<bytes()>(out + i * step, x.data + from + at[k + i] * axis_stride);
          });
        } else {
          for (int64_t i = 0; i < m; ++i) copy_slice(slice, out + i * step, x.data + from + at[k + i] * axis_stride, element);
        }
        k += m;
      });
      begin += last - first;
    }
  });
  return {};
}

Status run_gather_elements(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &indices = *c.inputs[1], &y = *c.outputs[0];
  const int axis = normal_axis(c.attrs.get_int("axis", 0), x.rank);
  const int64_t element = dtype_bytes(x.dtype), size = x.rank ? x.shape[axis] : 1, axis_stride = x.rank ? x.strides[axis] * element : 0;
  Nest<3> nest;  // output, data without the axis (bytes), indices (elements)
  for (int a = 0; a < y.rank; ++a) nest.add_axis(y.shape[a], {y.strides[a] * element, a == axis ? 0 : x.strides[a] * element, indices.strides[a]});
  simplify(nest);
  if (nest.count == 0) return {};
  std::atomic<bool> failed{false};
  std::atomic<int64_t> wrong{0};
  for_each_row(nest, c.workers, 2, [&](int64_t n, const std::array<int64_t, 3>& at) {
    by_element(element, [&](auto bytes) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t v = read_index(indices, at[2] + i * nest.inner_stride(2)), p = v < 0 ? v + size : v;
        if (p < 0 || p >= size) {
          wrong.store(v, std::memory_order_relaxed);
          failed.store(true, std::memory_order_relaxed);
          return;
        }
        assign<bytes()>(y.data + at[0] + i * nest.inner_stride(0), x.data + at[1] + i * nest.inner_stride(1) + p * axis_stride);
      }
    });
  });
  if (failed.load()) return index_error(c.op.name, wrong.load(), size);
  return {};
}

/// Byte offsets in `data` of the slices that the tuples along the last axis of `indices` name; axes of data from `batch` on.
Result<const int64_t*> tuple_offsets(KernelCall& c, const TensorMeta& data, const TensorMeta& indices, int batch) {
  const int last = indices.rank - 1;
  const int64_t k = indices.shape[last], element = dtype_bytes(data.dtype);
  TensorMeta tuples = indices;
  tuples.rank = static_cast<uint8_t>(last);
  const int64_t n = tuples.elements();
  MSVM_ASSIGN_OR_RETURN(std::byte * memory, c.memory.scratch(std::max<int64_t>(n, 1) * 8));
  auto* out = reinterpret_cast<int64_t*>(memory);
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = 0, offset = 0, rest = i;
    for (int a = last - 1; a >= 0; --a) {
      const int64_t j = rest % indices.shape[a];
      rest /= indices.shape[a];
      at += j * indices.strides[a];
      if (a < batch) offset += j * data.strides[a];
    }
    for (int64_t j = 0; j < k; ++j) {
      const int a = batch + static_cast<int>(j);
      const int64_t v = read_index(indices, at + j * indices.strides[last]), p = v < 0 ? v + data.shape[a] : v;
      if (p < 0 || p >= data.shape[a]) return index_error(c.op.name, v, data.shape[a]);
      offset += p * data.strides[a];
    }
    out[i] = offset * element;
  }
  return const_cast<const int64_t*>(out);
}

Status run_gather_nd(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &indices = *c.inputs[1], &y = *c.outputs[0];
  const int batch = static_cast<int>(c.attrs.get_int("batch_dims", 0)), tuple = static_cast<int>(indices.shape[indices.rank - 1]);
  const int64_t element = dtype_bytes(x.dtype);
  if (batch + tuple > x.rank) return shape_mismatch("GatherND: index tuples are longer than data has axes");
  MSVM_ASSIGN_OR_RETURN(const int64_t* from, tuple_offsets(c, x, indices, batch));
  if (y.elements() == 0) return {};
  const int lead = indices.rank - 1;
  const CopyNest slice = slice_nest(y, lead, x, batch + tuple, x.rank - batch - tuple);
  TensorMeta places = y;
  places.rank = static_cast<uint8_t>(lead);
  parallel_items(c.workers, places.elements(), static_cast<double>(slice.count * element) * 0.1 + 20, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) copy_slice(slice, y.data + offset_of(places, i) * element, x.data + from[i], element);
  });
  return {};
}

// ---- Scatter ---------------------------------------------------------------------------------------------------------------

using CombineFn = void (*)(std::byte* to, const std::byte* update);
enum class Combine { kNone, kAdd, kMul, kMax, kMin };

struct F16 { static float load(uint16_t v) { return f16_to_f32(v); } static uint16_t store(float v) { return f32_to_f16(v); } };
struct BF16 { static float load(uint16_t v) { return bf16_to_f32(v); } static uint16_t store(float v) { return f32_to_bf16(v); } };

template <Combine kHow, class T>
T combined(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (kHow) {
      case Combine::kAdd: return a + b;
      case Combine::kMul: return a * b;
      case Combine::kMax: return a > b || a != a ? a : b;
      case Combine::kMin: return a < b || a != a ? a : b;
      case Combine::kNone: return b;
    }
  } else {
    switch (kHow) {
      case Combine::kAdd: return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      case Combine::kMul: return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      case Combine::kMax: return a > b ? a : b;
      case Combine::kMin: return a < b ? a : b;
      case Combine::kNone: return b;
    }
  }
  return b;
}
template <Combine kHow, class T>
void combine_number(std::byte* to, const std::byte* update) {
  T a, b;
  std::memcpy(&a, to, sizeof a);
  std::memcpy(&b, update, sizeof b);
  a = combined<kHow, T>(a, b);
  std::memcpy(to, &a, sizeof a);
}
template <Combine kHow, class H>
void combine_half(std::byte* to, const std::byte* update) {
  uint16_t a, b;
  std::memcpy(&a, to, 2);
  std::memcpy(&b, update, 2);
  a = H::store(combined<kHow, float>(H::load(a), H::load(b)));
  std::memcpy(to, &a, 2);
}
/// Addition and the greater are "or", multiplication and the lesser "and".
template <Combine kHow>
void combine_bool(std::byte* to, const std::byte* update) {
  const bool a = *to != std::byte{0}, b = *update != std::byte{0};
  *to = static_cast<std::byte>(kHow == Combine::kAdd || kHow == Combine::kMax ? a || b : a && b);
}

template <Combine kHow>
CombineFn combine_for(DType t) {
  switch (t) {
    case DType::kF64: return combine_number<kHow, double>;
    case DType::kF32: return combine_number<kHow, float>;
    case DType::kF16: return combine_half<kHow, F16>;
    case DType::kBF16: return combine_half<kHow, BF16>;
    case DType::kI8: return combine_number<kHow, int8_t>;
    case DType::kI16: return combine_number<kHow, int16_t>;
    case DType::kI32: return combine_number<kHow, int32_t>;
    case DType::kI64: return combine_number<kHow, int64_t>;
    case DType::kU8: return combine_number<kHow, uint8_t>;
    case DType::kU16: return combine_number<kHow, uint16_t>;
    case DType::kU32: return combine_number<kHow, uint32_t>;
    case DType::kU64: return combine_number<kHow, uint64_t>;
    case DType::kBool: return combine_bool<kHow>;
    case DType::kString: return nullptr;
  }
  return nullptr;
}

/// Null: replace. An error for a reduction of strings.
Status combine_of(const KernelCall& c, DType t, CombineFn& f) {
  std::string_view how = c.attrs.get_string("reduction", "none");
  f = how == "add" ? combine_for<Combine::kAdd>(t) : how == "mul" ? combine_for<Combine::kMul>(t)
                : how == "max" ? combine_for<Combine::kMax>(t) : how == "min" ? combine_for<Combine::kMin>(t) : nullptr;
  if (!f && how != "none") return unsupported(std::string(c.op.name) + ": strings can't be combined by " + std::string(how));
  return {};
}

void put_slice(const CopyNest& n, std::byte* to, const std::byte* from, int64_t element, CombineFn f) {
  if (!f) return copy_slice(n, to, from, element);
  walk_rows(n, 0, n.count, [&](int64_t k, const std::array<int64_t, 2>& at) {
    for (int64_t i = 0; i < k; ++i) f(to + at[0] + i * n.inner_stride(0), from + at[1] + i * n.inner_stride(1));
  });
}

Status run_scatter_elements(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &indices = *c.inputs[1], &updates = *c.inputs[2], &y = *c.outputs[0];
  const int axis = normal_axis(c.attrs.get_int("axis", 0), x.rank);
  const int64_t element = dtype_bytes(x.dtype), size = x.rank ? x.shape[axis] : 1;
  CombineFn f = nullptr;
  MSVM_RETURN_IF_ERROR(combine_of(c, x.dtype, f));
  MSVM_ASSIGN_OR_RETURN(const int64_t* at, positions(c, indices, size));
  MSVM_RETURN_IF_ERROR(copy(x, y, c.workers));
  Nest<2> nest;  // y without the axis, updates; in the order of the indices, which decides between equal ones
  for (int a = 0; a < indices.rank; ++a) nest.add_axis(indices.shape[a], {a == axis ? 0 : y.strides[a] * element, updates.strides[a] * element});
  simplify(nest, false);
  const int64_t axis_stride = x.rank ? y.strides[axis] * element : 0;
  walk_rows(nest, 0, nest.count, [&](int64_t n, const std::array<int64_t, 2>& p) {
    std::byte* to = y.data + p[0];
    const std::byte* from = updates.data + p[1];
    const int64_t ts = nest.inner_stride(0), fs = nest.inner_stride(1);
    if (f) {
      for (int64_t i = 0; i < n; ++i) f(to + i * ts + at[i] * axis_stride, from + i * fs);
    } else {
      by_element(element, [&](auto bytes) {
        for (int64_t i = 0; i < n; ++i) assign<bytes()>(to + i * ts + at[i] * axis_stride, from + i * fs);
      });
    }
    at += n;
  });
  return {};
}

Status run_scatter_nd(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &indices = *c.inputs[1], &updates = *c.inputs[2], &y = *c.outputs[0];
  const int tuple = static_cast<int>(indices.shape[indices.rank - 1]), lead = indices.rank - 1;
  const int64_t element = dtype_bytes(x.dtype);
  if (tuple > x.rank || updates.rank != lead + x.rank - tuple) return shape_mismatch("ScatterND: shapes of indices, data and updates don't fit each other");
  CombineFn f = nullptr;
  MSVM_RETURN_IF_ERROR(combine_of(c, x.dtype, f));
  MSVM_ASSIGN_OR_RETURN(const int64_t* to, tuple_offsets(c, y, indices, 0));
  MSVM_RETURN_IF_ERROR(copy(x, y, c.workers));
  const CopyNest slice = slice_nest(y, tuple, updates, lead, x.rank - tuple);
  TensorMeta places = updates;
  places.rank = static_cast<uint8_t>(lead);
  if (slice.count == 0) return {};
  for (int64_t i = 0, n = places.elements(); i < n; ++i) put_slice(slice, y.data + to[i], updates.data + offset_of(places, i) * element, element, f);
  return {};
}

Status run_tensor_scatter(KernelCall& c) {
  const TensorMeta &x = *c.inputs[0], &update = *c.inputs[1], &y = *c.outputs[0];
  const TensorMeta* starts = optional_input(c, 2);
  const int axis = normal_axis(c.attrs.get_int("axis", -2), x.rank);
  const bool circular = c.attrs.get_string("mode", "linear") == "circular";
  const int64_t size = x.shape[axis], n = update.shape[axis];
  auto start_of = [&](int64_t b) { return starts ? starts->as<int64_t>()[b * starts->strides[0]] : 0; };
  for (int64_t b = 0; b < x.shape[0]; ++b) {
    const int64_t s = start_of(b);
    if (s < 0 || (circular ? s >= std::max<int64_t>(size, 1) : s > size - n))
      return out_of_range("TensorScatter: write index " + std::to_string(s) + " of batch element " + std::to_string(b) + " with " + std::to_string(n) +
                          " new positions does not fit a cache of " + std::to_string(size));
  }
  MSVM_RETURN_IF_ERROR(copy(x, y, c.workers));
  for (int64_t b = 0; b < x.shape[0]; ++b) {
    const int64_t s = start_of(b), first = std::min(n, size - s);
    const TensorMeta from = window(update, 0, b, 1), to = window(y, 0, b, 1);
    MSVM_RETURN_IF_ERROR(copy(window(from, axis, 0, first), window(to, axis, s, first), c.workers));
    if (first < n) MSVM_RETURN_IF_ERROR(copy(window(from, axis, first, n - first), window(to, axis, 0, n - first), c.workers));
  }
  return {};
}

Status run_one_hot(KernelCall& c) {
  const TensorMeta &indices = *c.inputs[0], &values = *c.inputs[1], &y = *c.outputs[0];
  const int axis = normal_axis(c.attrs.get_int("axis", -1), y.rank);
  const int64_t element = dtype_bytes(y.dtype), depth = y.shape[axis];
  const std::byte *off = values.data, *on = values.data + values.strides[0] * element;
  fill(y, off, c.workers);
  if (depth == 0) return {};
  Nest<2> nest;  // y without the axis (bytes), indices (elements)
  for (int a = 0; a < indices.rank; ++a) nest.add_axis(indices.shape[a], {y.strides[a < axis ? a : a + 1] * element, indices.strides[a]});
  simplify(nest);
  const int64_t index_size = dtype_bytes(indices.dtype), axis_stride = y.strides[axis] * element;
  const CastRow to_i64 = cast_row(indices.dtype, DType::kI64);
  for_each_row(nest, c.workers, 4, [&](int64_t n, const std::array<int64_t, 2>& at) {
    by_element(element, [&](auto bytes) {
      for (int64_t i = 0; i < n; ++i) {
        int64_t v = 0;
        // NaN or out of range: off values only.
        if (to_i64(indices.data + (at[1] + i * nest.inner_stride(1)) * index_size, &v, 1)) continue;
        if (indices.dtype == DType::kU64 && v < 0) continue;
        if (v < 0) v += depth;
        if (v >= 0 && v < depth) assign<bytes()>(y.data + at[0] + i * nest.inner_stride(0) + v * axis_stride, on);
      }
    });
  });
  return {};
}

double output_work(const KernelCall& c) { return static_cast<double>(c.outputs[0]->elements()); }

}  // namespace

void add_indexing_kernels(KernelList& list) {
  add_kernel(list, "ref_gather", "Gather", run_gather, 0.5);
  add_kernel(list, "ref_gatherelements", "GatherElements", run_gather_elements, 2);
  add_kernel(list, "ref_gathernd", "GatherND", run_gather_nd, 1);
  add_kernel(list, "ref_scatterelements", "ScatterElements", run_scatter_elements, 2);
  add_kernel(list, "ref_scatternd", "ScatterND", run_scatter_nd, 1);
  add_kernel(list, "ref_tensorscatter", "TensorScatter", run_tensor_scatter, 0.4);
  add_kernel(list, "ref_onehot", "OneHot", run_one_hot, 0.5);
  for (size_t i = list.size() - 7; i < list.size(); ++i) list[i].work = output_work;
}

}  // namespace msvm
