#include "feed.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <random>
#include <sstream>

namespace msvm::cli {
namespace {

const Param* find_input(const Function& f, const std::string& name) {
  for (const Param& p : f.inputs)
    if (p.name == name) return &p;
  return nullptr;
}

std::string input_names(const Function& f) {
  std::string out;
  for (const Param& p : f.inputs) out += (out.empty() ? "" : ", ") + p.name;
  return out;
}

/// A double outside T's range has no conversion.
template <class T> T clamped(double v) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min()), kHigh = static_cast<double>(std::numeric_limits<T>::max());
  return v <= kLow ? std::numeric_limits<T>::min() : v >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(v);
}

template <class T> void fill(TensorMeta& m, std::mt19937_64& random, double lo, double hi, bool integer) {
  T* p = m.as<T>();
  for (int64_t i = 0; i < m.elements(); ++i) {
    double u = static_cast<double>(random() >> 11) * 0x1p-53;
    double v = lo + u * (hi - lo);
    if (!integer) p[i] = static_cast<T>(v);
    else p[i] = clamped<T>(std::floor(v));
  }
}

uint16_t half_bits(float v, bool bf16) {
  auto u = std::bit_cast<uint32_t>(v);
  if (bf16) return static_cast<uint16_t>(u >> 16);
  int exponent = static_cast<int>(u >> 23 & 255) - 112;
  if (exponent <= 0) return static_cast<uint16_t>(u >> 16 & 0x8000);
  if (exponent >= 31) return static_cast<uint16_t>((u >> 16 & 0x8000) | 0x7bff);
  return static_cast<uint16_t>((u >> 16 & 0x8000) | static_cast<uint32_t>(exponent) << 10 | (u >> 13 & 0x3ff));
}

Status fill_any(TensorMeta& m, std::mt19937_64& random, double lo, double hi) {
  switch (m.dtype) {
    case DType::kF64: fill<double>(m, random, lo, hi, false); break;
    case DType::kF32: fill<float>(m, random, lo, hi, false); break;
    case DType::kF16:
    case DType::kBF16:
      for (int64_t i = 0; i < m.elements(); ++i)
        m.as<uint16_t>()[i] = half_bits(static_cast<float>(lo + static_cast<double>(random() >> 11) * 0x1p-53 * (hi - lo)), m.dtype == DType::kBF16);
      break;
    case DType::kI8: fill<int8_t>(m, random, lo, hi, true); break;
    case DType::kI16: fill<int16_t>(m, random, lo, hi, true); break;
    case DType::kI32: fill<int32_t>(m, random, lo, hi, true); break;
    case DType::kI64: fill<int64_t>(m, random, lo, hi, true); break;
    case DType::kU8: fill<uint8_t>(m, random, lo, hi, true); break;
    case DType::kU16: fill<uint16_t>(m, random, lo, hi, true); break;
    case DType::kU32: fill<uint32_t>(m, random, lo, hi, true); break;
    case DType::kU64: fill<uint64_t>(m, random, lo, hi, true); break;
    case DType::kBool: fill<uint8_t>(m, random, 0, 2, true); break;
    case DType::kString: return unsupported("string inputs can't be filled; give a file through Python");
  }
  return {};
}

/// numpy has no bfloat16, and files hold no scalars that aren't arrays.
Value as_declared(TensorValue t, const Param& p) {
  if (p.type.kind == RegKind::kTensor) {
    if (p.type.tensor.dtype == DType::kBF16 && t.meta.dtype == DType::kU16) t.meta.dtype = DType::kBF16;
    return t;
  }
  if (t.meta.elements() != 1) return t;
  if (p.type.kind == RegKind::kI64 && t.meta.dtype == DType::kI64) return *t.meta.as<int64_t>();
  if (p.type.kind == RegKind::kF64 && t.meta.dtype == DType::kF64) return *t.meta.as<double>();
  if (p.type.kind == RegKind::kBool && t.meta.dtype == DType::kBool) return *t.meta.as<uint8_t>() != 0;
  return t;
}

}  // namespace

Result<Shapes> parse_shapes(const std::vector<std::string>& specs, const Function& f) {
  Shapes out;
  for (const std::string& spec : specs) {
    auto eq = spec.find('=');
    std::string name = eq == std::string::npos ? "" : spec.substr(0, eq), sizes = eq == std::string::npos ? spec : spec.substr(eq + 1);
    if (name.empty()) {
      if (f.inputs.size() != 1) return invalid_argument(fmt::format("--shape {}: the program has several inputs ({}); write NAME=SIZES", spec, input_names(f)));
      name = f.inputs[0].name;
    }
    if (!find_input(f, name)) return invalid_argument(fmt::format("--shape {}: the program has no input {}; it has {}", spec, name, input_names(f)));
    std::vector<int64_t>& dims = out[name];
    dims.clear();
    if (sizes == "scalar") continue;
    for (size_t at = 0; at <= sizes.size();) {
      size_t end = std::min(sizes.find('x', at), sizes.size());
      int64_t v = 0;
      auto [stop, error] = std::from_chars(sizes.data() + at, sizes.data() + end, v);
      if (error != std::errc() || stop != sizes.data() + end || v < 0)
        return invalid_argument(fmt::format("--shape {}: sizes are non-negative integers joined by x, as in x=1x3x480x640; a rank of 0 is x=scalar", spec));
      dims.push_back(v);
      at = end + 1;
    }
  }
  return out;
}

