#include "msvm/jit/trigger.h"

#include <random>
#include <set>

#include "msvm/jit/test_program.h"

namespace msvm::jit {
namespace {

/// A region whose tensors all have this shape.
std::string relu(const std::string& shape, const std::string& symbols) {
  return "symbol " + symbols + "\nfunc @f(x: f32[" + shape + "]) -> f32[" + shape + "]\nb0:\n  R0 = TENSOR_CREATE input 0\n  R1 = TENSOR_ALLOC [" + shape +
         "], f32, CPU(0)\n  OP_CALL Relu(R0) -> R1\n  RETURN R1\n";
}

struct Stream {
  explicit Stream(const std::string& shape, const std::string& symbols, TriggerOptions options = {})
      : program(relu(shape, symbols)), trigger(program.only(), program.dims(), std::move(options)) {}

  /// Of symbols in the order of the region, which here is that of the shape.
  Decision run(const std::vector<int64_t>& values) {
    Decision d = trigger.run(values);
    if (d.verdict == Verdict::kQueued) queued.emplace_back(trigger.runs(), to_string(d.box, program.only(), program.dims()));
    return d;
  }

  TestProgram program;
  Trigger trigger;
  std::vector<std::pair<int64_t, std::string>> queued;  // run (from 1) and box
};

using Queued = std::vector<std::pair<int64_t, std::string>>;

TEST(Trigger, ARandomBatchAtOneResolutionGivesOneBox) {
  Stream s("N, 3, H, W", "N, H, W");
  std::mt19937 random(1);
  for (int k = 0; k < 100; ++k) s.run({1 + static_cast<int64_t>(random() % 32), 224, 224});
  EXPECT_EQ(s.queued, (Queued{{3, "N*_H224_W224"}}));
  EXPECT_EQ(s.trigger.last()->verdict, Verdict::kHasEntry);
  EXPECT_EQ(s.trigger.last()->scd, 1.0);
}

TEST(Trigger, FreshResolutionsGiveNone) {
  Stream s("N, 3, H, W", "N, H, W");
  for (int k = 0; k < 200; ++k) {
    const Decision d = s.run({4, 100 + k, 500 + k});
    EXPECT_EQ(d.scd, 0.5);
    EXPECT_EQ(d.verdict, k < 2 ? Verdict::kTooFewRuns : Verdict::kFixesNothing);
  }
  EXPECT_EQ(s.queued, Queued{});
  EXPECT_EQ(s.trigger.reason(*s.trigger.last()), "it fixes nothing; H, W opened, as values recur in fewer than 3 runs; SCD 0.50");
}

TEST(Trigger, TwoResolutionsInTurnGiveTwoBoxesAfterThreeRunsEach) {
  Stream s("N, 3, H, W", "N, H, W");
  for (int k = 0; k < 100; ++k) k % 2 ? s.run({1, 640, 480}) : s.run({1, 320, 320});
  EXPECT_EQ(s.queued, (Queued{{5, "N*_H320_W320"}, {6, "N*_H640_W480"}}));
}

TEST(Trigger, AVaryingSequenceGivesNone) {
  Stream s("B, S, 768", "B, S");
  for (int k = 0; k < 200; ++k) {
    const Decision d = s.run({8, 1 + k});
    EXPECT_NEAR(d.scd, 0.67, 0.005);
  }
  EXPECT_EQ(s.queued, Queued{});
}

TEST(Trigger, OneVaryingAxisOfAVolumeIsOpened) {
  Stream s("1, C, D, H, W", "C, D, H, W");
  for (int k = 0; k < 100; ++k) {
    const Decision d = s.run({16, 1 + k, 64, 64});
    if (k >= 2) {
      EXPECT_DOUBLE_EQ(d.scd, 0.8);
    }
  }
  EXPECT_EQ(s.queued, (Queued{{3, "C16_D*_H64_W64"}}));
}

TEST(Trigger, IndependentRandomSizesAreNoStorm) {
  size_t boxes = 0;
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    Stream s("N, 3, H, W", "N, H, W");
    std::mt19937 random(seed);
    for (int k = 0; k < 1000; ++k) s.run({1, 32 * (1 + static_cast<int64_t>(random() % 15)), 32 * (1 + static_cast<int64_t>(random() % 15))});
    if (seed == 1) {
      EXPECT_EQ(s.queued, Queued{});
    }
    boxes += s.queued.size();
  }
  EXPECT_LE(boxes, 1u) << "50 streams of 1000 runs";
}

TEST(Trigger, TheRarestSymbolIsOpenedFirst) {
  Stream s("1, A, 8, 8, 8, B", "A, B");
  for (int k = 0; k < 10; ++k) s.run({7, k / 2});
  EXPECT_EQ(s.trigger.last()->opened, std::vector<size_t>{1});
  EXPECT_EQ(s.queued, (Queued{{3, "A7_B*"}})) << "5/6";
}

TEST(Trigger, HabitsAreForgottenAfter64Runs) {
  Stream s("N, 3, H, W", "N, H, W");
  for (int k = 0; k < 2; ++k) s.run({1, 224, 224});
  for (int k = 0; k < 64; ++k) s.run({1, 1000 + k, 1});
  const Decision d = s.run({1, 224, 224});
  EXPECT_EQ(d.verdict, Verdict::kFixesNothing);
  EXPECT_EQ(s.queued, Queued{});
}

TEST(Trigger, AnEntryThatIsGoneMayComeBack) {
  Stream s("N, 3, H, W", "N, H, W");
  for (int k = 0; k < 3; ++k) s.run({1, 224, 224});
  ASSERT_EQ(s.trigger.entries().size(), 1u);
  EXPECT_EQ(s.run({1, 224, 224}).verdict, Verdict::kHasEntry);
  s.trigger.drop_entry(s.trigger.entries()[0]);
  EXPECT_EQ(s.run({1, 224, 224}).verdict, Verdict::kQueued);
  s.trigger.add_entry(s.trigger.entries()[0]);
  EXPECT_EQ(s.trigger.entries().size(), 1u);
}

TEST(Trigger, WhatCostsMoreThanItSavesIsNotQueued) {
  Stream s("N, 3, H, W", "N, H, W");
  const std::vector<int64_t> v{1, 224, 224};
  Decision d;
  for (int k = 0; k < 3; ++k) d = s.trigger.run(v, {.saving = 1, .cost = 1000});
  EXPECT_EQ(d.verdict, Verdict::kNegativeGain);
  EXPECT_EQ(s.trigger.reason(d), "it would save less than it costs: 12.8 hits are expected in the next 64 runs, 1000 are needed");
  EXPECT_EQ(s.trigger.run(v, {.saving = 100, .cost = 1000}).verdict, Verdict::kQueued);
}

TEST(Trigger, Thresholds) {
  Stream s("N, 3, H, W", "N, H, W", {.jit_threshold = 5, .scd_threshold = 0.7});
  for (int k = 0; k < 20; ++k) s.run({1, 224, 100 + k});
  EXPECT_EQ(s.queued, (Queued{{5, "N*_H224_W*"}})) << "0.75";
}

TEST(Trigger, APlainCounterMakesABoxForEveryVectorThatComesThreeTimes) {
  Stream s("N, 3, H, W", "N, H, W", {.plain_counter = true});
  for (int k = 0; k < 9; ++k) s.run({1 + k % 3, 224, 224 + k / 100});
  EXPECT_EQ(s.queued, (Queued{{7, "N1_H224_W224"}, {8, "N2_H224_W224"}, {9, "N3_H224_W224"}}));
  EXPECT_EQ(s.run({1, 224, 224}).verdict, Verdict::kHasEntry);
}

TEST(Trigger, NothingToFix) {
  Stream s("N, 3", "N");
  for (int k = 0; k < 5; ++k) s.run({k});
  EXPECT_EQ(s.trigger.last()->verdict, Verdict::kFixesNothing);
  EXPECT_EQ(s.trigger.reason(*s.trigger.last()), "there is nothing to fix");
}

// A list of boundaries applies to all symbols, the batch included; a bounded symbol counts as fixed.
TEST(Trigger, Buckets) {
  Stream s("B, S, 768", "B, S", {.bucket_boundaries = {1, 8, 32, 64}});
  for (int k = 0; k < 12; ++k) s.run({4 + k % 3, 20 + k});
  EXPECT_EQ(s.queued, (Queued{{3, "B2-8_S9-32"}}));
  EXPECT_EQ(s.trigger.last()->scd, 1.0);
  for (int k = 0; k < 2; ++k) s.run({0, 0});
  EXPECT_EQ(s.run({0, 0}).box.extents[0], (Extent{0, 1})) << "the first bucket includes 0";
}

TEST(Trigger, ASymbolBeyondTheListIsTakenExactly) {
  Stream s("B, S, 768", "B, S", {.bucket_boundaries = {8, 32}});
  for (int k = 0; k < 6; ++k) s.run({4, 100});
  EXPECT_EQ(s.queued, (Queued{{3, "B0-8_S100"}}));
}

TEST(Trigger, NamedBuckets) {
  Stream s("B, S, 768", "B, S", {.named_boundaries = {{"S", {16, 64}}}});
  for (int k = 0; k < 6; ++k) s.run({1 + k, 20 + k});
  EXPECT_EQ(s.queued, (Queued{{3, "B*_S17-64"}}));
  EXPECT_EQ(s.run({1, 65}).verdict, Verdict::kBeyondBuckets);
}

}  // namespace
}  // namespace msvm::jit
