#include "msvm/jit/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "msvm/jit/policy_boundaries.h"

namespace msvm::jit {
namespace {

constexpr double kDoubt = 8;           // runs without a hit that are added, so that few equal runs don't look like a habit
constexpr int64_t kFirstLesson = 64;   // runs before boundaries are learnt
constexpr size_t kBuckets = 4;         // of a symbol
constexpr size_t kFewValues = 8;       // a symbol that takes no more is better taken exactly
constexpr double kForgotten = 0.25;    // runs that are left of a habit
constexpr double kBetter = 1.25;       // a new box must save so much more per byte than the one that has to go
constexpr int64_t kMeasured = 16;      // runs with code of their own that make a measurement
constexpr size_t kMostKept = 128;      // guesses, boxes that saved nothing
constexpr double kRefusedMemories = 4; // so long isn't tried again what saved nothing
constexpr double kNoise = 0.01;        // share of the time that isn't told from nothing

bool lies_in(const Box& a, const Box& b) {
  for (size_t k = 0; k < a.extents.size(); ++k)
    if (a.extents[k].min < b.extents[k].min || a.extents[k].max > b.extents[k].max) return false;
  return true;
}

}  // namespace

Policy::Policy(const Region& region, const DimContext& dims, PolicyOptions options, const RegionPolicy* learnt)
    : region_(region), dims_(dims), options_(options), habits_(options.half_life), boundaries_(region.symbols.size()), learn_at_(kFirstLesson) {
  if (!learnt) return;
  for (size_t k = 0; k < boundaries_.size(); ++k)
    if (auto at = learnt->boundaries.find(symbol_name(region, k, dims)); at != learnt->boundaries.end()) boundaries_[k] = at->second;
  for (const auto& s : learnt->sizes) habits_.remember(s.values, std::min(s.weight, habits_.memory()));
  loaded_ = learnt->boxes;
  std::stable_sort(loaded_.begin(), loaded_.end(), [](const auto& a, const auto& b) { return a.weight * a.saving > b.weight * b.saving; });
}

std::optional<std::string> Policy::misfit(const Region& region, const DimContext& dims, const RegionPolicy& learnt) {
  std::string expected, found;
  for (size_t k = 0; k < region.symbols.size(); ++k) expected += (k ? ", " : "") + symbol_name(region, k, dims);
  for (const std::string& s : learnt.symbols) found += (found.empty() ? "" : ", ") + s;
  if (expected == found) return std::nullopt;
  return fmt::format("the shape policy of region {} of @{} isn't used: expected the symbols [{}], found [{}]", learnt.region, learnt.function, expected, found);
}

std::vector<Box> Policy::learnt_boxes() const {
  std::vector<Box> out;
  for (const auto& b : loaded_) out.push_back(b.box);
  return out;
}

std::optional<Extent> Policy::range(size_t symbol, int64_t value) const {
  const auto& list = boundaries_[symbol];
  if (value < 0 || list.empty() || value > list.back()) return std::nullopt;
  const auto at = std::lower_bound(list.begin(), list.end(), value);
  return Extent{at == list.begin() ? 0 : at[-1] + 1, *at};
}

// Once a memory's length, so that boxes don't come and go with every wave; only where a quarter of the runs lies beyond what was learnt.
void Policy::learn_boundaries() {
  if (runs_ < learn_at_) return;
  learn_at_ = runs_ + static_cast<int64_t>(habits_.memory());
  for (size_t k = 0; k < boundaries_.size(); ++k) {
    std::vector<std::pair<int64_t, double>> sizes;
    double beyond = 0, known = 0;
    for (const Habit& h : habits_.all()) {
      const double w = habits_.weight(h);
      if (h.values[k] < 0 || w < kForgotten) continue;
      known += w;
      if (!range(k, h.values[k])) beyond += w;
      auto at = std::find_if(sizes.begin(), sizes.end(), [&](const auto& s) { return s.first == h.values[k]; });
      if (at == sizes.end()) sizes.emplace_back(h.values[k], w);
      else at->second += w;
    }
    if (sizes.size() <= kFewValues) boundaries_[k].clear();
    else if (boundaries_[k].empty() || beyond > known / 4) boundaries_[k] = boundaries_of(std::move(sizes), kBuckets);
  }
}

// The symbol whose value is rarest is widened first: to its bucket, then to everything.
std::vector<Box> Policy::candidates(std::span<const int64_t> values) const {
  std::vector<Box> out;
  Box box;
  for (size_t k = 0; k < values.size(); ++k) box.extents.push_back(is_free(k) ? Extent{} : Extent::value(values[k]));
  while (box.fixes_something()) {
    out.push_back(box);
    size_t rarest = 0;
    double least = -1;
    for (size_t k = 0; k < values.size(); ++k) {
      if (box.extents[k].open()) continue;
      const double w = habits_.weight_in(box.extents[k], k);
      if (least < 0 || w < least) {
        least = w;
        rarest = k;
      }
    }
    Extent& e = box.extents[rarest];
    const std::optional<Extent> r = range(rarest, values[rarest]);
    e = r && !(*r == e) ? *r : Extent{};
  }
  return out;
}

Policy::Measured Policy::measure(const Box& box, const std::vector<Box>& entries) const {
  Measured m;
  double with = 0, without = 0, timed = 0, ns = 0;
  int64_t runs = 0;
  for (const Habit& h : habits_.all()) {
    if (!box.holds(h.values)) continue;
    if (std::any_of(entries.begin(), entries.end(), [&](const Box& e) { return e.holds(h.values) && lies_in(e, box) && !(e == box); })) continue;
    const double w = habits_.weight(h);
    m.weight += w;
    const MeanTime& known = h.lower.runs ? h.lower : h.own;
    if (known.runs) {
      ns += w * known.ns;
      timed += w;
    }
    if (h.lower.runs < 2 || h.own.runs < 2) continue;
    without += w * h.lower.ns;
    with += w * h.own.ns;
    runs += h.own.runs;
  }
  if (timed > 0) m.lower_ns = ns / timed;
  if (runs >= kMeasured && without > 0) m.share = (without - with) / without;
  return m;
}

double Policy::saving(const Box& box, const Measured& m) const {
  if (m.share) return *m.share;
  for (const auto& b : loaded_)
    if (b.box == box) return b.saving;
  for (const auto& [b, guess] : guesses_)
    if (b == box) return guess;
  return kNoise;
}

double Policy::expected_share(double weight) const {
  // The latest run says nothing about the next.
  return std::max(0.0, weight - 1) / (std::max(1.0, habits_.total()) - 1 + kDoubt);
}

double Policy::worth(const Box& box, const std::vector<Box>& entries) const {
  const Measured m = measure(box, entries);
  return expected_share(m.weight) * saving(box, m) * m.lower_ns;
}

double Policy::judge(Decision& d, const std::vector<Box>& entries, const Pricing& price) {
  const auto refused = std::find_if(refused_.begin(), refused_.end(), [&](const auto& r) { return r.first == d.box; });
  if (refused != refused_.end() && runs_ < refused->second) {
    d.verdict = Verdict::kNegativeGain;
    d.why = "it saved nothing when it was there";
    return 0;
  }
  // A habit is expected to last as long as it has, at least as long as it is remembered.
  const double horizon = std::max(habits_.memory(), static_cast<double>(runs_));
  const Measured m = measure(d.box, entries);
  const BoxPrice p = price(d.box);
  double share = p.guess;
  for (const Box& e : entries)  // what serves these sizes now may save something already
    if (lies_in(d.box, e)) share = std::min(share, p.guess - std::max(0.0, saving(e, measure(e, entries))));
  const double hits = expected_share(m.weight), per_run = hits * share * m.lower_ns, gain = horizon * per_run - p.compile_ns;
  d.expected_hits = horizon * hits;
  d.needed_hits = share > 0 && m.lower_ns > 0 ? p.compile_ns / (share * m.lower_ns) : 0;
  d.verdict = Verdict::kNegativeGain;
  if (!p.fits) {
    d.why = "its code doesn't fit into the cache";
  } else if (share <= 0) {
    d.why = "it saves nothing beside what serves these sizes now";
  } else if (gain <= 0) {
    d.why = fmt::format("it would save {:.3g} ms in the next {:.0f} runs, compiling takes {:.3g} ms", horizon * per_run * 1e-6, horizon, p.compile_ns * 1e-6);
  } else if (p.bytes && per_run < kBetter * p.bar * static_cast<double>(p.bytes)) {
    d.why = fmt::format("the cache is full, and what is there saves more: {:.3g} ns per run and KiB are expected, {:.3g} are needed", 1024 * per_run / static_cast<double>(p.bytes), 1024 * kBetter * p.bar);
  } else {
    d.verdict = Verdict::kQueued;
    d.why = fmt::format("SCD {:.2f}, {:.0f} % of the runs are expected in the box, {:.1f} % of their time is saved", d.scd, 100 * hits, 100 * share);
  }
  return gain;
}

Decision Policy::run(const PolicyRun& run, const std::vector<Box>& entries, const Pricing& price) {
  ++runs_;
  habits_.see(run.values, run.tier, run.ns);
  learn_boundaries();

  std::optional<Decision> best;
  double best_gain = 0;
  for (Box& box : candidates(run.values)) {
    Decision d;
    d.seen = static_cast<int>(std::min(habits_.total() + 0.5, 1e9));
    d.in_box = static_cast<int>(std::min(habits_.weight_in(box) + 0.5, 1e9));
    d.scd = scd_of_box(region_, box);
    for (size_t k = 0; k < box.extents.size(); ++k)
      if (box.extents[k].open() && !is_free(k)) d.opened.push_back(k);
    d.box = std::move(box);
    double gain = 0;
    if (d.in_box < options_.jit_threshold) d.why = fmt::format("{} of the runs that count lately lie in the box, {} are needed", d.in_box, options_.jit_threshold);
    else if (d.scd < options_.scd_threshold) d.verdict = Verdict::kLowScd;
    else if (std::find(entries.begin(), entries.end(), d.box) != entries.end()) d.verdict = Verdict::kHasEntry;
    else gain = judge(d, entries, price);
    const bool better = !best || (d.verdict == Verdict::kQueued ? gain > best_gain : best->verdict != Verdict::kQueued && d.verdict == Verdict::kHasEntry);
    if (!better) continue;
    best = std::move(d);
    best_gain = gain;
  }
  if (!best) {
    best.emplace();
    best->verdict = Verdict::kFixesNothing;
    best->box = Box{std::vector<Extent>(run.values.size())};
    best->scd = scd_of_box(region_, best->box);
  }
  if (best->verdict == Verdict::kQueued) {
    habits_.forget_own_times(best->box);
    std::erase_if(guesses_, [&](const auto& g) { return g.first == best->box; });
    guesses_.emplace_back(best->box, price(best->box).guess);
    if (guesses_.size() > kMostKept) guesses_.erase(guesses_.begin());
  }
  return *best;
}

bool Policy::is_current(const Box& box) const {
  for (size_t k = 0; k < box.extents.size(); ++k) {
    const Extent& e = box.extents[k];
    if (e.open() || e.min == e.max) continue;
    const std::optional<Extent> r = range(k, e.max);
    if (!r || !(*r == e)) return false;
  }
  return true;
}

std::vector<Box> Policy::outdated(const std::vector<Box>& entries) {
  std::vector<Box> out;
  for (const Box& box : entries) {
    if (!box.fixes_something()) continue;
    const bool loaded = std::any_of(loaded_.begin(), loaded_.end(), [&](const auto& b) { return b.box == box; });
    const Measured m = measure(box, entries);
    const bool harms = m.share && *m.share < -kNoise;
    // What was loaded has its time to show what it is good for.
    const bool unseen = habits_.weight_in(box) < kForgotten && !(loaded && static_cast<double>(runs_) < habits_.memory());
    if (!harms && !unseen && is_current(box)) continue;
    if (harms) refused_.emplace_back(box, runs_ + static_cast<int64_t>(kRefusedMemories * habits_.memory()));
    if (refused_.size() > kMostKept) refused_.erase(refused_.begin());
    out.push_back(box);
  }
  return out;
}

RegionPolicy Policy::learnt(const std::vector<Box>& entries, const std::string& function, int32_t index) const {
  RegionPolicy p;
  p.function = function;
  p.region = index;
  for (size_t k = 0; k < region_.symbols.size(); ++k) {
    p.symbols.push_back(symbol_name(region_, k, dims_));
    if (!boundaries_[k].empty()) p.boundaries[p.symbols[k]] = boundaries_[k];
  }
  for (const Box& b : entries)
    if (b.fixes_something()) p.boxes.push_back({b, habits_.weight_in(b), std::clamp(saving(b, measure(b, entries)), -1.0, 1.0)});
  std::stable_sort(p.boxes.begin(), p.boxes.end(), [](const auto& a, const auto& b) { return a.weight * a.saving > b.weight * b.saving; });
  for (const Habit& h : habits_.all())
    if (habits_.weight(h) >= kForgotten) p.sizes.push_back({h.values, habits_.weight(h)});
  std::stable_sort(p.sizes.begin(), p.sizes.end(), [](const auto& a, const auto& b) { return a.weight > b.weight; });
  constexpr size_t kMostSizes = 64;
  if (p.sizes.size() > kMostSizes) p.sizes.resize(kMostSizes);
  return p;
}

}  // namespace msvm::jit
