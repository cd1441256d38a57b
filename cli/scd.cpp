// scd: how settled a program's shapes are, its regions, and which boxes a stream of shapes would have compiled.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common.h"
#include "msvm/jit/bind.h"
#include "msvm/jit/scd.h"
#include "msvm/jit/trigger.h"
#include "stream.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace msvm::jit;

struct ScdOptions {
  std::string program, function, stream;
  std::vector<std::string> shapes;
  std::vector<int64_t> buckets;
  int runs = 1, threshold = 3;
  double scd_threshold = 0.8;
  OptLevel level;
  bool json = false, all = false;
};

Json tensor_json(const TensorScd& t, const FunctionView& view) {
  Json j = {{"name", t.name}, {"register", t.reg}, {"counted", t.counted}};
  if (t.counted) j["scd"] = t.scd;
  j["dims"] = t.dims;
  j["kinds"] = Json::array();
  for (AxisKind k : t.kinds) j["kinds"].push_back(std::string(axis_kind_name(k)));
  j["broken"] = t.broken;
  j["reason"] = t.reason;
  if (!t.mend.empty()) j["mend"] = t.mend;
  j["instruction"] = t.instruction;
  j["place"] = view.place(t.instruction);
  return j;
}

Json region_json(const Region& r, const FunctionView& view) {
  const DimContext& dims = *view.module.dims;
  Json j = {{"first", r.first()}, {"last", r.last()}, {"calls", r.calls}, {"in_loop", r.loop_depth > 0}};
  j["symbols"] = Json::array();
  for (size_t k = 0; k < r.symbols.size(); ++k) j["symbols"].push_back({{"name", symbol_name(r, k, dims)}, {"free", k < kMaxEntrySymbols && (r.free >> k & 1)}});
  for (const auto& [name, list] : {std::pair{"inputs", &r.inputs}, {"written", &r.written}, {"outputs", &r.outputs}}) {
    j[name] = Json::array();
    for (Reg reg : *list) j[name].push_back(view.name(reg));
  }
  j["axes"] = {{"all", r.axes}, {"constant", r.constant_axes}};
  return j;
}

/// The trigger of one region over a stream. Runs are counted from 1.
Json stream_json(const Region& r, const FunctionView& view, const std::vector<Shapes>& steps, const ScdOptions& o, Status& status) {
  Json j = {{"runs", 0}, {"queued", Json::array()}, {"refused", Json::array()}};
  if (r.loop_depth > 0) {
    j["not_followed"] = "it runs in a loop, so sizes of the inputs don't say how often";
    return j;
  }
  const DimContext& dims = *view.module.dims;
  Trigger trigger(r, dims, {.jit_threshold = o.threshold, .scd_threshold = o.scd_threshold, .bucket_boundaries = o.buckets});
  struct Refused {
    int64_t runs = 0, last = 0;
    Decision decision;
  };
  std::map<Verdict, Refused> refused;
  int64_t entries = 0;
  for (const Shapes& step : steps) {
    auto sizes = InputSizes::bind(view, step);
    if (!sizes.ok()) {
      status = Status(sizes.status().code(), fmt::format("at {}: {}", to_string(step), sizes.status().message()));
      return j;
    }
    size_t unknown = 0;
    auto values = entry_values(r, *sizes, &unknown);
    if (!values) {
      j["not_followed"] = fmt::format("the shapes give no value to {}", symbol_name(r, unknown, dims));
      return j;
    }
    for (int k = 0; k < o.runs; ++k) {
      const Decision d = trigger.run(*values);
      if (d.verdict == Verdict::kQueued) {
        j["queued"].push_back({{"run", trigger.runs()}, {"box", to_string(d.box, r, dims)}, {"scd", d.scd}, {"reason", trigger.reason(d)}});
      } else if (d.verdict == Verdict::kHasEntry) {
        ++entries;
      } else {
        Refused& e = refused[d.verdict];
        ++e.runs;
        e.last = trigger.runs();
        e.decision = d;
      }
    }
  }
  j["runs"] = trigger.runs();
  j["met_an_entry"] = entries;
  for (const auto& [verdict, e] : refused)
    j["refused"].push_back({{"runs", e.runs}, {"why", std::string(verdict_name(verdict))}, {"last_run", e.last}, {"box", to_string(e.decision.box, r, dims)}, {"scd", e.decision.scd},
                            {"reason", trigger.reason(e.decision)}});
  return j;
}

