// Tensors made from sizes, single values or a key.
#include <atomic>
#include <cmath>
#include <cstring>
#include <numbers>

#include "msvm/kernels/families.h"
#include "msvm/kernels/kernel_util.h"
#include "msvm/kernels/map.h"

namespace msvm {
namespace {

/// Values of f64 or i64 by flat position, stored as the output's dtype. make(first, n, out).
template <class T, class Make>
uint32_t generate(const TensorMeta& y, WorkerPool& workers, double ns, Make&& make) {
  const DType from = std::is_same_v<T, double> ? DType::kF64 : DType::kI64;
  const CastRow store = cast_row(from, y.dtype);
  const int64_t element = dtype_bytes(y.dtype), count = y.elements();
  const bool dense = y.dense();
  std::atomic<uint32_t> hazards{0};
  parallel_items(workers, count, ns, [&](int64_t begin, int64_t end) {
    alignas(64) T values[kMapTile];
    alignas(64) std::byte converted[kMapTile * 8];
    uint32_t found = 0;
    for (int64_t i = begin; i < end; i += kMapTile) {
      const int64_t n = std::min(kMapTile, end - i);
      make(i, n, values);
      if (dense && y.layout == Layout::kRowMajor) {
        found |= store(values, y.data + i * element, n);
        continue;
      }
      found |= store(values, converted, n);
      for (int64_t k = 0; k < n; ++k) std::memcpy(y.data + offset_of(y, i + k) * element, converted + k * element, static_cast<size_t>(element));
    }
    if (found) hazards.fetch_or(found, std::memory_order_relaxed);
  });
  return hazards.load(std::memory_order_relaxed);
}

/// The bounds and step of Range were read; sizes are checked before memory is asked for.
Status run_range(KernelCall& c) {
  const DType t = c.inputs[0]->dtype;
  int64_t n = 0;
  if (is_float(t)) {
    const double start = scalar_f64(*c.inputs[0]), limit = scalar_f64(*c.inputs[1]), delta = scalar_f64(*c.inputs[2]);
    if (delta == 0) return out_of_range("Range: delta is 0");
    const double count = std::ceil((limit - start) / delta);
    if (!(count == count) || count > 1e15) return out_of_range("Range: the number of elements is not finite or too large");
    n = count > 0 ? static_cast<int64_t>(count) : 0;
    MSVM_RETURN_IF_ERROR(new_output(c, 0, t, {&n, 1}));
    generate<double>(*c.outputs[0], c.workers, 1, [&](int64_t first, int64_t m, double* out) {
      for (int64_t i = 0; i < m; ++i) out[i] = start + static_cast<double>(first + i) * delta;
    });
    return {};
  }
  const int64_t start = scalar_i64(*c.inputs[0]), limit = scalar_i64(*c.inputs[1]), delta = scalar_i64(*c.inputs[2]);
  if (delta == 0) return out_of_range("Range: delta is 0");
  __extension__ typedef __int128 Wide;
  Wide span = static_cast<Wide>(limit) - start, step = delta;
  if (step < 0) span = -span, step = -step;
  Wide count = span > 0 ? (span + step - 1) / step : 0;
  if (count > (Wide{1} << 50)) return out_of_range("Range: too many elements");
  n = static_cast<int64_t>(count);
  MSVM_RETURN_IF_ERROR(new_output(c, 0, t, {&n, 1}));
  generate<int64_t>(*c.outputs[0], c.workers, 1, [&](int64_t first, int64_t m, int64_t* out) {
    for (int64_t i = 0; i < m; ++i) out[i] = static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(first + i) * static_cast<uint64_t>(delta));
  });
  return {};
}

Status run_iota(KernelCall& c) {
  const TensorMeta& y = *c.outputs[0];
  const int64_t start = c.args[0], count = c.args[1], step = c.args[2];
  int64_t last = 0;
  if (count > 0 && (__builtin_mul_overflow(count - 1, step, &last) || __builtin_add_overflow(last, start, &last)))
    return out_of_range("msvm.Iota: a value leaves 64 bits");
  if (is_integer(y.dtype)) {
    // Ends of the range that fit mean that all does.
    for (int64_t v : {start, last}) {
      alignas(8) std::byte stored[8];
      int64_t back = 0;
      cast_row(DType::kI64, y.dtype)(&v, stored, 1);
      cast_row(y.dtype, DType::kI64)(stored, &back, 1);
      if (count > 0 && (back != v || (v < 0 && dtype_info(y.dtype).kind == DTypeKind::kUnsigned)))
        return out_of_range("msvm.Iota: " + std::to_string(v) + " is outside the range of " + std::string(dtype_name(y.dtype)));
    }
  }
  generate<int64_t>(y, c.workers, 0.7, [&](int64_t first, int64_t m, int64_t* out) {
    for (int64_t i = 0; i < m; ++i) out[i] = start + (first + i) * step;
  });
  return {};
}

Status run_fill(KernelCall& c) {
  const TensorMeta& y = *c.outputs[0];
  alignas(8) std::byte value[8] = {};
  if (const AttrValue* v = c.attrs.find("value")) {
    if (const auto* i = std::get_if<int64_t>(v)) cast_row(DType::kI64, y.dtype)(i, value, 1);
    if (const auto* d = std::get_if<double>(v)) cast_row(DType::kF64, y.dtype)(d, value, 1);
  }
  fill(y, y.dtype == DType::kString ? nullptr : value, c.workers);
  return {};
}

Status run_shape_tensor(KernelCall& c) {
  const TensorMeta& y = *c.outputs[0];
  for (size_t i = 0; i < c.args.size(); ++i) y.as<int64_t>()[y.rank ? static_cast<int64_t>(i) * y.strides[0] : 0] = c.args[i];
  return {};
}

Status run_eye_like(KernelCall& c) {
  const TensorMeta& y = *c.outputs[0];
  fill(y, nullptr, c.workers);
  const int64_t rows = y.shape[0], columns = y.shape[1], k = c.attrs.get_int("k", 0);
  if (k <= -rows || k >= columns) return {};
  const int64_t element = dtype_bytes(y.dtype), one = 1;
  for (int64_t i = std::max<int64_t>(0, -k); i < rows && i + k < columns; ++i)
    cast_row(DType::kI64, y.dtype)(&one, y.data + (i * y.strides[0] + (i + k) * y.strides[1]) * element, 1);
  return {};
}

// ---- random numbers: Philox 4x32-10, a function of the key and the position alone -------------------------------------------

struct Four {
  uint32_t v[4];
};
Four philox(uint64_t key, uint64_t stream, uint64_t counter) {
  uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32), c2 = static_cast<uint32_t>(stream), c3 = static_cast<uint32_t>(stream >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0, n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c0 = n0, c1 = static_cast<uint32_t>(p1), c2 = n2, c3 = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

struct Key {
  uint64_t key = 0, stream = 0;
};
Key read_key(const TensorMeta& m) { return {m.as<uint64_t>()[0], m.as<uint64_t>()[m.strides[0]]}; }
/// The next draw's key: another stream of the same generator, so that equal sizes do not matter.
void write_next(KernelCall& c, Key k) {
  if (TensorMeta* next = optional_output(c, 1)) {
    Four f = philox(k.key, k.stream, ~uint64_t{0});
    next->as<uint64_t>()[0] = f.v[0] | uint64_t{f.v[1]} << 32;
    next->as<uint64_t>()[next->strides[0]] = f.v[2] | uint64_t{f.v[3]} << 32;
  }
}
/// Uniform in [0, 1), 53 bits (24 where the result is narrower, so that rounding never gives 1).
double uniform(Key k, uint64_t i, bool wide) {
  Four f = philox(k.key, k.stream, i);
  if (!wide) return static_cast<double>(f.v[0] >> 8) * 0x1p-24;
  return static_cast<double>((f.v[0] | uint64_t{f.v[1]} << 32) >> 11) * 0x1p-53;
}

Status run_random_uniform(KernelCall& c) {
  const Key k = read_key(*c.inputs[0]);
  const TensorMeta& y = *c.outputs[0];
  const double low = c.attrs.get_float("low", 0), high = c.attrs.get_float("high", 1);
  const bool wide = y.dtype == DType::kF64;
  // Bits that the dtype holds: a value just under `high` may still round up to it; then the one below is taken.
  const double step = y.dtype == DType::kF16 ? 0x1p-11 : y.dtype == DType::kBF16 ? 0x1p-8 : 0;
  generate<double>(y, c.workers, 12, [&](int64_t first, int64_t n, double* out) {
    for (int64_t i = 0; i < n; ++i) {
      double u = uniform(k, static_cast<uint64_t>(first + i), wide);
      if (step > 0) u = std::floor(u / step) * step;
      out[i] = low + u * (high - low);
    }
  });
  write_next(c, k);
  return {};
}

Status run_random_normal(KernelCall& c) {
  const Key k = read_key(*c.inputs[0]);
  const double mean = c.attrs.get_float("mean", 0), scale = c.attrs.get_float("scale", 1);
  generate<double>(*c.outputs[0], c.workers, 40, [&](int64_t first, int64_t n, double* out) {
    for (int64_t i = 0; i < n; ++i) {
      Four f = philox(k.key, k.stream, static_cast<uint64_t>(first + i));
      // Box and Muller; the first number is in (0, 1].
      const double a = static_cast<double>(((f.v[0] | uint64_t{f.v[1]} << 32) >> 11) + 1) * 0x1p-53, b = static_cast<double>((f.v[2] | uint64_t{f.v[3]} << 32) >> 11) * 0x1p-53;
      out[i] = mean + scale * std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
    }
  });
  write_next(c, k);
  return {};
}

Status run_bernoulli(KernelCall& c) {
  const Key k = read_key(*c.inputs[0]);
  const TensorMeta& x = *c.inputs[1];
  generate<int64_t>(*c.outputs[0], c.workers, 15, [&](int64_t first, int64_t n, int64_t* out) {
    for (int64_t i = 0; i < n; ++i) {
      double p = 0;
      cast_row(x.dtype, DType::kF64)(x.data + offset_of(x, first + i) * dtype_bytes(x.dtype), &p, 1);
      out[i] = uniform(k, static_cast<uint64_t>(first + i), true) < p;
    }
  });
  write_next(c, k);
  return {};
}

Status run_multinomial(KernelCall& c) {
  const Key k = read_key(*c.inputs[0]);
  const TensorMeta &x = *c.inputs[1], &y = *c.outputs[0];
  const int64_t batch = x.shape[0], classes = x.shape[1], samples = y.shape[1];
  MSVM_ASSIGN_OR_RETURN(std::byte * memory, c.memory.scratch(classes * 8));
  auto* sums = reinterpret_cast<double*>(memory);
  for (int64_t b = 0; b < batch; ++b) {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < classes; ++i) {
      cast_row(x.dtype, DType::kF64)(x.data + (b * x.strides[0] + i * x.strides[1]) * dtype_bytes(x.dtype), &sums[i], 1);
      if (sums[i] > top) top = sums[i];
    }
    for (int64_t i = 0; i < classes; ++i) sums[i] = sum += std::isinf(top) && sums[i] == top ? 1.0 : std::exp(sums[i] - top);
    for (int64_t s = 0; s < samples; ++s) {
      const double u = uniform(k, static_cast<uint64_t>(b * samples + s), true) * sum;
      int64_t chosen = std::upper_bound(sums, sums + classes, u) - sums;
      chosen = std::clamp<int64_t>(chosen, 0, classes - 1);
      cast_row(DType::kI64, y.dtype)(&chosen, y.data + (b * y.strides[0] + s * y.strides[1]) * dtype_bytes(y.dtype), 1);
    }
  }
  write_next(c, k);
  return {};
}

}  // namespace

void add_creation_kernels(KernelList& list) {
  add_kernel(list, "ref_range", "Range", run_range, 1);
  add_kernel(list, "ref_iota", "msvm.Iota", run_iota, 0.7);
  add_kernel(list, "ref_fill", "msvm.Fill", run_fill, 0.1);
  add_kernel(list, "ref_shapetensor", "msvm.ShapeTensor", run_shape_tensor, 1);
  add_kernel(list, "ref_eyelike", "EyeLike", run_eye_like, 0.2);
  add_kernel(list, "ref_randomuniform", "RandomUniform", run_random_uniform, 12);
  add_kernel(list, "ref_randomnormal", "RandomNormal", run_random_normal, 40);
  add_kernel(list, "ref_bernoulli", "Bernoulli", run_bernoulli, 15);
  add_kernel(list, "ref_multinomial", "Multinomial", run_multinomial, 20);
}

}  // namespace msvm
