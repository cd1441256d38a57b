// Loops over tensors of any strides: axes dropped, sorted and merged until only what differs is left; rows handed to the kernel.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "msvm/device/workers.h"
#include "msvm/shape/tensor_meta.h"

namespace msvm {

/// Axes of a loop nest after splitting (Tile, DepthToSpace) may be twice a tensor's.
constexpr int kMaxNestRank = 2 * kMaxRank;

/// A loop nest shared by N operands. Strides in any unit (elements or bytes), innermost axis last. Rank 0 is one element.
template <int N>
struct Nest {
  int rank = 0;
  int64_t count = 1;  // elements
  std::array<int64_t, kMaxNestRank> shape{};
  std::array<std::array<int64_t, kMaxNestRank>, N> strides{};

  void add_axis(int64_t size, const std::array<int64_t, N>& s) {
    shape[rank] = size;
    for (int k = 0; k < N; ++k) strides[k][rank] = s[k];
    ++rank;
    count *= size;
  }
  int64_t inner() const { return rank ? shape[rank - 1] : 1; }
  int64_t inner_stride(int k) const { return rank ? strides[k][rank - 1] : 0; }
};

/// Drops axes of size 1, sorts by the stride of operand 0 (largest outermost; ties by the next operands) if `sort`, and merges
/// neighbours that every operand walks without a gap. Only for loops whose order does not matter, unless `sort` is false.
template <int N>
void simplify(Nest<N>& n, bool sort = true) {
  int rank = 0;
  for (int a = 0; a < n.rank; ++a) {
    if (n.shape[a] == 1) continue;
    if (rank != a) {
      n.shape[rank] = n.shape[a];
      for (int k = 0; k < N; ++k) n.strides[k][rank] = n.strides[k][a];
    }
    ++rank;
  }
  n.rank = rank;
  if (n.count == 0) {  // nothing to walk: one empty axis
    n.rank = 1;
    n.shape[0] = 0;
    return;
  }
  if (sort) {
    auto before = [&](int a, int b) {  // a further out than b?
      for (int k = 0; k < N; ++k) {
        int64_t x = n.strides[k][a], y = n.strides[k][b];
        x = x < 0 ? -x : x, y = y < 0 ? -y : y;
        if (x != y) return x > y;
      }
      return false;
    };
    for (int i = 1; i < n.rank; ++i)
      for (int j = i; j > 0 && before(j, j - 1); --j) {
        std::swap(n.shape[j], n.shape[j - 1]);
        for (int k = 0; k < N; ++k) std::swap(n.strides[k][j], n.strides[k][j - 1]);
      }
  }
  int out = 0;
  for (int a = 1; a < n.rank; ++a) {
    bool merge = true;
    for (int k = 0; k < N; ++k) merge = merge && n.strides[k][out] == n.strides[k][a] * n.shape[a];
    if (merge) {
      n.shape[out] *= n.shape[a];
    } else {
      ++out;
      n.shape[out] = n.shape[a];
    }
    for (int k = 0; k < N; ++k) n.strides[k][out] = n.strides[k][a];
  }
  if (n.rank) n.rank = out + 1;
}

/// The nest over `shape` of operands that broadcast to it (numpy's rule: aligned at the right, size 1 or missing = stride 0).
/// Strides in elements.
template <int N>
Nest<N> broadcast_nest(std::span<const int64_t> shape, const std::array<const TensorMeta*, N>& operands, bool sort = true) {
  Nest<N> n;
  int rank = static_cast<int>(shape.size());
  for (int a = 0; a < rank; ++a) {
    std::array<int64_t, N> s{};
    for (int k = 0; k < N; ++k) {
      const TensorMeta& m = *operands[k];
      int b = a - (rank - m.rank);
      s[k] = b < 0 || m.shape[b] == 1 ? 0 : m.strides[b];
    }
    n.add_axis(shape[a], s);
  }
  simplify(n, sort);
  return n;
}

/// Calls row(n, offsets) for pieces of the elements [begin, end) (in the nest's order); a piece lies within the innermost axis.
/// offsets: of its first element, per operand, in the nest's unit.
template <int N, class F>
void walk_rows(const Nest<N>& nest, int64_t begin, int64_t end, F&& row) {
  if (begin >= end) return;
  std::array<int64_t, N> at{};
  if (nest.rank == 0) {
    row(int64_t{1}, at);
    return;
  }
  std::array<int64_t, kMaxNestRank> index{};
  int64_t rest = begin;
  for (int a = nest.rank - 1; a >= 0; --a) {
    index[a] = rest % nest.shape[a];
    rest /= nest.shape[a];
    for (int k = 0; k < N; ++k) at[k] += index[a] * nest.strides[k][a];
  }
  const int last = nest.rank - 1;
  int64_t left = end - begin;
  for (;;) {
    int64_t n = std::min(nest.shape[last] - index[last], left);
    row(n, at);
    left -= n;
    if (left == 0) return;
    for (int k = 0; k < N; ++k) at[k] -= index[last] * nest.strides[k][last];
    index[last] = 0;
    for (int a = last - 1; a >= 0; --a) {
      for (int k = 0; k < N; ++k) at[k] += nest.strides[k][a];
      if (++index[a] < nest.shape[a]) break;
      for (int k = 0; k < N; ++k) at[k] -= nest.shape[a] * nest.strides[k][a];
      index[a] = 0;
    }
  }
}

/// The whole nest, in parallel where it pays. Chunk borders depend on the nest alone.
template <int N, class F>
void for_each_row(const Nest<N>& nest, WorkerPool& workers, double ns_per_element, F&& row) {
  if (nest.count == 0) return;
  int64_t grain = grain_for(nest.count, ns_per_element);
  if (grain >= nest.count) return walk_rows(nest, 0, nest.count, row);
  workers.parallel_for(nest.count, grain, [&](int64_t begin, int64_t end) { walk_rows(nest, begin, end, row); });
}

/// parallel_for over independent items that cost about `ns_per_item` each.
template <class F>
void parallel_items(WorkerPool& workers, int64_t count, double ns_per_item, F&& body) {
  if (count <= 0) return;
  workers.parallel_for(count, grain_for(count, ns_per_item), body);
}

/// Offset, in elements, of the `flat`-th element (row-major order over `m`'s logical axes).
inline int64_t offset_of(const TensorMeta& m, int64_t flat) {
  int64_t at = 0;
  for (int a = m.rank - 1; a >= 0; --a) {
    at += flat % m.shape[a] * m.strides[a];
    flat /= m.shape[a];
  }
  return at;
}

/// The logical row-major strides of a shape (not where elements lie).
inline std::array<int64_t, kMaxRank> row_major(std::span<const int64_t> shape) {
  std::array<int64_t, kMaxRank> s{};
  int64_t n = 1;
  for (size_t a = shape.size(); a-- > 0;) {
    s[a] = n;
    n *= shape[a];
  }
  return s;
}

/// An axis in [-rank, rank) as one in [0, rank). Ranges were checked by the shape function; rank 0 gives 0.
inline int normal_axis(int64_t axis, int rank) {
  if (axis < 0) axis += rank;
  return static_cast<int>(axis < 0 || axis >= std::max(rank, 1) ? 0 : axis);
}

}  // namespace msvm