Json describe(const VerifiedModule& v, int32_t function, const std::vector<Shapes>& steps, const ScdOptions& o, Status& status) {
  const FunctionView view(v, function);
  const FunctionRegions found = find_regions(view);
  const DeclaredScd scd = declared_scd(view, found);
  Json j = {{"function", view.f.name}, {"scd", scd.scd}, {"tensors", Json::array()}, {"regions", Json::array()}, {"borders", Json::array()}};
  for (const TensorScd& t : scd.tensors) j["tensors"].push_back(tensor_json(t, view));
  for (const Region& r : found.regions) {
    Json e = region_json(r, view);
    if (!steps.empty()) e["stream"] = stream_json(r, view, steps, o, status);
    j["regions"].push_back(e);
  }
  for (size_t i = 0; i < found.borders.size(); ++i) {
    const BorderReason b = found.borders[i];
    if (b == BorderReason::kNone || b == BorderReason::kReturn) continue;
    const Instr& x = view.at(static_cast<int32_t>(i));
    j["borders"].push_back({{"instruction", i}, {"what", x.op == Opcode::kOpCall ? x.text : std::string(instr_info(x.op).mnemonic)}, {"why", std::string(border_reason_text(b))},
                            {"place", view.place(static_cast<int32_t>(i))}});
  }
  return j;
}

std::string join(const Json& list) {
  std::string out;
  for (const Json& e : list) out += (out.empty() ? "" : ", ") + e.get<std::string>();
  return out;
}

std::string tensors_text(const Json& f, bool all) {
  Table table({"tensor", "SCD", "dims", "reason", "mend"});
  size_t left_out = 0;
  for (const Json& t : f["tensors"]) {
    // What only passes on what it got says nothing new.
    const bool plain = t["counted"].get<bool>() && !t.contains("mend") && t["reason"].get<std::string>().ends_with("dims unchanged");
    if (plain && !all) {
      ++left_out;
      continue;
    }
    const bool counted = t["counted"].get<bool>();
    table.row({t["name"].get<std::string>(), counted ? fmt::format("{:.2f}", t["scd"].get<double>()) : "-", "[" + join(t["dims"]) + "]", (counted ? "" : "not counted: ") + t["reason"].get<std::string>(),
               t.contains("mend") ? t["mend"].get<std::string>() : ""});
  }
  std::string out = table.to_string();
  if (left_out > 0) out += fmt::format("({} more with the dims of their source; --all lists them)\n", left_out);
  return out;
}

std::string region_text(const Json& r, size_t number) {
  std::string symbols;
  for (const Json& s : r["symbols"]) symbols += (symbols.empty() ? "" : ", ") + s["name"].get<std::string>() + (s["free"].get<bool>() ? " (free)" : "");
  std::string out = fmt::format("region {}: instructions {} to {}, {} call{}{}; symbols: {}\n", number, r["first"].get<int>(), r["last"].get<int>(), r["calls"].get<int>(),
                                r["calls"].get<int>() == 1 ? "" : "s", r["in_loop"].get<bool>() ? ", in a loop" : "", symbols.empty() ? "none" : symbols);
  if (!r.contains("stream")) return out;
  const Json& s = r["stream"];
  if (s.contains("not_followed")) return out + fmt::format("  not followed: {}\n", s["not_followed"].get<std::string>());
  for (const Json& q : s["queued"]) out += fmt::format("  run {}: {} queued ({})\n", q["run"].get<int64_t>(), q["box"].get<std::string>(), q["reason"].get<std::string>());
  if (const int64_t n = s["met_an_entry"].get<int64_t>(); n > 0) out += fmt::format("  {} of {} runs met an entry\n", n, s["runs"].get<int64_t>());
  for (const Json& e : s["refused"])
    out += fmt::format("  {} of {} runs queued nothing: {}; the last, run {}, {}: {}\n", e["runs"].get<int64_t>(), s["runs"].get<int64_t>(), e["why"].get<std::string>(),
                       e["last_run"].get<int64_t>(), e["box"].get<std::string>(), e["reason"].get<std::string>());
  return out;
}

