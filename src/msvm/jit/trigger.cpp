#include "msvm/jit/trigger.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

namespace msvm::jit {
namespace {

/// Runs without a hit that are added to the window, so that three equal runs among few don't look like a habit.
constexpr double kDoubt = 8;

/// `v` must not lie beyond the last boundary.
Extent bucket_of(int64_t v, const std::vector<int64_t>& boundaries) {
  if (v < 0) return Extent::value(v);
  const auto at = std::lower_bound(boundaries.begin(), boundaries.end(), v);
  return {at == boundaries.begin() ? 0 : at[-1] + 1, *at};
}

std::string runs_text(int n) { return fmt::format("{} run{}", n, n == 1 ? "" : "s"); }

}  // namespace

std::string_view verdict_name(Verdict v) {
  switch (v) {
    case Verdict::kQueued: return "queued";
    case Verdict::kTooFewRuns: return "too few runs";
    case Verdict::kFixesNothing: return "fixes nothing";
    case Verdict::kBeyondBuckets: return "beyond the buckets";
    case Verdict::kLowScd: return "low SCD";
    case Verdict::kHasEntry: return "has an entry";
    case Verdict::kNegativeGain: return "no gain";
  }
  return "";
}

Trigger::Trigger(const Region& region, const DimContext& dims, TriggerOptions options)
    : region_(region), dims_(dims), options_(std::move(options)), named_(region.symbols.size(), nullptr), beyond_list_(region.symbols.size(), 0), window_(kWindow * region.symbols.size(), 0) {
  for (size_t k = 0; k < region.symbols.size(); ++k)
    if (auto at = options_.named_boundaries.find(symbol_name(region, k, dims)); at != options_.named_boundaries.end() && !at->second.empty()) named_[k] = &at->second;
}

Box Trigger::start(std::span<const int64_t> values, bool& beyond) const {
  Box box;
  for (size_t k = 0; k < values.size(); ++k) {
    const bool free = k < kMaxEntrySymbols && (region_.free >> k & 1);
    const auto& list = options_.bucket_boundaries;
    if (named_[k]) {
      beyond |= values[k] > named_[k]->back();
      box.extents.push_back(values[k] > named_[k]->back() ? Extent{} : bucket_of(values[k], *named_[k]));
    } else if (!list.empty() && !beyond_list_[k]) {
      box.extents.push_back(bucket_of(values[k], list));
    } else {
      box.extents.push_back(free ? Extent{} : Extent::value(values[k]));
    }
  }
  return box;
}

int Trigger::count_in(const Box& box) const {
  int n = 0;
  for (size_t k = 0; k < seen(); ++k) n += box.holds(seen_run(k));
  return n;
}

int Trigger::count_in(const Extent& extent, size_t position) const {
  int n = 0;
  for (size_t k = 0; k < seen(); ++k) n += extent.holds(seen_run(k)[position]);
  return n;
}

std::string Trigger::open_names(const Decision& d) const {
  std::string out;
  for (size_t k : d.opened) out += (out.empty() ? "" : ", ") + symbol_name(region_, k, dims_);
  return out;
}

Decision Trigger::count(std::span<const int64_t> values) {
  constexpr size_t kMostCounts = 1 << 16;
  if (counts_.size() >= kMostCounts) counts_.clear();
  Decision d;
  for (int64_t v : values) d.box.extents.push_back(Extent::value(v));
  d.in_box = ++counts_[{values.begin(), values.end()}];
  d.seen = static_cast<int>(std::min<int64_t>(runs_ + 1, INT_MAX));
  d.scd = scd_of_box(region_, d.box);
  if (d.in_box < options_.jit_threshold) d.verdict = Verdict::kTooFewRuns;
  else if (!d.box.fixes_something()) d.verdict = Verdict::kFixesNothing;
  else if (std::find(entries_.begin(), entries_.end(), d.box) != entries_.end()) d.verdict = Verdict::kHasEntry;
  else d.verdict = Verdict::kQueued;
  note(d);
  return d;
}

Decision Trigger::run(std::span<const int64_t> values, const Gain& gain) {
  if (options_.plain_counter) return count(values);
  std::copy(values.begin(), values.end(), window_.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(runs_) % kWindow * values.size()));
  ++runs_;
  if (!options_.bucket_boundaries.empty())
    for (size_t k = 0; k < values.size(); ++k) beyond_list_[k] |= values[k] > options_.bucket_boundaries.back();

