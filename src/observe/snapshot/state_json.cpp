#include "observe/snapshot/state_json.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "observe/snapshot/warnings.h"

namespace msvm::observe {
namespace {

using Json = nlohmann::json;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string_view urgency_name(jit::Urgency u) {
  switch (u) {
    case jit::Urgency::kIdle: return "idle";
    case jit::Urgency::kNormal: return "normal";
    case jit::Urgency::kWaited: return "waited";
  }
  return "";
}

Json times(const jit::TimeTotal& t) { return {{"count", t.count}, {"mean_ms", t.mean() * 1e3}, {"max_ms", t.max * 1e3}}; }

// What a label's owner is called; a label alone is a signature.
std::string program_of(const Snapshot& s, jit::Owner owner) {
  for (const ProgramSnapshot& p : s.programs)
    if (owner && p.jit.owner == owner) return p.name;
  return {};
}

Json running(const Snapshot& s, const jit::QueueView::Running& r) {
  constexpr double kNeverDone = 0.99;
  return {{"label", r.label},
          {"program", program_of(s, r.owner)},
          {"phase", r.phase ? lower(jit::kPhaseNames[static_cast<size_t>(*r.phase)]) : "starting"},
          {"elapsed_ms", r.seconds * 1e3},
          {"estimate_ms", r.estimate * 1e3},
          {"progress", r.estimate > 0 ? std::min(kNeverDone, r.seconds / r.estimate) : 0}};
}

Json queue(const Snapshot& s, const EngineSnapshot& e) {
  const jit::QueueView& q = e.queue;
  Json next = Json::array(), outcomes = Json::object(), phases = Json::object();
  for (const auto& n : q.next) next.push_back({{"label", n.label}, {"urgency", urgency_name(n.urgency)}, {"gain", n.gain}, {"estimate_ms", n.estimate * 1e3}});
  for (size_t k = 0; k < jit::kOutcomes.size(); ++k) outcomes[std::string(jit::kOutcomes[k].text)] = q.outcomes[k];
  for (size_t k = 0; k < jit::kPhases; ++k) phases[lower(jit::kPhaseNames[k])] = times(q.phases[k]);
  return {{"engine", e.id},         {"running", q.running ? running(s, *q.running) : Json()},
          {"next", next},           {"queued", q.queued},
          {"work", q.work},         {"outcomes", outcomes},
          {"phases", phases},       {"compiled", times(q.compiled)},
          {"cpu_s", q.cpu_seconds}, {"budget_s", q.budget},
          {"compiler_starts", q.compiler_starts}};
}

Json memory(const EngineSnapshot& e) {
  Json owners = Json::object();
  for (int k = 0; k < kNumMemoryOwners; ++k) owners[kMemoryOwnerNames[k]] = e.memory.by_owner[k];
  return {{"engine", e.id},
          {"device", e.device},
          {"in_use", e.memory.in_use},
          {"reserved", e.memory.reserved},
          {"peak", e.memory.peak},
          {"fragmentation", e.memory.fragmentation()},
          {"by_owner", owners},
          {"hint", e.memory_hint}};
}

Json latency(const Latencies& l) {
  return {{"count", l.count()},
          {"mean_ms", l.mean() * 1e3},
          {"p50_ms", l.percentile(0.5) * 1e3},
          {"p90_ms", l.percentile(0.9) * 1e3},
          {"p99_ms", l.percentile(0.99) * 1e3},
          {"p999_ms", l.percentile(0.999) * 1e3},
          {"max_ms", l.max() * 1e3}};
}

Json entry(const JitEntryView& e) {
  return {{"name", e.name},
          {"alias", e.alias},
          {"box", e.box},
          {"tier", e.tier},
          {"hits", e.hits},
          {"code_bytes", e.code_bytes},
          {"shared", e.shared},
          {"outcome", e.outcome},
          {"compile_ms", e.compile_ms},
          {"age_s", e.age_seconds},
          {"last_hit_s", e.last_hit_seconds ? Json(*e.last_hit_seconds) : Json()}};
}

Json region(const JitRegionView& r) {
  Json shapes = Json::array(), entries = Json::array();
  for (const JitShapeView& s : r.shapes) shapes.push_back({{"values", s.values}, {"runs", s.runs}, {"tier", s.tier}, {"entry", s.entry}});
  for (const JitEntryView& e : r.entries) entries.push_back(entry(e));
  return {{"function", r.function},
          {"region", r.region},
          {"name", r.name},
          {"place", r.place},
          {"symbols", r.symbols},
          {"open", r.open},
          {"broken", r.broken},
          {"calls", r.calls},
          {"fused_calls", r.fused_calls},
          {"fused", r.fused},
          {"not_fused", r.not_fused},
          {"verdict", r.verdict},
          {"state", r.state},
          {"scd", r.scd},
          {"runs", r.runs},
          {"native", r.native},
          {"specialised", r.specialised},
          {"interpreted_ms", r.interpreted_ms},
          {"native_ms", r.native_ms},
          {"shapes", shapes},
          {"entries", entries}};
}

double share(int64_t part, int64_t all) { return all ? static_cast<double>(part) / static_cast<double>(all) : 0; }

Json rates(const Snapshot& s, const ProgramSnapshot& p) {
  double peak = 0;
  for (const EngineSnapshot& e : s.engines)
    if (e.id == p.engine) peak = e.peak_gflops;
  return {{"runs_per_s", p.rates.runs_per_s},
          {"gflops", p.rates.gflops},
          {"peak_share", peak > 0 ? Json(p.rates.gflops / peak) : Json()},
          {"gbytes_per_s", p.rates.gbytes_per_s},
          {"layout_bytes", p.work.layout_bytes}};
}

Json slow_path(const Snapshot& s, const JitView& v, const SlowPathView& x) {
  return {{"time", iso_time(time_of(s, v, x.seconds))},
          {"region", x.region},
          {"reason", x.reason},
          {"place", x.place},
          {"scd", x.scd},
          {"phase", lower(x.phase)},
          {"elapsed_ms", x.elapsed_ms},
          {"limit_ms", x.limit_ms},
          {"instead", x.instead}};
}

Json program(const Snapshot& s, const ProgramSnapshot& p) {
  const JitView& v = p.jit;
  Json regions = Json::array(), slow = Json::array(), events = Json::array(), by_tier = Json::object();
  for (const JitRegionView& r : v.regions) regions.push_back(region(r));
  for (const SlowPathView& x : v.slow_path) slow.push_back(slow_path(s, v, x));
  for (const JitEventView& x : v.events) events.push_back({{"time", iso_time(time_of(s, v, x.seconds))}, {"kind", event_name(x.kind)}, {"what", x.what}});
  for (size_t tier = 0; tier < p.latency.size(); ++tier) by_tier[kTierNames[tier]] = latency(p.latency[tier]);
  return {{"id", p.id},
          {"engine", p.engine},
          {"name", p.name},
          {"runs", p.counters.runs},
          {"failed_runs", p.counters.failed_runs},
          {"hit_rate", v.hit_rate()},
          {"specialised_hit_rate", v.specialised_hit_rate()},
          {"window", {{"runs", v.window_runs}, {"hit_rate", share(v.window_native, v.window_runs)}, {"specialised_hit_rate", share(v.window_specialised, v.window_runs)}}},
          {"region_runs", v.runs},
          {"native", v.native},
          {"specialised", v.specialised},
          {"compiled", v.compiled},
          {"from_disk", v.from_disk},
          {"failed", v.failed},
          {"failed_by_reason", v.failed_by_reason},
          {"evicted", v.evicted},
          {"compile_ms", v.compile_ms},
          {"code_bytes", v.code_bytes},
          {"cache_bytes", v.cache_bytes},
          {"hint", v.hint},
          {"cache_mode", cache_mode_name(v.cache_mode)},
          {"boundaries", v.boundaries},
          {"latency", by_tier},
          {"rates", rates(s, p)},
          {"regions", regions},
          {"slow_path", slow},
          {"events", events}};
}

Json warning(const Warning& w) {
  return {{"time", iso_time(w.time)}, {"kind", w.kind}, {"severity", w.severity}, {"program", w.program}, {"region", w.region}, {"place", w.place}, {"text", w.text}, {"mend", w.mend}};
}

}  // namespace

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string state_json(const Snapshot& s, const ProcessFacts& process, bool tracing, const Json& alerts) {
  Json queues = Json::array(), memories = Json::array(), programs = Json::array(), warnings = Json::array();
  int threads = 0;
  for (const EngineSnapshot& e : s.engines) {
    queues.push_back(queue(s, e));
    memories.push_back(memory(e));
    threads = std::max(threads, e.threads);
  }
  for (const ProgramSnapshot& p : s.programs) programs.push_back(program(s, p));
  for (const Warning& w : warnings_of(s)) warnings.push_back(warning(w));
  return dump({{"version", 1},
               {"time", iso_time(s.time)},
               {"uptime_s", process.uptime},
               {"pid", process.pid},
               {"command", process.command},
               {"msvm", MSVM_VERSION},
               {"isa", s.engines.empty() ? std::string(isa_name(cpu_features().isa)) : s.engines.front().isa},
               {"threads", threads},
               {"tracing", tracing},
               {"queues", queues},
               {"memory", memories},
               {"programs", programs},
               {"warnings", warnings},
               {"alerts", alerts}});
}

}  // namespace msvm::observe
