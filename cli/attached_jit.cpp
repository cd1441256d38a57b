#include "attached_jit.h"

#include <strings.h>

#include <ctime>

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Into `out` if the member is there and of its type.
template <class T> void read(const Json& j, const char* key, T& out) {
  if (!j.is_object()) return;
  const auto at = j.find(key);
  if (at == j.end()) return;
  if constexpr (std::is_same_v<T, std::string>) {
    if (at->is_string()) out = at->template get<std::string>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (at->is_boolean()) out = at->template get<bool>();
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    for (const Json& v : *at)
      if (v.is_string()) out.push_back(v.get<std::string>());
  } else {
    if (at->is_number()) out = static_cast<T>(at->template get<double>());
  }
}

const Json& member(const Json& j, const char* key) {
  static const Json none;
  const auto at = j.is_object() ? j.find(key) : j.end();
  return at == j.end() ? none : *at;
}

/// Seconds since 1970 of "2026-01-02T03:04:05.678Z"; 0: it isn't one.
double seconds_of(const Json& j) {
  std::string text;
  read(j, "time", text);
  std::tm t{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &t);
  if (!rest) return 0;
  return static_cast<double>(timegm(&t)) + (*rest == '.' ? std::strtod(rest, nullptr) : 0);
}

JitEntryView entry_view(const Json& j) {
  JitEntryView e;
  read(j, "name", e.name);
  read(j, "alias", e.alias);
  read(j, "box", e.box);
  read(j, "tier", e.tier);
  read(j, "hits", e.hits);
  read(j, "code_bytes", e.code_bytes);
  read(j, "shared", e.shared);
  read(j, "outcome", e.outcome);
  read(j, "compile_ms", e.compile_ms);
  return e;
}

JitRegionView region_view(const Json& j) {
  JitRegionView r;
  read(j, "function", r.function);
  read(j, "region", r.region);
  read(j, "name", r.name);
  read(j, "symbols", r.symbols);
  read(j, "calls", r.calls);
  read(j, "fused_calls", r.fused_calls);
  read(j, "fused", r.fused);
  read(j, "not_fused", r.not_fused);
  read(j, "state", r.state);
  read(j, "scd", r.scd);
  read(j, "runs", r.runs);
  read(j, "native", r.native);
  read(j, "specialised", r.specialised);
  read(j, "interpreted_ms", r.interpreted_ms);
  read(j, "native_ms", r.native_ms);
  for (const Json& e : member(j, "entries")) r.entries.push_back(entry_view(e));
  return r;
}

JitEventKind kind_of(const std::string& name) {
  for (const JitEventKind k : {JitEventKind::kAnalysed, JitEventKind::kCompiled, JitEventKind::kPatched, JitEventKind::kEvicted, JitEventKind::kFailed, JitEventKind::kRetired})
    if (event_name(k) == name) return k;
  return JitEventKind::kAnalysed;
}

JitView program_view(const Json& j, double now) {
  JitView v;
  read(j, "name", v.program);
  read(j, "hint", v.hint);
  read(j, "code_bytes", v.code_bytes);
  read(j, "cache_bytes", v.cache_bytes);
  read(j, "compiled", v.compiled);
  read(j, "from_disk", v.from_disk);
  read(j, "failed", v.failed);
  read(j, "evicted", v.evicted);
  read(j, "compile_ms", v.compile_ms);
  read(j, "region_runs", v.runs);
  read(j, "native", v.native);
  read(j, "specialised", v.specialised);
  const Json& window = member(j, "window");
  double hit = 0, specialised = 0;
  read(window, "runs", v.window_runs);
  read(window, "hit_rate", hit);
  read(window, "specialised_hit_rate", specialised);
  v.window_native = static_cast<int64_t>(hit * static_cast<double>(v.window_runs) + 0.5);
  v.window_specialised = static_cast<int64_t>(specialised * static_cast<double>(v.window_runs) + 0.5);
  for (const Json& r : member(j, "regions")) v.regions.push_back(region_view(r));
  for (const Json& s : member(j, "slow_path")) {
    SlowPathView& out = v.slow_path.emplace_back();
    out.seconds = seconds_of(s) - now;
    read(s, "region", out.region);
    read(s, "reason", out.reason);
    read(s, "place", out.place);
  }
  for (const Json& e : member(j, "events")) {
    JitEventView& out = v.events.emplace_back();
    out.seconds = seconds_of(e) - now;
    std::string kind;
    read(e, "kind", kind);
    out.kind = kind_of(kind);
    read(e, "what", out.what);
  }
  return v;
}

/// The state has phases in lower case.
bool is_phase(size_t p, const std::string& name) { return strcasecmp(std::string(jit::kPhaseNames[p]).c_str(), name.c_str()) == 0; }

jit::TimeTotal total(const Json& j) {
  jit::TimeTotal t;
  double mean = 0;
  read(j, "count", t.count);
  read(j, "mean_ms", mean);
  read(j, "max_ms", t.max);
  t.max /= 1e3;
  t.sum = mean * static_cast<double>(t.count) / 1e3;
  return t;
}

}  // namespace

std::vector<JitView> jit_views(const Json& state) {
  std::vector<JitView> out;
  const double now = seconds_of(state);
  for (const Json& p : member(state, "programs")) out.push_back(program_view(p, now));
  return out;
}

jit::QueueView queue_view(const Json& q) {
  jit::QueueView v;
  if (const Json& r = member(q, "running"); r.is_object()) {
    jit::QueueView::Running running;
    std::string phase;
    read(r, "label", running.label);
    read(r, "phase", phase);
    for (size_t p = 0; p < jit::kPhases; ++p)
      if (is_phase(p, phase)) running.phase = static_cast<jit::Phase>(p);
    read(r, "elapsed_ms", running.seconds);
    read(r, "estimate_ms", running.estimate);
    running.seconds /= 1e3;
    running.estimate /= 1e3;
    v.running = running;
  }
  for (const Json& n : member(q, "next")) {
    jit::QueueView::Queued& out = v.next.emplace_back();
    read(n, "label", out.label);
    read(n, "gain", out.gain);
    read(n, "estimate_ms", out.estimate);
    out.estimate /= 1e3;
  }
  read(q, "queued", v.queued);
  read(q, "work", v.work);
  read(q, "cpu_s", v.cpu_seconds);
  read(q, "budget_s", v.budget);
  read(q, "compiler_starts", v.compiler_starts);
  v.compiled = total(member(q, "compiled"));
  for (const auto& [name, times] : member(q, "phases").items())
    for (size_t p = 0; p < jit::kPhases; ++p)
      if (is_phase(p, name)) v.phases[p] = total(times);
  for (size_t k = 0; k < jit::kOutcomes.size(); ++k) read(member(q, "outcomes"), std::string(jit::kOutcomes[k].text).c_str(), v.outcomes[k]);
  return v;
}

}  // namespace msvm::cli
