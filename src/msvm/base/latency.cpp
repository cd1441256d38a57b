#include "msvm/base/latency.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "msvm/base/ticks.h"

namespace msvm {
namespace {

constexpr int kBits = 4;                  // 16 buckets an octave
constexpr size_t kSteps = size_t{1} << kBits;

double seconds_of(double ticks) { return ticks * nanoseconds_per_tick() * 1e-9; }

}  // namespace

size_t LatencyHistogram::bucket_of(int64_t ticks) {
  const auto v = static_cast<uint64_t>(ticks);
  if (v < kSteps) return v;
  const int octave = std::bit_width(v) - 1 - kBits;
  const size_t at = (static_cast<size_t>(octave) + 1) * kSteps + (v >> octave & (kSteps - 1));
  return std::min(at, kBuckets - 1);
}

double LatencyHistogram::middle_of(size_t bucket) {
  if (bucket < kSteps) return static_cast<double>(bucket);
  const auto octave = static_cast<int>(bucket / kSteps) - 1;
  return std::ldexp(static_cast<double>(kSteps + bucket % kSteps) + 0.5, octave);
}

void Latencies::add(const LatencyHistogram& h) {
  buckets_.resize(LatencyHistogram::kBuckets);
  for (size_t k = 0; k < buckets_.size(); ++k) {
    const int64_t n = h.buckets_[k].load(std::memory_order_relaxed);
    buckets_[k] += n;
    count_ += n;
  }
  sum_ += h.sum_.load(std::memory_order_relaxed);
  max_ = std::max(max_, h.max_.load(std::memory_order_relaxed));
}

void Latencies::add(const Latencies& other) {
  buckets_.resize(LatencyHistogram::kBuckets);
  for (size_t k = 0; k < other.buckets_.size(); ++k) buckets_[k] += other.buckets_[k];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

Latencies Latencies::since(const Latencies& earlier) const {
  Latencies out = *this;
  out.max_ = 0;
  for (size_t k = 0; k < buckets_.size(); ++k) {
    if (k < earlier.buckets_.size()) out.buckets_[k] = std::max<int64_t>(0, buckets_[k] - earlier.buckets_[k]);
    if (out.buckets_[k]) out.max_ = std::llround(LatencyHistogram::middle_of(k));
  }
  out.max_ = std::min(out.max_, max_);
  out.count_ = count_ - earlier.count_;
  out.sum_ = sum_ - earlier.sum_;
  return out;
}

double Latencies::sum() const { return seconds_of(static_cast<double>(sum_)); }
double Latencies::max() const { return seconds_of(static_cast<double>(max_)); }

double Latencies::percentile(double p) const {
  if (count_ == 0) return 0;
  const auto rank = std::max<int64_t>(1, std::llround(std::ceil(p * static_cast<double>(count_))));
  int64_t seen = 0;
  for (size_t k = 0; k < buckets_.size(); ++k) {
    seen += buckets_[k];
    if (seen >= rank) return seconds_of(std::min(LatencyHistogram::middle_of(k), static_cast<double>(max_)));
  }
  return max();
}

int64_t Latencies::at_most(double seconds) const {
  const double limit = seconds * 1e9 / nanoseconds_per_tick();
  int64_t n = 0;
  for (size_t k = 0; k < buckets_.size() && LatencyHistogram::middle_of(k) <= limit; ++k) n += buckets_[k];
  return n;
}

}  // namespace msvm
