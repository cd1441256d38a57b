#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>

#include "msvm/bytecode/text.h"
#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

void skip(std::string_view& t) {
  while (!t.empty() && t.front() == ' ') t.remove_prefix(1);
}
bool take(std::string_view& t, std::string_view what) {
  skip(t);
  if (!t.starts_with(what)) return false;
  t.remove_prefix(what.size());
  return true;
}
std::string_view word(std::string_view& t) {
  skip(t);
  size_t n = 0;
  while (n < t.size() && (std::isalnum(static_cast<unsigned char>(t[n])) || t[n] == '_' || t[n] == '.' || t[n] == '-' || t[n] == '+')) ++n;
  std::string_view w = t.substr(0, n);
  t.remove_prefix(n);
  return w;
}
double number(std::string_view w) {
  if (w == "true") return 1;
  if (w == "false") return 0;
  return std::strtod(std::string(w).c_str(), nullptr);
}

template <class T> void put(std::byte* p, T v) { std::memcpy(p, &v, sizeof v); }
template <class T> T get(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

void store(DType d, std::byte* p, double v) {
  switch (d) {
    case DType::kF64: return put(p, v);
    case DType::kF32: return put(p, static_cast<float>(v));
    case DType::kI8: return put(p, static_cast<int8_t>(v));
    case DType::kI32: return put(p, static_cast<int32_t>(v));
    case DType::kI64: return put(p, static_cast<int64_t>(v));
    case DType::kU8: return put(p, static_cast<uint8_t>(v));
    case DType::kBool: return put(p, static_cast<uint8_t>(v != 0));
    default: ADD_FAILURE() << "no values of " << dtype_name(d);
  }
}
double load_one(DType d, const std::byte* p) {
  switch (d) {
    case DType::kF64: return get<double>(p);
    case DType::kF32: return get<float>(p);
    case DType::kI8: return get<int8_t>(p);
    case DType::kI32: return get<int32_t>(p);
    case DType::kI64: return static_cast<double>(get<int64_t>(p));
    case DType::kU8: return get<uint8_t>(p);
    case DType::kBool: return get<uint8_t>(p);
    default: ADD_FAILURE() << "no values of " << dtype_name(d); return 0;
  }
}

void for_each_offset(const TensorMeta& m, const std::function<void(int64_t)>& visit) {
  if (m.elements() == 0) return;
  int64_t index[kMaxRank] = {};
  for (;;) {
    int64_t at = 0;
    for (int a = 0; a < m.rank; ++a) at += index[a] * m.strides[static_cast<size_t>(a)];
    visit(at * dtype_bytes(m.dtype));
    int a = m.rank - 1;
    while (a >= 0 && ++index[a] == m.shape[static_cast<size_t>(a)]) index[a--] = 0;
    if (a < 0) return;
  }
}

}  // namespace

std::shared_ptr<const VerifiedModule> verified(std::string_view text, const std::string& name) {
  AssembleResult a = assemble(text, name);
  if (!a.errors.empty()) {
    ADD_FAILURE() << format_diagnostics(a.errors);
    return nullptr;
  }
  VerifyResult v = verify(std::move(a.module));
  if (!v.module) ADD_FAILURE() << format_diagnostics(v.errors);
  return v.module;
}

std::shared_ptr<Executable> load(Engine& engine, std::string_view text) {
  auto module = verified(text);
  if (!module) return nullptr;
  auto e = engine.load(std::move(module));
  if (!e.ok()) ADD_FAILURE() << e.status().message();
  return e.ok() ? *e : nullptr;
}

std::shared_ptr<Engine> make_engine(EngineOptions options) {
  auto e = Engine::create(options);
  EXPECT_TRUE(e.ok()) << e.status().message();
  return *e;
}

