#include <gtest/gtest.h>

#include "msvm/jit/compile/compile_estimate.h"
#include "msvm/jit/compile/failure_memory.h"
#include "msvm/jit/compile/token_bucket.h"

namespace msvm::jit {
namespace {

TEST(CompileEstimate, LearnsBySize) {
  CompileEstimate e;
  EXPECT_LT(e.seconds(100), e.seconds(100000));
  e.learn(1000, 0.1);
  EXPECT_DOUBLE_EQ(e.seconds(1000), 0.1);
  EXPECT_DOUBLE_EQ(e.seconds(4000), 0.4) << "the next size that is known";
  EXPECT_DOUBLE_EQ(e.seconds(300), 0.03);
  e.learn(1000, 0.2);
  EXPECT_DOUBLE_EQ(e.seconds(1000), 0.125);
  e.learn(SIZE_MAX, 1);
  EXPECT_DOUBLE_EQ(e.seconds(SIZE_MAX), 1);
  EXPECT_GT(e.seconds(0), 0);
}

TEST(TokenBucket, EarnsSavesAndGoesIntoDebt) {
  TokenBucket b(0.5, 2);
  EXPECT_DOUBLE_EQ(b.tokens(10), 2);
  b.spend(3, 10);
  EXPECT_DOUBLE_EQ(b.tokens(11), -0.5);
  EXPECT_NEAR(b.wait(11), 1, 0.01);
  EXPECT_DOUBLE_EQ(b.tokens(13), 0.5);
  EXPECT_DOUBLE_EQ(b.wait(13), 0);
  EXPECT_DOUBLE_EQ(b.tokens(1000), 2);
  TokenBucket none(0, 0);
  EXPECT_EQ(none.wait(1), INFINITY);
}

TEST(FailureMemory, IsBoundedAndComparesRequestsInFull) {
  FailureMemory m;
  m.remember("a", {1, Outcome::kCrashed, "first"});
  m.remember("a", {2, Outcome::kTimedOut, "second"});
  EXPECT_EQ(m.find("a", 1), nullptr);
  ASSERT_NE(m.find("a", 2), nullptr);
  EXPECT_EQ(m.find("a", 2)->error, "second");
  EXPECT_EQ(m.find("ab", 2), nullptr);
  for (int i = 0; i < 5000; ++i) m.remember(std::to_string(i), {2, Outcome::kCrashed, ""});
  EXPECT_EQ(m.size(), 4096u);
  EXPECT_EQ(m.find("a", 2), nullptr);
  EXPECT_NE(m.find("4999", 2), nullptr);
  for (int i = 0; i < 5; ++i) m.remember(std::string(6u << 20, static_cast<char>('a' + i)), {2, Outcome::kCrashed, ""});
  EXPECT_EQ(m.size(), 2u) << "bounded in bytes, too";
}

}  // namespace
}  // namespace msvm::jit
