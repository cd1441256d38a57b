// run: a program over inputs or a stream of shapes; latencies, kernels, progress.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "explain.h"
#include "jit_text.h"
#include "npy.h"
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
