#include "engines.h"

#include "gil.h"

namespace msvm::python {
namespace {

using Engines = std::map<int, std::shared_ptr<Engine>>;
Engines& engines() {  // by number of threads; guarded by the GIL
  static Engines& all = *new Engines;  // results may outlive everything else
  return all;
}

}  // namespace

std::shared_ptr<Engine> engine_for(int threads) {
  auto& all = engines();
  if (auto e = all.find(threads); e != all.end()) return e->second;
  auto e = unwrap(Engine::create({.num_threads = threads}));
  all.emplace(threads, e);
  return e;
}

void bind_engines(nb::module_& m) {
  // The engines outlive everything; their JIT threads must not outlive what they use.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    FreeGil free;
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

}  // namespace msvm::python
