// Which boxes of a region are worth code of their own: watches the values of its entry symbols, run by run.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "msvm/jit/box.h"

namespace msvm::jit {

/// What the code of a box saves at each run that it serves, and what it costs to make it, in any common unit. Until something was
/// measured, it costs what a handful of hits saves.
struct Gain {
  double saving = 1, cost = 6;
};

struct TriggerOptions {
  int jit_threshold = 3;
  double scd_threshold = 0.8;
  /// Bucket mode if not empty: bucket k is (b[k-1], b[k]], the first one includes 0. Ascending.
  std::vector<int64_t> bucket_boundaries;
  /// The same for symbols by name; others as in exact mode. Beyond a symbol's last boundary no box is proposed.
  std::map<std::string, std::vector<int64_t>> named_boundaries;
  /// For comparisons: a box for every vector of sizes at its jit_threshold-th run. Nothing is opened, SCD and gain aren't asked.
  bool plain_counter = false;
};

/// Why the candidate of a run was queued or not, in the order of the questions.
enum class Verdict : uint8_t {
  kQueued,
  kTooFewRuns,      // fewer than jit_threshold runs in all
  kFixesNothing,    // every symbol had to be opened
  kBeyondBuckets,
  kLowScd,
  kHasEntry,
  kNegativeGain,
};
std::string_view verdict_name(Verdict v);

struct Decision {
  Verdict verdict = Verdict::kTooFewRuns;
  Box box;               // the candidate
  double scd = 0;
  int in_box = 0;        // runs in it among the last `seen` (at most 64), this one included
  int seen = 0;
  double expected_hits = 0, needed_hits = 0;  // among the next 64 runs; for the gain to be positive
  std::vector<size_t> opened;                 // positions of the symbols that were opened, in order
  std::string why;                            // of another judge than the trigger (policy.h): its sentence
};

/// Of one region and one thread.
class Trigger {
 public:
  static constexpr size_t kWindow = 64;

  /// `region` and `dims` must outlive it.
  Trigger(const Region& region, const DimContext& dims, TriggerOptions options = {});

  /// A run with these values of Region::symbols, in their order. A box that is queued counts as an entry from then on.
  Decision run(std::span<const int64_t> values, const Gain& gain = {});
  /// Boxes that have an entry, or are queued, in order.
  const std::vector<Box>& entries() const { return entries_; }
  void add_entry(const Box& box);
  /// The entry of `box` is gone, or something changed since its compilation failed: it may be queued again.
  void drop_entry(const Box& box);
  /// Another judge's decision about a run, as if it were its own.
  void note(const Decision& d);
  /// A sentence, also for a box that was queued.
  std::string reason(const Decision& d) const;
  /// What became of the last candidate; none before the first run.
  const std::optional<Decision>& last() const { return last_; }
  int64_t runs() const { return runs_; }

 private:
  Decision count(std::span<const int64_t> values);
  Box start(std::span<const int64_t> values, bool& beyond) const;
  int count_in(const Box& box) const;
  int count_in(const Extent& extent, size_t position) const;
  std::span<const int64_t> seen_run(size_t k) const { return {window_.data() + k * region_.symbols.size(), region_.symbols.size()}; }
  size_t seen() const { return std::min(static_cast<size_t>(runs_), kWindow); }
  std::string open_names(const Decision& d) const;

  const Region& region_;
  const DimContext& dims_;
  const TriggerOptions options_;
  std::vector<const std::vector<int64_t>*> named_;  // by symbol; null: none of its own
  std::vector<uint8_t> beyond_list_;                // by symbol: 1 once a value lay beyond the last of bucket_boundaries
  std::vector<int64_t> window_;                     // the last runs' values, one run after the other, as a ring
  std::map<std::vector<int64_t>, int> counts_;      // of the plain counter
  std::vector<Box> entries_;
  std::optional<Decision> last_;
  int64_t runs_ = 0;
};

}  // namespace msvm::jit
