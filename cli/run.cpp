// run: a program over inputs or a stream of shapes; latencies, kernels, progress.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "common.h"
#include "explain.h"
#include "feed.h"
#include "jit_flags.h"
#include "npy.h"

namespace msvm::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr const char* kAll = "*";  // --explain without a name

struct RunOptions {
  std::string program, stream, output, patch, explain;
  std::vector<std::string> inputs, shapes, ranges;
  int runs = 10, threads = 0;
  uint64_t seed = 1;
  int64_t max_bytes = 0, max_instructions = 0;
  double max_seconds = 0;
  OptLevel level;
  bool json = false, quiet = false, kernels = false, jit_info = false;
  JitFlags jit;
};

struct ShapeTiming {
  std::string shapes;
  std::vector<double> ns;  // the first run of the shape, then the others
  int interpreted = 0, native = 0;  // runs by whether native code took part
  std::string mode() const { return !native ? "interpreter" : !interpreted ? "native" : "interpreter, native"; }
};

double percentile(std::vector<double> v, double p) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return v[std::min(v.size() - 1, static_cast<size_t>(p * static_cast<double>(v.size())))];
}

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

struct KernelShare {
  int64_t calls = 0, ns = 0;
};
/// (operator, kernels) -> calls and time; instructions that aren't calls under their mnemonic.
std::map<std::pair<std::string, std::string>, KernelShare> kernel_shares(const Executable& e) {
  std::map<std::pair<std::string, std::string>, KernelShare> shares;
  auto profile = e.profile();
  size_t at = 0;
  for (const Block& b : e.function().blocks)
    for (const Instr& i : b.instrs) {
      if (at < profile.size() && profile[at].runs) {
        auto& s = shares[{i.op == Opcode::kOpCall ? i.text : std::string(instr_info(i.op).mnemonic), profile[at].kernel}];
        s.calls += profile[at].runs;
        s.ns += profile[at].nanoseconds;
      }
      ++at;
    }
  return shares;
}

void print_kernels(const Executable& e) {
  auto shares = kernel_shares(e);
  std::vector<std::pair<std::pair<std::string, std::string>, KernelShare>> rows(shares.begin(), shares.end());
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  double all = 0;
  for (const auto& r : rows) all += static_cast<double>(r.second.ns);
  Table t({"operator", "kernel", "calls", "time", "per call", "share"});
  for (const auto& [key, s] : rows)
    t.row({key.first, key.second, std::to_string(s.calls), format_ns(static_cast<double>(s.ns)), format_ns(static_cast<double>(s.ns) / static_cast<double>(s.calls)),
           fmt::format("{:.1f}%", all > 0 ? 100 * static_cast<double>(s.ns) / all : 0)});
  fmt::print("\n{}", t.to_string());
}

std::string preview(const TensorMeta& m) {
  std::string out;
  int64_t n = std::min<int64_t>(m.elements(), 6);
  for (int64_t i = 0; i < n; ++i) {
    out += i ? ", " : "";
    switch (m.dtype) {
      case DType::kF32: out += fmt::format("{:.6g}", m.as<float>()[i]); break;
      case DType::kF64: out += fmt::format("{:.6g}", m.as<double>()[i]); break;
      case DType::kI64: out += std::to_string(m.as<int64_t>()[i]); break;
      case DType::kI32: out += std::to_string(m.as<int32_t>()[i]); break;
      case DType::kBool:
      case DType::kU8: out += std::to_string(m.as<uint8_t>()[i]); break;
      case DType::kI8: out += std::to_string(m.as<int8_t>()[i]); break;
      case DType::kString: out += "\"" + m.as<std::string>()[i] + "\""; break;
      default: return out;
    }
  }
  return out + (m.elements() > n ? ", ..." : "");
}

std::string describe(const Value& v) {
  if (const auto* t = std::get_if<TensorValue>(&v)) return fmt::format("{} = [{}]", to_string(t->meta), preview(t->meta));
  if (const auto* n = std::get_if<int64_t>(&v)) return std::to_string(*n);
  if (const auto* d = std::get_if<double>(&v)) return fmt::format("{}", *d);
  return std::get<bool>(v) ? "true" : "false";
}

Status write_outputs(const std::string& path, const Function& f, const std::vector<Value>& values) {
  std::map<std::string, TensorMeta> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    TensorMeta& m = tensors[f.outputs[i].name.empty() ? fmt::format("output{}", i) : f.outputs[i].name];
    if (const auto* t = std::get_if<TensorValue>(&values[i])) {
      if (t->meta.dtype == DType::kString) return unsupported(fmt::format("--output {}: strings can't be written as arrays", path));
      m = t->meta;
    } else {  // an array of rank 0
      m.dtype = std::holds_alternative<int64_t>(values[i]) ? DType::kI64 : std::holds_alternative<double>(values[i]) ? DType::kF64 : DType::kBool;
      m.data = std::visit([](const auto& v) { return reinterpret_cast<std::byte*>(const_cast<std::decay_t<decltype(v)>*>(&v)); }, values[i]);
    }
  }
  if (path.ends_with(".npz")) return write_npz(path, tensors);
  if (tensors.size() != 1) return invalid_argument(fmt::format("--output {}: the program has {} outputs; write an .npz", path, tensors.size()));
  return write_npy(path, tensors.begin()->second);
}

