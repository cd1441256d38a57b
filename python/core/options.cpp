#include "options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <variant>

namespace msvm::python {
namespace {

using nb::handle;

/// How a value is written, and in what range it lies.
enum class Kind : uint8_t { kBool, kInt, kFloat, kChoice, kBytes, kText, kPath, kLevel, kBoundaries, kAny };
enum class Scope : uint8_t { kEngine, kProgram, kFrontEnd };
enum Given : uint8_t { kContext = 1, kJit = 2, kLoad = 4, kEverywhere = 7 };

struct Boundaries {};  // bucket_boundaries and named_boundaries
template <class T> using Member = T LoadOptions::*;
using Field = std::variant<std::monostate, Member<bool>, Member<int>, Member<int64_t>, Member<double>, Member<std::string>, Boundaries>;

struct Option {
  const char* name;
  Kind kind;
  Scope scope;
  uint8_t given;
  Field field;                        // none: of the front end
  double least = 0, most = 0;         // kInt, kFloat
  std::vector<std::string> choices;   // kChoice
  const char* doc;
};

const char* jit_doc(std::string_view option) {
#define MSVM_JIT_OPTION(type, name, value, doc) \
  if (option == #name) return doc;
#include "msvm/jit/native/jit_options.def"
#undef MSVM_JIT_OPTION
  return "";
}

const std::vector<std::string> kServedInF32 = {"fp16", "bf16", "int8"};

const std::vector<Option>& table() {
  using L = LoadOptions;
  static const std::vector<Option> rows = {
      {"mode", Kind::kInt, Scope::kFrontEnd, kContext, {}, 0, 1, {}, "GRAPH_MODE (0): jitted functions are compiled; PYNATIVE_MODE (1): they run eagerly, as Python"},
      {"device_target", Kind::kChoice, Scope::kFrontEnd, kContext, {}, 0, 0, {"CPU"}, "where programs run"},
      {"num_threads", Kind::kInt, Scope::kEngine, kContext | kLoad | kJit, &L::num_threads, 0, 1024, {}, "threads that share one run's work; 0: MSVM_NUM_THREADS, else the container's cores"},
      {"max_memory", Kind::kBytes, Scope::kEngine, kEverywhere, &L::max_memory, 0, 0, {}, "bytes of tensors of all programs of an engine; 0: what the machine, or its container, has"},
      {"precision", Kind::kChoice, Scope::kEngine, kEverywhere, &L::precision, 0, 0, {"fp32", "strict", "fp16", "bf16", "int8"},
       "fp32: floats as the program declares them; strict: every sum in one declared order, the same bits in every tier; the others are served in fp32, with one notice"},
      {"fallback", Kind::kBool, Scope::kEngine, kEverywhere, &L::fallback, 0, 0, {}, "what can't be compiled, or has no kernel, is interpreted, or served by the reference kernel; False: the next run says why as an error"},
      {"mem_optimize", Kind::kBool, Scope::kEngine, kEverywhere, &L::mem_optimize, 0, 0, {}, "memory plans that need less, made in more time"},
      {"enable_mem_reuse", Kind::kBool, Scope::kEngine, kEverywhere, &L::enable_mem_reuse, 0, 0, {}, "tensors that don't live at the same time share memory; False: each has a buffer of its own"},
      {"capability_db", Kind::kPath, Scope::kEngine, kEverywhere, &L::capability_db, 0, 0, {}, "file that patches the capability database; empty: MSVM_CAPABILITY_DB, else none"},
      {"compile_timeout", Kind::kFloat, Scope::kEngine, kEverywhere, &L::compile_timeout, 0.001, 3600, {}, jit_doc("compile_timeout")},
      {"disk_cache", Kind::kBool, Scope::kEngine, kEverywhere, &L::disk_cache, 0, 0, {}, jit_doc("disk_cache")},
      {"eager_compiler", Kind::kBool, Scope::kEngine, kEverywhere, &L::eager_compiler, 0, 0, {}, "the compiler competes with the program's threads as an equal: for tests and preparation"},
      {"opt", Kind::kInt, Scope::kProgram, kEverywhere, &L::opt, 0, 1, {}, "0: operators as they stand; 1: optimised (docs/optimizer.md). `load` leaves programs as they stand unless told"},
      {"jit_level", Kind::kLevel, Scope::kProgram, kEverywhere, &L::jit_level, 0, 2, {}, "O0: interpreter only; O1: one code for all sizes; O2: code for sizes that have settled, too"},
      {"enable_graph_kernel", Kind::kBool, Scope::kProgram, kEverywhere, &L::enable_graph_kernel, 0, 0, {}, "calls are fused, by the optimiser and in native code; False: each stays as it is"},
      {"cache_mode", Kind::kChoice, Scope::kProgram, kEverywhere, &L::cache_mode, 0, 0, {"exact", "bucket", "adaptive"}, jit_doc("cache_mode")},
      {"bucket_boundaries", Kind::kBoundaries, Scope::kProgram, kEverywhere, Boundaries{}, 0, 0, {}, "last sizes of the buckets, ascending, for all symbols, or by a symbol's name; bucket k is (b[k-1], b[k]]"},
      {"jit_threshold", Kind::kInt, Scope::kProgram, kEverywhere, &L::jit_threshold, 1, 64, {}, jit_doc("jit_threshold")},
      {"scd_threshold", Kind::kFloat, Scope::kProgram, kEverywhere, &L::scd_threshold, 0, 1, {}, jit_doc("scd_threshold")},
      {"shape_policy", Kind::kPath, Scope::kProgram, kEverywhere, &L::shape_policy, 0, 0, {}, jit_doc("shape_policy")},
      {"cache_bytes", Kind::kBytes, Scope::kProgram, kEverywhere, &L::cache_bytes, 0, 0, {}, jit_doc("cache_bytes")},
      {"name", Kind::kText, Scope::kProgram, kJit | kLoad, &L::name, 0, 0, {}, "of the program, in reports; empty: the function's or the file's own"},
      {"input_signature", Kind::kAny, Scope::kFrontEnd, kJit, {}, 0, 0, {}, "declared inputs: Tensor(shape=[None, 3, Symbol(...)], dtype=...), one for each argument"},
  };
  return rows;
}

std::string number(double v) { return fmt::format("{:g}", v); }

std::string type_text(const Option& o) {
  switch (o.kind) {
    case Kind::kBool: return "bool";
    case Kind::kInt: return fmt::format("int, {} to {}", number(o.least), number(o.most));
    case Kind::kFloat: return fmt::format("float, {} to {}", number(o.least), number(o.most));
    case Kind::kChoice: return fmt::format("{}", fmt::join(o.choices, ", "));
    case Kind::kBytes: return "int of bytes, or text such as \"2GB\"";
    case Kind::kText: return "str";
    case Kind::kPath: return "path";
    case Kind::kLevel: return "O0, O1, O2, or 0, 1, 2";
    case Kind::kBoundaries: return "list of int, or dict of lists by symbol";
    case Kind::kAny: return "Tensor, or tuple of them";
  }
  return "";
}

const char* scope_text(Scope s) { return s == Scope::kEngine ? "engine" : s == Scope::kProgram ? "program" : "front end"; }

constexpr std::pair<const char*, Given> kPlaces[] = {{"set_context", kContext}, {"jit", kJit}, {"load", kLoad}};

/// An option at the place where it is given.
struct At {
  const Option& option;
  const std::string& place;
};

[[noreturn]] void bad(const At& o, handle found) {
  std::string shown = nb::repr(found).c_str();
  if (shown.size() > 80) shown = shown.substr(0, 77) + "...";
  raise(invalid_argument(fmt::format("{}: {}: expected {}, found {}", o.place, o.option.name, type_text(o.option), shown)));
}

// --- values from Python

bool bool_in(const At& o, handle v) {
  if (!PyBool_Check(v.ptr())) bad(o, v);
  return v.ptr() == Py_True;
}

std::optional<int64_t> index_of(handle v) {
  if (PyBool_Check(v.ptr()) || !PyIndex_Check(v.ptr())) return std::nullopt;
  const auto exact = nb::steal(PyNumber_Index(v.ptr()));
  int overflow = 0;
  const int64_t i = exact ? PyLong_AsLongLongAndOverflow(exact.ptr(), &overflow) : 0;
  if (!exact || overflow) {
    PyErr_Clear();
    return std::nullopt;
  }
  return i;
}

int64_t int_in(const At& o, handle v) {
  const auto i = index_of(v);
  if (!i || static_cast<double>(*i) < o.option.least || static_cast<double>(*i) > o.option.most) bad(o, v);
  return *i;
}

double float_in(const At& o, handle v) {
  const PyNumberMethods* as_number = Py_TYPE(v.ptr())->tp_as_number;  // numpy's scalars, too
  if (PyBool_Check(v.ptr()) || !(PyIndex_Check(v.ptr()) || (as_number && as_number->nb_float))) bad(o, v);
  const double d = PyFloat_AsDouble(v.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    bad(o, v);
  }
  if (!(d >= o.option.least && d <= o.option.most)) bad(o, v);
  return d;
}

std::string text_in(const At& o, handle v) {
  std::string s;
  if (!nb::isinstance<nb::str>(v) || !nb::try_cast(v, s)) bad(o, v);
  return s;
}

std::string path_in(const At& o, handle v) {
  nb::bytes path;
  try {
    path = nb::borrow<nb::bytes>(nb::module_::import_("os").attr("fsencode")(v));
  } catch (nb::python_error&) {
    bad(o, v);
  }
  return path_of(path);
}

/// 1 GB is 2^30 bytes, as MindSpore counts.
int64_t bytes_in(const At& o, handle v) {
  if (const auto i = index_of(v)) {
    if (*i < 0) bad(o, v);
    return *i;
  }
  if (!nb::isinstance<nb::str>(v)) bad(o, v);
  std::string s = text_in(o, v), unit;
  double amount = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), amount);
  for (const char* p = end; p != s.data() + s.size(); ++p)
    if (*p != ' ') unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*p)));
  if (unit.ends_with("IB")) unit = unit.substr(0, unit.size() - 2) + "B";
  static constexpr std::pair<std::string_view, int> kUnits[] = {{"B", 0}, {"KB", 10}, {"MB", 20}, {"GB", 30}, {"TB", 40}};
  for (const auto& [name, shift] : kUnits)
    if (error == std::errc() && unit == name && amount >= 0 && std::ldexp(amount, shift) < 9e18) return static_cast<int64_t>(std::ldexp(amount, shift));
  bad(o, v);
}

