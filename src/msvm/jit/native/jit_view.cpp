#include "msvm/jit/native/jit_view.h"

#include <fmt/format.h>

#include "msvm/base/json_text.h"
#include "msvm/base/ticks.h"
#include "msvm/jit/native/native_program.h"

namespace msvm {

std::string_view event_name(JitEventKind k) {
  switch (k) {
    case JitEventKind::kAnalysed: return "analysed";
    case JitEventKind::kCompiled: return "compiled";
    case JitEventKind::kPatched: return "hot patch";
    case JitEventKind::kEvicted: return "evicted";
    case JitEventKind::kFailed: return "failed";
    case JitEventKind::kRetired: return "retired";
  }
  return "";
}

std::string to_json(const SlowPathView& s, std::string_view program) {
  std::string out = "{\"program\": ";
  append_json_string(out, program);
  auto text = [&](std::string_view key, std::string_view value) {
    out += fmt::format(", \"{}\": ", key);
    append_json_string(out, value);
  };
  text("region", s.region);
  text("place", s.place);
  text("reason", s.reason);
  out += fmt::format(", \"scd\": {:.3g}", s.scd);
  text("phase", s.phase);
  out += fmt::format(", \"elapsed_ms\": {:.3f}, \"limit_ms\": {:.3f}", s.elapsed_ms, s.limit_ms);
  text("instead", s.instead);
  return out + "}";
}

std::string to_text(const JitView& v) {
  auto share = [](int64_t part, int64_t all) { return all ? fmt::format("{:.1f} % ({} of {})", 100.0 * static_cast<double>(part) / static_cast<double>(all), part, all) : std::string("no runs"); };
  std::string out = fmt::format("program {}\n", v.program);
  out += fmt::format("  hit rate              {}; lately {}\n", share(v.native, v.runs), share(v.window_native, v.window_runs));
  out += fmt::format("  specialised hit rate  {}; lately {}\n", share(v.specialised, v.runs), share(v.window_specialised, v.window_runs));
  out += fmt::format("  code                  {} bytes of {}; {} compiled in {:.1f} ms, {} from disk, {} failed, {} evicted\n", v.code_bytes, v.cache_bytes, v.compiled, v.compile_ms, v.from_disk, v.failed, v.evicted);
  for (const JitRegionView& r : v.regions) {
    out += fmt::format("region {}: {} calls, {} of them fused; {} runs", r.name, r.calls, r.fused_calls, r.runs);
    if (r.runs) out += fmt::format(", {} native, {} specialised", r.native, r.specialised);
    out += "\n";
    if (!r.state.empty()) out += fmt::format("  sizes of their own: {}\n", r.state);
    for (const JitEntryView& e : r.entries) {
      out += fmt::format("  tier {}  {}{}{}: {} hits", e.tier, e.name, e.alias.empty() ? "" : " = ", e.alias, e.hits);
      if (e.code_bytes) out += e.shared ? fmt::format(", shares {} bytes", e.code_bytes) : fmt::format(", {} bytes, {} in {:.1f} ms", e.code_bytes, e.outcome, e.compile_ms);
      out += "\n";
    }
    for (const std::string& s : r.fused) out += fmt::format("  {}\n", s);
  }
  for (const SlowPathView& s : v.slow_path) out += fmt::format("slow path at {:.3f} s: {}: {}{}{}\n", s.seconds, s.region, s.reason, s.place.empty() ? "" : ", ", s.place);
  if (!v.hint.empty()) out += fmt::format("hint: {}\n", v.hint);
  return out;
}

namespace jit {

JitView NativeProgram::view() {
  constexpr int64_t kEnoughRuns = 32;
  constexpr double kLowRate = 0.7;
  JitView v;
  if (!at_home()) return v;
  std::lock_guard lock(mutex_);
  read_logs();
  v.program = program_->module().name;
  v.seconds = seconds();
  v.cache_bytes = options_.cache_bytes;
  v.code_bytes = code_bytes();
  v.compiled = compiled_;
  v.from_disk = from_disk_;
  v.failed = failures_;
  v.evicted = evicted_;
  v.compile_ms = compile_ms_;
  const JitRegionView* worst = nullptr;
  for (const auto& f : functions_) {
    if (!f) continue;
    for (size_t k = 0; k < f->regions.size(); ++k) {
      const RegionJit& r = f->regions[k];
      JitRegionView& o = v.regions.emplace_back();
      o.function = f->view->index;
      o.region = static_cast<int32_t>(k);
      o.name = region_name(*f, static_cast<int32_t>(k));
      for (size_t s = 0; s < r.region->symbols.size(); ++s) o.symbols.push_back(symbol_name(*r.region, s, f->view->dims()));
      o.calls = r.region->calls;
      for (const RegionGroup& g : r.lowered.groups) o.fused_calls += static_cast<int>(g.members.size());
      o.fused = r.lowered.notes;
      for (const NotFused& n : r.lowered.why_not) o.not_fused.push_back(fmt::format("{} ({}): {}", f->view->at(n.instruction).text, f->view->place(n.instruction), n.reason));
      if (const auto& last = r.trigger->last()) {
        o.state = r.trigger->reason(*last);
        o.scd = last->scd;
      }
      RegionTotals t;
      add_totals(o.function, o.region, t);
      o.runs = t.runs;
      o.native = t.native;
      o.specialised = t.specialised;
      o.interpreted_ms = static_cast<double>(t.interpreted_ticks) * nanoseconds_per_tick() * 1e-6;
      o.native_ms = static_cast<double>(t.native_ticks) * nanoseconds_per_tick() * 1e-6;
      for (const Entry& e : r.entries)
        o.entries.push_back({e.entry->name, e.alias, jit::to_string(e.box, *r.region, f->view->dims()), e.entry->tier, e.entry->hits, e.code_bytes, e.shared, e.outcome, e.compile_ms});
      v.runs += o.runs;
      v.native += o.native;
      v.specialised += o.specialised;
    }
  }
  for (const JitRegionView& r : v.regions)
    if (!worst || r.runs - r.native > worst->runs - worst->native) worst = &r;
  v.window_runs = static_cast<int64_t>(window_.size());
  for (uint8_t tier : window_) {
    v.window_native += tier >= 1;
    v.window_specialised += tier == 2;
  }
  v.slow_path.assign(slow_path_.begin(), slow_path_.end());
  v.events.assign(events_.begin(), events_.end());
  if (v.window_runs >= kEnoughRuns && static_cast<double>(v.window_native) < kLowRate * static_cast<double>(v.window_runs) && worst)
    v.hint = fmt::format("fewer than {:.0f} % of the latest runs were native; most of the others were of {}: {}", 100 * kLowRate, worst->name,
                         slow_path_.empty() ? "its code isn't ready yet" : slow_path_.back().reason);
  return v;
}

}  // namespace jit
}  // namespace msvm
