// Random networks and programs with streams of shapes: native code gives what the interpreter gives, at every tier.
#ifdef MSVM_COMPILER
#include "msvm/bytecode/text.h"
#include "msvm/engine/native_testing.h"
#include "msvm/engine/optimizer.h"
#include "msvm/engine/random_network.h"
#include "msvm/vm/random_program.h"

namespace msvm::testing {
namespace {

TEST(Native, RandomNetworksAgree) {
  auto plain = native_engine({.jit_level = 0}), native = native_engine({}, 2);
  int64_t runs = 0, regions = 0, specialised = 0, fused = 0, failed = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomNetwork network(seed);
    const Module m = network.build();
    for (int level : {0, 1}) {
      auto verified = verify_and_optimize(m, {.level = level});
      ASSERT_TRUE(verified.ok());
      auto a = plain->load(*verified), b = native->load(*verified);
      ASSERT_TRUE(a.ok() && b.ok());
      std::mt19937 random(seed);
      const std::vector<std::vector<int64_t>> sizes{{1, 6, 5}, {2, 4, 8}, {1, 1, 1}, {0, 4, 4}, {2, 17, 16}, {1, 6, 5}, {3, 6, 5}, {1, 6, 5}, {2, 6, 5}, {1, 6, 5}, {2, 4, 8}};
      for (const auto& s : sizes) {
        SCOPED_TRACE("N, H, W = " + std::to_string(s[0]) + ", " + std::to_string(s[1]) + ", " + std::to_string(s[2]));
        const std::vector<Value> in{random_tensor(*plain, {s[0], network.channels(), s[1], s[2]}, random), random_tensor(*plain, {s[0], network.channels(), 1, 1}, random)};
        auto x = (*a)->run(in), y = (*b)->run(in);
        ASSERT_EQ(x.ok(), y.ok()) << (x.ok() ? y : x).status().message();
        if (!x.ok()) {
          EXPECT_EQ(x.status().message(), y.status().message());
          continue;
        }
        ++runs;
        ASSERT_EQ(x->size(), y->size());
        for (size_t k = 0; k < x->size(); ++k) ASSERT_TRUE(near((*x)[k], (*y)[k], 1e-5)) << "result " << k << "\n" << disassemble((*verified)->module());
        native->drain_jit();
      }
      const JitView v = (*b)->jit_view();
      regions += v.native;
      specialised += v.specialised;
      failed += v.failed;
      for (const JitRegionView& r : v.regions) fused += r.fused_calls;
      EXPECT_EQ(v.failed, 0) << to_text(v);
      EXPECT_EQ((*b)->counters().native_regions, v.native);
    }
  }
  EXPECT_GT(runs, 600);
  EXPECT_GT(regions, 500);
  EXPECT_GT(specialised, 50);
  EXPECT_GT(fused, 100);
}

// In the declared order of sums all tiers give the same bits.
TEST(Native, StrictTiersAreEqual) {
  EngineOptions options{.num_threads = 1, .strict = true, .jit = {.jit_level = 0, .compile_timeout = kPatientCompile}, .compiler = MSVM_COMPILER, .eager_compiler = true};
  auto plain = make_engine(options);
  options.jit = {.jit_threshold = 2, .compile_timeout = kPatientCompile, .disk_cache = false};
  options.num_threads = 2;
  auto native = make_engine(options);
  int64_t regions = 0, specialised = 0, fused = 0;
  for (unsigned seed = 100; seed < 125; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomNetwork network(seed);
    auto verified = verify_and_optimize(network.build());
    ASSERT_TRUE(verified.ok());
    auto a = plain->load(*verified), b = native->load(*verified);
    ASSERT_TRUE(a.ok() && b.ok());
    std::mt19937 random(seed);
    const std::vector<std::vector<int64_t>> sizes{{1, 6, 5}, {1, 6, 5}, {2, 17, 16}, {1, 6, 5}, {3, 6, 5}, {2, 17, 16}, {1, 6, 5}};
    for (const auto& s : sizes) {
      const std::vector<Value> in{random_tensor(*plain, {s[0], network.channels(), s[1], s[2]}, random), random_tensor(*plain, {s[0], network.channels(), 1, 1}, random)};
      auto x = (*a)->run(in), y = (*b)->run(in);
      ASSERT_EQ(x.ok(), y.ok());
      if (x.ok()) {
        ASSERT_EQ(to_text(*x), to_text(*y));
      }
      native->drain_jit();
    }
    const JitView v = (*b)->jit_view();
    regions += v.native;
    specialised += v.specialised;
    for (const JitRegionView& r : v.regions) fused += r.fused_calls;
  }
  EXPECT_GT(regions, 100);
  EXPECT_GT(specialised, 20);
  EXPECT_GT(fused, 10);
}

TEST(Native, RandomProgramsAgree) {
  auto plain = native_engine({.jit_level = 0}), native = native_engine({.jit_threshold = 1, .scd_threshold = 0});
  int64_t regions = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Module m = RandomProgram(seed).build();
    auto verified = verify_and_optimize(std::move(m), {.level = 0});
    ASSERT_TRUE(verified.ok());
    auto a = plain->load(*verified), b = native->load(*verified);
    ASSERT_TRUE(a.ok() && b.ok());
    (*a)->set_limits({.max_instructions = 200000});
    (*b)->set_limits({.max_instructions = 200000});
    for (const char* x : {"f32[3, 4] iota", "f32[0, 4] []", "f32[3, 4] iota", "f32[1, 4] iota", "f32[8, 4] iota", "f32[3, 4] iota"}) {
      const std::vector<Value> in{tensor(*plain, x)};
      auto expected = (*a)->run(in), found = (*b)->run(in);
      ASSERT_EQ(found.ok() ? to_text(*found) : found.status().message(), expected.ok() ? to_text(*expected) : expected.status().message()) << x << "\n" << disassemble((*verified)->module());
      native->drain_jit();
    }
    regions += (*b)->counters().native_regions;
  }
  EXPECT_GT(regions, 500);
}

}  // namespace
}  // namespace msvm::testing
#endif  // MSVM_COMPILER
