#include "msvm/jit/native/run_log.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace msvm::jit {
namespace {

TEST(RunLog, GivesBackWhatWasWritten) {
  RunLog log;
  EXPECT_TRUE(log.empty());
  const std::vector<int64_t> values{1, -2, INT64_MAX};
  log.write(3, 70000, values, 2, 55);
  EXPECT_FALSE(log.empty());
  int n = 0;
  log.read([&](const RunLog::Run& r) {
    ++n;
    EXPECT_EQ(r.function, 3);
    EXPECT_EQ(r.region, 70000);
    EXPECT_EQ(r.tier, 2);
    EXPECT_EQ(r.ticks, 55);
    EXPECT_EQ(std::vector<int64_t>(r.values.begin(), r.values.begin() + static_cast<std::ptrdiff_t>(r.count)), values);
  });
  EXPECT_EQ(n, 1);
  EXPECT_TRUE(log.empty());
}

TEST(RunLog, KeepsTheNewest) {
  RunLog log;
  for (int64_t k = 0; k < 1000; ++k) log.write(0, 0, std::vector<int64_t>{k}, 0, k);
  std::vector<int64_t> seen;
  log.read([&](const RunLog::Run& r) { seen.push_back(r.values[0]); });
  ASSERT_EQ(seen.size(), RunLog::kRuns);
  EXPECT_EQ(seen.front(), 1000 - static_cast<int64_t>(RunLog::kRuns));
  EXPECT_EQ(seen.back(), 999);
}

TEST(RunLog, RunsWithTooManySymbolsAreLeftOut) {
  RunLog log;
  log.write(0, 0, std::vector<int64_t>(RunLog::kMaxSymbols + 1), 1, 1);
  log.read([](const RunLog::Run&) { FAIL(); });
}

// Whatever is read is a run as it was written, however fast the writer is.
TEST(RunLog, NothingIsTorn) {
  RunLog log;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int64_t k = 1; !stop; ++k) log.write(0, 0, std::vector<int64_t>{k, 2 * k, 3 * k}, 0, 4 * k);
  });
  int64_t last = 0, seen = 0;
  for (int round = 0; round < 2000 || seen < 100; ++round)
    log.read([&](const RunLog::Run& r) {
      ++seen;
      ASSERT_GT(r.values[0], last);
      last = r.values[0];
      ASSERT_EQ(r.values[1], 2 * last);
      ASSERT_EQ(r.values[2], 3 * last);
      ASSERT_EQ(r.ticks, 4 * last);
    });
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace msvm::jit
