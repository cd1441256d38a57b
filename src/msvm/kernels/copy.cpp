#include "msvm/kernels/copy.h"

#include <cstring>
#include <string>

namespace msvm {
namespace {

template <int kSize>
void copy_row(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kSize);
}
template <int kSize>
void fill_row(std::byte* to, const std::byte* from, int64_t n) {
  unsigned char v[kSize];
  std::memcpy(v, from, kSize);
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * kSize, v, kSize);
}
/// A tile of a transpose: `to` runs along j, `from` along i.
template <int kSize>
void copy_tile(std::byte* to, int64_t to_i, const std::byte* from, int64_t from_j, int64_t ni, int64_t nj) {
  for (int64_t i = 0; i < ni; ++i)
    for (int64_t j = 0; j < nj; ++j) std::memcpy(to + i * to_i + j * kSize, from + i * kSize + j * from_j, kSize);
}

#define MSVM_BY_SIZE(element, call) \
  switch (element) {                \
    case 1: call(1); break;         \
    case 2: call(2); break;         \
    case 4: call(4); break;         \
    case 8: call(8); break;         \
    case 16: call(16); break;       \
    default: call(32); break;       \
  }

void copy_strings(const CopyNest& nest, std::byte* to, const std::byte* from, WorkerPool& workers) {
  for_each_row(nest, workers, 20, [&](int64_t n, const std::array<int64_t, 2>& at) {
    for (int64_t i = 0; i < n; ++i)
      *reinterpret_cast<std::string*>(to + at[0] + i * nest.inner_stride(0)) = *reinterpret_cast<const std::string*>(from + at[1] + i * nest.inner_stride(1));
  });
}

/// The innermost axis runs densely in the destination, another one in the source: square tiles keep both in cache.
void copy_transposed(const CopyNest& nest, int axis, std::byte* to, const std::byte* from, int64_t element, WorkerPool& workers) {
  constexpr int64_t kTile = 32;
  const int last = nest.rank - 1;
  const int64_t ni = nest.shape[axis], nj = nest.shape[last];
  const int64_t tiles_i = (ni - 1) / kTile + 1, tiles_j = (nj - 1) / kTile + 1;
  CopyNest outer;
  for (int a = 0; a < last; ++a)
    if (a != axis) outer.add_axis(nest.shape[a], {nest.strides[0][a], nest.strides[1][a]});
  const int64_t to_i = nest.strides[0][axis], from_j = nest.strides[1][last];
  parallel_items(workers, outer.count * tiles_i * tiles_j, static_cast<double>(kTile * kTile) * 0.7, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      int64_t rest = t / tiles_j, o = rest / tiles_i;
      int64_t j = t % tiles_j * kTile, i = rest % tiles_i * kTile;
      int64_t at_to = i * to_i + j * element, at_from = i * element + j * from_j;
      for (int a = outer.rank - 1; a >= 0; --a) {
        int64_t x = o % outer.shape[a];
        o /= outer.shape[a];
        at_to += x * outer.strides[0][a];
        at_from += x * outer.strides[1][a];
      }
#define TILE(S) copy_tile<S>(to + at_to, to_i, from + at_from, from_j, std::min(kTile, ni - i), std::min(kTile, nj - j))
      MSVM_BY_SIZE(element, TILE)
#undef TILE
    }
  });
}

}  // namespace

void run_copy(CopyNest nest, std::byte* to, const std::byte* from, int64_t element, bool strings, WorkerPool& workers) {
  if (nest.count == 0) return;
  simplify(nest);
  if (strings) return copy_strings(nest, to, from, workers);
  // A short dense run becomes one larger element.
  auto dense_inner = [&] { return nest.rank > 0 && nest.inner_stride(0) == element && nest.inner_stride(1) == element; };
  if (nest.rank > 1 && dense_inner()) {
    int64_t n = nest.inner();
    if (n <= 32 && (n * element == 2 || n * element == 4 || n * element == 8 || n * element == 16 || n * element == 32)) {
      element *= n;
      nest.count /= n;
      --nest.rank;
    }
  }
  if (nest.rank == 0) {
    std::memcpy(to, from, static_cast<size_t>(element));
    return;
  }
  const int64_t to_stride = nest.inner_stride(0), from_stride = nest.inner_stride(1);
  if (dense_inner()) {
    for_each_row(nest, workers, static_cast<double>(element) * 0.06, [&](int64_t n, const std::array<int64_t, 2>& at) {
      std::memcpy(to + at[0], from + at[1], static_cast<size_t>(n * element));
    });
    return;
  }
  if (to_stride == element && from_stride == 0) {
    for_each_row(nest, workers, static_cast<double>(element) * 0.06, [&](int64_t n, const std::array<int64_t, 2>& at) {
#define FILL(S) fill_row<S>(to + at[0], from + at[1], n)
      MSVM_BY_SIZE(element, FILL)
#undef FILL
    });
    return;
  }
  if (to_stride == element && nest.inner() >= 4)
    for (int a = nest.rank - 2; a >= 0; --a)
      if (nest.strides[1][a] == element && nest.shape[a] >= 4) return copy_transposed(nest, a, to, from, element, workers);
  for_each_row(nest, workers, 1.0, [&](int64_t n, const std::array<int64_t, 2>& at) {
#define ROW(S) copy_row<S>(to + at[0], to_stride, from + at[1], from_stride, n)
    MSVM_BY_SIZE(element, ROW)
#undef ROW
  });
}

Status copy(const TensorMeta& source, const TensorMeta& destination, WorkerPool& workers) {
  const int64_t element = dtype_bytes(source.dtype);
  if (source.rank != destination.rank || element != dtype_bytes(destination.dtype) ||
      (source.dtype == DType::kString) != (destination.dtype == DType::kString) || !std::equal(source.shape.begin(), source.shape.begin() + source.rank, destination.shape.begin()))
    return internal_error("copy between " + to_string(source) + " and " + to_string(destination));
  if (source.data == destination.data) return {};  // in place
  CopyNest nest;
  for (int a = 0; a < source.rank; ++a) nest.add_axis(source.shape[a], {destination.strides[a] * element, source.strides[a] * element});
  run_copy(nest, destination.data, source.data, element, source.dtype == DType::kString, workers);
  return {};
}

void fill(const TensorMeta& destination, const void* value, WorkerPool& workers) {
  static const std::byte kZeros[32] = {};
  static const std::string kEmpty;
  const bool strings = destination.dtype == DType::kString;
  const int64_t element = dtype_bytes(destination.dtype);
  if (!value) value = strings ? static_cast<const void*>(&kEmpty) : kZeros;
  CopyNest nest;
  for (int a = 0; a < destination.rank; ++a) nest.add_axis(destination.shape[a], {destination.strides[a] * element, 0});
  run_copy(nest, destination.data, static_cast<const std::byte*>(value), element, strings, workers);
}

}  // namespace msvm