std::string choice_in(const At& o, handle v) {
  std::string s;
  if (nb::isinstance<nb::str>(v) && nb::try_cast(v, s))
    for (const std::string& c : o.option.choices)
      if (c == s) return s;
  bad(o, v);
}

std::string level_in(const At& o, handle v) {
  static const std::vector<std::string> levels = {"O0", "O1", "O2"};
  if (const auto i = index_of(v); i && *i >= 0 && *i <= 2) return levels[static_cast<size_t>(*i)];
  std::string s;
  if (nb::isinstance<nb::str>(v) && nb::try_cast(v, s))
    for (const std::string& level : levels)
      if (level == s) return s;
  bad(o, v);
}

std::vector<int64_t> sizes_in(const At& o, handle whole, handle v) {
  if (!nb::isinstance<nb::list>(v) && !nb::isinstance<nb::tuple>(v)) bad(o, whole);
  std::vector<int64_t> out;
  for (handle item : v) {
    const auto i = index_of(item);
    if (!i) bad(o, whole);
    out.push_back(*i);
  }
  return out;
}

void boundaries_in(const At& o, handle v, LoadOptions& out) {
  out.bucket_boundaries.clear();
  out.named_boundaries.clear();
  if (!nb::isinstance<nb::dict>(v)) {
    out.bucket_boundaries = sizes_in(o, v, v);
    return;
  }
  for (auto [key, list] : nb::borrow<nb::dict>(v)) {
    std::string symbol;
    if (!nb::isinstance<nb::str>(key) || !nb::try_cast(key, symbol)) bad(o, v);
    out.named_boundaries[symbol] = sizes_in(o, v, list);
  }
}

