#include "engines.h"

#include <map>
#include <tuple>

#include "gil.h"
#include "observe/snapshot/source.h"
#include "options.h"

namespace msvm::python {
namespace {

/// All that Python may ask of an engine.
auto key_of(const EngineOptions& o) {
  return std::make_tuple(o.num_threads, o.max_memory, o.capability_patch, o.fallback, o.strict, o.mem_optimize, o.enable_mem_reuse, o.eager_compiler, o.jit.compile_timeout, o.jit.disk_cache);
}

struct Process {
  std::map<decltype(key_of({})), std::shared_ptr<Engine>> engines;
  std::vector<std::pair<std::string, std::string>> patches;  // of the capability database: text, source
};
Process& process() {  // guarded by the GIL
  static Process& one = *new Process;  // results may outlive everything else
  return one;
}

nb::dict memory_stats() {
  MemoryStats sum;
  int64_t live = 0;
  for (const auto& [key, engine] : process().engines) {
    const MemoryStats s = engine->memory_stats();
    sum.in_use += s.in_use;
    sum.reserved += s.reserved;
    sum.peak += s.peak;
    for (int k = 0; k < kNumMemoryOwners; ++k) sum.by_owner[k] += s.by_owner[k];
    ++live;
  }
  nb::dict d, owners;
  d["in_use"] = sum.in_use;
  d["reserved"] = sum.reserved;
  d["peak"] = sum.peak;
  d["fragmentation"] = sum.fragmentation();
  for (int k = 0; k < kNumMemoryOwners; ++k) owners[kMemoryOwnerNames[k]] = sum.by_owner[k];
  d["by_owner"] = owners;
  d["engines"] = live;
  return d;
}

void patch_all(const std::string& json, const std::string& source) {
  for (const auto& [key, engine] : process().engines) unwrap(engine->patch_capabilities(json, source));
  process().patches.emplace_back(json, source);
}

}  // namespace

std::shared_ptr<Engine> engine_for(const EngineOptions& options) {
  auto& all = process().engines;
  if (auto e = all.find(key_of(options)); e != all.end()) return e->second;
  auto e = unwrap(Engine::create(options));
  for (const auto& [json, source] : process().patches) unwrap(e->patch_capabilities(json, source));
  all.emplace(key_of(options), e);
  observe::watch(e);
  return e;
}

void bind_engines(nb::module_& m) {
  // The engines outlive everything; their JIT threads must not outlive what they use.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    FreeGil free;
    for (const auto& [key, engine] : process().engines) engine->stop_jit();
  }));
  m.def("memory_stats", &memory_stats);
  m.def("make_engine", [](const nb::dict& options) { engine_for(parse_options(options).engine()); }, nb::arg("options"), "The engine with these options is there, or the error says why not.");
  m.def("capability_db", [](const nb::dict& options) { return text(engine_for(parse_options(options).engine())->capability_db()->to_json()); }, nb::arg("options"),
        "The capability database of the engine with these options, as JSON.");
  m.def("patch_capabilities", [](const std::string& json, const std::string& source) {
    engine_for();  // a bad patch is refused here, before any other engine has it
    patch_all(json, source);
  }, nb::arg("json"), nb::arg("source"), "For all engines, and those to come.");
}

}  // namespace msvm::python
