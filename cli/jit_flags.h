// Options about native code that several commands share.
#pragma once
#include "common.h"

namespace msvm::cli {

struct JitFlags {
  JitOptions options;
  std::string cache_mode = "exact", buckets, tier = "auto", code_cache, compiler;
  std::vector<std::string> bundles;
  bool no_fallback = false, no_graph_kernel = false, no_code_cache = false, trust_native = false, mem_optimize = false, no_mem_reuse = false;
  /// What was asked for; the error names the option.
  Result<JitOptions> get() const;
  /// Into the options of an engine.
  Status apply(EngineOptions& engine) const;
  Status load_bundles(Engine& engine) const;
};
// Each of them adds those before it: which sizes get what code; how it is made and kept; how it serves runs.
void add_code_flags(CLI::App& command, JitFlags& flags);
void add_compile_flags(CLI::App& command, JitFlags& flags);
void add_jit_flags(CLI::App& command, JitFlags& flags);

}  // namespace msvm::cli
