#include "msvm/jit/native/jit_view.h"

#include <fmt/format.h>

#include <algorithm>

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
namespace {

constexpr size_t kMostShapes = 32;

double milliseconds(int64_t ticks) { return static_cast<double>(ticks) * nanoseconds_per_tick() * 1e-6; }

}  // namespace

std::vector<JitShapeView> NativeProgram::shapes(const FunctionJit& f, int32_t region) const {
  const RegionJit& r = f.regions[static_cast<size_t>(region)];
  std::vector<SizeCount> counts;
  add_shapes(f.view->index, region, counts);
  keep_most_frequent(counts, kMostShapes);
  std::vector<JitShapeView> out;
  for (SizeCount& c : counts) {
    JitShapeView& s = out.emplace_back(JitShapeView{std::move(c.values), c.runs, 0, {}});
    for (const Entry& e : r.entries) {
      if (!holds(e.box.extents, s.values)) continue;
      s.tier = e.entry->tier;
      s.entry = e.entry->name;
      break;
    }
  }
  return out;
}

std::vector<std::string> NativeProgram::open_symbols(const FunctionJit& f, const RegionJit& r) const {
  std::vector<std::string> out;
  if (const auto& last = r.trigger->last())
    for (size_t k : last->opened) out.push_back(symbol_name(*r.region, k, f.view->dims()));
  return out;
}

std::vector<std::string> NativeProgram::broken_propagation(FunctionJit& f, const Region& r) const {
  constexpr size_t kMost = 4;
  if (!f.scd) f.scd = declared_scd(*f.view, f.found);
  std::vector<std::string> out;
  for (const TensorScd& t : f.scd->tensors)
    if (t.broken && t.instruction >= r.first() && t.instruction <= r.last() && out.size() < kMost)
      out.push_back(fmt::format("{} ({}): {}; {}", t.name, f.view->place(t.instruction), t.reason, t.mend));
  return out;
}

void NativeProgram::add_boundaries(const FunctionJit& f, const RegionJit& r, std::map<std::string, std::vector<int64_t>>& boundaries) const {
  if (options_.cache_mode == CacheMode::kExact) return;
  for (size_t k = 0; k < r.region->symbols.size(); ++k) {
    const std::string name = symbol_name(*r.region, k, f.view->dims());
    std::vector<int64_t> found;
    if (r.policy) found = r.policy->boundaries()[k];
    else if (const auto named = options_.named_boundaries.find(name); named != options_.named_boundaries.end()) found = named->second;
    else found = options_.bucket_boundaries;
    if (!found.empty()) boundaries.try_emplace(name, std::move(found));
  }
}

JitRegionView NativeProgram::region_view(FunctionJit& f, int32_t region) {
  const RegionJit& r = f.regions[static_cast<size_t>(region)];
  JitRegionView o;
  o.function = f.view->index;
  o.region = region;
  o.name = region_name(f, region);
  for (const Segment& s : r.region->segments) o.instructions.emplace_back(s.begin, s.end);
  o.place = f.view->place(r.region->first());
  for (size_t s = 0; s < r.region->symbols.size(); ++s) o.symbols.push_back(symbol_name(*r.region, s, f.view->dims()));
  o.open = open_symbols(f, r);
  o.calls = r.region->calls;
  for (const RegionGroup& g : r.lowered.groups) o.fused_calls += static_cast<int>(g.members.size());
  o.fused = r.lowered.notes;
  for (const NotFused& n : r.lowered.why_not) o.not_fused.push_back(fmt::format("{} ({}): {}", f.view->at(n.instruction).text, f.view->place(n.instruction), n.reason));
  if (const auto& last = r.trigger->last()) {
    o.verdict = verdict_name(last->verdict);
    o.state = r.trigger->reason(*last);
    o.scd = last->scd;
  }
  RegionTotals t;
  add_totals(o.function, region, t);
  o.runs = t.runs;
  o.native = t.native;
  o.specialised = t.specialised;
  o.interpreted_ms = milliseconds(t.interpreted_ticks);
  o.native_ms = milliseconds(t.native_ticks);
  const int64_t now = ticks();
  for (const Entry& e : r.entries) {
    JitEntryView& v = o.entries.emplace_back(JitEntryView{e.entry->name, e.alias, jit::to_string(e.box, *r.region, f.view->dims()), e.entry->tier, e.entry->hits, e.code_bytes, e.shared, e.outcome, e.compile_ms});
    v.age_seconds = seconds() - e.born;
    if (v.hits) v.last_hit_seconds = std::max(0.0, milliseconds(now - e.entry->last_hit.load(std::memory_order_relaxed)) * 1e-3);
  }
  o.shapes = shapes(f, region);
  return o;
}

JitView NativeProgram::view() {
  constexpr int64_t kEnoughRuns = 32;
  constexpr double kLowRate = 0.7;
  JitView v;
  if (!at_home()) return v;
  std::lock_guard lock(mutex_);
  read_logs();
  v.program = program_->module().name;
  v.owner = owner_;
  v.seconds = seconds();
  v.cache_bytes = options_.cache_bytes;
  v.code_bytes = code_bytes();
  v.compiled = compiled_;
  v.from_disk = from_disk_;
  v.failed = failures_;
  v.failed_by_reason = failures_by_reason_;
  v.evicted = evicted_;
  v.compile_ms = compile_ms_;
  v.cache_mode = options_.cache_mode;
  for (const auto& f : functions_) {
    if (!f) continue;
    for (size_t k = 0; k < f->regions.size(); ++k) {
      const JitRegionView& o = v.regions.emplace_back(region_view(*f, static_cast<int32_t>(k)));
      add_boundaries(*f, f->regions[k], v.boundaries);
      v.runs += o.runs;
      v.native += o.native;
      v.specialised += o.specialised;
    }
  }
  JitRegionView* worst = nullptr;
  for (JitRegionView& r : v.regions)
    if (!worst || r.runs - r.native > worst->runs - worst->native) worst = &r;
  v.window_runs = static_cast<int64_t>(window_.size());
  for (uint8_t tier : window_) {
    v.window_native += tier >= 1;
    v.window_specialised += tier == 2;
  }
  v.slow_path.assign(slow_path_.begin(), slow_path_.end());
  v.events.assign(events_.begin(), events_.end());
  if (v.window_runs >= kEnoughRuns && static_cast<double>(v.window_native) < kLowRate * static_cast<double>(v.window_runs) && worst) {
    v.hint = fmt::format("fewer than {:.0f} % of the latest runs were native; most of the others were of {}: {}", 100 * kLowRate, worst->name,
                         slow_path_.empty() ? "its code isn't ready yet" : slow_path_.back().reason);
    FunctionJit& f = *functions_[static_cast<size_t>(worst->function)];
    worst->broken = broken_propagation(f, *f.regions[static_cast<size_t>(worst->region)].region);
  }
  return v;
}

}  // namespace jit
}  // namespace msvm
