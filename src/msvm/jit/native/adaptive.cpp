// The adaptive mode of a program: what its policies ask, and what is done with their answers.
#include <algorithm>
#include <limits>

#include "msvm/base/ticks.h"
#include "msvm/jit/native/native_program.h"

namespace msvm::jit {
namespace {

constexpr int64_t kTidyPause = 64;        // runs of a region between two looks for boxes that aren't worth their place any more
constexpr double kFirstCompileMs = 20;    // until a compilation of the region was measured
constexpr int64_t kFirstBytes = 16 << 10;
// Shares of the time that a box is expected to save until that was measured: beside the interpreter; by sizes as constants; by code that
// is the same as that for all sizes, where only plans differ.
constexpr double kBesideInterpreter = 0.3, kByConstants = 0.05, kByPlans = 0.01;

}  // namespace

std::unique_ptr<Policy> NativeProgram::make_policy(const FunctionJit& f, const Region& region, int32_t index) {
  if (options_.cache_mode != CacheMode::kAdaptive) return nullptr;
  const RegionPolicy* learnt = loaded_policy_.find(f.view->f.name, index);
  if (learnt)
    if (auto why = Policy::misfit(region, f.view->dims(), *learnt)) {
      slow_path({.region = "@" + f.view->f.name, .reason = std::move(*why), .instead = "what these runs teach"});
      learnt = nullptr;
    }
  return std::make_unique<Policy>(region, f.view->dims(), PolicyOptions{.jit_threshold = options_.jit_threshold, .scd_threshold = options_.scd_threshold}, learnt);
}

void NativeProgram::request_learnt(int32_t function) {
  if (options_.jit_level < 2 || !options_.tier2) return;
  FunctionJit& f = *functions_[static_cast<size_t>(function)];
  for (size_t r = 0; r < f.regions.size(); ++r) {
    if (!f.regions[r].policy) continue;
    for (Box& box : f.regions[r].policy->learnt_boxes()) {
      f.regions[r].trigger->add_entry(box);
      request(function, static_cast<int32_t>(r), std::move(box), 2);
    }
  }
}

// Its part of its image: nothing where code for all sizes has the same, as that stays.
double NativeProgram::own_bytes(const Entry& entry) const {
  int holders = 0;
  for (const auto& f : functions_)
    for (size_t r = 0; f && r < f->regions.size(); ++r)
      for (const Entry& e : f->regions[r].entries) {
        if (e.entry->image != entry.entry->image) continue;
        if (e.entry->tier == 1) return 0;
        ++holders;
      }
  return entry.entry->image ? static_cast<double>(entry.code_bytes) / std::max(1, holders) : 0;
}

double NativeProgram::worth(const RegionJit& r, const Entry& e, bool per_byte) const {
  const double w = r.policy->worth(e.box, r.trigger->entries());
  if (!per_byte) return w;
  const double bytes = own_bytes(e);
  return bytes > 0 ? w / bytes : std::numeric_limits<double>::infinity();
}

// Whether code of its own would be needed is known from its text; how large and how slow to make, from what was compiled so far.
BoxPrice NativeProgram::price(const FunctionJit& f, const RegionJit& r, const Box& box) const {
  BoxPrice p;
  p.guess = options_.tier1 ? kByPlans : kBesideInterpreter;
  if (r.lowered.groups.empty()) return p;
  const std::string text = loops::print(specialise(r.lowered, *f.view, *r.region, box));
  if (jit_->find_image(text)) return p;
  if (options_.tier1) p.guess = kByConstants;
  double compile_ms = 0;
  int64_t bytes = 0, compiled = 0, own = 0;
  for (const Entry& e : r.entries) {
    if (e.shared || !e.code_bytes) continue;
    ++own;
    bytes += e.code_bytes;
    if (e.compile_ms > 0) {
      ++compiled;
      compile_ms += e.compile_ms;
    }
  }
  p.bytes = own ? bytes / own : kFirstBytes;
  p.compile_ns = 1e6 * (compiled ? compile_ms / static_cast<double>(compiled) : kFirstCompileMs);
  const double free = static_cast<double>(options_.cache_bytes - code_bytes() - p.bytes);
  if (!options_.cache_bytes || free >= 0) return p;
  double evictable = 0, bar = std::numeric_limits<double>::infinity();
  for (const auto& g : functions_)
    for (size_t i = 0; g && i < g->regions.size(); ++i)
      for (const Entry& e : g->regions[i].entries) {
        if (e.entry->tier != 2) continue;
        evictable += own_bytes(e);
        bar = std::min(bar, worth(g->regions[i], e, true));
      }
  p.fits = free + evictable >= 0;
  if (p.fits) p.bar = bar;
  return p;
}

Decision NativeProgram::decide(FunctionJit& f, int32_t region, const RunLog::Run& run) {
  RegionJit& r = f.regions[static_cast<size_t>(region)];
  const std::span<const int64_t> values(run.values.data(), run.count);
  if (!r.policy) return r.trigger->run(values, gain(r));
  if (r.trigger->runs() % kTidyPause == kTidyPause - 1) drop(f, region, r.policy->outdated(r.trigger->entries()));
  const Decision d = r.policy->run({values, run.tier, static_cast<double>(run.ticks) * nanoseconds_per_tick()}, r.trigger->entries(), [&](const Box& box) { return price(f, r, box); });
  r.trigger->note(d);
  return d;
}

void NativeProgram::drop(FunctionJit& f, int32_t region, const std::vector<Box>& boxes) {
  RegionJit& r = f.regions[static_cast<size_t>(region)];
  for (const Box& box : boxes) {
    const auto at = std::find_if(r.entries.begin(), r.entries.end(), [&](const Entry& e) { return e.box == box; });
    if (at == r.entries.end()) continue;  // it isn't there yet
    evict(r, static_cast<size_t>(at - r.entries.begin()));
  }
  if (!boxes.empty()) republish(f, region);
}

std::string NativeProgram::shape_policy() const {
  if (!at_home() || options_.cache_mode != CacheMode::kAdaptive) return {};
  std::lock_guard lock(mutex_);
  ShapePolicy p;
  p.program = program_->module().name;
  for (const auto& f : functions_)
    for (size_t r = 0; f && r < f->regions.size(); ++r) p.regions.push_back(f->regions[r].policy->learnt(f->regions[r].trigger->entries(), f->view->f.name, static_cast<int32_t>(r)));
  // What was loaded about functions that haven't run is passed on.
  for (const RegionPolicy& old : loaded_policy_.regions)
    if (!p.find(old.function, old.region)) p.regions.push_back(old);
  return to_json(p);
}

}  // namespace msvm::jit
