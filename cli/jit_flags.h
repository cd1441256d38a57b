// Options about native code that several commands share.
#pragma once
#include "common.h"

namespace msvm::cli {

struct JitFlags {
  JitOptions options;
  std::string cache_mode = "exact", buckets, tier = "auto", code_cache, compiler, save_policy;
  bool no_fallback = false, no_graph_kernel = false, no_code_cache = false;
  /// What was asked for; the error names the option.
  Result<JitOptions> get() const;
  /// Into the options of an engine.
  Status apply(EngineOptions& engine) const;
  /// Writes the shape policy where that was asked for.
  Status save(Engine& engine, const Executable& program) const;
};
void add_jit_flags(CLI::App& command, JitFlags& flags);

}  // namespace msvm::cli