Status run(const RunOptions& o) {
  EngineOptions options{.num_threads = o.threads, .capability_patch = o.patch};
  MSVM_RETURN_IF_ERROR(o.jit.apply(options));
  MSVM_ASSIGN_OR_RETURN(auto engine, Engine::create(options));
  auto t0 = Clock::now();
  MSVM_ASSIGN_OR_RETURN(Module module, load_module(o.program));
  MSVM_ASSIGN_OR_RETURN(auto verified, verify_and_optimize(std::move(module), o.level.options(o.program)));
  MSVM_ASSIGN_OR_RETURN(auto program, engine->load(std::move(verified)));
  double load_ns = std::chrono::duration<double, std::nano>(Clock::now() - t0).count();
  if (!(o.max_seconds >= 0)) return invalid_argument("--max-seconds: a number of seconds is expected");  // NaN passes the range
  program->set_limits({o.max_bytes, o.max_instructions, std::chrono::nanoseconds(static_cast<int64_t>(o.max_seconds * 1e9))});
  const Function& f = program->function();
  MSVM_ASSIGN_OR_RETURN(auto files, load_files(o.inputs, *engine));
  MSVM_ASSIGN_OR_RETURN(auto ranges, parse_ranges(o.ranges, f));
  MSVM_ASSIGN_OR_RETURN(Shapes base, parse_shapes(o.shapes, f));

  std::vector<Shapes> steps;
  if (o.stream.empty()) {
    steps.assign(static_cast<size_t>(std::max(1, o.runs)), base);
  } else {
    std::string text = o.stream;
    const bool shapes = text.find_first_not_of("0123456789x; \t\n") == std::string::npos || text.find('=') != std::string::npos;
    if (auto file = read_text(o.stream); file.ok()) text = *file;
    else if (!shapes) return file.status().with_context("--stream: ");
    MSVM_ASSIGN_OR_RETURN(auto given, parse_stream(text, f));
    for (const Shapes& s : given) {
      Shapes step = base;
      for (const auto& [name, dims] : s) step[name] = dims;
      steps.insert(steps.end(), static_cast<size_t>(std::max(1, o.runs)), step);
    }
  }

  std::vector<ShapeTiming> timings;
  std::map<std::string, size_t> index;
  std::map<std::string, std::vector<Value>> made;  // inputs are made outside the timing, once per shape
  std::vector<Value> results;
  int64_t native = 0;
  Progress progress(!o.quiet && !o.json);
  if (o.jit.tier == "1" || o.jit.tier == "2") program->warm_up();
  for (size_t i = 0; i < steps.size(); ++i) {
    std::string key = to_string(steps[i]);
    auto inputs = made.find(key);
    if (inputs == made.end()) {
      if (made.size() > 64) made.clear();
      MSVM_ASSIGN_OR_RETURN(auto fresh, make_inputs(f, steps[i], files, ranges, o.seed, *engine));
      inputs = made.emplace(key, std::move(fresh)).first;
    }
    progress.show(i, steps.size(), key);
    if (o.jit.tier == "2" && !index.contains(key)) {  // sizes that come back
      for (int k = 0; k < 3 * o.jit.options.jit_threshold + 8; ++k) {
        auto r = program->run(inputs->second);
        if (!r.ok()) break;
        engine->drain_jit();
      }
      native = program->counters().native_regions;
    }
    results.clear();
    auto start = Clock::now();
    auto r = program->run(inputs->second);
    double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    if (!r.ok()) {
      progress.clear();
      return r.status().with_context(key.empty() ? "" : fmt::format("at {}: ", key));
    }
    results = std::move(*r);
    auto [at, fresh] = index.try_emplace(key, timings.size());
    if (fresh) timings.push_back({key, {}});
    timings[at->second].ns.push_back(ns);
    const int64_t now = program->counters().native_regions;
    ++(now > native ? timings[at->second].native : timings[at->second].interpreted);
    native = now;
  }
  progress.clear();
  if (o.kernels) {  // a pass of its own, so that profiling doesn't colour the latencies
    const std::string last = to_string(steps.back());
    auto profile = [&](const std::vector<Value>& inputs) -> Status {
      for (const bool on : {false, true}) {  // settled: memory is there, the last results were let go
        results.clear();
        program->set_profiling(on);
        MSVM_ASSIGN_OR_RETURN(results, program->run(inputs));
      }
      return {};
    };
    for (const auto& [key, inputs] : made)
      if (key != last) MSVM_RETURN_IF_ERROR(profile(inputs));
    if (auto at = made.find(last); at != made.end()) MSVM_RETURN_IF_ERROR(profile(at->second));
  }

  if (o.json) {
    Json j;
    j["program"] = o.program;
    j["load_ns"] = load_ns;
    j["threads"] = engine->workers().threads();
    for (const ShapeTiming& t : timings) {
      std::vector<double> rest(t.ns.begin() + 1, t.ns.end());
      j["shapes"].push_back({{"shape", t.shapes}, {"mode", t.mode()}, {"runs", t.ns.size()}, {"first_ns", t.ns[0]}, {"median_ns", percentile(rest.empty() ? t.ns : rest, 0.5)},
                             {"p99_ns", percentile(rest.empty() ? t.ns : rest, 0.99)}});
    }
    if (o.kernels)
      for (const auto& [key, s] : kernel_shares(*program)) j["kernels"].push_back({{"operator", key.first}, {"kernel", key.second}, {"calls", s.calls}, {"ns", s.ns}});
    if (!o.explain.empty()) j["explain"] = explanation_json(explanations(*program, o.explain == kAll ? "" : o.explain));
    j["outputs"] = Json::array();
    for (size_t i = 0; i < results.size(); ++i) j["outputs"].push_back({{"name", f.outputs[i].name}, {"value", describe(results[i])}});
    fmt::print("{}\n", j.dump(1, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("{}: loaded and verified in {}; {} thread{}\n\n", o.program, format_ns(load_ns), engine->workers().threads(), engine->workers().threads() == 1 ? "" : "s");
    Table t({"shape", "runs", "mode", "first", "median", "p99"});
    for (const ShapeTiming& s : timings) {
      std::vector<double> rest(s.ns.begin() + 1, s.ns.end());
      t.row({s.shapes.empty() ? "(fixed)" : s.shapes, std::to_string(s.ns.size()), s.mode(), format_ns(s.ns[0]), format_ns(percentile(rest.empty() ? s.ns : rest, 0.5)),
             format_ns(percentile(rest.empty() ? s.ns : rest, 0.99))});
    }
    fmt::print("{}", t.to_string());
    if (o.kernels) print_kernels(*program);
    if (!o.explain.empty()) fmt::print("{}", explanation_tables(explanations(*program, o.explain == kAll ? "" : o.explain)));
    if (o.jit_info) fmt::print("\n{}", printable(to_text(program->jit_view())));
    fmt::print("\n");
    for (size_t i = 0; i < results.size(); ++i) fmt::print("output {}: {}\n", f.outputs[i].name.empty() ? std::to_string(i) : printable(f.outputs[i].name), printable(describe(results[i])));
  }
  MSVM_RETURN_IF_ERROR(o.jit.save(*engine, *program));
  return o.output.empty() ? Status() : write_outputs(o.output, f, results);
}

}  // namespace

void add_run(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("run", "Run a program; latencies per shape, kernels, results");
  auto o = std::make_shared<RunOptions>();
  c->add_option("program", o->program, ".msbc, .msasm or .onnx")->required();
  c->add_option("-i,--input", o->inputs, "NAME=FILE.npy, or FILE.npz with arrays named like the inputs (repeatable)");
  c->add_option("-s,--shape", o->shapes, "NAME=1x3x480x640: fill this input with seeded numbers (repeatable)");
  c->add_option("--range", o->ranges, "NAME=LOW:HIGH for those numbers");
  c->add_option("--stream", o->stream, "a file with the shapes of one step per line, or the steps themselves separated by ;");
  c->add_option("-n,--runs", o->runs, "runs per step")->check(CLI::Range(1, 1000000));
  c->add_option("-t,--threads", o->threads, "threads; 0 = MSVM_NUM_THREADS or all cores")->check(CLI::Range(0, 1024));
  c->add_option("--seed", o->seed, "of the numbers");
  c->add_option("-o,--output", o->output, "write the last run's results (.npz, or .npy for one)");
  c->add_option("--max-memory", o->max_bytes, "bytes of tensors a run may hold; 0 = no limit")->check(CLI::NonNegativeNumber);
  c->add_option("--max-instructions", o->max_instructions, "instructions a run may execute; 0 = no limit")->check(CLI::NonNegativeNumber);
  c->add_option("--max-seconds", o->max_seconds, "wall time of a run; 0 = no limit")->check(CLI::Range(0.0, 1e9));
  add_opt_option(*c, o->level);
  c->add_option("--capability-db", o->patch, "a capability patch to apply");
  c->add_flag("-k,--kernels", o->kernels, "table of kernels: calls and time");
  c->add_flag("--explain{*}", o->explain, "which kernel each call took for which shapes, and the others with their costs; --explain=NAME: calls of that operator or from that node");
  c->add_flag("--jit-info", o->jit_info, "regions, their entries, hit rates, what was fused, what was slow");
  add_jit_flags(*c, o->jit);
  c->add_flag("--json", o->json, "figures as JSON");
  c->add_flag("-q,--quiet", o->quiet, "no progress bar");
  c->footer("Examples:\n  msvm run det.onnx --shape x=1x3x480x640 -k\n  msvm run det.msbc --stream 'x=1x3x320x320; x=1x3x480x640' -n 20\n  msvm run minilm.onnx -s ids=1x12 -s mask=1x12 --range mask=1:2");
  c->callback([=, &code] { code = report(run(*o)); });
}

}  // namespace msvm::cli
