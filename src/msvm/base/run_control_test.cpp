#include "msvm/base/run_control.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "msvm/base/ticks.h"

namespace msvm {
namespace {

class Host final : public RunControl {
 public:
  explicit Host(int64_t first, int64_t between = 0) : between_(between) { look_from(first); }
  int looks = 0;
  int last = -1;

 protected:
  int64_t look() override {
    if (++looks == last) stop();
    return between_ == INT64_MAX ? INT64_MAX : ticks() + between_;
  }

 private:
  const int64_t between_;
};

TEST(RunControl, StopsWhenToldTo) {
  RunControl c;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(c.should_stop());
  std::thread([&] { c.stop(); }).join();
  EXPECT_TRUE(c.should_stop());
  EXPECT_TRUE(c.should_leave());
}

TEST(RunControl, AsksItsHost) {
  Host c(0);
  c.last = 3;
  int polls = 1;
  while (!c.should_stop()) ++polls;
  EXPECT_EQ(c.looks, 3);
  EXPECT_LE(polls, 1 + 2 * 8) << "at each eighth poll where they come quickly";
  Host later(ticks() + (int64_t{1} << 60));
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(later.should_stop());
  EXPECT_EQ(later.looks, 0);
  Host once(0, INT64_MAX);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(once.should_stop());
  EXPECT_EQ(once.looks, 1);
}

TEST(RunControl, SlowPollsAskEachTime) {
  Host c(0);
  for (int i = 1; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(c.should_stop());
    EXPECT_EQ(c.looks, i);
  }
}

TEST(RunControl, OnlyTheThreadThatRunsAsks) {
  Host c(0);
  RunControl::Scope scope(&c);
  EXPECT_EQ(RunControl::current(), &c);
  std::thread([&] {
    EXPECT_EQ(RunControl::current(), nullptr);
    EXPECT_FALSE(c.should_leave());
    EXPECT_EQ(c.looks, 0);
  }).join();
  EXPECT_FALSE(c.should_leave());
  EXPECT_EQ(c.looks, 1);
  {
    RunControl::Scope nothing(nullptr);
    EXPECT_EQ(RunControl::current(), nullptr);
  }
  EXPECT_EQ(RunControl::current(), &c);
}

}  // namespace
}  // namespace msvm