/// Once per process: what is asked for isn't what is done.
void notice_precision(const std::string& precision) {
  static bool told = false;
  if (told || std::find(kServedInF32.begin(), kServedInF32.end(), precision) == kServedInF32.end()) return;
  told = true;
  const std::string message = fmt::format("precision=\"{}\" is served in fp32: results are those of fp32, no faster and no smaller", precision);
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 2) != 0) throw nb::python_error();
}

void set(const At& o, handle v, LoadOptions& out) {
  switch (o.option.kind) {
    case Kind::kBool: out.*std::get<Member<bool>>(o.option.field) = bool_in(o, v); break;
    case Kind::kInt: {
      const int64_t i = int_in(o, v);
      if (const auto* f = std::get_if<Member<int>>(&o.option.field)) out.**f = static_cast<int>(i);
      break;
    }
    case Kind::kFloat: out.*std::get<Member<double>>(o.option.field) = float_in(o, v); break;
    case Kind::kBytes: out.*std::get<Member<int64_t>>(o.option.field) = bytes_in(o, v); break;
    case Kind::kText: out.*std::get<Member<std::string>>(o.option.field) = text_in(o, v); break;
    case Kind::kPath: out.*std::get<Member<std::string>>(o.option.field) = path_in(o, v); break;
    case Kind::kLevel: out.*std::get<Member<std::string>>(o.option.field) = level_in(o, v); break;
    case Kind::kChoice: {
      const std::string s = choice_in(o, v);
      if (const auto* f = std::get_if<Member<std::string>>(&o.option.field)) out.**f = s;
      break;
    }
    case Kind::kBoundaries: boundaries_in(o, v, out); break;
    case Kind::kAny: break;
  }
}

