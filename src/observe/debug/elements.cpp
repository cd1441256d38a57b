#include "observe/debug/elements.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "msvm/base/half.h"

namespace msvm::observe::debug {
namespace {

template <class T>
T load(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

constexpr int kBins = 32;

}  // namespace

Result<Range> range_of(int64_t size, bool range, std::optional<int64_t> from, std::optional<int64_t> to, std::optional<int64_t> step) {
  Range r;
  auto from_end = [&](int64_t v) { return v < 0 ? v + size : v; };
  if (!range) {
    r.from = from_end(from.value_or(0));
    if (r.from < 0 || r.from >= size) return out_of_range(fmt::format("index {} of an axis of size {}", from.value_or(0), size));
    r.to = r.from + 1;
    r.single = true;
    return r;
  }
  r.step = step.value_or(1);
  if (r.step < 1) return invalid_argument(fmt::format("a step of {}: at least 1 was expected", r.step));
  r.from = std::clamp<int64_t>(from_end(from.value_or(0)), 0, size);
  r.to = std::clamp<int64_t>(to ? from_end(*to) : size, r.from, size);
  return r;
}

TensorMeta part_of(const TensorMeta& m, const std::vector<Range>& ranges) {
  TensorMeta out = m;
  out.rank = 0;
  int64_t offset = 0;
  for (size_t a = 0; a < m.rank; ++a) {
    const Range r = a < ranges.size() ? ranges[a] : Range{0, m.shape[a], 1, false};
    offset += r.from * m.strides[a];
    if (r.single) continue;
    // A step beyond the end takes one element; so its stride may be anything.
    const int64_t step = std::min(r.step, std::max<int64_t>(r.to - r.from, 1));
    out.shape[out.rank] = (r.to - r.from + step - 1) / step;
    out.strides[out.rank++] = m.strides[a] * step;
  }
  if (out.data && out.elements() > 0) out.data += offset * dtype_bytes(m.dtype);
  return out;
}

void for_each_element(const TensorMeta& m, FunctionRef<bool(const std::byte*)> visit) {
  if (m.elements() == 0 || !m.data) return;
  const int64_t bytes = dtype_bytes(m.dtype);
  int64_t index[kMaxRank] = {};
  const std::byte* at = m.data;
  for (;;) {
    if (!visit(at)) return;
    int a = m.rank - 1;
    for (; a >= 0; --a) {
      const auto k = static_cast<size_t>(a);
      at += m.strides[k] * bytes;
      if (++index[a] < m.shape[k]) break;
      at -= index[a] * m.strides[k] * bytes;
      index[a] = 0;
    }
    if (a < 0) return;
  }
}

double real_at(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kF64: return load<double>(at);
    case DType::kF32: return load<float>(at);
    case DType::kF16: return f16_to_f32(load<uint16_t>(at));
    case DType::kBF16: return bf16_to_f32(load<uint16_t>(at));
    case DType::kU64: return static_cast<double>(load<uint64_t>(at));
    case DType::kString: return 0;
    default: return static_cast<double>(integer_at(dtype, at));
  }
}

int64_t integer_at(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kI8: return load<int8_t>(at);
    case DType::kI16: return load<int16_t>(at);
    case DType::kI32: return load<int32_t>(at);
    case DType::kI64: return load<int64_t>(at);
    case DType::kU8: return load<uint8_t>(at);
    case DType::kU16: return load<uint16_t>(at);
    case DType::kU32: return load<uint32_t>(at);
    case DType::kU64: return load<int64_t>(at);
    case DType::kBool: return load<uint8_t>(at) != 0;
    default: return 0;
  }
}

std::string real_text(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v < 0 ? "-Infinity" : "Infinity";
  return fmt::format("{}", v);
}

std::string element_text(DType dtype, const std::byte* at) {
  switch (dtype_info(dtype).kind) {
    case DTypeKind::kFloat: {
      const double v = real_at(dtype, at);
      if (dtype != DType::kF64 && std::isfinite(v)) return fmt::format("{}", static_cast<float>(v));
      return real_text(v);
    }
    case DTypeKind::kBool: return integer_at(dtype, at) ? "true" : "false";
    case DTypeKind::kString: return fmt::format("\"{}\"", *reinterpret_cast<const std::string*>(at));
    default: return dtype == DType::kU64 ? fmt::format("{}", load<uint64_t>(at)) : fmt::format("{}", integer_at(dtype, at));
  }
}

