// What an executable counts of its runs, always: times by tier, work, sizes, notes.
#include <thread>

#include "msvm/base/chaos.h"
#include "msvm/engine/native_testing.h"

namespace msvm::testing {
namespace {

std::vector<Value> two_groups_input(Engine& e, int n, int h) { return {tensor(e, "f32[" + std::to_string(n) + ", 4, " + std::to_string(h) + "] iota")}; }

void expect_runs(const Executable& program, std::array<int64_t, 3> by_tier) {
  const LatencyByTier found = program.latency();
  for (size_t tier = 0; tier < 3; ++tier) EXPECT_EQ(found[tier].count(), by_tier[tier]) << "tier " << tier;
}

TEST(Metrics, WorkOfInterpretedCalls) {
  auto engine = make_engine({.num_threads = 1, .jit = {.jit_level = 0}});
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  const auto in = two_groups_input(*engine, 2, 8);
  ASSERT_TRUE(program->run(in).ok());
  // Mul, Add, Softmax, Sub of 64 elements each; 64 results of 4 multiply-adds.
  EXPECT_EQ(program->work().operations, 4 * 64 + 2 * 64 * 4);
  EXPECT_EQ(program->work().bytes, 3 * (3 * 256) + 2 * 256 + (64 + 2 * 256));
  EXPECT_EQ(program->work().layout_bytes, 0);
  ASSERT_TRUE(program->run(in).ok());
  EXPECT_EQ(program->work().operations, 2 * (4 * 64 + 2 * 64 * 4));
  expect_runs(*program, {2, 0, 0});
  EXPECT_GT(program->latency()[0].max(), 0);
  EXPECT_LT(program->latency()[0].sum(), 60);
}

TEST(Metrics, WorkOfConvolutionsAndProducts) {
  auto engine = make_engine({.num_threads = 1, .jit = {.jit_level = 0}});
  auto program = load(*engine, R"(
module "conv" version 1
symbol H, W
func @main(x: f32[1, 3, H, W], w: f32[8, 3, 3, 3]) -> (y: f32[1, 8, H, W])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [1, 8, H, W], f32, CPU(0)
  OP_CALL Conv(R0, R1) -> R2 {kernel_shape: [3, 3], pads: [1, 1, 1, 1]}
  RETURN R2
)");
  ASSERT_TRUE(program);
  std::vector<Value> in{tensor(*engine, "f32[1, 3, 10, 20] iota"), tensor(*engine, "f32[8, 3, 3, 3] iota")};
  ASSERT_TRUE(program->run(in).ok());
  EXPECT_EQ(program->work().operations, 2.0 * (8 * 10 * 20) * (3 * 3 * 3));
  EXPECT_EQ(program->work().bytes, 4.0 * (3 * 10 * 20 + 8 * 27 + 8 * 10 * 20));
}

TEST(Metrics, FailedRunsHaveNoTime) {
  auto engine = make_engine();
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  ASSERT_FALSE(program->run(std::vector<Value>{tensor(*engine, "f32[2, 3, 8] iota")}).ok());
  expect_runs(*program, {0, 0, 0});
  ASSERT_EQ(program->notes().size(), 1u);
  EXPECT_EQ(program->notes()[0].kind, Note::Kind::kFailedRun);
  EXPECT_NE(program->notes()[0].text.find("3"), std::string::npos);
  // The same failure again is one note.
  ASSERT_FALSE(program->run(std::vector<Value>{tensor(*engine, "f32[2, 3, 8] iota")}).ok());
  EXPECT_EQ(program->notes().size(), 1u);
  EXPECT_EQ(program->counters().failed_runs, 2);
}

TEST(Metrics, MissingKernelsAndPatchesAreNoted) {
  auto engine = make_engine({.num_threads = 1, .jit = {.jit_level = 0}});
  auto program = load(*engine, R"(
module "dense" version 1
symbol N
func @main(x: f32[N, 8], w: f32[8, 4]) -> (y: f32[N, 4])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL MatMul(R0, R1) -> R2      ; dense.py:3
  RETURN R2
)");
  ASSERT_TRUE(program);
  const std::vector<Value> in{tensor(*engine, "f32[3, 8] iota"), tensor(*engine, "f32[8, 4] iota")};
  ASSERT_TRUE(program->run(in).ok());
  EXPECT_TRUE(program->notes().empty());
  EXPECT_TRUE(engine->notes().empty());
  std::string patch = R"json({"format": 1, "device": "CPU(0)", "sections": {)json", comma;
  for (const auto& [key, list] : engine->capability_db()->sections())
    if (key.starts_with("matmul")) patch += comma + "\"" + key + "\": []", comma = ", ";
  ASSERT_TRUE(engine->patch_capabilities(patch + "}}", "test.json").ok());
  ASSERT_TRUE(program->run(in).ok());
  ASSERT_EQ(engine->notes().size(), 1u);
  EXPECT_EQ(engine->notes()[0].text, "Capability DB updated: CPU(0) from test.json");
  ASSERT_EQ(program->notes().size(), 1u);
  EXPECT_EQ(program->notes()[0].kind, Note::Kind::kMissingKernel);
  EXPECT_TRUE(program->notes()[0].text.starts_with("Kernel not found for op MatMul (f32) on device CPU(0) [")) << program->notes()[0].text;
  EXPECT_EQ(program->notes()[0].place, "dense.py:3");
  EXPECT_FALSE(engine->patch_capabilities("{", "bad.json").ok());
  EXPECT_EQ(engine->notes().size(), 1u);
}

#ifdef MSVM_COMPILER
TEST(Metrics, TimesByTheSlowestTier) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  auto engine = native_engine();
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  const auto in = two_groups_input(*engine, 2, 8);
  ASSERT_TRUE(program->run(in).ok());
  expect_runs(*program, {1, 0, 0});
  program->warm_up();
  ASSERT_TRUE(program->run(in).ok());
  expect_runs(*program, {1, 1, 0});
  for (int k = 0; k < 20; ++k) {
    ASSERT_TRUE(program->run(in).ok());
    engine->drain_jit();
  }
  const LatencyByTier times = program->latency();
  EXPECT_EQ(times[0].count(), 1);
  EXPECT_GT(times[2].count(), 10);
  EXPECT_EQ(times[0].count() + times[1].count() + times[2].count(), program->counters().runs);
}

TEST(Metrics, GroupsCountAsTheirCalls) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  auto engine = native_engine();
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  program->warm_up();
  const auto in = two_groups_input(*engine, 2, 16);
  ASSERT_TRUE(program->run(in).ok());
  ASSERT_EQ(program->counters().native_regions, 1);
  EXPECT_EQ(program->work().operations, 4 * 128 + 2 * 128 * 4);
  // Mul and Add read x and write one tensor; Softmax and Sub read the product, write y, and exponentials into a third one.
  EXPECT_EQ(program->work().bytes, 2 * 512 + (64 + 2 * 512) + 3 * 512) << to_text(program->jit_view());
  ASSERT_TRUE(program->run(in).ok());  // repeats its plan
  EXPECT_EQ(program->work().operations, 2 * (4 * 128 + 2 * 128 * 4));
}

