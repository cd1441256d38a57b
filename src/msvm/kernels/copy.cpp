#include "msvm/kernels/copy.h"

#include <cstring>
#include <string>

#include "msvm/kernels/pixel_kernels.h"

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

/// The innermost axis runs densely in the destination, another one in the source: tiles keep both in cache. `vectors`: for elements of
/// 4 bytes at distances of whole elements.
void copy_transposed(const CopyNest& nest, int axis, std::byte* to, const std::byte* from, int64_t element, const PixelKernels* vectors, WorkerPool& workers) {
  const int last = nest.rank - 1;
  const int64_t ni = nest.shape[axis], nj = nest.shape[last];
  const int64_t tile_j = vectors ? std::min<int64_t>(nj, 512) : 32, tile_i = vectors ? std::max<int64_t>(16, (16384 / tile_j + 15) / 16 * 16) : 32;
  const int64_t tiles_i = (ni - 1) / tile_i + 1, tiles_j = (nj - 1) / tile_j + 1;
  CopyNest outer;
  for (int a = 0; a < last; ++a)
    if (a != axis) outer.add_axis(nest.shape[a], {nest.strides[0][a], nest.strides[1][a]});
  const int64_t to_i = nest.strides[0][axis], from_j = nest.strides[1][last];
  const double tile_ns = static_cast<double>(std::min(ni, tile_i) * std::min(nj, tile_j)) * (vectors ? 0.15 : 0.7);
  parallel_items(workers, outer.count * tiles_i * tiles_j, tile_ns, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      int64_t rest = t / tiles_j, o = rest / tiles_i;
      int64_t j = t % tiles_j * tile_j, i = rest % tiles_i * tile_i;
      int64_t at_to = i * to_i + j * element, at_from = i * element + j * from_j;
      for (int a = outer.rank - 1; a >= 0; --a) {
        int64_t x = o % outer.shape[a];
        o /= outer.shape[a];
        at_to += x * outer.strides[0][a];
        at_from += x * outer.strides[1][a];
      }
      const int64_t rows = std::min(tile_i, ni - i), columns = std::min(tile_j, nj - j);
      if (vectors) {
        vectors->transpose({reinterpret_cast<const float*>(from + at_from), from_j / 4, columns, rows}, reinterpret_cast<float*>(to + at_to), to_i / 4);
        continue;
      }
#define TILE(S) copy_tile<S>(to + at_to, to_i, from + at_from, from_j, rows, columns)
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
  // Words of 4 bytes go by vectors.
  const PixelKernels* vectors = pixel_kernels(cpu_features().isa);
  auto whole_words = [&](int skip) {
    for (int a = 0; a < nest.rank; ++a)
      if (a != skip && (nest.strides[0][a] % 4 != 0 || nest.strides[1][a] % 4 != 0)) return false;
    return true;
  };
  if (dense_inner()) {
    const int64_t n = nest.inner(), bytes = n * element;
    if (vectors && nest.rank > 1 && bytes <= 2048 && bytes % 4 == 0 && whole_words(nest.rank - 1)) {
      CopyNest rows = nest;
      rows.count /= n;
      --rows.rank;
      for_each_row(rows, workers, static_cast<double>(bytes) * 0.06 + 1, [&](int64_t m, const std::array<int64_t, 2>& at) {
        vectors->copy_rows({reinterpret_cast<const float*>(from + at[1]), rows.inner_stride(1) / 4, m, bytes / 4}, reinterpret_cast<float*>(to + at[0]), rows.inner_stride(0) / 4);
      });
      return;
    }
    for_each_row(nest, workers, static_cast<double>(element) * 0.06, [&](int64_t m, const std::array<int64_t, 2>& at) {
      std::memcpy(to + at[0], from + at[1], static_cast<size_t>(m * element));
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
  if (to_stride == element) {
    const PixelKernels* turning = element == 4 && whole_words(-1) ? vectors : nullptr;
    const int64_t least = turning ? 2 : 4;
    for (int a = nest.rank - 2; a >= 0 && nest.inner() >= least; --a)
      if (nest.strides[1][a] == element && nest.shape[a] >= least) return copy_transposed(nest, a, to, from, element, turning, workers);
  }
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
