#include "msvm/jit/trigger.h"

#include <fmt/format.h>

#include <algorithm>

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
    : region_(region), dims_(dims), options_(std::move(options)), named_(region.symbols.size(), nullptr), beyond_list_(region.symbols.size(), 0) {
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
  return static_cast<int>(std::count_if(window_.begin(), window_.end(), [&](const auto& v) { return box.holds(v); }));
}

double Trigger::expected_hits(int in_box) const {
  // This run is one of them whatever the habit is, so it says nothing about the next.
  return static_cast<double>(kWindow) * (in_box - 1) / (static_cast<double>(window_.size()) - 1 + kDoubt);
}

std::string Trigger::open_names(const Decision& d) const {
  std::string out;
  for (size_t k : d.opened) out += (out.empty() ? "" : ", ") + symbol_name(region_, k, dims_);
  return out;
}

Decision Trigger::run(std::span<const int64_t> values, const Gain& gain) {
  ++runs_;
  window_.emplace_back(values.begin(), values.end());
  if (window_.size() > kWindow) window_.pop_front();
  if (!options_.bucket_boundaries.empty())
    for (size_t k = 0; k < values.size(); ++k) beyond_list_[k] |= values[k] > options_.bucket_boundaries.back();

  Decision d;
  bool beyond = false;
  d.box = start(values, beyond);
  d.in_box = count_in(d.box);
  if (!beyond) {
    // How often each extent of the candidate was met; the rarest is opened first, of equally rare ones the earlier symbol.
    std::vector<int> met;
    for (size_t k = 0; k < values.size(); ++k)
      met.push_back(static_cast<int>(std::count_if(window_.begin(), window_.end(), [&](const auto& v) { return d.box.extents[k].holds(v[k]); })));
    while (d.in_box < options_.jit_threshold) {
      size_t rarest = values.size();
      for (size_t k = 0; k < values.size(); ++k)
        if (!d.box.extents[k].open() && (rarest == values.size() || met[k] < met[rarest])) rarest = k;
      if (rarest == values.size()) break;
      d.box.extents[rarest] = Extent{};
      d.opened.push_back(rarest);
      d.in_box = count_in(d.box);
    }
  }
  d.scd = scd_of_box(region_, d.box);
  d.gain = expected_hits(d.in_box) * gain.saving - gain.cost;

  const std::string opened = d.opened.empty() ? std::string() : fmt::format("; {} opened, as values recur in fewer than {}", open_names(d), runs_text(options_.jit_threshold));
  const int seen = static_cast<int>(window_.size());
  if (beyond) {
    d.verdict = Verdict::kBeyondBuckets;
    d.reason = "a size lies beyond the last boundary of its symbol";
  } else if (seen < options_.jit_threshold) {
    d.verdict = Verdict::kTooFewRuns;
    d.reason = fmt::format("{} of the {} that are needed", runs_text(seen), options_.jit_threshold);
  } else if (!d.box.fixes_something()) {
    d.verdict = Verdict::kFixesNothing;
    d.reason = region_.symbols.empty() || d.opened.empty() ? "there is nothing to fix" : "it fixes nothing" + opened;
    if (!d.opened.empty()) d.reason += fmt::format("; SCD {:.2f}", d.scd);
  } else if (d.scd < options_.scd_threshold) {
    d.verdict = Verdict::kLowScd;
    d.reason = fmt::format("SCD {:.2f} is below {:g}{}", d.scd, options_.scd_threshold, opened);
  } else if (std::find(entries_.begin(), entries_.end(), d.box) != entries_.end()) {
    d.verdict = Verdict::kHasEntry;
    d.reason = "the box has an entry";
  } else if (d.gain < 0) {
    d.verdict = Verdict::kNegativeGain;
    d.reason = fmt::format("it would save less than it costs: {:.1f} hits are expected in the next {} runs, {:g} are needed", expected_hits(d.in_box), kWindow, gain.cost / gain.saving);
  } else {
    d.verdict = Verdict::kQueued;
    d.reason = fmt::format("SCD {:.2f}, {} of the last {} in the box{}", d.scd, runs_text(d.in_box), seen, opened);
    entries_.push_back(d.box);
  }
  last_ = d;
  return d;
}

void Trigger::add_entry(const Box& box) {
  if (std::find(entries_.begin(), entries_.end(), box) == entries_.end()) entries_.push_back(box);
}

void Trigger::drop_entry(const Box& box) { std::erase(entries_, box); }

}  // namespace msvm::jit
