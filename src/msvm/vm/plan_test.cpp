// The memory plan is a pure function of numbers: nothing that lives at one time overlaps, sizes that can't be are left out.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "msvm/vm/frame.h"

namespace msvm::vm {
namespace {

struct Numbers {
  Function f;
  std::vector<int64_t> scalars;
  void add(int64_t size, int32_t begin, int32_t end, int64_t element = 4) {
    scalars.push_back(size);
    f.planned.push_back({{static_cast<Slot>(scalars.size()) - 1}, element, begin, end});
  }
  Plan plan(bool thorough = false) { return make_plan(f, scalars, thorough); }
};

TEST(Plan, NoOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Numbers n;
    const int count = 1 + static_cast<int>(random() % 60);
    int64_t most = 0, sum = 0;
    for (int i = 0; i < count; ++i) {
      const int32_t begin = static_cast<int32_t>(random() % 50), end = begin + static_cast<int32_t>(random() % 12);
      const int64_t size = random() % 5 == 0 ? 0 : static_cast<int64_t>(random() % 1000);
      n.add(size, begin, end);
      sum += (size * 4 + 63) / 64 * 64;
    }
    const bool thorough = round % 2;
    Plan p = n.plan(thorough);
    if (thorough) {
      EXPECT_LE(p.bytes, n.plan().bytes);
    }
    for (int i = 0; i < count; ++i) {
      const auto& a = n.f.planned[static_cast<size_t>(i)];
      const int64_t from = p.offsets[static_cast<size_t>(i)], to = from + p.sizes[static_cast<size_t>(i)];
      ASSERT_GE(from, 0);
      ASSERT_EQ(from % 64, 0);
      ASSERT_GE(p.sizes[static_cast<size_t>(i)], n.scalars[static_cast<size_t>(i)] * 4);
      ASSERT_LE(to, p.bytes);
      most = std::max(most, to);
      for (int j = 0; j < i; ++j) {
        const auto& b = n.f.planned[static_cast<size_t>(j)];
        if (a.begin > b.end || b.begin > a.end) continue;
        const int64_t other = p.offsets[static_cast<size_t>(j)];
        ASSERT_TRUE(to <= other || other + p.sizes[static_cast<size_t>(j)] <= from) << i << " and " << j;
      }
    }
    EXPECT_EQ(p.bytes, most);
    EXPECT_LE(p.bytes, sum);
  }
}

// Largest first leaves a hole that the search over orders fills.
TEST(Plan, ThoroughNeedsLess) {
  std::mt19937 random(3);
  int64_t usual = 0, thorough = 0;
  for (int round = 0; round < 100; ++round) {
    Numbers n;
    for (int i = 0; i < 40; ++i) {
      const int32_t begin = static_cast<int32_t>(random() % 40);
      n.add(64 * (1 + static_cast<int64_t>(random() % 100)), begin, begin + 1 + static_cast<int32_t>(random() % 10));
    }
    usual += n.plan().bytes;
    thorough += n.plan(true).bytes;
  }
  EXPECT_LT(thorough, usual);
}

TEST(Plan, ReusesWhatIsDead) {
  Numbers n;
  for (int i = 0; i < 100; ++i) n.add(1000, i, i + 1);  // a chain: two at a time
  EXPECT_EQ(n.plan().bytes, 2 * 4032);
}

TEST(Plan, WhatLiesOverAnotherSharesItsPlace) {
  Numbers n;
  for (int i = 0; i < 10; ++i) {
    n.add(1000, 2 * i, 2 * i + 2);
    n.f.planned.back().over = i - 1;
  }
  n.add(1000, 3, 3);          // while the others live
  n.add(500, 19, 21);         // another size: a place of its own
  n.f.planned.back().over = 9;
  Plan p = n.plan();
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(p.offsets[i], p.offsets[0]);
  EXPECT_NE(p.offsets[10], p.offsets[0]);
  EXPECT_NE(p.offsets[11], p.offsets[9]);
  EXPECT_EQ(p.bytes, 2 * 4032);
  EXPECT_EQ(p.in_place, (std::vector<uint8_t>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0}));
}

TEST(Plan, LeavesOutWhatCantBe) {
  Numbers n;
  n.add(-1, 0, 1);
  n.add(INT64_MAX / 2, 0, 1);
  for (int i = 0; i < 3; ++i) n.add(INT64_MAX / 10, 0, 1);  // two of them fit 64 bits, not three
  n.add(16, 0, 1);
  Plan p = n.plan();
  EXPECT_EQ(p.offsets[0], -1);
  EXPECT_EQ(p.offsets[1], -1);
  EXPECT_GE(p.offsets[2], 0);
  EXPECT_GE(p.offsets[3], 0);
  EXPECT_EQ(p.offsets[4], -1);
  EXPECT_EQ(p.sizes[5], 64);
}

TEST(Plan, SizesThatFailToComputeStayUnplanned) {
  Numbers n;
  n.add(16, 0, 1);
  n.scalars.insert(n.scalars.end(), {5, 0, 99});
  n.f.plan_code.push_back({.op = Op::kFloorDiv, .a = 3, .b = 1, .c = 2});
  n.f.planned.push_back({{3}, 4, 0, 1});
  n.f.plan_key = {1, 2};
  Plan p = n.plan();
  EXPECT_EQ(p.offsets[0], 0);
  EXPECT_EQ(p.offsets[1], -1);
  EXPECT_EQ(p.key, (std::vector<int64_t>{5, 0}));
}

}  // namespace
}  // namespace msvm::vm
