#include "jit_flags.h"

#include <fmt/core.h>

#include "msvm/base/file.h"

namespace msvm::cli {

namespace {
constexpr const char* kGroup = "Native code";
}

void add_code_flags(CLI::App& c, JitFlags& f) {
  c.add_option("--cache-mode", f.cache_mode, "which sizes share code: exact, bucket, adaptive")->check(CLI::IsMember({"exact", "bucket", "adaptive"}))->group(kGroup);
  c.add_option("--buckets", f.buckets, "boundaries of bucket mode: 1,8,32 for all sizes, or S=32,64;N=1,8 by name")->group(kGroup);
  c.add_option("--jit-threshold", f.options.jit_threshold, "runs among the last 64 with sizes before code is made for them")->check(CLI::Range(1, 64))->group(kGroup);
  c.add_option("--scd-threshold", f.options.scd_threshold, "Shape Convergence Degree that sizes need for code of their own")->check(CLI::Range(0.0, 1.0))->group(kGroup);
  c.add_flag("--no-graph-kernel", f.no_graph_kernel, "no calls are fused")->group(kGroup);
}

void add_compile_flags(CLI::App& c, JitFlags& f) {
  add_code_flags(c, f);
  c.add_option("--compile-timeout", f.options.compile_timeout, "seconds for one compilation")->check(CLI::Range(0.001, 3600.0))->group(kGroup);
  c.add_flag("--no-code-cache", f.no_code_cache, "neither read nor write code on disk")->group(kGroup);
  c.add_option("--code-cache", f.code_cache, "folder of native code; default: MSVM_CACHE_DIR, or the user's")->group(kGroup);
}

void add_jit_flags(CLI::App& c, JitFlags& f) {
  add_compile_flags(c, f);
  c.add_option("--tier", f.tier, "what may serve: auto; 0: interpreter; 1: one code for all sizes; 2: code for the sizes given. 1 and 2 are made before the first timed run")
      ->check(CLI::IsMember({"auto", "0", "1", "2"}))->group(kGroup);
  c.add_flag("--no-fallback", f.no_fallback, "what can't be compiled, or has no kernel, is an error at the next run")->group(kGroup);
  c.add_option("--bundle", f.bundles, "take native code from this file, which `msvm compile` wrote (repeatable)")->group(kGroup);
  c.add_flag("--trust-native", f.trust_native, "also from bundles that this user's key didn't sign: their code runs as it is")->group(kGroup);
  c.add_flag("--mem-optimize", f.mem_optimize, "memory plans that need less, made in more time")->group("Memory");
  c.add_flag("--no-mem-reuse", f.no_mem_reuse, "every tensor has a buffer of its own")->group("Memory");
  c.add_option("--shape-policy", f.options.shape_policy, "file of what --cache-mode adaptive learnt earlier")->group(kGroup);
  c.add_option("--save-shape-policy", f.save_policy, "file for what --cache-mode adaptive has learnt at the end")->group(kGroup);
}

Result<JitOptions> JitFlags::get() const {
  JitOptions o = options;
  MSVM_ASSIGN_OR_RETURN(o.cache_mode, parse_cache_mode(cache_mode));
  if (!buckets.empty()) MSVM_RETURN_IF_ERROR(parse_boundaries(buckets, o));
  o.jit_level = tier == "0" ? 0 : tier == "1" ? 1 : 2;
  o.fallback = !no_fallback;
  o.graph_kernel = !no_graph_kernel;
  o.disk_cache = !no_code_cache;
  MSVM_RETURN_IF_ERROR(check(o));
  if (!save_policy.empty() && o.cache_mode != CacheMode::kAdaptive) return invalid_argument(fmt::format("--save-shape-policy: --cache-mode is {}, only adaptive learns one", cache_mode));
  return o;
}

Status JitFlags::save(Engine& engine, const Executable& program) const {
  if (save_policy.empty()) return {};
  engine.drain_jit();  // it has read what all runs have told
  return write_file_atomically(save_policy, program.shape_policy()).with_context("--save-shape-policy: ");
}

Status JitFlags::apply(EngineOptions& engine) const {
  MSVM_ASSIGN_OR_RETURN(engine.jit, get());
  engine.fallback = !no_fallback;
  engine.mem_optimize = mem_optimize;
  engine.enable_mem_reuse = !no_mem_reuse;
  engine.code_cache = code_cache;
  engine.compiler = compiler;
  return {};
}

Status JitFlags::load_bundles(Engine& engine) const {
  for (const std::string& path : bundles) MSVM_RETURN_IF_ERROR(engine.load_bundle(path, trust_native));
  return {};
}

}  // namespace msvm::cli
