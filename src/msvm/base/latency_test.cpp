#include "msvm/base/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "msvm/base/ticks.h"

namespace msvm {
namespace {

TEST(Latency, EveryBucketIsNarrow) {
  for (int64_t v = 0; v < 16; ++v) EXPECT_EQ(LatencyHistogram::middle_of(LatencyHistogram::bucket_of(v)), static_cast<double>(v));
  std::mt19937_64 random(7);
  for (int k = 0; k < 100000; ++k) {
    const auto v = static_cast<int64_t>(random() >> (22 + k % 40));
    const double middle = LatencyHistogram::middle_of(LatencyHistogram::bucket_of(v));
    ASSERT_LE(std::abs(middle - static_cast<double>(v)), static_cast<double>(v) / 32 + 0.5) << v;
  }
  // Ascending without a gap, and what is too long is in the last.
  for (size_t b = 1; b < LatencyHistogram::kBuckets; ++b) ASSERT_EQ(LatencyHistogram::bucket_of(static_cast<int64_t>(LatencyHistogram::middle_of(b))), b);
  EXPECT_EQ(LatencyHistogram::bucket_of(INT64_MAX), LatencyHistogram::kBuckets - 1);
}

TEST(Latency, PercentilesAgainstTheSortedSample) {
  std::mt19937 random(11);
  std::lognormal_distribution<double> times(11, 1.5);
  LatencyHistogram a, b;
  std::vector<double> all;
  double sum = 0;
  for (int k = 0; k < 20000; ++k) {
    const auto t = static_cast<int64_t>(times(random));
    (k % 3 ? a : b).record(t);
    all.push_back(static_cast<double>(t));
    sum += static_cast<double>(t);
  }
  std::sort(all.begin(), all.end());
  Latencies both;
  both.add(a);
  both.add(b);
  const double second = nanoseconds_per_tick() * 1e-9;
  EXPECT_EQ(both.count(), 20000);
  EXPECT_NEAR(both.sum(), sum * second, 1e-9 * both.sum());
  EXPECT_NEAR(both.mean(), sum / 20000 * second, 1e-9 * both.mean());
  EXPECT_NEAR(both.max(), all.back() * second, 1e-9 * both.max());
  for (double p : {0.001, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double exact = all[static_cast<size_t>(std::ceil(p * 20000)) - 1] * second;
    EXPECT_NEAR(both.percentile(p), exact, exact / 16) << p;
  }
  EXPECT_EQ(both.at_most(0), 0);
  EXPECT_EQ(both.at_most(1e6), 20000);
  EXPECT_NEAR(static_cast<double>(both.at_most(all[10000] * second)), 10000, 600);
}

TEST(Latency, NothingAndNegative) {
  Latencies none;
  EXPECT_EQ(none.percentile(0.5), 0);
  EXPECT_EQ(none.at_most(1), 0);
  EXPECT_EQ(none.mean(), 0);
  LatencyHistogram h;
  h.record(-5);  // two processors' counters may differ
  Latencies one;
  one.add(h);
  EXPECT_EQ(one.count(), 1);
  EXPECT_EQ(one.sum(), 0);
}

TEST(Latency, SinceAnEarlierPicture) {
  LatencyHistogram h;
  for (int k = 0; k < 100; ++k) h.record(1'000'000);
  Latencies before, after;
  before.add(h);
  for (int k = 0; k < 10; ++k) h.record(1000);
  after.add(h);
  const Latencies d = after.since(before);
  const double second = nanoseconds_per_tick() * 1e-9;
  EXPECT_EQ(d.count(), 10);
  EXPECT_NEAR(d.sum(), 10 * 1000 * second, 1e-12);
  EXPECT_NEAR(d.percentile(0.99), 1000 * second, 1000 * second / 32);
  EXPECT_NEAR(d.max(), 1000 * second, 1000 * second / 32);
  EXPECT_EQ(after.since(after).count(), 0);
}

}  // namespace
}  // namespace msvm