std::string elements_text(const TensorMeta& m, int64_t max) {
  if (m.rank == 0) return m.data ? element_text(m.dtype, m.data) : "";
  if (m.elements() == 0) return "[]";
  std::string out;
  int64_t index[kMaxRank] = {}, count = 0;
  std::string open(m.rank, '[');
  for_each_element(m, [&](const std::byte* at) {
    if (count == max) {
      out += ", ...";
      return false;
    }
    // How many axes begin here.
    int begins = 0;
    for (int a = m.rank - 1; a >= 0 && index[a] == 0; --a) ++begins;
    if (count > 0) out += begins ? std::string(static_cast<size_t>(begins), ']') + ", " + std::string(static_cast<size_t>(begins), '[') : ", ";
    else out += open;
    out += element_text(m.dtype, at);
    ++count;
    for (int a = m.rank - 1; a >= 0; --a) {
      if (++index[a] < m.shape[static_cast<size_t>(a)]) break;
      index[a] = 0;
    }
    return true;
  });
  return out + std::string(m.rank, ']');
}

std::string first_not_finite(const TensorMeta& m) {
  if (!is_float(m.dtype)) return {};
  int64_t at = 0;
  std::string found;
  for_each_element(m, [&](const std::byte* p) {
    bool finite = true;
    switch (m.dtype) {
      case DType::kF32: finite = (load<uint32_t>(p) & 0x7f800000u) != 0x7f800000u; break;
      case DType::kF64: finite = std::isfinite(load<double>(p)); break;
      case DType::kF16: finite = (load<uint16_t>(p) & 0x7c00u) != 0x7c00u; break;
      default: finite = (load<uint16_t>(p) & 0x7f80u) != 0x7f80u; break;
    }
    if (finite) {
      ++at;
      return true;
    }
    std::vector<int64_t> index(m.rank);
    for (size_t a = m.rank; a-- > 0; at /= m.shape[a]) index[a] = at % m.shape[a];
    found = fmt::format("{} at [{}]", real_text(real_at(m.dtype, p)), fmt::join(index, ", "));
    return false;
  });
  return found;
}

Statistics statistics_of(const TensorMeta& m, bool histogram) {
  Statistics s;
  if (m.dtype == DType::kString) {
    s.count = m.elements();
    return s;
  }
  double sum = 0, min = std::numeric_limits<double>::infinity(), max = -min;
  for_each_element(m, [&](const std::byte* at) {
    const double v = real_at(m.dtype, at);
    ++s.count;
    if (std::isnan(v)) {
      ++s.nan;
    } else if (std::isinf(v)) {
      ++s.inf;
    } else {
      ++s.finite;
      s.zeros += v == 0;
      min = std::min(min, v);
      max = std::max(max, v);
      sum += v;
    }
    return true;
  });
  if (s.finite == 0) return s;
  s.min = min;
  s.max = max;
  s.mean = sum / static_cast<double>(s.finite);
  const double width = max - min;
  if (!histogram || !std::isfinite(width)) return s;
  const int bins = width == 0 ? 1 : kBins;
  s.histogram.counts.assign(static_cast<size_t>(bins), 0);
  for (int k = 0; k <= bins; ++k) s.histogram.edges.push_back(k == bins ? max : min + width * k / bins);
  for_each_element(m, [&](const std::byte* at) {
    const double v = real_at(m.dtype, at);
    if (!std::isfinite(v)) return true;
    const auto bin = width == 0 ? 0 : std::min<int64_t>(bins - 1, static_cast<int64_t>((v - min) / width * bins));
    ++s.histogram.counts[static_cast<size_t>(bin)];
    return true;
  });
  return s;
}

std::optional<WholeFigures> whole_figures(const TensorMeta& m) {
  if (is_float(m.dtype) || m.dtype == DType::kString) return {};
  std::optional<WholeFigures> f;
  for_each_element(m, [&](const std::byte* at) {
    const int64_t bits = integer_at(m.dtype, at);
    const __int128 v = m.dtype == DType::kU64 ? static_cast<__int128>(static_cast<uint64_t>(bits)) : static_cast<__int128>(bits);
    if (!f) f = WholeFigures{v, v, 0};
    f->min = std::min(f->min, v), f->max = std::max(f->max, v);
    f->sum += v;
    return true;
  });
  return f;
}

TensorCopy copy_of(const TensorMeta& m, int64_t max) {
  TensorCopy c;
  c.dtype = m.dtype;
  c.shape.assign(m.shape.begin(), m.shape.begin() + m.rank);
  c.strides.assign(m.strides.begin(), m.strides.begin() + m.rank);
  c.total = m.elements();
  c.truncated = c.total > max;
  int64_t left = std::min(c.total, max);
  for_each_element(m, [&](const std::byte* at) {
    if (left-- <= 0) return false;
    switch (dtype_info(m.dtype).kind) {
      case DTypeKind::kFloat: c.reals.push_back(real_at(m.dtype, at)); break;
      case DTypeKind::kString: c.strings.push_back(*reinterpret_cast<const std::string*>(at)); break;
      default: c.integers.push_back(integer_at(m.dtype, at)); break;
    }
    return true;
  });
  c.statistics = statistics_of(m);
  return c;
}

}  // namespace msvm::observe::debug
