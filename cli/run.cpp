// run: a program over inputs or a stream of shapes; latencies, kernels, progress.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "explain.h"
#include "jit_text.h"
#include "results.h"
#include "stream.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAll = "*";  // --explain without a name

struct RunOptions {
  StreamOptions stream;
  std::string output, explain;
  bool json = false, kernels = false, jit_info = false;
};

double percentile(std::vector<double> v, double p) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return v[std::min(v.size() - 1, static_cast<size_t>(p * static_cast<double>(v.size())))];
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

Status run(const RunOptions& o) {
  MSVM_ASSIGN_OR_RETURN(const Loaded loaded, load_program(o.stream));
  const auto& engine = loaded.engine;
  const auto& program = loaded.program;
  const Function& f = loaded.f();
  MSVM_ASSIGN_OR_RETURN(Streamed ran, run_stream(loaded, o.stream, !o.json));
  std::vector<Value>& results = ran.results;
  if (o.kernels) {  // a pass of its own, so that profiling doesn't colour the latencies
    auto profile = [&](const std::vector<Value>& inputs) -> Status {
      for (const bool on : {false, true}) {  // settled: memory is there, the last results were let go
        results.clear();
        program->set_profiling(on);
        MSVM_ASSIGN_OR_RETURN(results, program->run(inputs));
      }
      return {};
    };
    for (const auto& [key, inputs] : ran.inputs)
      if (key != ran.last) MSVM_RETURN_IF_ERROR(profile(inputs));
    if (auto at = ran.inputs.find(ran.last); at != ran.inputs.end()) MSVM_RETURN_IF_ERROR(profile(at->second));
  }

  if (o.json) {
    Json j;
    j["program"] = o.stream.program;
    j["load_ns"] = loaded.load_ns;
    j["threads"] = engine->workers().threads();
    for (const ShapeTiming& t : ran.timings) {
      std::vector<double> rest(t.ns.begin() + 1, t.ns.end());
      j["shapes"].push_back({{"shape", t.shapes}, {"mode", t.mode()}, {"runs", t.ns.size()}, {"first_ns", t.ns[0]}, {"median_ns", percentile(rest.empty() ? t.ns : rest, 0.5)},
                             {"p99_ns", percentile(rest.empty() ? t.ns : rest, 0.99)}});
    }
    if (o.kernels)
      for (const auto& [key, s] : kernel_shares(*program)) j["kernels"].push_back({{"operator", key.first}, {"kernel", key.second}, {"calls", s.calls}, {"ns", s.ns}});
    if (!o.explain.empty()) j["explain"] = explanation_json(explanations(*program, o.explain == kAll ? "" : o.explain));
    if (o.jit_info) j["jit"] = jit_json(program->jit_view(), engine->jit_queue());
    j["outputs"] = Json::array();
    for (size_t i = 0; i < results.size(); ++i) j["outputs"].push_back({{"name", f.outputs[i].name}, {"value", describe(results[i])}});
    fmt::print("{}\n", j.dump(1, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("{}: loaded and verified in {}; {} thread{}\n\n", o.stream.program, format_ns(loaded.load_ns), engine->workers().threads(), engine->workers().threads() == 1 ? "" : "s");
    Table t({"shape", "runs", "mode", "first", "median", "p99"});
    for (const ShapeTiming& s : ran.timings) {
      std::vector<double> rest(s.ns.begin() + 1, s.ns.end());
      t.row({s.shapes.empty() ? "(fixed)" : s.shapes, std::to_string(s.ns.size()), s.mode(), format_ns(s.ns[0]), format_ns(percentile(rest.empty() ? s.ns : rest, 0.5)),
             format_ns(percentile(rest.empty() ? s.ns : rest, 0.99))});
    }
    fmt::print("{}", t.to_string());
    if (o.kernels) print_kernels(*program);
    if (!o.explain.empty()) fmt::print("{}", explanation_tables(explanations(*program, o.explain == kAll ? "" : o.explain)));
    if (o.jit_info) fmt::print("\n{}", jit_text(program->jit_view(), engine->jit_queue()));
    fmt::print("\n");
    for (size_t i = 0; i < results.size(); ++i) fmt::print("output {}: {}\n", f.outputs[i].name.empty() ? std::to_string(i) : printable(f.outputs[i].name), printable(describe(results[i])));
  }
  MSVM_RETURN_IF_ERROR(o.stream.jit.save(*engine, *program));
  return o.output.empty() ? Status() : write_outputs(o.output, f, results);
}

}  // namespace

void add_run(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("run", "Run a program; latencies per shape, kernels, results");
  auto o = std::make_shared<RunOptions>();
  add_stream_options(*c, o->stream);
  c->add_option("-o,--output", o->output, "write the last run's results (.npz, or .npy for one)");
  c->add_flag("-k,--kernels", o->kernels, "table of kernels: calls and time");
  c->add_flag("--explain{*}", o->explain, "which kernel each call took for which shapes, and the others with their costs; --explain=NAME: calls of that operator or from that node");
  c->add_flag("--jit-info", o->jit_info, "also what `msvm jit-info` prints");
  c->add_flag("--json", o->json, "figures as JSON");
  c->footer("Examples:\n  msvm run det.onnx --shape x=1x3x480x640 -k\n  msvm run det.msbc --stream 'x=1x3x320x320; x=1x3x480x640' -n 20\n  msvm run minilm.onnx -s ids=1x12 -s mask=1x12 --range mask=1:2");
  c->callback([=, &code] { code = report(run(*o)); });
}

}  // namespace msvm::cli
