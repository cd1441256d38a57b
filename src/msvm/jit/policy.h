// The adaptive mode: keeps the boxes that save most time per byte of code under the sizes seen lately. Asked and answered as Trigger,
// which keeps the record of what was queued; by times that runs took, not by a plain count.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "msvm/jit/policy_file.h"
#include "msvm/jit/policy_habits.h"
#include "msvm/jit/trigger.h"

namespace msvm::jit {

struct PolicyOptions {
  int jit_threshold = 3;
  double scd_threshold = 0.8;
  double half_life = 256;  // runs after which a run counts half
};

/// What a box would cost.
struct BoxPrice {
  int64_t bytes = 0;         // of code; 0: it shares what is there, and nothing is compiled
  double compile_ns = 0;
  double guess = 0;          // the share of the time that it saves, until that was measured
  double bar = 0;            // while the cache is full: ns saved per run and byte by the worst box that is there
  bool fits = true;          // into the cache, once all other boxes are gone
};
using Pricing = std::function<BoxPrice(const Box&)>;

struct PolicyRun {
  std::span<const int64_t> values;
  int tier = 0;              // that served it
  double ns = 0;
};

/// Of one region and one thread. Deterministic.
class Policy {
 public:
  /// `region` and `dims` must outlive it. `learnt` of the same region, or null.
  Policy(const Region& region, const DimContext& dims, PolicyOptions options = {}, const RegionPolicy* learnt = nullptr);
  /// Whether what was learnt fits the region; else a sentence.
  static std::optional<std::string> misfit(const Region& region, const DimContext& dims, const RegionPolicy& learnt);

  /// Boxes of the policy that was loaded: to be queued before the first run, best first.
  std::vector<Box> learnt_boxes() const;
  /// After a run: the box to queue, or why not. `entries` have code or are queued.
  Decision run(const PolicyRun& run, const std::vector<Box>& entries, const Pricing& price);
  /// Those of `entries` that are no longer worth their place: their sizes aren't seen any more, they save nothing, or boundaries moved.
  std::vector<Box> outdated(const std::vector<Box>& entries);
  /// Of one of the entries: expected ns saved per run of the region, all runs counted.
  double worth(const Box& box, const std::vector<Box>& entries) const;
  RegionPolicy learnt(const std::vector<Box>& entries, const std::string& function, int32_t index) const;
  /// By symbol; empty: taken exactly.
  const std::vector<std::vector<int64_t>>& boundaries() const { return boundaries_; }

 private:
  /// About the sizes in a box that no narrower entry serves.
  struct Measured {
    double weight = 0;
    double lower_ns = 0;          // of a run without the box
    std::optional<double> share;  // of that time, saved by its code; none: too few runs with and without
  };
  Measured measure(const Box& box, const std::vector<Box>& entries) const;
  /// The share of the time that an entry saves: measured, else as loaded, else the guess.
  double saving(const Box& box, const Measured& m) const;
  std::optional<Extent> range(size_t symbol, int64_t value) const;
  void learn_boundaries();
  /// The candidates of a run, from narrow to wide.
  std::vector<Box> candidates(std::span<const int64_t> values) const;
  /// The share of runs that are expected where `weight` runs are known.
  double expected_share(double weight) const;
  bool is_current(const Box& box) const;
  bool is_free(size_t k) const { return k < kMaxEntrySymbols && (region_.free >> k & 1); }
  /// What is worth queueing a box, into `d`; the gain in ns.
  double judge(Decision& d, const std::vector<Box>& entries, const Pricing& price);

  const Region& region_;
  const DimContext& dims_;
  const PolicyOptions options_;
  SizeHabits habits_;
  std::vector<std::vector<int64_t>> boundaries_;
  std::vector<RegionPolicy::WeightedBox> loaded_;
  std::vector<std::pair<Box, double>> guesses_;      // of boxes that were queued
  std::vector<std::pair<Box, int64_t>> refused_;     // that turned out to save nothing, and until when
  int64_t runs_ = 0, learn_at_;
};

}  // namespace msvm::jit
