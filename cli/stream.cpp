#include "stream.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "npy.h"
#include "observe/trace/recorder.h"
#include "observe/snapshot/source.h"

namespace msvm::cli {
namespace {

using Clock = std::chrono::steady_clock;

class Progress {
 public:
  explicit Progress(bool on) : on_(on && isatty(STDERR_FILENO)) {}
  void show(size_t done, size_t all, const std::string& what) {
    if (!on_ || (Clock::now() - last_ < std::chrono::milliseconds(100) && done != all)) return;
    last_ = Clock::now();
    auto filled = all ? 30 * done / all : 30;
    fmt::print(stderr, "\r[{:<30}] {}/{}  {:<40.40}", std::string(filled, '#'), done, all, what);
    std::fflush(stderr);
  }
  void clear() const {
    if (on_) fmt::print(stderr, "\r{:<90}\r", "");
  }

 private:
  bool on_;
  Clock::time_point last_{};
};

}  // namespace

Result<std::map<std::string, TensorValue>> load_files(const std::vector<std::string>& specs, Engine& engine) {
  std::map<std::string, TensorValue> files;
  for (const std::string& s : specs) {
    if (s.ends_with(".npz") && s.find('=') == std::string::npos) {
      MSVM_ASSIGN_OR_RETURN(auto all, read_npz(s, engine));
      for (auto& [name, value] : all) files[name] = std::move(value);
      continue;
    }
    auto eq = s.find('=');
    if (eq == std::string::npos) return invalid_argument(fmt::format("--input {}: NAME=FILE.npy or FILE.npz is expected", s));
    MSVM_ASSIGN_OR_RETURN(files[s.substr(0, eq)], read_npy(s.substr(eq + 1), engine));
  }
  return files;
}

void add_stream_options(CLI::App& c, StreamOptions& o) {
  c.add_option("program", o.program, ".msbc, .msasm or .onnx")->required();
  c.add_option("-i,--input", o.inputs, "NAME=FILE.npy, or FILE.npz with arrays named like the inputs (repeatable)");
  c.add_option("-s,--shape", o.shapes, "NAME=1x3x480x640: fill this input with seeded numbers (repeatable)");
  c.add_option("--range", o.ranges, "NAME=LOW:HIGH for those numbers");
  c.add_option("--stream", o.stream, "a file with the shapes of one step per line, or the steps themselves separated by ;");
  c.add_option("-n,--runs", o.runs, "runs per step")->check(CLI::Range(1, 1000000));
  c.add_option("-t,--threads", o.threads, "threads; 0 = MSVM_NUM_THREADS or all cores")->check(CLI::Range(0, 1024));
  c.add_option("--seed", o.seed, "of the numbers");
  c.add_option("--max-memory", o.max_bytes, "bytes of tensors a run may hold; 0 = no limit")->check(CLI::NonNegativeNumber);
  c.add_option("--max-instructions", o.max_instructions, "instructions a run may execute; 0 = no limit")->check(CLI::NonNegativeNumber);
  c.add_option("--max-seconds", o.max_seconds, "wall time of a run; 0 = no limit")->check(CLI::Range(0.0, 1e9));
  add_opt_option(c, o.level);
  c.add_option("--capability-db", o.patch, "a capability patch to apply");
  c.add_flag("-q,--quiet", o.quiet, "no progress bar");
  add_monitor_flag(c, o.monitor);
  add_jit_flags(c, o.jit);
  c.add_flag("--wait-for-code", o.wait_for_code, "after each run, wait until the code it asked for is there: the same picture each time")->group("Native code");
}

Result<Loaded> load_program(const StreamOptions& o, Diagnostics* findings) {
  Loaded l;
  EngineOptions options{.num_threads = o.threads, .capability_patch = o.patch};
  MSVM_RETURN_IF_ERROR(o.jit.apply(options));
  options.eager_compiler = o.jit.tier == "1" || o.jit.tier == "2";
  MSVM_RETURN_IF_ERROR(observe::prepare_recording());
  MSVM_ASSIGN_OR_RETURN(l.engine, Engine::create(options));
  MSVM_ASSIGN_OR_RETURN(l.monitor, o.monitor.start());
  MSVM_RETURN_IF_ERROR(o.jit.load_bundles(*l.engine));
  const auto t0 = Clock::now();
  MSVM_ASSIGN_OR_RETURN(Module module, load_module(o.program));
  MSVM_ASSIGN_OR_RETURN(auto verified, verify_and_optimize(std::move(module), o.level.options(o.program), findings));
  MSVM_ASSIGN_OR_RETURN(l.program, l.engine->load(std::move(verified)));
  observe::watch(l.program, l.program->name());
  l.load_ns = std::chrono::duration<double, std::nano>(Clock::now() - t0).count();
  if (!(o.max_seconds >= 0)) return invalid_argument("--max-seconds: a number of seconds is expected");  // NaN passes the range
  l.program->set_limits({o.max_bytes, o.max_instructions, std::chrono::nanoseconds(static_cast<int64_t>(o.max_seconds * 1e9))});
  return l;
}

Result<std::vector<Shapes>> stream_steps(const std::string& stream, const std::vector<std::string>& shapes, const Function& f) {
  MSVM_ASSIGN_OR_RETURN(const Shapes base, parse_shapes(shapes, f));
  if (stream.empty()) return std::vector<Shapes>{base};
  std::string text = stream;
  const bool is_text = text.find_first_not_of("0123456789x; \t\n") == std::string::npos || text.find('=') != std::string::npos;
  if (auto file = read_text(stream); file.ok()) text = *file;
  else if (!is_text) return file.status().with_context("--stream: ");
  MSVM_ASSIGN_OR_RETURN(std::vector<Shapes> steps, parse_stream(text, f));
  for (Shapes& s : steps) s.insert(base.begin(), base.end());
  return steps;
}

Result<Streamed> run_stream(const Loaded& l, const StreamOptions& o, bool show_progress) {
  const Function& f = l.f();
  MSVM_ASSIGN_OR_RETURN(auto files, load_files(o.inputs, *l.engine));
  MSVM_ASSIGN_OR_RETURN(auto ranges, parse_ranges(o.ranges, f));
  MSVM_ASSIGN_OR_RETURN(const auto steps, stream_steps(o.stream, o.shapes, f));
  const size_t runs = static_cast<size_t>(std::max(1, o.runs)), all = steps.size() * runs;

  Streamed out;
  std::map<std::string, size_t> index;
  int64_t native = 0;
  Progress progress(show_progress && !o.quiet);
  if (o.jit.tier == "1" || o.jit.tier == "2") l.program->warm_up();
  for (size_t i = 0; i < all; ++i) {
    const Shapes& step = steps[i / runs];
    const std::string key = out.last = to_string(step);
    auto inputs = out.inputs.find(key);
    if (inputs == out.inputs.end()) {  // made outside the timing, once per shape
      if (out.inputs.size() > 64) out.inputs.clear();
      MSVM_ASSIGN_OR_RETURN(auto fresh, make_inputs(f, step, files, ranges, o.seed, *l.engine));
      inputs = out.inputs.emplace(key, std::move(fresh)).first;
    }
    progress.show(i, all, key);
    if (o.jit.tier == "2" && !index.contains(key)) {  // sizes that come back
      for (int k = 0; k < 3 * o.jit.options.jit_threshold + 8; ++k) {
        if (!l.program->run(inputs->second).ok()) break;
        l.engine->drain_jit();
      }
      native = l.program->counters().native_regions;
    }
    out.results.clear();
    const auto start = Clock::now();
    auto r = l.program->run(inputs->second);
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    if (!r.ok()) {
      progress.clear();
      return r.status().with_context(key.empty() ? "" : fmt::format("at {}: ", key));
    }
    out.results = std::move(*r);
    const auto [at, fresh] = index.try_emplace(key, out.timings.size());
    if (fresh) out.timings.push_back({key, {}});
    ShapeTiming& timing = out.timings[at->second];
    timing.ns.push_back(ns);
    const int64_t now = l.program->counters().native_regions;
    ++(now > native ? timing.native : timing.interpreted);
    native = now;
    if (o.wait_for_code) l.engine->drain_jit();
  }
  progress.clear();
  return out;
}

}  // namespace msvm::cli