  Decision d;
  bool beyond = false;
  d.box = start(values, beyond);
  d.in_box = count_in(d.box);
  d.seen = static_cast<int>(seen());
  if (d.in_box < options_.jit_threshold && !beyond) {
    // How often each extent of the candidate was met; the rarest is opened first, of equally rare ones the earlier symbol.
    std::vector<int> met(values.size());
    for (size_t k = 0; k < values.size(); ++k) met[k] = d.box.extents[k].open() ? INT_MAX : count_in(d.box.extents[k], k);
    while (d.in_box < options_.jit_threshold) {
      const auto rarest = std::min_element(met.begin(), met.end());
      if (rarest == met.end() || *rarest == INT_MAX) break;
      *rarest = INT_MAX;
      d.opened.push_back(static_cast<size_t>(rarest - met.begin()));
      d.box.extents[d.opened.back()] = Extent{};
      d.in_box = count_in(d.box);
    }
  }
  d.scd = scd_of_box(region_, d.box);
  // This run lies in the box whatever the habit is, so it says nothing about the next.
  d.expected_hits = static_cast<double>(kWindow) * (d.in_box - 1) / (d.seen - 1 + kDoubt);
  d.needed_hits = gain.cost / gain.saving;

  if (beyond) d.verdict = Verdict::kBeyondBuckets;
  else if (d.seen < options_.jit_threshold) d.verdict = Verdict::kTooFewRuns;
  else if (!d.box.fixes_something()) d.verdict = Verdict::kFixesNothing;
  else if (d.scd < options_.scd_threshold) d.verdict = Verdict::kLowScd;
  else if (std::find(entries_.begin(), entries_.end(), d.box) != entries_.end()) d.verdict = Verdict::kHasEntry;
  else if (d.expected_hits * gain.saving < gain.cost) d.verdict = Verdict::kNegativeGain;
  else {
    d.verdict = Verdict::kQueued;
    entries_.push_back(d.box);
  }
  last_ = d;
  return d;
}

void Trigger::note(const Decision& d) {
  ++runs_;
  if (d.verdict == Verdict::kQueued) add_entry(d.box);
  last_ = d;
}

std::string Trigger::reason(const Decision& d) const {
  if (!d.why.empty()) return d.why;
  const std::string opened = d.opened.empty() ? std::string() : fmt::format("; {} opened, as values recur in fewer than {}", open_names(d), runs_text(options_.jit_threshold));
  switch (d.verdict) {
    case Verdict::kQueued: return fmt::format("SCD {:.2f}, {} of the last {} in the box{}", d.scd, runs_text(d.in_box), d.seen, opened);
    case Verdict::kTooFewRuns: return fmt::format("{} of the {} that are needed", runs_text(d.seen), options_.jit_threshold);
    case Verdict::kFixesNothing: return d.opened.empty() ? "there is nothing to fix" : fmt::format("it fixes nothing{}; SCD {:.2f}", opened, d.scd);
    case Verdict::kBeyondBuckets: return "a size lies beyond the last boundary of its symbol";
    case Verdict::kLowScd: return fmt::format("SCD {:.2f} is below {:g}{}", d.scd, options_.scd_threshold, opened);
    case Verdict::kHasEntry: return "the box has an entry";
    case Verdict::kNegativeGain:
      return fmt::format("it would save less than it costs: {:.1f} hits are expected in the next {} runs, {:g} are needed", d.expected_hits, kWindow, d.needed_hits);
  }
  return "";
}

void Trigger::add_entry(const Box& box) {
  if (std::find(entries_.begin(), entries_.end(), box) == entries_.end()) entries_.push_back(box);
}

void Trigger::drop_entry(const Box& box) { std::erase(entries_, box); }

}  // namespace msvm::jit
