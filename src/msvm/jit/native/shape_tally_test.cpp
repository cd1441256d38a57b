#include "msvm/jit/native/shape_tally.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

namespace msvm::jit {
namespace {

std::vector<SizeCount> counts_of(const ShapeTally& t, size_t most = 32) {
  std::vector<SizeCount> sum;
  t.add_to(sum);
  keep_most_frequent(sum, most);
  return sum;
}

TEST(ShapeTally, CountsExactlyWhileThereIsRoom) {
  ShapeTally t(2);
  std::map<std::vector<int64_t>, int64_t> truth;
  std::mt19937 random(3);
  for (int k = 0; k < 5000; ++k) {
    const std::vector<int64_t> v{static_cast<int64_t>(random() % 8), static_cast<int64_t>(random() % 4)};
    t.count(v);
    ++truth[v];
  }
  const auto found = counts_of(t);
  ASSERT_EQ(found.size(), truth.size());
  for (size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].runs, truth[found[k].values]);
    if (k) {
      EXPECT_GE(found[k - 1].runs, found[k].runs);
    }
  }
}

TEST(ShapeTally, FrequentOnesSurviveManyRareOnes) {
  ShapeTally t(1);
  for (int64_t k = 0; k < 100000; ++k) t.count(std::vector<int64_t>{k % 4 == 0 ? 7 : k % 4 == 1 ? 9 : 1000 + k});
  const auto found = counts_of(t, 2);
  ASSERT_EQ(found.size(), 2u);
  for (const SizeCount& c : found) {
    EXPECT_TRUE(c.values[0] == 7 || c.values[0] == 9);
    EXPECT_GE(c.runs, 25000);
    EXPECT_LE(c.runs, 25000 + 100000 / 32);
  }
}

TEST(ShapeTally, SumsOverSessionsAndNoSymbols) {
  ShapeTally a(1), b(1), none(0);
  a.count(std::vector<int64_t>{5});
  b.count(std::vector<int64_t>{5});
  b.count(std::vector<int64_t>{6});
  std::vector<SizeCount> sum;
  a.add_to(sum);
  b.add_to(sum);
  keep_most_frequent(sum, 32);
  ASSERT_EQ(sum.size(), 2u);
  EXPECT_EQ(sum[0].values[0], 5);
  EXPECT_EQ(sum[0].runs, 2);
  none.count({});
  none.count({});
  ASSERT_EQ(counts_of(none).size(), 1u);
  EXPECT_EQ(counts_of(none)[0].runs, 2);
}

// Of three values that are written together a reader never sees parts of two.
TEST(ShapeTally, ReadersNeverSeeHalfAVector) {
  ShapeTally t(3);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int64_t k = 0; !stop; ++k) t.count(std::vector<int64_t>{k, 2 * k, 3 * k});
  });
  for (int round = 0; round < 2000; ++round)
    for (const SizeCount& c : counts_of(t)) {
      ASSERT_EQ(c.values[1], 2 * c.values[0]);
      ASSERT_EQ(c.values[2], 3 * c.values[0]);
    }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace msvm::jit
