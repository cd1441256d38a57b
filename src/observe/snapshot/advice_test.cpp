#include "observe/snapshot/advice.h"

#include <gtest/gtest.h>

#include "msvm/jit/compile/outcome.h"
#include "observe/snapshot/warnings.h"

namespace msvm::observe {
namespace {

JitRegionView region_with(std::vector<std::pair<std::vector<int64_t>, int64_t>> shapes) {
  JitRegionView r;
  r.symbols = {"N", "S"};
  for (auto& [values, runs] : shapes) r.shapes.push_back({values, runs, 0, ""});
  return r;
}

TEST(Advice, BucketsHelpWhereSizesScatter) {
  std::vector<std::pair<std::vector<int64_t>, int64_t>> shapes;
  for (int64_t s = 17; s <= 32; ++s) shapes.push_back({{1, s}, 1});
  for (int64_t s = 50; s < 54; ++s) shapes.push_back({{1, s}, 1});
  const std::string advice = bucket_advice(region_with(shapes));
  EXPECT_NE(advice.find(R"(bucket_boundaries={"S": [32, 64]})"), std::string::npos) << advice;
  EXPECT_NE(advice.find("would serve 100 % of the runs seen by code of their own instead of 0 %"), std::string::npos) << advice;
}

TEST(Advice, BucketsDoNotHelpWhereSizesRepeatOrNothingRan) {
  EXPECT_EQ(bucket_advice(region_with({{{1, 32}, 100}, {{1, 48}, 50}, {{1, 60}, 2}})), "");
  EXPECT_EQ(bucket_advice(region_with({{{1, 32}, 1}})), "");
  EXPECT_EQ(bucket_advice(region_with({})), "");
  EXPECT_EQ(bucket_advice(JitRegionView{}), "");
  // One run in each bucket is too few for code, too.
  EXPECT_EQ(bucket_advice(region_with({{{1, 2}, 1}, {{1, 20}, 1}, {{1, 200}, 1}})), "");
}

TEST(Advice, EveryFailureHasAMend) {
  const std::string other = fallback_mend("something else");
  for (const jit::OutcomeInfo& o : jit::kOutcomes) {
    if (o.kind != jit::OutcomeKind::kFailure) continue;
    EXPECT_NE(fallback_mend(std::string(o.text) + ": why"), other) << o.text;
  }
}

Snapshot with_program(ProgramSnapshot p) {
  Snapshot s;
  s.time = Time(std::chrono::seconds(1'000'000));
  p.name = "detect";
  s.programs.push_back(std::move(p));
  return s;
}

TEST(Warnings, FallbackNamesTheLine) {
  ProgramSnapshot p;
  p.jit.seconds = 100;
  p.jit.slow_path = {{10, "@main instructions 3 to 9", "timed out", "model.py:47"}, {20, "@main instructions 3 to 9", "timed out", "model.py:47"}, {30, "@other", "no compiler at x", "instruction 3"}};
  const auto w = warnings_of(with_program(p));
  ASSERT_EQ(w.size(), 2u);  // the same again is one row
  EXPECT_EQ(w[0].text, "Fallback triggered in @other: no compiler at x");
  EXPECT_TRUE(w[1].text.starts_with("Fallback triggered at line 47: ")) << w[1].text;
  EXPECT_EQ(w[1].kind, "fallback");
  EXPECT_EQ(w[1].severity, "error");
  EXPECT_EQ(w[1].place, "model.py:47");
  EXPECT_NE(w[1].mend.find("compile_timeout"), std::string::npos);
  EXPECT_EQ(w[1].time, Time(std::chrono::seconds(1'000'000 - 80)));
}

TEST(Warnings, KernelsAndCapabilities) {
  ProgramSnapshot p;
  p.notes = {{Time(std::chrono::seconds(5)), Note::Kind::kMissingKernel, "Kernel not found for op MatMul (f16) on device CPU(0) [avx2]; the reference kernel serves", "model.py:3"},
             {Time(std::chrono::seconds(6)), Note::Kind::kFailedRun, "Error at instruction 3 (OP_CALL MatMul), offset 0x2a: Kernel not found for op MatMul (f16) on device CPU(0) [avx2]\n  with R0: f16[2]", ""},
             {Time(std::chrono::seconds(7)), Note::Kind::kFailedRun, "axis 1 has size 3, expected 4", ""}};
  Snapshot s = with_program(p);
  s.engines.push_back({});
  s.engines[0].notes = {{Time(std::chrono::seconds(9)), Note::Kind::kCapabilities, "Capability DB updated: CPU(0) from x.json", ""}};
  const auto w = warnings_of(s);
  ASSERT_EQ(w.size(), 3u);
  EXPECT_EQ(w[0].kind, "capability");
  EXPECT_EQ(w[0].severity, "info");
  EXPECT_EQ(w[1].kind, "kernel");
  EXPECT_EQ(w[1].severity, "error");
  EXPECT_EQ(w[1].text, "Kernel not found for op MatMul (f16) on device CPU(0) [avx2]");
  EXPECT_EQ(w[2].severity, "warning");
  EXPECT_EQ(w[2].place, "model.py:3");
}

TEST(Warnings, LowHitRateSaysWhichRegionAndWhy) {
  ProgramSnapshot p;
  p.jit.window_runs = 100;
  p.jit.window_native = 40;
  p.jit.hint = "fewer than …";
  JitRegionView good, bad = region_with({{{1, 17}, 2}, {{1, 18}, 2}, {{1, 19}, 2}});
  good.name = "@a", good.runs = 1000, good.native = 990;
  bad.name = "@b", bad.runs = 100, bad.native = 10, bad.place = "b.py:8";
  bad.open = {"S"};
  bad.broken = {"y (b.py:9): captured; declare it"};
  p.jit.regions = {good, bad};
  EXPECT_TRUE(warnings_of(with_program(p)).empty());  // not for long enough to have been noticed
  p.low_since = Time(std::chrono::seconds(77));
  const auto w = warnings_of(with_program(p));
  ASSERT_EQ(w.size(), 1u);
  EXPECT_EQ(w[0].kind, "hit_rate");
  EXPECT_EQ(w[0].region, "@b");
  EXPECT_EQ(w[0].place, "b.py:8");
  EXPECT_EQ(w[0].time, Time(std::chrono::seconds(77)));
  for (const char* part : {"hit rate 0.40", "@b", "open symbols: S", "propagation is broken at y (b.py:9)"}) EXPECT_NE(w[0].text.find(part), std::string::npos) << w[0].text;
  EXPECT_NE(w[0].mend.find("buckets would help"), std::string::npos) << w[0].mend;
}

TEST(Warnings, MemoryGrowth) {
  Snapshot s;
  s.engines.push_back({});
  s.engines[0].memory_hint = "memory in use grows steadily, most of it by arena: mem_optimize=True makes plans that need less";
  s.engines[0].growing_since = Time(std::chrono::seconds(3));
  const auto w = warnings_of(s);
  ASSERT_EQ(w.size(), 1u);
  EXPECT_EQ(w[0].kind, "memory");
  EXPECT_EQ(w[0].text, "memory in use grows steadily, most of it by arena");
  EXPECT_EQ(w[0].mend, "mem_optimize=True makes plans that need less");
}

}  // namespace
}  // namespace msvm::observe
