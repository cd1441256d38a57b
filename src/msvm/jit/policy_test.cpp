#include "msvm/jit/policy.h"

#include <random>

#include "msvm/jit/policy_boundaries.h"
#include "msvm/jit/test_program.h"

namespace msvm::jit {
namespace {

constexpr const char* kImages = R"(symbol N, H, W
func @f(x: f32[N, 3, H, W]) -> f32[N, 3, H, W]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  RETURN R1
)";

/// A region that takes `lower` ns without code of its own; with it, as `own` says. Entries are there at once.
struct Stream {
  explicit Stream(BoxPrice price = {}, PolicyOptions options = {}, const RegionPolicy* learnt = nullptr)
      : program(kImages), policy(program.only(), program.dims(), options, learnt), price_(price) {
    if (learnt) entries = policy.learnt_boxes();
  }

  Decision run(const std::vector<int64_t>& values, double lower = 1e6, double own = 0.8e6) {
    const bool served = std::any_of(entries.begin(), entries.end(), [&](const Box& b) { return b.holds(values); });
    last = policy.run({values, served ? 2 : 1, served ? own : lower}, entries, [&](const Box& box) {
      ++priced;
      return price_of ? price_of(box) : price_;
    });
    if (last.verdict == Verdict::kQueued) {
      entries.push_back(last.box);
      queued.push_back(name(last.box));
    }
    return last;
  }
  void tidy() {
    for (const Box& b : policy.outdated(entries)) {
      dropped.push_back(name(b));
      std::erase(entries, b);
    }
  }
  std::string name(const Box& b) const { return to_string(b, program.only(), program.dims()); }

