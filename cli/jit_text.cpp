#include "jit_text.h"

#include <fmt/format.h>

#include "common.h"

namespace msvm::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string share(int64_t part, int64_t all) {
  return all ? fmt::format("{:.1f} % ({} of {})", 100.0 * static_cast<double>(part) / static_cast<double>(all), part, all) : std::string("no runs yet");
}

std::string plural(int64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string totals_text(const JitView& v) {
  std::string out = v.program.empty() ? std::string() : fmt::format("program \"{}\"\n", v.program);
  out += fmt::format("hit rate              {}; of the latest {}\n", share(v.native, v.runs), share(v.window_native, v.window_runs));
  out += fmt::format("specialised hit rate  {}; of the latest {}\n", share(v.specialised, v.runs), share(v.window_specialised, v.window_runs));
  out += fmt::format("code                  {}{}; {} compiled in {}, {} from disk, {} failed, {} evicted\n", format_bytes(static_cast<double>(v.code_bytes)),
                     v.cache_bytes ? " of " + format_bytes(static_cast<double>(v.cache_bytes)) : "", v.compiled, format_ns(v.compile_ms * 1e6), v.from_disk, v.failed, v.evicted);
  if (!v.hint.empty()) out += fmt::format("hint: {}\n", v.hint);
  return out;
}

std::string region_text(const JitRegionView& r, size_t number) {
  std::string symbols;
  for (const std::string& s : r.symbols) symbols += (symbols.empty() ? "" : ", ") + s;
  std::string out = fmt::format("\nregion {}: {}; symbols: {}; {}, {} fused\n", number, r.name, symbols.empty() ? "none" : symbols, plural(r.calls, "call"), r.fused_calls);
  out += fmt::format("  {}", plural(r.runs, "run"));
  if (r.runs) {
    out += fmt::format(": {} native, {} of them specialised", r.native, r.specialised);
    if (r.runs > r.native) out += fmt::format("; interpreted {} a run", format_ns(r.interpreted_ms * 1e6 / static_cast<double>(r.runs - r.native)));
    if (r.native) out += fmt::format("; native {} a run", format_ns(r.native_ms * 1e6 / static_cast<double>(r.native)));
  }
  out += "\n";
  if (!r.state.empty()) out += fmt::format("  code for the last sizes: {}\n", r.state);
  if (r.entries.empty()) out += "  no entries yet\n";
  else {
    Table t({"entry", "alias", "tier", "hits", "code", "came", "compiled in"});
    for (const JitEntryView& e : r.entries)
      t.row({e.name, e.alias.empty() ? "-" : e.alias, std::to_string(e.tier), std::to_string(e.hits), e.code_bytes ? format_bytes(static_cast<double>(e.code_bytes)) : "-",
             e.shared ? "shared" : e.outcome.empty() ? "-" : e.outcome, e.shared || e.outcome.empty() ? "-" : format_ns(e.compile_ms * 1e6)});
    out += t.to_string();
  }
  for (const std::string& s : r.fused) out += fmt::format("  {}\n", s);
  return out;
}

std::string queue_text(const jit::QueueView& q) {
  std::string out = fmt::format("\ncompiler: {}", plural(static_cast<int64_t>(q.compiled.count), "compilation"));
  if (q.compiled.count) out += fmt::format(", {} in all, {} the longest", format_ns(q.compiled.sum * 1e9), format_ns(q.compiled.max * 1e9));
  out += fmt::format("; CPU {}; started {}\n", format_ns(q.cpu_seconds * 1e9), q.compiler_starts == 1 ? "once" : fmt::format("{} times", q.compiler_starts));
  if (q.compiled.count) {
    Table t({"phase", "in all", "mean", "longest"});
    for (size_t p = 0; p < jit::kPhases; ++p)
      t.row({std::string(jit::kPhaseNames[p]), format_ns(q.phases[p].sum * 1e9), format_ns(q.phases[p].mean() * 1e9), format_ns(q.phases[p].max * 1e9)});
    out += t.to_string();
  }
  if (q.running)
    out += fmt::format("compiling {}: {}, {} of about {}\n", q.running->label, q.running->phase ? jit::kPhaseNames[static_cast<size_t>(*q.running->phase)] : "starting", format_ns(q.running->seconds * 1e9),
                       format_ns(q.running->estimate * 1e9));
  for (const auto& n : q.next) out += fmt::format("queued {}: about {}\n", n.label, format_ns(n.estimate * 1e9));
  return out;
}

Json region_json(const JitRegionView& r) {
  Json j = {{"name", r.name}, {"function", r.function}, {"region", r.region}, {"symbols", r.symbols}, {"calls", r.calls}, {"fused_calls", r.fused_calls}, {"fused", r.fused},
            {"not_fused", r.not_fused}, {"state", r.state}, {"scd", r.scd}, {"runs", r.runs}, {"native", r.native}, {"specialised", r.specialised},
            {"interpreted_ms", r.interpreted_ms}, {"native_ms", r.native_ms}, {"entries", Json::array()}};
  for (const JitEntryView& e : r.entries)
    j["entries"].push_back({{"name", e.name}, {"alias", e.alias}, {"box", e.box}, {"tier", e.tier}, {"hits", e.hits}, {"code_bytes", e.code_bytes}, {"shared", e.shared}, {"outcome", e.outcome},
                            {"compile_ms", e.compile_ms}});
  return j;
}

Json queue_json(const jit::QueueView& q) {
  Json j = {{"compiled", q.compiled.count}, {"seconds", q.compiled.sum}, {"longest_s", q.compiled.max}, {"cpu_s", q.cpu_seconds}, {"budget_s", q.budget}, {"starts", q.compiler_starts},
            {"joined", q.joined}, {"queued", q.queued}, {"phases", Json::object()}, {"outcomes", Json::object()}, {"running", nullptr}, {"next", Json::array()}};
  for (size_t p = 0; p < jit::kPhases; ++p)
    j["phases"][std::string(jit::kPhaseNames[p])] = {{"seconds", q.phases[p].sum}, {"mean_s", q.phases[p].mean()}, {"longest_s", q.phases[p].max}};
  for (size_t k = 0; k < jit::kOutcomes.size(); ++k) j["outcomes"][std::string(jit::kOutcomes[k].text)] = q.outcomes[k];
  if (q.running)
    j["running"] = {{"label", q.running->label}, {"phase", q.running->phase ? std::string(jit::kPhaseNames[static_cast<size_t>(*q.running->phase)]) : ""}, {"seconds", q.running->seconds},
                    {"estimate_s", q.running->estimate}};
  for (const auto& n : q.next) j["next"].push_back({{"label", n.label}, {"estimate_s", n.estimate}});
  return j;
}

}  // namespace