nb::list list_of(const std::vector<int64_t>& sizes) {
  nb::list out;
  for (int64_t s : sizes) out.append(s);
  return out;
}

/// None: of the front end.
nb::object get(const Option& o, const LoadOptions& from) {
  if (const auto* f = std::get_if<Member<bool>>(&o.field)) return nb::bool_(from.**f);
  if (const auto* f = std::get_if<Member<int>>(&o.field)) return nb::int_(from.**f);
  if (const auto* f = std::get_if<Member<int64_t>>(&o.field)) return nb::int_(from.**f);
  if (const auto* f = std::get_if<Member<double>>(&o.field)) return nb::float_(from.**f);
  if (const auto* f = std::get_if<Member<std::string>>(&o.field)) {
    if (o.kind != Kind::kPath) return text(from.**f);
    return nb::module_::import_("os").attr("fsdecode")(nb::bytes((from.**f).data(), (from.**f).size()));
  }
  if (std::holds_alternative<Boundaries>(o.field)) {
    if (from.named_boundaries.empty()) return list_of(from.bucket_boundaries);
    nb::dict d;
    for (const auto& [symbol, sizes] : from.named_boundaries) d[text(symbol)] = list_of(sizes);
    return d;
  }
  return nb::none();
}

nb::object default_of(const Option& o) {
  if (!std::holds_alternative<std::monostate>(o.field)) return get(o, LoadOptions{});
  if (o.kind == Kind::kChoice) return text(o.choices.front());
  if (o.kind == Kind::kInt) return nb::int_(static_cast<int64_t>(o.least));
  return nb::none();
}