  TestProgram program;
  Policy policy;
  BoxPrice price_;
  std::function<BoxPrice(const Box&)> price_of;
  std::vector<Box> entries;
  std::vector<std::string> queued, dropped;
  Decision last;
  int priced = 0;
};

using Names = std::vector<std::string>;
const BoxPrice kOwnCode{.bytes = 8192, .compile_ns = 5e6, .guess = 0.05};
const BoxPrice kShared{.guess = 0.01};

TEST(Policy, ASizeThatRecursIsWorthItsCodeOnceItPaysForTheCompilation) {
  Stream s(kOwnCode);
  s.run({1, 224, 224});
  s.run({2, 224, 224});
  EXPECT_EQ(s.queued, Names{}) << "fewer than jit_threshold runs";
  EXPECT_EQ(s.last.why, "2 of the runs that count lately lie in the box, 3 are needed");
  // 369 runs of which 2/10 are expected, 5 % of 1 ms each: 3.7 ms, not 5.
  s.run({3, 224, 224});
  EXPECT_EQ(s.last.verdict, Verdict::kNegativeGain);
  EXPECT_NE(s.last.why.find("compiling takes 5 ms"), std::string::npos) << s.last.why;
  for (int k = 0; k < 20; ++k) s.run({1 + k % 4, 224, 224});
  EXPECT_EQ(s.queued, (Names{"N*_H224_W224"}));
  EXPECT_EQ(s.last.verdict, Verdict::kHasEntry);
}

TEST(Policy, ShortRunsDoNotPayForACompilation) {
  Stream s(kOwnCode);
  for (int k = 0; k < 100; ++k) s.run({1, 224, 224}, 1e4, 0.9e4);
  EXPECT_EQ(s.queued, Names{});
  for (int k = 0; k < 20000; ++k) s.run({1, 224, 224}, 1e4, 0.9e4);
  EXPECT_EQ(s.queued, (Names{"N*_H224_W224"})) << "what has lasted long is expected to last";
}

TEST(Policy, FreshSizesGiveNone) {
  Stream s(kOwnCode);
  for (int k = 0; k < 400; ++k) s.run({1, 100 + k * 7, 5000 - k * 3});
  for (const std::string& b : s.queued) EXPECT_NE(b.find('-'), std::string::npos) << b << " fixes a value";
  s.price_ = kOwnCode;
  EXPECT_LE(s.queued.size(), 8u);
}

// Sizes from a range: buckets that were learnt serve them, a handful instead of one for each.
TEST(Policy, BucketsAreLearnt) {
  Stream s(kShared);
  std::mt19937 random(1);
  for (int k = 0; k < 2000; ++k) s.run({1, 48, 64 + static_cast<int64_t>(random() % 512)}, 1e6, 0.98e6);
  ASSERT_EQ(s.policy.boundaries()[2].size(), 4u);
  EXPECT_GE(s.policy.boundaries()[2].back(), 575);
  EXPECT_TRUE(s.policy.boundaries()[1].empty()) << "one value is taken exactly";
  int ranges = 0;
  for (const Box& b : s.entries) ranges += b.extents[2].min != b.extents[2].max && !b.extents[2].open();
  EXPECT_EQ(ranges, 4);
  // Those at single widths are few: they'd save no more than the range that holds them.
  EXPECT_LE(s.entries.size(), 8u);
  int served = 0;
  for (int64_t w = 64; w < 576; ++w) served += std::any_of(s.entries.begin(), s.entries.end(), [&](const Box& b) { return b.holds(std::vector<int64_t>{1, 48, w}); });
  EXPECT_EQ(served, 512);
}

TEST(Policy, WhatSavesNothingGoesAndIsNotTriedAtOnceAgain) {
  Stream s(kOwnCode);
  for (int k = 0; k < 40; ++k) s.run({1, 224, 224}, 1e6, 1.1e6);
  ASSERT_EQ(s.queued.size(), 1u);
  s.tidy();
  EXPECT_EQ(s.dropped, (Names{"N*_H224_W224"}));
  for (int k = 0; k < 40; ++k) s.run({1, 224, 224}, 1e6, 1.1e6);
  EXPECT_EQ(s.queued.size(), 1u);
  EXPECT_EQ(s.last.why, "it saved nothing when it was there");
  for (int k = 0; k < 2000; ++k) s.run({1, 224, 224}, 1e6, 0.8e6);
  EXPECT_EQ(s.queued.size(), 2u) << "the machine may have changed";
}

TEST(Policy, OldHabitsAreForgotten) {
  Stream s(kOwnCode);
  for (int k = 0; k < 100; ++k) s.run({1, 224, 224});
  ASSERT_EQ(s.queued, (Names{"N*_H224_W224"}));
  for (int k = 0; k < 300; ++k) s.run({1, 640, 480});
  s.tidy();
  EXPECT_EQ(s.dropped, Names{}) << "a bit more than a half-life";
  EXPECT_GT(s.policy.worth(s.entries[1], s.entries), 5 * s.policy.worth(s.entries[0], s.entries));
  for (int k = 0; k < 2500; ++k) s.run({1, 640, 480});
  s.tidy();
  EXPECT_EQ(s.dropped, (Names{"N*_H224_W224"}));
  EXPECT_EQ(s.entries.size(), 1u);
}

// A full cache: what saves less per byte than what is there isn't made; what saves clearly more is.
TEST(Policy, AFullCacheKeepsWhatSavesMostPerByte) {
  Stream s;
  s.price_of = [](const Box& b) { return BoxPrice{.bytes = b.extents[1].min == 32 ? 1024 : 65536, .compile_ns = 1e5, .guess = 0.05, .bar = 1.0}; };
  for (int k = 0; k < 100; ++k) {
    s.run({1, 32, 32});
    s.run({1, 640, 640});
  }
  EXPECT_EQ(s.queued, (Names{"N*_H32_W32"}));
  EXPECT_NE(s.last.why.find("the cache is full"), std::string::npos) << s.last.why;
}

TEST(Policy, CodeLargerThanTheCacheIsNotMade) {
  Stream s({.bytes = 8192, .compile_ns = 1e5, .guess = 0.05, .fits = false});
  for (int k = 0; k < 100; ++k) s.run({1, 32, 32});
  EXPECT_EQ(s.queued, Names{});
  EXPECT_EQ(s.last.why, "its code doesn't fit into the cache");
}

TEST(Policy, MeasuredSavingsAreBesideTheLowerTier) {
  Stream s(kOwnCode);
  for (int k = 0; k < 200; ++k) s.run({1, 224, 224}, 2e6, 1.5e6);
  ASSERT_EQ(s.entries.size(), 1u);
  // 25 % of 2 ms, of nearly all runs.
  EXPECT_NEAR(s.policy.worth(s.entries[0], s.entries), 0.5e6, 0.05e6);
  const RegionPolicy p = s.policy.learnt(s.entries, "f", 0);
  ASSERT_EQ(p.boxes.size(), 1u);
  EXPECT_NEAR(p.boxes[0].saving, 0.25, 1e-9);
}

TEST(Policy, WhatWasLearntIsThereBeforeTheFirstRun) {
  Stream s(kOwnCode);
  for (int k = 0; k < 100; ++k) s.run({1, 224, 224});
  ShapePolicy file{.program = "p", .regions = {s.policy.learnt(s.entries, "f", 0)}};
  auto loaded = parse_shape_policy(to_json(file), "test");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  Stream t(kOwnCode, {}, loaded->find("f", 0));
  ASSERT_EQ(t.entries.size(), 1u);
  EXPECT_EQ(t.name(t.entries[0]), "N*_H224_W224");
  EXPECT_EQ(t.run({1, 224, 224}).verdict, Verdict::kHasEntry);
  // Another habit takes its place after a while.
  for (int k = 0; k < 3000; ++k) t.run({1, 32, 32});
  t.tidy();
  EXPECT_EQ(t.dropped, (Names{"N*_H224_W224"}));
}

TEST(Policy, AnotherRegionsPolicyIsNotUsed) {
  const TestProgram program(kImages);
  RegionPolicy other{.function = "f", .region = 0, .symbols = {"B", "S"}, .boundaries = {}, .boxes = {}, .sizes = {}};
  const auto why = Policy::misfit(program.only(), program.dims(), other);
  ASSERT_TRUE(why);
  EXPECT_EQ(*why, "the shape policy of region 0 of @f isn't used: expected the symbols [N, H, W], found [B, S]");
  other.symbols = {"N", "H", "W"};
  EXPECT_FALSE(Policy::misfit(program.only(), program.dims(), other));
}

TEST(Policy, HundredThousandShapesStayBounded) {
  SizeHabits habits(256);
  for (int64_t k = 0; k < 100000; ++k) habits.see(std::vector<int64_t>{k, k / 2}, 1, 1000);
  EXPECT_EQ(habits.all().size(), SizeHabits::kMost);
  EXPECT_NEAR(habits.total(), habits.memory(), 1);
}

TEST(Policy, Boundaries) {
  EXPECT_EQ(boundaries_of({}, 4), std::vector<int64_t>{});
  EXPECT_EQ(boundaries_of({{7, 1.0}}, 4), std::vector<int64_t>{7});
  std::vector<std::pair<int64_t, double>> even;
  for (int64_t v = 1; v <= 100; ++v) even.emplace_back(v, 1.0);
  EXPECT_EQ(boundaries_of(even, 4), (std::vector<int64_t>{28, 56, 80, 112}));
  even.emplace_back(100, 1000.0);
  EXPECT_EQ(boundaries_of(even, 4), (std::vector<int64_t>{112}));
  EXPECT_EQ(boundaries_of({{INT64_MAX, 1.0}}, 4), std::vector<int64_t>{INT64_MAX});
}

}  // namespace
}  // namespace msvm::jit
