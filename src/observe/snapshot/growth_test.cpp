#include "observe/snapshot/growth.h"

#include <gtest/gtest.h>

namespace msvm::observe {
namespace {

constexpr int64_t kMiB = 1 << 20;

MemoryStats held(int64_t results, int64_t arena = 8 * kMiB) {
  MemoryStats m;
  m.by_owner[static_cast<int>(MemoryOwner::kResults)] = results;
  m.by_owner[static_cast<int>(MemoryOwner::kArena)] = arena;
  m.in_use = results + arena;
  m.reserved = 2 * m.in_use;
  return m;
}

TEST(Growth, SteadyGrowthNamesWhoGrew) {
  Growth g;
  for (int s = 0; s < 60; ++s) {
    g.add(s, held(s * kMiB));
    EXPECT_TRUE(g.hint().empty()) << s;
  }
  g.add(61, held(61 * kMiB));
  EXPECT_NE(g.hint().find("by results"), std::string::npos) << g.hint();
  EXPECT_NE(g.hint().find("from 8.0 MiB to 53.0 MiB"), std::string::npos) << g.hint();
  EXPECT_NE(g.hint().find("mem_optimize"), std::string::npos) << g.hint();
  EXPECT_EQ(g.since(), 0);
  // It ends when growth does.
  for (int s = 62; s < 200; ++s) g.add(s, held(61 * kMiB));
  EXPECT_TRUE(g.hint().empty()) << g.hint();
}

TEST(Growth, UpAndDownIsNone) {
  Growth g;
  for (int s = 0; s < 300; ++s) {
    g.add(s, held((s % 20) * 10 * kMiB));
    EXPECT_TRUE(g.hint().empty()) << g.hint();
  }
}

TEST(Growth, LittleOfMuchAndGapsAreNone) {
  Growth little, gap;
  for (int s = 0; s < 200; ++s) {
    little.add(s, held(s * 1000, 0));
    EXPECT_TRUE(little.hint().empty());
  }
  for (int s = 0; s < 10; ++s) {
    gap.add(s * 100, held(s * 100 * kMiB));
    EXPECT_TRUE(gap.hint().empty());
  }
}

TEST(Growth, ArenasHaveTheirOwnAdvice) {
  Growth g;
  for (int s = 0; s < 70; ++s) g.add(s, held(0, (s + 1) * kMiB));
  EXPECT_NE(g.hint().find("by arena: mem_optimize=True makes plans that need less"), std::string::npos) << g.hint();
}

}  // namespace
}  // namespace msvm::observe