std::optional<Value> parse_value(Engine& engine, std::string_view& t) {
  std::string_view w = word(t);
  if (w == "true" || w == "false") return Value(w == "true");
  auto dtype = dtype_from_name(w);
  if (!dtype) {
    if (w.empty()) return std::nullopt;
    int64_t i = 0;
    auto [end, error] = std::from_chars(w.data(), w.data() + w.size(), i);
    if (error == std::errc() && end == w.data() + w.size()) return Value(i);
    return Value(number(w));
  }
  std::vector<int64_t> shape;
  if (!take(t, "[")) return std::nullopt;
  while (!take(t, "]")) {
    shape.push_back(static_cast<int64_t>(number(word(t))));
    take(t, ",");
  }
  auto v = engine.allocate(*dtype, shape);
  if (!v.ok()) return std::nullopt;
  const int64_t n = v->meta.elements(), size = dtype_bytes(*dtype);
  if (take(t, "iota")) {
    for (int64_t i = 0; i < n; ++i) store(*dtype, v->meta.data + i * size, static_cast<double>(i));
    return Value(*v);
  }
  if (!take(t, "[")) return std::nullopt;
  int64_t i = 0;
  while (!take(t, "]")) {
    std::string_view x = word(t);
    if (i >= n || x.empty()) return std::nullopt;
    store(*dtype, v->meta.data + i++ * size, number(x));
    take(t, ",");
  }
  if (i != n) return std::nullopt;
  return Value(*v);
}

std::optional<std::vector<Value>> parse_values(Engine& engine, std::string_view t) {
  std::vector<Value> out;
  for (;;) {
    skip(t);
    if (t.empty()) return out;
    std::string_view rest = t;
    word(rest);
    if (take(rest, "=")) t = rest;
    auto v = parse_value(engine, t);
    if (!v) return std::nullopt;
    out.push_back(std::move(*v));
    take(t, ",");
  }
}

std::string to_text(const Value& v) {
  if (const auto* i = std::get_if<int64_t>(&v)) return fmt::format("{}", *i);
  if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (const auto* d = std::get_if<double>(&v)) {
    if (std::isnan(*d)) return "nan";  // its sign means nothing
    std::string s = fmt::format("{}", *d);
    return s.find_first_of(".einf") == std::string::npos ? s + ".0" : s;
  }
  const TensorMeta& m = std::get<TensorValue>(v).meta;
  std::string s = to_string(m) + " [", between;
  for (double x : elements(v)) {
    s += between + fmt::format("{}", m.dtype == DType::kF32 ? static_cast<float>(x) : x);
    between = ", ";
  }
  return s + "]";
}

std::string to_text(const std::vector<Value>& values) {
  std::string s;
  for (const Value& v : values) s += (s.empty() ? "" : ", ") + to_text(v);
  return s;
}

Value tensor(Engine& engine, std::string_view text) {
  auto v = parse_value(engine, text);
  if (!v) ADD_FAILURE() << "not a value: " << text;
  return v ? *v : Value();
}

::testing::AssertionResult near(const Value& expected, const Value& found, double tolerance) {
  const auto* a = std::get_if<TensorValue>(&expected);
  const auto* b = std::get_if<TensorValue>(&found);
  if (!a || !b) return to_text(expected) == to_text(found) ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << to_text(expected) << " != " << to_text(found);
  if (a->meta.dtype != b->meta.dtype || a->meta.dims().size() != b->meta.dims().size() || !std::equal(a->meta.dims().begin(), a->meta.dims().end(), b->meta.dims().begin()))
    return ::testing::AssertionFailure() << to_string(a->meta) << " != " << to_string(b->meta);
  const std::vector<double> x = elements(expected), y = elements(found);
  double greatest = 0;
  for (double v : x)
    if (std::isfinite(v)) greatest = std::max(greatest, std::fabs(v));
  for (size_t k = 0; k < x.size(); ++k) {
    const bool same = x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k])) || std::fabs(x[k] - y[k]) <= tolerance * (1 + greatest);
    if (!same) return ::testing::AssertionFailure() << "element " << k << " of " << to_string(a->meta) << ": " << x[k] << " != " << y[k];
  }
  return ::testing::AssertionSuccess();
}

TensorValue random_tensor(Engine& engine, const std::vector<int64_t>& shape, std::mt19937& random) {
  auto t = engine.allocate(DType::kF32, shape);
  EXPECT_TRUE(t.ok()) << t.status().message();
  auto* p = reinterpret_cast<float*>(t->meta.data);
  for (int64_t k = 0; k < t->meta.elements(); ++k) p[k] = static_cast<float>(std::uniform_real_distribution<double>(-2, 2)(random));
  return *t;
}

std::vector<double> elements(const Value& v) {
  const TensorMeta& m = std::get<TensorValue>(v).meta;
  std::vector<double> out;
  for_each_offset(m, [&](int64_t at) { out.push_back(load_one(m.dtype, m.data + at)); });
  return out;
}

}  // namespace msvm::testing
