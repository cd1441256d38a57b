// Entries: their names, their order, how many there may be.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "msvm/base/chaos.h"
#include "msvm/base/ticks.h"
#include "msvm/jit/native/native_program.h"

namespace msvm::jit {
namespace {

constexpr size_t kMostEntries = kChaos ? 2 : 64;  // of a region

uint32_t display_hash(std::string_view text) {
  uint32_t h = 2166136261u;  // FNV-1a
  for (char c : text) h = (h ^ static_cast<uint8_t>(c)) * 16777619u;
  return h;
}

/// More fixed symbols first, then smaller ranges.
bool narrower(const Box& a, const Box& b) {
  auto fixed = [](const Box& x) { return std::count_if(x.extents.begin(), x.extents.end(), [](const Extent& e) { return !e.open(); }); };
  auto width = [](const Box& x) {
    double w = 1;
    for (const Extent& e : x.extents)
      if (!e.open()) w *= static_cast<double>(e.max) - static_cast<double>(e.min) + 1;
    return w;
  };
  return fixed(a) != fixed(b) ? fixed(a) > fixed(b) : width(a) < width(b);
}

}  // namespace

std::string NativeProgram::region_name(const FunctionJit& f, int32_t region) const {
  const Region& r = *f.regions[static_cast<size_t>(region)].region;
  return fmt::format("@{} instructions {} to {}", f.view->f.name, r.first(), r.last());
}

std::string NativeProgram::signature(const FunctionJit& f, int32_t region, const Box& box) const {
  const Region& r = *f.regions[static_cast<size_t>(region)].region;
  std::string ops = fmt::format("{}/{}/{}", program_->module().name, f.view->f.name, region);
  for (const Segment& s : r.segments)
    for (int32_t i = s.begin; i < s.end; ++i) ops += f.view->at(i).text;
  const std::string values = jit::to_string(box, r, f.view->dims());
  return fmt::format("jit_cache_{:08x}{}{}", display_hash(ops), values.empty() ? "" : "_", values);
}

// "jit_1920x1080": where the box fixes exactly the last two of an image's symbols, height before width.
std::string NativeProgram::alias(const FunctionJit& f, int32_t region, const Box& box) const {
  const Region& r = *f.regions[static_cast<size_t>(region)].region;
  for (Reg in : r.inputs) {
    const TensorType& t = f.view->type(in);
    if (t.unknown_rank || t.shape.size() != 4) continue;
    auto value = [&](Dim d) -> int64_t {
      if (d.is_const()) return d.value();
      if (!d.is_symbol()) return -1;
      const auto at = std::find(r.symbols.begin(), r.symbols.end(), d.symbol());
      if (at == r.symbols.end()) return -1;
      const Extent& e = box.extents[static_cast<size_t>(at - r.symbols.begin())];
      return e.min == e.max ? e.min : -1;
    };
    const int64_t h = value(t.shape[2]), w = value(t.shape[3]);
    if (h < 0 || w < 0 || (t.shape[2].is_const() && t.shape[3].is_const())) continue;
    return fmt::format("jit_{}x{}", w, h);
  }
  return {};
}

void NativeProgram::publish(FunctionJit& f, int32_t region, Entry e, int tier) {
  RegionJit& r = f.regions[static_cast<size_t>(region)];
  if (!e.entry) e.entry = std::make_shared<RegionEntry>();
  e.entry->box = e.box.extents;
  e.entry->tier = tier;
  e.entry->name = signature(f, region, e.box);
  e.entry->last_hit.store(ticks(), std::memory_order_relaxed);
  e.born = seconds();
  if (tier == 2) e.alias = alias(f, region, e.box);
  std::erase_if(r.entries, [&](const Entry& old) { return old.box == e.box; });
  event(JitEventKind::kPatched, fmt::format("{} (tier {}{})", e.entry->name, tier, e.shared ? ", shares code" : ""));
  const auto at = std::find_if(r.entries.begin(), r.entries.end(), [&](const Entry& other) { return narrower(e.box, other.box); });
  const RegionEntry* fresh = e.entry.get();
  r.entries.insert(at, std::move(e));
  make_room(f, region);
  const auto there = std::find_if(r.entries.begin(), r.entries.end(), [&](const Entry& other) { return other.entry.get() == fresh; });
  republish(f, region, there == r.entries.end() ? nullptr : &*there);
}

void NativeProgram::republish(FunctionJit& f, int32_t region, const Entry* fresh) {
  RegionJit& r = f.regions[static_cast<size_t>(region)];
  std::vector<std::shared_ptr<const RegionEntry>> entries;
  const int old_tier = std::exchange(r.best_tier, 0);
  for (const Entry& e : r.entries) {
    entries.push_back(e.entry);
    r.best_tier = std::max(r.best_tier, e.entry->tier);
  }
  f.table->publish(static_cast<size_t>(region), std::move(entries));
  tell_patch(f, region, fresh, old_tier);
}

// By a job of its own: here mutex_ is held, and a listener may want to look at the program.
void NativeProgram::tell_patch(const FunctionJit& f, int32_t region, const Entry* fresh, int old_tier) {
  {
    std::lock_guard lock(listener_mutex_);
    if (!patch_listener_) return;
  }
  const auto function = static_cast<int32_t>(std::find_if(functions_.begin(), functions_.end(), [&](const auto& p) { return p.get() == &f; }) - functions_.begin());
  const RegionJit& r = f.regions[static_cast<size_t>(region)];
  PatchNotice notice{function, region, r.region->first(), fresh ? fresh->entry->name : std::string(), fresh ? fresh->alias : std::string(), old_tier, r.best_tier};
  jit_->queue().post(owner_, Urgency::kWaited, [this, notice = std::move(notice)] {
    std::shared_ptr<const std::function<void(const PatchNotice&)>> listener;
    {
      std::lock_guard lock(listener_mutex_);
      listener = patch_listener_;
    }
    if (listener) (*listener)(notice);
  });
}

void NativeProgram::set_patch_listener(std::function<void(const PatchNotice&)> listener) {
  auto fresh = listener ? std::make_shared<const std::function<void(const PatchNotice&)>>(std::move(listener)) : nullptr;
  std::lock_guard lock(listener_mutex_);
  patch_listener_ = std::move(fresh);
}

int64_t NativeProgram::code_bytes() const {
  std::vector<const void*> seen;
  int64_t bytes = 0;
  for (const auto& f : functions_)
    if (f)
      for (const RegionJit& r : f->regions)
        for (const Entry& e : r.entries) {
          const void* image = e.entry->image.get();
          if (!image || std::find(seen.begin(), seen.end(), image) != seen.end()) continue;
          seen.push_back(image);
          bytes += e.code_bytes;
        }
  return bytes;
}

void NativeProgram::take_out(RegionJit& r, size_t k) {
  r.trigger->drop_entry(r.entries[k].box);
  r.entries.erase(r.entries.begin() + static_cast<std::ptrdiff_t>(k));
}

void NativeProgram::evict(RegionJit& r, size_t k) {
  event(JitEventKind::kEvicted, r.entries[k].entry->name);
  take_out(r, k);
  ++evicted_;
}

// Entries of tier 2 go that weren't used for the longest time, in adaptive mode those that are worth least per byte: of this region while
// there are too many, of any while the code is too large.
void NativeProgram::make_room(FunctionJit& f, int32_t region) {
  auto rank = [&](const RegionJit& r, size_t k, bool per_byte) { return r.policy ? worth(r, r.entries[k], per_byte) : static_cast<double>(r.entries[k].entry->last_hit.load()); };
  // Where it is about bytes, those that have none of their own stay.
  auto least = [&](const RegionJit& r, bool per_byte) {
    std::pair<size_t, double> best{SIZE_MAX, std::numeric_limits<double>::infinity()};
    for (size_t k = 0; k < r.entries.size(); ++k)
      if (r.entries[k].entry->tier == 2)
        if (const double x = rank(r, k, per_byte); x < best.second) best = {k, x};
    return best;
  };
  RegionJit& here = f.regions[static_cast<size_t>(region)];
  while (here.entries.size() > kMostEntries && least(here, false).first != SIZE_MAX) evict(here, least(here, false).first);
  while (options_.cache_bytes && code_bytes() > options_.cache_bytes) {
    FunctionJit* owner = nullptr;
    int32_t index = 0;
    std::pair<size_t, double> worst{SIZE_MAX, std::numeric_limits<double>::infinity()};
    for (const auto& g : functions_)
      for (size_t i = 0; g && i < g->regions.size(); ++i)
        if (const auto here_least = least(g->regions[i], true); here_least.second < worst.second) {
          owner = g.get();
          index = static_cast<int32_t>(i);
          worst = here_least;
        }
    if (!owner) return;
    evict(owner->regions[static_cast<size_t>(index)], worst.first);
    if (owner != &f || index != region) republish(*owner, index);
  }
}

void NativeProgram::retire_all() {
  if (!at_home()) return;
  jit_->queue().post(owner_, Urgency::kNormal, [this] {
    std::lock_guard lock(mutex_);
    failure_.clear();
    failed_.store(false, std::memory_order_release);
    for (size_t f = 0; f < functions_.size(); ++f) {
      if (!functions_[f]) continue;
      for (size_t r = 0; r < functions_[f]->regions.size(); ++r) {
        RegionJit& region = functions_[f]->regions[r];
        std::vector<std::pair<Box, int>> boxes;
        for (const Entry& e : region.entries) boxes.emplace_back(e.box, e.entry->tier);
        region.entries.clear();
        republish(*functions_[f], static_cast<int32_t>(r));
        event(JitEventKind::kRetired, fmt::format("{}: {} entries", region_name(*functions_[f], static_cast<int32_t>(r)), boxes.size()));
        if (boxes.empty()) boxes.emplace_back(Box{std::vector<Extent>(region.region->symbols.size())}, 1);
        for (auto& [box, tier] : boxes) request(static_cast<int32_t>(f), static_cast<int32_t>(r), box, tier);
      }
    }
  });
}

}  // namespace msvm::jit
