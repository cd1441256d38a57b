// Thin bindings: arrays in and out without copies, Status to exception.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <map>

#include "importers/onnx/import.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text.h"
#include "msvm/bytecode/text_file.h"
#include "msvm/engine/engine.h"
#include "msvm/engine/optimizer.h"

namespace nb = nanobind;
using namespace msvm;

namespace {

/// Names and messages may hold any bytes: those that aren't UTF-8 come as \xNN.
nb::str text(std::string_view s) {
  PyObject* u = PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace");
  if (!u) throw nb::python_error();
  return nb::steal<nb::str>(u);
}

std::string shown(nb::handle h, const char* attribute) {
  nb::object value = h.attr(attribute);
  return nb::str(nb::handle(value)).c_str();
}

[[noreturn]] void raise(const Status& s) {
  nb::object error = nb::module_::import_("msvm._errors").attr("make")(status_code_name(s.code()), text(s.message()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}
template <class T> T unwrap(Result<T> r) {
  if (!r.ok()) raise(r.status());
  return std::move(r).value();
}

using Engines = std::map<int, std::shared_ptr<Engine>>;
Engines& engines() {  // by number of threads; guarded by the GIL
  static Engines& all = *new Engines;  // results may outlive everything else
  return all;
}
std::shared_ptr<Engine> engine_for(int threads) {
  auto& all = engines();
  if (auto e = all.find(threads); e != all.end()) return e->second;
  auto e = unwrap(Engine::create({.num_threads = threads}));
  all.emplace(threads, e);
  return e;
}

std::string path_of(const nb::bytes& path) {
  std::string p(path.c_str(), path.size());
  if (p.find('\0') != std::string::npos) raise(invalid_argument("a path can't hold a zero byte"));
  return p;
}

using AnyArray = nb::ndarray<nb::ro>;

std::optional<DType> dtype_of(nb::dlpack::dtype t) {
  auto code = static_cast<nb::dlpack::dtype_code>(t.code);
  if (t.lanes != 1) return std::nullopt;
  for (int i = 0; i < kNumDTypes; ++i) {
    const DTypeInfo& d = dtype_info(static_cast<DType>(i));
    if (d.bits != t.bits) continue;
    if (code == nb::dlpack::dtype_code::Float && d.kind == DTypeKind::kFloat && d.dtype != DType::kBF16) return d.dtype;
    if (code == nb::dlpack::dtype_code::Bfloat && d.dtype == DType::kBF16) return d.dtype;
    if (code == nb::dlpack::dtype_code::Int && d.kind == DTypeKind::kSigned) return d.dtype;
    if (code == nb::dlpack::dtype_code::UInt && d.kind == DTypeKind::kUnsigned) return d.dtype;
    if (code == nb::dlpack::dtype_code::Bool && d.kind == DTypeKind::kBool) return d.dtype;
  }
  return std::nullopt;
}

nb::dlpack::dtype dlpack_of(DType t) {
  const DTypeInfo& d = dtype_info(t);
  auto code = nb::dlpack::dtype_code::Float;
  if (t == DType::kBF16) code = nb::dlpack::dtype_code::UInt;  // numpy has no bfloat16: its bits as uint16
  if (d.kind == DTypeKind::kSigned) code = nb::dlpack::dtype_code::Int;
  if (d.kind == DTypeKind::kUnsigned) code = nb::dlpack::dtype_code::UInt;
  if (d.kind == DTypeKind::kBool) code = nb::dlpack::dtype_code::Bool;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(d.bits), 1};
}

TensorValue strings_in(nb::handle h, const std::string& expected, Engine& engine) {
  std::vector<int64_t> shape;
  for (nb::handle d : h.attr("shape")) shape.push_back(nb::cast<int64_t>(d));
  if (nb::cast<int64_t>(h.attr("size")) && !nb::isinstance<nb::str>(h.attr("flat")[nb::int_(0)]))
    raise(invalid_argument(expected + ", found an array of dtype " + shown(h, "dtype")));
  TensorValue t = unwrap(engine.allocate(DType::kString, shape));
  auto* out = t.meta.as<std::string>();
  for (nb::handle item : h.attr("reshape")(-1).attr("tolist")())
    if (!nb::try_cast(item, *out++)) raise(invalid_argument(expected + "; an element of the array isn't a str that UTF-8 can hold"));
  return t;
}

/// An array of one element for a scalar. The kinds must be those declared: 2.5 isn't an i64, 1 isn't a bool.
template <class T> Value scalar_in(nb::handle h, const std::string& expected) {
  T v{};
  if (nb::cast<int64_t>(h.attr("size")) == 1 && nb::try_cast(h.attr("item")(), v, false)) return v;
  raise(invalid_argument(expected + ", found an array of dtype " + shown(h, "dtype") + " and shape " + shown(h, "shape")));
}

Value value_in(nb::handle h, const Param& p, size_t k, const DimContext& dims, Engine& engine) {
  auto expected = [&] { return "input " + std::to_string(k) + " (" + p.name + "): expected " + to_string(p.type, dims); };
  if (p.type.kind == RegKind::kI64) return scalar_in<int64_t>(h, expected());
  if (p.type.kind == RegKind::kF64) return scalar_in<double>(h, expected());
  if (p.type.kind == RegKind::kBool) return scalar_in<bool>(h, expected());
  if (p.type.kind != RegKind::kTensor) raise(unsupported(expected() + ": lists aren't taken from Python"));
  if (p.type.tensor.dtype == DType::kString) return strings_in(h, expected(), engine);
  AnyArray a;
  std::optional<DType> dtype;
  if (nb::try_cast(h, a)) dtype = dtype_of(a.dtype());
  if (!dtype) raise(invalid_argument(expected() + ", found an array of dtype " + shown(h, "dtype")));
  if (a.ndim() > kMaxRank) raise(invalid_argument(expected() + ", found rank " + std::to_string(a.ndim()) + "; at most " + std::to_string(kMaxRank) + " is possible"));
  TensorMeta m;
  m.dtype = *dtype;
  // The bits of a bfloat16 tensor come as uint16.
  if (*dtype == DType::kU16 && p.type.tensor.dtype == DType::kBF16) m.dtype = DType::kBF16;
  m.rank = static_cast<uint8_t>(a.ndim());
  m.data = static_cast<std::byte*>(const_cast<void*>(a.data()));
  for (size_t i = 0; i < a.ndim(); ++i) {
    m.shape[i] = static_cast<int64_t>(a.shape(i));
    m.strides[i] = a.stride(i);
  }
  // The caller's list keeps the array alive for the run; an output never shares its memory.
  return borrow(m, static_cast<int64_t>(a.nbytes()), nullptr, nullptr);
}

nb::object strings_out(const TensorValue& t) {
  nb::list items;
  for (int64_t i = 0; i < t.meta.elements(); ++i) items.append(text(t.meta.as<std::string>()[i]));
  nb::list shape;
  for (int64_t d : t.meta.dims()) shape.append(d);
  return nb::module_::import_("numpy").attr("array")(items, nb::arg("dtype") = "object").attr("reshape")(nb::tuple(shape));
}

nb::object value_out(Value& v) {
  if (auto* i = std::get_if<int64_t>(&v)) return nb::cast(*i);
  if (auto* d = std::get_if<double>(&v)) return nb::cast(*d);
  if (auto* b = std::get_if<bool>(&v)) return nb::cast(*b);
  auto& t = std::get<TensorValue>(v);
  if (t.meta.dtype == DType::kString) return strings_out(t);
  size_t shape[kMaxRank];
  for (size_t i = 0; i < t.meta.rank; ++i) shape[i] = static_cast<size_t>(t.meta.shape[i]);
  static std::byte empty;
  auto* owner = new StorageRef(std::move(t.storage));
  nb::capsule keep(owner, [](void* p) noexcept { delete static_cast<StorageRef*>(p); });
  nb::ndarray<nb::numpy> a(t.meta.data ? t.meta.data : &empty, t.meta.rank, shape, keep, t.meta.strides.data(), dlpack_of(t.meta.dtype));
  return nb::cast(a, nb::rv_policy::reference);
}

class PyExecutable {
 public:
  PyExecutable(std::shared_ptr<Engine> engine, std::shared_ptr<Executable> executable) : engine_(std::move(engine)), executable_(std::move(executable)) {}

  nb::list names(const std::vector<Param>& list) const {
    nb::list out;
    for (const Param& p : list) out.append(text(p.name));
    return out;
  }
  nb::list types(const std::vector<Param>& list) const {
    nb::list out;
    for (const Param& p : list) out.append(text(to_string(p.type, executable_->dims())));
    return out;
  }
  nb::dict metadata() const {
    nb::dict out;
    for (const auto& [key, value] : executable_->metadata()) out[text(key)] = text(value);
    return out;
  }
  nb::str jit_info() const { return text(to_text(executable_->jit_view())); }
  void drain_jit() {
    nb::gil_scoped_release release;
    engine_->drain_jit();
  }
  const Function& function() const { return executable_->function(); }
  Executable& executable() { return *executable_; }

  nb::list run(nb::list arrays) {
    std::vector<Value> inputs;
    for (size_t k = 0; k < arrays.size() && k < function().inputs.size(); ++k) inputs.push_back(value_in(arrays[k], function().inputs[k], k, executable_->dims(), *engine_));
    std::optional<Result<std::vector<Value>>> result;
    {
      nb::gil_scoped_release release;
      result.emplace(executable_->run(inputs));
    }
    if (!result->ok()) raise(result->status());
    nb::list out;
    for (Value& v : **result) out.append(value_out(v));
    return out;
  }

  nb::list profile() {
    nb::list rows;
    auto profile = executable_->profile();
    size_t at = 0;
    for (const Block& b : function().blocks)
      for (const Instr& i : b.instrs) {
        if (at < profile.size() && profile[at].runs) {
          nb::dict row;
          row["instruction"] = at;
          row["mnemonic"] = std::string(instr_info(i.op).mnemonic);
          row["operator"] = text(i.op == Opcode::kOpCall ? i.text : std::string());
          row["runs"] = profile[at].runs;
          row["nanoseconds"] = profile[at].nanoseconds;
          row["kernel"] = profile[at].kernel;
          rows.append(row);
        }
        ++at;
      }
    return rows;
  }

  nb::dict counters() {
    Counters c = executable_->counters();
    nb::dict d;
    d["runs"] = c.runs;
    d["failed_runs"] = c.failed_runs;
    d["instructions"] = c.instructions;
    d["calls"] = c.calls;
    d["allocations"] = c.allocations;
    d["planned_allocations"] = c.planned_allocations;
    d["in_place"] = c.in_place;
    d["checks"] = c.checks;
    d["copied_bytes"] = c.copied_bytes;
    d["native_regions"] = c.native_regions;
    return d;
  }

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Executable> executable_;
};

Result<Module> read_any(const std::string& path) {
  return path.ends_with(".msasm") ? read_text_module(path, TextLines::kAsDebugInfo) : read_module_file(path);
}
Result<Module> read_to_show(const std::string& path) { return path.ends_with(".msasm") ? read_text_module(path, TextLines::kNone) : read_module_file(path); }

PyExecutable* make(Result<Module> (*read)(const std::string&), const std::string& path, int threads, int opt, int jit_level) {
  if (jit_level < 0 || jit_level > 2) raise(invalid_argument("jit_level is " + std::to_string(jit_level) + ": 0, 1 or 2 is possible"));
  if (opt < 0 || opt > 1) raise(invalid_argument("opt is 0 (operators as they stand) or 1 (optimise)"));
  auto engine = engine_for(threads);
  std::optional<Result<std::shared_ptr<Executable>>> loaded;
  {
    nb::gil_scoped_release release;
    auto module = read(path);
    if (module.ok()) {
      auto verified = verify_and_optimize(std::move(*module), {.level = opt});
      JitOptions jit = engine->jit_options();
      jit.jit_level = std::min(jit.jit_level, jit_level);
      if (verified.ok()) loaded.emplace(engine->load(std::move(*verified), jit));
      else loaded.emplace(verified.status());
    } else {
      loaded.emplace(module.status());
    }
  }
  return new PyExecutable(engine, unwrap(std::move(*loaded)));
}

}  // namespace

NB_MODULE(_core, m) {
  m.attr("__version__") = "0.1.0";
  nb::class_<PyExecutable>(m, "Executable")
      .def("input_names", [](PyExecutable& e) { return e.names(e.function().inputs); })
      .def("output_names", [](PyExecutable& e) { return e.names(e.function().outputs); })
      .def("input_types", [](PyExecutable& e) { return e.types(e.function().inputs); })
      .def("output_types", [](PyExecutable& e) { return e.types(e.function().outputs); })
      .def("metadata", &PyExecutable::metadata)
      .def("cancel", [](PyExecutable& e) { e.executable().cancel(); })
      .def("run", &PyExecutable::run)
      .def("profile", &PyExecutable::profile)
      .def("set_profiling", [](PyExecutable& e, bool on) { e.executable().set_profiling(on); })
      .def("counters", &PyExecutable::counters)
      .def("jit_info", &PyExecutable::jit_info)
      .def("drain_jit", &PyExecutable::drain_jit)
      .def("set_limits",
           [](PyExecutable& e, int64_t bytes, int64_t instructions, double seconds) {
             if (bytes < 0 || instructions < 0 || !(seconds >= 0)) raise(invalid_argument("limits are not negative; 0 = no limit"));
             e.executable().set_limits({bytes, instructions, std::chrono::nanoseconds(seconds < 9e9 ? static_cast<int64_t>(seconds * 1e9) : INT64_MAX)});
           })
      .def("disassemble", [](PyExecutable& e) { return text(disassemble(e.executable().module(), {.max_inline_bytes = 256})); })
      .def("save", [](PyExecutable& e, const nb::bytes& path) {
        const std::string p = path_of(path);
        Status s;
        {
          nb::gil_scoped_release release;
          s = write_module_file(e.executable().module(), p);
        }
        if (!s.ok()) raise(s);
      });
  m.def("load", [](const nb::bytes& path, int threads, int opt, int jit_level) { return make(read_any, path_of(path), threads, opt, jit_level); }, nb::arg("path"), nb::arg("num_threads") = 0,
        nb::arg("opt") = 0, nb::arg("jit_level") = 2);
  m.def("load_onnx", [](const nb::bytes& path, int threads, int opt, int jit_level) { return make(import_onnx_file, path_of(path), threads, opt, jit_level); }, nb::arg("path"), nb::arg("num_threads") = 0,
        nb::arg("opt") = 1, nb::arg("jit_level") = 2);
  m.def("disassemble", [](const nb::bytes& path) { return text(disassemble(unwrap(read_to_show(path_of(path))), {.max_inline_bytes = 256})); }, nb::arg("path"));
  // The engines outlive everything; their JIT threads must not outlive what they use.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    nb::gil_scoped_release release;
    for (const auto& [threads, engine] : engines()) engine->stop_jit();
  }));
  m.def("memory_stats", [] {
    int64_t in_use = 0, reserved = 0, peak = 0;
    double fragmentation = 0;
    for (const auto& [threads, engine] : engines()) {
      MemoryStats s = engine->memory_stats();
      in_use += s.in_use;
      reserved += s.reserved;
      peak += s.peak;
      fragmentation = std::max(fragmentation, s.fragmentation());
    }
    nb::dict d;
    d["in_use"] = in_use;
    d["reserved"] = reserved;
    d["peak"] = peak;
    d["fragmentation"] = fragmentation;
    return d;
  });
}