std::string places_of(const Option& o) {
  std::string out;
  for (const auto& [name, bit] : kPlaces)
    if (o.given & bit) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

/// Those that may be given at the places of `mask`. Raises for names that aren't among them.
const Option& find(const std::string& name, const std::string& place, uint8_t mask) {
  nb::list names;
  std::string all;
  for (const Option& o : table()) {
    if (!(o.given & mask)) {
      if (o.name == name) raise(invalid_argument(fmt::format("{}: {} isn't an option here; give it to {}", place, name, places_of(o))));
      continue;
    }
    if (o.name == name) return o;
    names.append(o.name);
    all += (all.empty() ? "" : ", ") + std::string(o.name);
  }
  nb::object near = nb::module_::import_("difflib").attr("get_close_matches")(text(name), names, 1);
  const std::string hint = nb::len(near) ? fmt::format("; did you mean {}?", nb::str(nb::handle(near[nb::int_(0)])).c_str()) : ".";
  raise(invalid_argument(fmt::format("{}: there is no option '{}'{} Possible: {}", place, name, hint, all)));
}

LoadOptions parse(const nb::dict& given, const std::string& place, uint8_t mask, nb::dict* canonical) {
  LoadOptions out;
  for (auto [key, value] : given) {
    std::string name;
    if (!nb::isinstance<nb::str>(key) || !nb::try_cast(key, name)) raise(invalid_argument(place + ": names of options are str"));
    const Option& o = find(name, place, mask);
    if (value.is_none()) continue;
    set({o, place}, value, out);
    if (canonical) (*canonical)[o.name] = std::holds_alternative<std::monostate>(o.field) ? nb::borrow(value) : get(o, out);
  }
  notice_precision(out.precision);
  return out;
}

uint8_t mask_of(const std::string& place) {
  for (const auto& [name, bit] : kPlaces)
    if (place == name) return bit;
  return place.ends_with(".load") ? kLoad : kEverywhere;
}

}  // namespace

EngineOptions LoadOptions::engine() const {
  EngineOptions e;
  e.num_threads = num_threads;
  e.max_memory = max_memory;
  e.capability_patch = capability_db;
  e.fallback = fallback;
  e.strict = precision == "strict";
  e.mem_optimize = mem_optimize;
  e.enable_mem_reuse = enable_mem_reuse;
  e.eager_compiler = eager_compiler;
  e.jit.compile_timeout = compile_timeout;
  e.jit.disk_cache = disk_cache;
  return e;
}

JitOptions LoadOptions::jit(int engine_level) const {
  JitOptions j;
  j.jit_level = std::min(jit_level.back() - '0', engine_level);
  j.cache_mode = unwrap(parse_cache_mode(cache_mode));
  j.bucket_boundaries = bucket_boundaries;
  j.named_boundaries = named_boundaries;
  j.jit_threshold = jit_threshold;
  j.scd_threshold = scd_threshold;
  j.compile_timeout = compile_timeout;
  j.fallback = fallback;
  j.graph_kernel = enable_graph_kernel;
  j.shape_policy = shape_policy;
  j.cache_bytes = cache_bytes;
  j.disk_cache = disk_cache;
  return j;
}

OptOptions LoadOptions::optimizer() const { return {.level = opt, .fuse = enable_graph_kernel}; }

LoadOptions parse_options(const nb::dict& given) {
  LoadOptions o = parse(given, "options", kEverywhere, nullptr);
  unwrap(check(o.jit()));
  return o;
}

nb::dict options_dict(const LoadOptions& options) {
  nb::dict d;
  for (const Option& o : table())
    if (!std::holds_alternative<std::monostate>(o.field)) d[o.name] = get(o, options);
  return d;
}

void bind_options(nb::module_& m) {
  nb::list rows;
  for (const Option& o : table()) {
    nb::dict d;
    d["name"] = o.name;
    d["type"] = type_text(o);
    d["default"] = default_of(o);
    d["applies"] = scope_text(o.scope);
    d["given"] = places_of(o);
    d["doc"] = o.doc;
    rows.append(d);
  }
  m.attr("OPTIONS") = nb::tuple(rows);
  m.def(
      "check_options",
      [](const nb::dict& given, const std::string& place) {
        nb::dict canonical;
        parse(given, place, mask_of(place), &canonical);
        return canonical;
      },
      nb::arg("given"), nb::arg("place"),
      "The options of `given` that aren't None, each in its one way of writing. `place` (set_context, jit, load, onnx.load) says which are possible, and "
      "is named in errors. Raises InputError.");
  m.def(
      "check_together", [](const nb::dict& given) { parse_options(given); }, nb::arg("given"), "Raises InputError for options that contradict each other.");
}

}  // namespace msvm::python
