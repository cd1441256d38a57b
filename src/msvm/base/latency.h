// How long things took: counts by duration, kept by one thread and read by others.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace msvm {

/// Durations in ticks (base/ticks.h). Buckets are exact below 16 and 1/16 of their lower end wide above, so what is read off their middle
/// is at most 1/32 off. One writer at a time; any number of readers, which may miss the run that is being counted.
class LatencyHistogram {
 public:
  static constexpr size_t kBuckets = 640;  // up to 2^43 ticks: more than half an hour
  static size_t bucket_of(int64_t ticks);
  static double middle_of(size_t bucket);

  void record(int64_t ticks) {
    if (ticks < 0) ticks = 0;
    count(buckets_[bucket_of(ticks)], 1);
    count(sum_, ticks);
    if (ticks > max_.load(std::memory_order_relaxed)) max_.store(ticks, std::memory_order_relaxed);
  }

 private:
  friend class Latencies;
  static void count(std::atomic<int64_t>& total, int64_t by) { total.store(total.load(std::memory_order_relaxed) + by, std::memory_order_relaxed); }
  std::array<std::atomic<int64_t>, kBuckets> buckets_{};
  std::atomic<int64_t> sum_{0}, max_{0};
};

/// What several histograms hold together; belongs to whoever reads. Times in seconds.
class Latencies {
 public:
  void add(const LatencyHistogram& histogram);
  void add(const Latencies& other);
  /// What was recorded since `earlier`, an older picture of the same; max() is that of the newest bucket.
  Latencies since(const Latencies& earlier) const;
  int64_t count() const { return count_; }
  double sum() const;
  double mean() const { return count_ ? sum() / static_cast<double>(count_) : 0; }
  double max() const;
  /// The duration that a share `p` in [0, 1] of the runs didn't exceed; 0 without runs.
  double percentile(double p) const;
  /// How many took at most so long, to within a bucket.
  int64_t at_most(double seconds) const;

 private:
  std::vector<int64_t> buckets_;  // empty: nothing was added
  int64_t count_ = 0, sum_ = 0, max_ = 0;
};

}  // namespace msvm