Result<std::vector<Shapes>> parse_stream(const std::string& text, const Function& f) {
  std::vector<Shapes> steps;
  std::string lines = text;
  for (char& c : lines)
    if (c == ';') c = '\n';
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    if (auto comment = line.find('#'); comment != std::string::npos) line.resize(comment);
    std::istringstream words(line);
    std::vector<std::string> specs;
    for (std::string w; words >> w;) specs.push_back(w);
    if (specs.empty()) continue;
    MSVM_ASSIGN_OR_RETURN(Shapes s, parse_shapes(specs, f));
    steps.push_back(std::move(s));
  }
  if (steps.empty()) return invalid_argument("--stream: no shapes in it; one step per line, as in x=1x3x320x320");
  return steps;
}

Result<std::map<std::string, std::pair<double, double>>> parse_ranges(const std::vector<std::string>& specs, const Function& f) {
  std::map<std::string, std::pair<double, double>> out;
  for (const std::string& s : specs) {
    auto eq = s.find('='), colon = s.find(':', eq == std::string::npos ? 0 : eq);
    if (eq == std::string::npos || colon == std::string::npos) return invalid_argument(fmt::format("--range {}: NAME=LOW:HIGH is expected", s));
    char *low_end = nullptr, *high_end = nullptr;
    double lo = std::strtod(s.c_str() + eq + 1, &low_end), hi = std::strtod(s.c_str() + colon + 1, &high_end);
    if (low_end != s.c_str() + colon || colon == eq + 1 || *high_end || colon + 1 == s.size() || !std::isfinite(lo) || !std::isfinite(hi))
      return invalid_argument(fmt::format("--range {}: NAME=LOW:HIGH is expected, with two numbers", s));
    if (lo > hi) return invalid_argument(fmt::format("--range {}: LOW <= HIGH is needed", s));
    std::string name = s.substr(0, eq);
    if (!find_input(f, name)) return invalid_argument(fmt::format("--range {}: the program has no input {}; it has {}", s, name, input_names(f)));
    out[name] = {lo, hi};
  }
  return out;
}

std::string to_string(const Shapes& s) {
  std::string out;
  for (const auto& [name, dims] : s) {
    out += (out.empty() ? "" : " ") + name + "=";
    for (size_t i = 0; i < dims.size(); ++i) out += (i ? "x" : "") + std::to_string(dims[i]);
    if (dims.empty()) out += "scalar";
  }
  return out;
}

Result<std::vector<Value>> make_inputs(const Function& f, const Shapes& shapes, const std::map<std::string, TensorValue>& files,
                                       const std::map<std::string, std::pair<double, double>>& ranges, uint64_t seed, Engine& engine) {
  for (const auto& [name, value] : files)
    if (!find_input(f, name)) return invalid_argument(fmt::format("the program has no input {}; it has {}", name, input_names(f)));
  std::vector<Value> out;
  for (const Param& p : f.inputs) {
    if (auto file = files.find(p.name); file != files.end()) {
      if (shapes.contains(p.name)) return invalid_argument(fmt::format("input {} has both a file and a shape", p.name));
      out.push_back(as_declared(file->second, p));
      continue;
    }
    auto range = ranges.find(p.name);
    bool integer = !is_float(p.type.tensor.dtype);
    double lo = range != ranges.end() ? range->second.first : integer ? 0 : -1, hi = range != ranges.end() ? range->second.second : integer ? 10 : 1;
    if (p.type.kind != RegKind::kTensor) {
      if (p.type.kind == RegKind::kI64) out.emplace_back(clamped<int64_t>(std::floor(lo)));
      else if (p.type.kind == RegKind::kF64) out.emplace_back(lo);
      else out.emplace_back(lo != 0);
      continue;
    }
    std::vector<int64_t> dims;
    if (auto s = shapes.find(p.name); s != shapes.end()) {
      dims = s->second;
    } else {
      for (Dim d : p.type.tensor.shape) {
        if (!d.is_const()) return invalid_argument(fmt::format("input {} has sizes known only at run time: give --shape {}=SIZES or --input {}=FILE.npy", p.name, p.name, p.name));
        dims.push_back(d.value());
      }
    }
    MSVM_ASSIGN_OR_RETURN(TensorValue t, engine.allocate(p.type.tensor.dtype, dims));
    uint64_t h = seed * 0x9E3779B97F4A7C15u;
    for (int64_t d : dims) h = (h ^ static_cast<uint64_t>(d)) * 0x100000001B3u;
    for (char c : p.name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    std::mt19937_64 random(h);
    MSVM_RETURN_IF_ERROR(fill_any(t.meta, random, lo, hi));
    out.emplace_back(std::move(t));
  }
  return out;
}

}  // namespace msvm::cli