TEST(Metrics, ShapesAndEntriesOfARegion) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  auto engine = native_engine();
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  program->warm_up();
  for (int k = 0; k < 30; ++k) {
    ASSERT_TRUE(program->run(two_groups_input(*engine, 2, 16)).ok());
    engine->drain_jit();
  }
  for (int h = 1; h < 6; ++h) ASSERT_TRUE(program->run(two_groups_input(*engine, 1, 16 + h)).ok());
  const JitView v = program->jit_view();
  ASSERT_EQ(v.regions.size(), 1u);
  const JitRegionView& r = v.regions[0];
  ASSERT_EQ(r.shapes.size(), 6u);
  EXPECT_EQ(r.shapes[0].values.size(), r.symbols.size());
  EXPECT_EQ(r.shapes[0].runs, 30);
  EXPECT_EQ(r.shapes[0].tier, 2);
  EXPECT_FALSE(r.shapes[0].entry.empty());
  int64_t runs = 0;
  for (const JitShapeView& s : r.shapes) runs += s.runs;
  EXPECT_EQ(runs, r.runs);
  EXPECT_EQ(r.shapes[1].tier, 1);
  EXPECT_EQ(r.place, "instruction 2");  // the input and the constant are before it
  ASSERT_EQ(r.entries.size(), 2u);
  for (const JitEntryView& e : r.entries) {
    EXPECT_GE(e.age_seconds, 0);
    EXPECT_LE(e.age_seconds, v.seconds);
    ASSERT_TRUE(e.last_hit_seconds.has_value());
    EXPECT_LE(*e.last_hit_seconds, e.age_seconds + 0.01);
  }
}

TEST(Metrics, ReadWhileSessionsRun) {
  auto engine = native_engine();
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  constexpr int kRuns = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < kRuns; ++k) EXPECT_TRUE(program->run(two_groups_input(*engine, 1 + k % (40 + t), 8)).ok());
    });
  int64_t before = 0;
  for (int k = 0; k < 200; ++k) {
    const LatencyByTier now = program->latency();
    const int64_t runs = now[0].count() + now[1].count() + now[2].count();
    EXPECT_GE(runs, before);
    before = runs;
    const WorkDone work = program->work();
    EXPECT_GE(work.operations, 0);
    EXPECT_LE(program->jit_view().regions.size(), 1u);
  }
  for (auto& t : threads) t.join();
  const LatencyByTier all = program->latency();
  EXPECT_EQ(all[0].count() + all[1].count() + all[2].count(), 3 * kRuns);
  int64_t counted = 0;
  const JitView v = program->jit_view();
  if (!kChaos)
    for (const JitShapeView& s : v.regions.at(0).shapes) counted += s.runs;
  EXPECT_LE(counted, 3 * v.regions.at(0).runs);
}
#endif

}  // namespace
}  // namespace msvm::testing
