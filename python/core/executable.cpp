#include "executable.h"

#include <filesystem>
#include <thread>

#include "builder.h"
#include "debug.h"
#include "gil.h"
#include "importers/onnx/import.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text.h"
#include "msvm/bytecode/text_file.h"
#include "msvm/engine/optimizer.h"
#include "observe/debug/debugger.h"
#include "observe/snapshot/source.h"
#include "reports.h"
#include "run.h"
#include "values.h"

namespace msvm::python {
namespace {

Result<Module> read_any(const std::string& path) {
  return path.ends_with(".msasm") ? read_text_module(path, TextLines::kAsDebugInfo) : read_module_file(path);
}

Result<Module> read_to_show(const std::string& path) { return path.ends_with(".msasm") ? read_text_module(path, TextLines::kNone) : read_module_file(path); }

PyExecutable* load_file(const nb::bytes& path, Result<Module> (*read)(const std::string&), const nb::dict& options) {
  auto file = std::make_shared<ProgramFile>(path_of(path), read);
  try {
    PyExecutable* e = load([&] { return file->read(); }, parse_options(options));
    e->file = std::move(file);
    return e;
  } catch (nb::python_error&) {
    tell_verification_failed(path_of(path));
    throw;
  }
}

}  // namespace

ProgramFile::ProgramFile(std::string path, Result<Module> (*read)(const std::string&)) : path_(std::move(path)), state_(state()), read_(read) {}

std::string ProgramFile::state() const {
  std::error_code error;
  const auto size = std::filesystem::file_size(path_, error);
  const auto time = std::filesystem::last_write_time(path_, error);
  return error ? std::string() : std::to_string(size) + " " + std::to_string(time.time_since_epoch().count());
}

Result<std::shared_ptr<const VerifiedModule>> ProgramFile::read_again() const {
  if (state() != state_) return invalid_argument(path_ + ": the file has changed since the program was loaded; load it again");
  MSVM_ASSIGN_OR_RETURN(Module module, read());
  return verify_and_optimize(std::move(module), {.level = 0});
}

nb::list PyExecutable::names(const std::vector<Param>& list) const {
  nb::list out;
  for (const Param& p : list) out.append(text(p.name));
  return out;
}

nb::list PyExecutable::types(const std::vector<Param>& list) const {
  nb::list out;
  for (const Param& p : list) out.append(text(to_string(p.type, executable_->dims())));
  return out;
}

nb::dict PyExecutable::metadata() const {
  nb::dict out;
  for (const auto& [key, value] : executable_->metadata()) out[text(key)] = text(value);
  return out;
}

nb::str PyExecutable::jit_info() const { return text(to_text(executable_->jit_view())); }
void PyExecutable::drain_jit() {
  FreeGil free;
  engine_->drain_jit();
}

bool PyExecutable::wait_compiled(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::milliseconds(2);
  const auto begin = Clock::now();
  for (;;) {
    bool idle = false;
    {
      nb::gil_scoped_release release;
      (void)executable_->jit_view();  // what runs have told becomes jobs
      const jit::QueueView q = engine_->jit_queue();
      idle = !q.running && !q.queued && !q.work;
      if (idle) engine_->drain_jit();
    }
    if (idle) return true;
    if (seconds >= 0 && std::chrono::duration<double>(Clock::now() - begin).count() >= seconds) return false;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    nb::gil_scoped_release release;
    std::this_thread::sleep_for(kLook);
  }
}

nb::list PyExecutable::run(nb::list arrays) {
  std::vector<Value> inputs;
  for (size_t k = 0; k < arrays.size() && k < function().inputs.size(); ++k) inputs.push_back(value_in(arrays[k], function().inputs[k], k, executable_->dims(), *engine_));
  std::vector<Value> results;
  unwrap(run_without_gil(*executable_, inputs, results));
  nb::list out;
  for (Value& v : results) out.append(value_out(v));
  return out;
}

nb::list PyExecutable::profile() {
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

nb::dict PyExecutable::counters() {
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

PyExecutable* load(const std::function<Result<Module>()>& read, const LoadOptions& options) {
  auto engine = engine_for(options.engine());
  const JitOptions jit = options.jit(engine->jit_options().jit_level);
  std::optional<Result<std::shared_ptr<Executable>>> loaded;
  Diagnostics findings;
  {
    FreeGil free;
    auto module = read();
    if (module.ok()) {
      if (!options.name.empty()) module->name = options.name;
      auto verified = verify_and_optimize(std::move(*module), options.optimizer(), &findings);
      if (verified.ok()) loaded.emplace(engine->load(std::move(*verified), jit));
      else loaded.emplace(verified.status());
    } else {
      loaded.emplace(module.status());
    }
  }
  keep_findings(std::move(findings));
  auto program = unwrap(std::move(*loaded));
  observe::watch(program, program->name());
  {
    FreeGil free;  // a debugger that hears of it may ask for Python's frames meanwhile
    observe::debug::Debugger::process().add(program, program->name());
  }
  auto* e = new PyExecutable(engine, std::move(program), options);
  return e;
}

void bind_executable(nb::module_& m) {
  nb::class_<PyExecutable> executable(m, "Executable", nb::is_weak_referenceable());
  executable
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
      .def("wait_compiled", &PyExecutable::wait_compiled, nb::arg("seconds") = -1.0)
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
          FreeGil free;
          s = write_module_file(e.executable().module(), p);
        }
        if (!s.ok()) raise(s);
      });
  bind_reports(m, executable);
  m.def(
      "load", [](const nb::bytes& path, const nb::dict& options) { return load_file(path, read_any, options); }, nb::arg("path"), nb::arg("options") = nb::dict(),
      "From .msbc or .msasm. Options as in OPTIONS.");
  m.def(
      "load_onnx", [](const nb::bytes& path, const nb::dict& options) { return load_file(path, import_onnx_file, options); }, nb::arg("path"),
      nb::arg("options") = nb::dict());
  m.def(
      "load_module", [](PyModule& module, const nb::dict& options) { return load([&] { return Result<Module>(std::move(module.module)); }, parse_options(options)); }, nb::arg("module"),
      nb::arg("options") = nb::dict(), "Takes the module's content.");
  m.def("disassemble", [](const nb::bytes& path) { return text(disassemble(unwrap(read_to_show(path_of(path))), {.max_inline_bytes = 256})); }, nb::arg("path"));
}

}  // namespace msvm::python
