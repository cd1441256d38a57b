// The options that users give programs: one table for set_context, jit, load and onnx.load, their checks, errors and docs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "common.h"
#include "msvm/engine/engine.h"
#include "msvm/opt/optimize.h"

namespace msvm::python {

/// What a program is loaded with, in the words of the table (docs/python.md).
struct LoadOptions {
  // Of the engine: programs that agree on these share threads, memory and compiler.
  int num_threads = 0;
  int64_t max_memory = 0;
  std::string precision = "fp32";
  bool fallback = true;
  bool mem_optimize = false;
  bool enable_mem_reuse = true;
  std::string capability_db;
  double compile_timeout = JitOptions{}.compile_timeout;
  bool disk_cache = JitOptions{}.disk_cache;
  bool eager_compiler = false;
  // Of the program.
  int opt = 1;
  std::string jit_level = "O2";
  bool enable_graph_kernel = true;
  std::string cache_mode = "exact";
  std::vector<int64_t> bucket_boundaries;
  std::map<std::string, std::vector<int64_t>> named_boundaries;
  int jit_threshold = JitOptions{}.jit_threshold;
  double scd_threshold = JitOptions{}.scd_threshold;
  std::string shape_policy;
  int64_t cache_bytes = JitOptions{}.cache_bytes;
  std::string name;

  EngineOptions engine() const;
  /// For Engine::load; `engine_level` is what the environment permits.
  JitOptions jit(int engine_level = 2) const;
  OptOptions optimizer() const;
};

/// Names, types and ranges are checked, and whether the options fit together; None counts as not given. Options of the front end are
/// checked and left out. Raises InputError.
LoadOptions parse_options(const nb::dict& given);

/// All but those of the front end, each in its one way of writing.
nb::dict options_dict(const LoadOptions& options);

void bind_options(nb::module_& m);

}  // namespace msvm::python