/// Reasons for borders, by how often.
std::string borders_text(const Json& f, bool all) {
  std::string out;
  if (all) {
    for (const Json& b : f["borders"])
      out += fmt::format("border: instruction {} ({}), {}: {}\n", b["instruction"].get<int>(), b["what"].get<std::string>(), b["place"].get<std::string>(), b["why"].get<std::string>());
    return out;
  }
  std::map<std::string, int> counts;
  for (const Json& b : f["borders"]) ++counts[b["why"].get<std::string>()];
  for (const auto& [why, n] : counts) out += fmt::format("{}{} ({})", out.empty() ? "borders: " : "; ", why, n);
  return out.empty() ? out : out + "\n";
}

int scd_command(const ScdOptions& o) {
  for (size_t k = 0; k < o.buckets.size(); ++k)
    if (o.buckets[k] < 0 || (k > 0 && o.buckets[k] <= o.buckets[k - 1])) return report(invalid_argument("--buckets: boundaries are ascending and not negative, as in 1,8,32,64"));
  auto module = load_module(o.program);
  if (!module.ok()) return report(module.status());
  auto verified = verify_and_optimize(std::move(*module), o.level.options(o.program));
  if (!verified.ok()) return report(verified.status());
  const Module& m = (*verified)->module();

  std::vector<int32_t> functions;
  for (size_t f = 0; f < m.functions.size(); ++f)
    if (o.function.empty() || m.functions[f].name == o.function) functions.push_back(static_cast<int32_t>(f));
  if (!o.function.empty() && functions.empty()) return report(invalid_argument(fmt::format("--function {}: the program has none of that name", o.function)));
  if (!o.stream.empty()) functions.resize(std::min<size_t>(functions.size(), 1));

  std::vector<Shapes> steps;
  if (!o.stream.empty() && !functions.empty()) {
    const Function& f = m.functions[static_cast<size_t>(functions[0])];
    auto given = stream_steps(o.stream, o.shapes, f);
    if (!given.ok()) return report(given.status());
    steps = std::move(*given);
  }

  Json j = {{"file", o.program}, {"functions", Json::array()}};
  for (int32_t f : functions) {
    Status status;
    j["functions"].push_back(describe(**verified, f, steps, o, status));
    if (!status.ok()) return report(status);
  }
  if (o.json) {
    fmt::print("{}\n", j.dump(1, ' ', false, Json::error_handler_t::replace));
    return kDone;
  }
  std::string out;
  for (const Json& f : j["functions"]) {
    out += fmt::format("{}function @{}: declared SCD {:.2f}, {} tensors\n\n{}\n", out.empty() ? "" : "\n", f["function"].get<std::string>(), f["scd"].get<double>(), f["tensors"].size(),
                       tensors_text(f, o.all));
    for (size_t k = 0; k < f["regions"].size(); ++k) out += region_text(f["regions"][k], k);
    if (f["regions"].empty()) out += "no regions\n";
    out += borders_text(f, o.all);
  }
  fmt::print("{}", printable(out));
  return kDone;
}

}  // namespace

void add_scd(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("scd", "How settled shapes are: SCD by tensor, regions, and which boxes a stream would have compiled");
  auto o = std::make_shared<ScdOptions>();
  c->add_option("program", o->program, ".msbc, .msasm or .onnx")->required();
  c->add_option("--function", o->function, "only this one (default: all; with --stream the first)");
  c->add_option("--stream", o->stream, "shapes, one run each: a file, or 'x=1x3x224x224; x=2x3x224x224'");
  c->add_option("-s,--shape", o->shapes, "NAME=SIZES of what the stream doesn't name");
  c->add_option("-n,--runs", o->runs, "runs of each step of the stream (1)")->check(CLI::PositiveNumber);
  c->add_option("--jit-threshold", o->threshold, "runs of the last 64 that must lie in a box (3)")->check(CLI::Range(1, 64));
  c->add_option("--scd-threshold", o->scd_threshold, "SCD that a box needs (0.8)")->check(CLI::Range(0.0, 1.0));
  c->add_option("--buckets", o->buckets, "boundaries, as in 1,8,32,64: bucket mode instead of exact values")->delimiter(',');
  add_opt_option(*c, o->level);
  c->add_flag("--all", o->all, "also tensors with the dims of their source, and every border");
  c->add_flag("--json", o->json, "everything as JSON");
  c->footer("Example: msvm scd det.onnx --stream 'x=1x3x320x320; x=1x3x480x640' -n 3");
  c->callback([=, &code] { code = scd_command(*o); });
}

}  // namespace msvm::cli