std::string jit_text(const JitView& v, const jit::QueueView& q) {
  std::string out = totals_text(v);
  for (size_t k = 0; k < v.regions.size(); ++k) out += region_text(v.regions[k], k);
  if (v.regions.empty()) out += "\nno regions were looked for yet\n";
  out += queue_text(q);
  if (!v.slow_path.empty()) {
    Table t({"slow path at", "region", "from", "reason"});
    for (const SlowPathView& s : v.slow_path) t.row({fmt::format("{:.3f} s", s.seconds), s.region, s.place.empty() ? "-" : s.place, s.reason});
    out += "\n" + t.to_string();
  }
  if (!v.events.empty()) {
    Table t({"event at", "what", "of"});
    for (const JitEventView& e : v.events) t.row({fmt::format("{:.3f} s", e.seconds), std::string(event_name(e.kind)), e.what});
    out += "\n" + t.to_string();
  }
  return printable(out);
}

Json jit_json(const JitView& v, const jit::QueueView& q) {
  Json j = {{"program", v.program}, {"runs", v.runs}, {"native", v.native}, {"specialised", v.specialised}, {"hit_rate", v.hit_rate()}, {"specialised_hit_rate", v.specialised_hit_rate()},
            {"window", {{"runs", v.window_runs}, {"native", v.window_native}, {"specialised", v.window_specialised}}}, {"code_bytes", v.code_bytes}, {"cache_bytes", v.cache_bytes},
            {"compiled", v.compiled}, {"from_disk", v.from_disk}, {"failed", v.failed}, {"evicted", v.evicted}, {"compile_ms", v.compile_ms}, {"hint", v.hint},
            {"regions", Json::array()}, {"slow_path", Json::array()}, {"events", Json::array()}, {"compiler", queue_json(q)}};
  for (const JitRegionView& r : v.regions) j["regions"].push_back(region_json(r));
  for (const SlowPathView& s : v.slow_path) j["slow_path"].push_back({{"seconds", s.seconds}, {"region", s.region}, {"reason", s.reason}, {"place", s.place}});
  for (const JitEventView& e : v.events) j["events"].push_back({{"seconds", e.seconds}, {"kind", std::string(event_name(e.kind))}, {"what", e.what}});
  return j;
}

}  // namespace msvm::cli
