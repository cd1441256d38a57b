#include "msvm/kernels/map.h"

#include <atomic>
#include <cstring>
#include <string>

namespace msvm {
namespace {

template <class T>
void gather(const T* in, int64_t stride, int64_t n, T* out) {
  if (stride == 0) {
    std::fill_n(out, n, *in);
    return;
  }
  for (int64_t i = 0; i < n; ++i) out[i] = in[i * stride];
}
template <class T>
void scatter(const T* in, int64_t n, T* out, int64_t stride) {
  for (int64_t i = 0; i < n; ++i) out[i * stride] = in[i];
}

}  // namespace

void gather_row(const std::byte* in, int64_t stride, int64_t n, int64_t element, std::byte* out) {
  switch (element) {
    case 1: return gather(reinterpret_cast<const uint8_t*>(in), stride, n, reinterpret_cast<uint8_t*>(out));
    case 2: return gather(reinterpret_cast<const uint16_t*>(in), stride, n, reinterpret_cast<uint16_t*>(out));
    case 4: return gather(reinterpret_cast<const uint32_t*>(in), stride, n, reinterpret_cast<uint32_t*>(out));
    case 8: return gather(reinterpret_cast<const uint64_t*>(in), stride, n, reinterpret_cast<uint64_t*>(out));
  }
}

void scatter_row(const std::byte* in, int64_t n, int64_t element, std::byte* out, int64_t stride) {
  switch (element) {
    case 1: return scatter(reinterpret_cast<const uint8_t*>(in), n, reinterpret_cast<uint8_t*>(out), stride);
    case 2: return scatter(reinterpret_cast<const uint16_t*>(in), n, reinterpret_cast<uint16_t*>(out), stride);
    case 4: return scatter(reinterpret_cast<const uint32_t*>(in), n, reinterpret_cast<uint32_t*>(out), stride);
    case 8: return scatter(reinterpret_cast<const uint64_t*>(in), n, reinterpret_cast<uint64_t*>(out), stride);
  }
}

const void* load_tile(const std::byte* p, int64_t stride, int64_t n, DType from, DType to, void* tile) {
  bool dense = stride == 1 || n == 1;
  if (from == to) {
    if (dense) return p;
    gather_row(p, stride, n, dtype_bytes(from), static_cast<std::byte*>(tile));
    return tile;
  }
  if (dense) {
    cast_row(from, to)(p, tile, n);
    return tile;
  }
  alignas(64) std::byte raw[kMapTile * 8];
  int64_t size = dtype_bytes(from);
  for (int64_t i = 0; i < n; i += kMapTile) {
    int64_t m = std::min(kMapTile, n - i);
    gather_row(p + i * stride * size, stride, m, size, raw);
    cast_row(from, to)(raw, static_cast<std::byte*>(tile) + i * dtype_bytes(to), m);
  }
  return tile;
}

namespace {

constexpr int64_t kShortRow = 128;  // elements below which rows go together

/// `rows` rows of `n` elements as one dense array of `to`: the tensor's own memory where it is that already, else `tile`.
const void* load_rows(const std::byte* p, int64_t row_stride, int64_t stride, int64_t rows, int64_t n, DType from, DType to, std::byte* tile) {
  if ((stride == 1 || n == 1) && (row_stride == n || rows == 1)) return load_tile(p, 1, rows * n, from, to, tile);
  if (stride == 0 && row_stride == 0) return load_tile(p, 0, rows * n, from, to, tile);
  const int64_t from_size = dtype_bytes(from), to_size = dtype_bytes(to);
  for (int64_t r = 0; r < rows; ++r) {
    std::byte* mine = tile + r * n * to_size;
    const void* got = load_tile(p + r * row_stride * from_size, stride, n, from, to, mine);
    if (got != mine) std::memcpy(mine, got, static_cast<size_t>(n * to_size));
  }
  return tile;
}

/// As many short rows as a tile holds, side by side: an operand that is the same for all of them is laid out once.
uint32_t map_short_rows(std::span<const TensorMeta* const> inputs, const TensorMeta& output, const MapSpec& spec, const Nest<kMaxMapInputs + 1>& nest, WorkerPool& workers) {
  constexpr int kOperands = kMaxMapInputs + 1;
  Nest<kOperands> outer = nest;
  const int64_t n = outer.inner();
  std::array<int64_t, kOperands> stride{};
  for (int k = 0; k < kOperands; ++k) stride[k] = outer.inner_stride(k);
  outer.count /= n;
  --outer.rank;
  const int used = spec.inputs;
  const int64_t together = kMapTile / n, out_size = dtype_bytes(output.dtype);
  std::atomic<uint32_t> hazards{0};
  for_each_row(outer, workers, spec.ns_per_element * static_cast<double>(n) + 1, [&](int64_t rows, const std::array<int64_t, kOperands>& at) {
    alignas(64) std::byte tiles[kOperands][kMapTile * 8];
    alignas(64) std::byte converted[kMapTile * 8];
    const void* p[kMaxMapInputs] = {};
    uint32_t found = 0;
    const bool out_dense = stride[0] == 1 && (outer.inner_stride(0) == n || rows == 1);
    for (int64_t r = 0; r < rows; r += together) {
      const int64_t m = std::min(together, rows - r), size = m * n;
      for (int k = 0; k < used; ++k) {
        const int64_t row = outer.inner_stride(k + 1);
        if (row == 0 && r > 0) continue;  // still in its tile
        p[k] = load_rows(inputs[k]->data + (at[k + 1] + r * row) * dtype_bytes(inputs[k]->dtype), row, stride[k + 1], m, n, inputs[k]->dtype, spec.compute[k], tiles[k]);
      }
      std::byte* to = output.data + (at[0] + r * outer.inner_stride(0)) * out_size;
      const bool same = output.dtype == spec.result;
      if (out_dense && same) {
        found |= spec.loop(p, to, size, spec.params);
        continue;
      }
      found |= spec.loop(p, tiles[kMaxMapInputs], size, spec.params);
      const std::byte* result = tiles[kMaxMapInputs];
      if (!same) {
        std::byte* place = out_dense ? to : converted;
        cast_row(spec.result, output.dtype)(result, place, size);
        result = place;
      }
      if (out_dense) continue;
      for (int64_t i = 0; i < m; ++i) {
        std::byte* row = to + i * outer.inner_stride(0) * out_size;
        if (stride[0] == 1) std::memcpy(row, result + i * n * out_size, static_cast<size_t>(n * out_size));
        else scatter_row(result + i * n * out_size, n, out_size, row, stride[0]);
      }
    }
    if (found) hazards.fetch_or(found, std::memory_order_relaxed);
  });
  return hazards.load(std::memory_order_relaxed);
}

}  // namespace

uint32_t map_elements(std::span<const TensorMeta* const> inputs, const TensorMeta& output, const MapSpec& spec, WorkerPool& workers) {
  constexpr int kOperands = kMaxMapInputs + 1;
  const int used = spec.inputs;
  std::array<const TensorMeta*, kOperands> operands;
  operands.fill(&output);
  for (int k = 0; k < used; ++k) operands[k + 1] = inputs[k];

  Nest<kOperands> nest;
  bool flat = output.dense();
  for (int k = 0; k < used && flat; ++k) {
    const TensorMeta& m = *inputs[k];
    flat = m.rank == output.rank && std::equal(m.shape.begin(), m.shape.begin() + m.rank, output.shape.begin()) &&
           std::equal(m.strides.begin(), m.strides.begin() + m.rank, output.strides.begin());
  }
  if (flat) {
    nest.add_axis(output.elements(), {1, 1, 1, 1});
  } else {
    nest = broadcast_nest<kOperands>(output.dims(), operands);
  }
  if (nest.count == 0) return 0;
  if (nest.rank > 1 && nest.inner() < kShortRow) return map_short_rows(inputs, output, spec, nest, workers);

  int64_t in_size[kMaxMapInputs] = {};
  for (int k = 0; k < used; ++k) in_size[k] = dtype_bytes(inputs[k]->dtype);
  const int64_t out_size = dtype_bytes(output.dtype);
  const bool out_converted = output.dtype != spec.result;
  std::atomic<uint32_t> hazards{0};

  for_each_row(nest, workers, spec.ns_per_element, [&](int64_t n, const std::array<int64_t, kOperands>& at) {
    std::byte* out = output.data + at[0] * out_size;
    const int64_t out_stride = nest.inner_stride(0);
    const std::byte* in[kMaxMapInputs];
    bool whole = !out_converted && (out_stride == 1 || n == 1);
    for (int k = 0; k < used; ++k) {
      in[k] = inputs[k]->data + at[k + 1] * in_size[k];
      whole = whole && inputs[k]->dtype == spec.compute[k] && (nest.inner_stride(k + 1) == 1 || n == 1);
    }
    uint32_t found = 0;
    if (whole) {
      const void* p[kMaxMapInputs] = {in[0], in[1], in[2]};
      found = spec.loop(p, out, n, spec.params);
    } else {
      alignas(64) std::byte tiles[kOperands][kMapTile * 8];
      const void* p[kMaxMapInputs] = {};
      for (int k = 0; k < used; ++k)
        if (nest.inner_stride(k + 1) == 0) p[k] = load_tile(in[k], 0, std::min(n, kMapTile), inputs[k]->dtype, spec.compute[k], tiles[k]);
      for (int64_t i = 0; i < n; i += kMapTile) {
        int64_t m = std::min(kMapTile, n - i);
        for (int k = 0; k < used; ++k) {
          int64_t s = nest.inner_stride(k + 1);
          if (s != 0) p[k] = load_tile(in[k] + i * s * in_size[k], s, m, inputs[k]->dtype, spec.compute[k], tiles[k]);
        }
        std::byte* to = out + i * out_stride * out_size;
        const bool direct = out_stride == 1 || m == 1;
        if (!out_converted && direct) {
          found |= spec.loop(p, to, m, spec.params);
          continue;
        }
        found |= spec.loop(p, tiles[kMaxMapInputs], m, spec.params);
        if (!out_converted) {
          scatter_row(tiles[kMaxMapInputs], m, out_size, to, out_stride);
        } else if (direct) {
          cast_row(spec.result, output.dtype)(tiles[kMaxMapInputs], to, m);
        } else {
          alignas(64) std::byte raw[kMapTile * 8];
          cast_row(spec.result, output.dtype)(tiles[kMaxMapInputs], raw, m);
          scatter_row(raw, m, out_size, to, out_stride);
        }
      }
    }
    if (found) hazards.fetch_or(found, std::memory_order_relaxed);
  });
  return hazards.load(std::memory_order_relaxed);
}

Status hazard_error(const OpSchema& op, uint32_t hazards) {
  if (hazards == 0) return {};
  std::string name(op.name);
  if (hazards & kDivisionHazard) return out_of_range(name + ": integer division by zero, or of the smallest integer by -1");
  if (hazards & kShiftHazard) return out_of_range(name + ": shift by as many bits as the type has, or more");
  if (hazards & kCastHazard) return out_of_range(name + ": a value is NaN or outside the range of the integer type");
  if (hazards & kIndexHazard) return out_of_range(name + ": an index is outside its axis");
  return out_of_range(name + ": a value is outside its range");
}

double scalar_f64(const TensorMeta& m) {
  double v = 0;
  if (m.dtype == DType::kF64) return *m.as<double>();
  cast_row(m.dtype, DType::kF64)(m.data, &v, 1);
  return v;
}

int64_t scalar_i64(const TensorMeta& m) {
  int64_t v = 0;
  if (m.dtype == DType::kI64) return *m.as<int64_t>();
  cast_row(m.dtype, DType::kI64)(m.data, &v, 1);
  return v;
}

}  // namespace msvm
