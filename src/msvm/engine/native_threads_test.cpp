// Entries are published, evicted and retired while sessions run from them; forks; ends in the middle of compilations.
#ifdef MSVM_COMPILER
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "msvm/base/chaos.h"
#include "msvm/engine/native_testing.h"

namespace msvm::testing {
namespace {

TEST(Native, ThreadsRunWhileEntriesAreSwapped) {
  auto plain = native_engine({.jit_level = 0}), engine = native_engine({.jit_threshold = 1, .scd_threshold = 0, .cache_bytes = 8192});
  auto reference = load(*plain, kTwoGroups), program = load(*engine, kTwoGroups);
  ASSERT_TRUE(reference && program);
  std::vector<std::vector<Value>> inputs;
  std::vector<std::vector<Value>> expected;
  for (int h = 1; h <= 5; ++h) {
    inputs.push_back({tensor(*plain, "f32[2, 4, " + std::to_string(h) + "] iota")});
    auto r = reference->run(inputs.back());
    ASSERT_TRUE(r.ok());
    expected.push_back(std::move(*r));
  }
  std::atomic<bool> stop{false};
  std::atomic<int64_t> wrong{0}, runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<Value> results;
      for (size_t k = static_cast<size_t>(t); !stop.load(); k = (k + 2) % inputs.size()) {
        if (!program->run(inputs[k], results).ok() || !near(expected[k][0], results[0], 1e-6)) ++wrong;
        ++runs;
      }
    });
  // Until every tier has served and entries have gone, on a machine however busy.
  int64_t served = 0, specialised = 0, evicted = 0;
  for (int round = 0; round < 1000 && !(round > 10 && served && specialised && evicted); ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const JitView v = program->jit_view();
    served = v.native - v.specialised;
    specialised = v.specialised;
    evicted = v.evicted;
    if (round % 6 == 5) {
      ASSERT_TRUE(engine->patch_capabilities(R"json({"format": 1, "device": "CPU(0)", "sections": {}})json", "test").ok());
    }
  }
  stop = true;
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(runs.load(), 100);
  engine->drain_jit();
  const JitView v = program->jit_view();
  EXPECT_GT(served, 0);
  EXPECT_GT(specialised, 0);
  EXPECT_GT(evicted, 0);
  EXPECT_LE(v.code_bytes, 8192);
}

TEST(Native, AProgramGoesWhileItIsCompiled) {
  auto engine = native_engine({.jit_threshold = 1, .scd_threshold = 0});
  for (int k = 0; k < 20; ++k) {
    auto program = load(*engine, kTwoGroups);
    const std::vector<Value> in{tensor(*engine, "f32[2, 4, " + std::to_string(k + 1) + "] iota")};
    for (int run = 0; run < 3; ++run) ASSERT_TRUE(program->run(in).ok());
  }
}

TEST(Native, AnEngineGoesWhileItCompiles) {
  for (int k = 0; k < 5; ++k) {
    auto engine = native_engine({});
    auto program = load(*engine, kTwoGroups);
    const std::vector<Value> in{tensor(*engine, "f32[2, 4, 3] iota")};
    for (int run = 0; run < 3; ++run) ASSERT_TRUE(program->run(in).ok());
    engine->stop_jit();
    for (int run = 0; run < 3; ++run) ASSERT_TRUE(program->run(in).ok());
  }
}

// The compiler of another process is nothing to a child: it goes on with the code that is there.
TEST(Native, AForkedChildRuns) {
#if !defined(__SANITIZE_THREAD__)
  auto engine = native_engine({});
  auto program = load(*engine, kTwoGroups);
  const std::vector<Value> in{tensor(*engine, "f32[2, 4, 3] iota")};
  std::vector<Value> expected;
  for (int run = 0; run < 3; ++run) {
    auto r = program->run(in);
    ASSERT_TRUE(r.ok());
    expected = std::move(*r);
  }
  engine->drain_jit();
  const pid_t child = ::fork();
  if (child == 0) {
    bool right = true;
    for (int h = 1; h < 6; ++h)
      for (int run = 0; run < 4; ++run) right = program->run(std::vector<Value>{tensor(*engine, "f32[2, 4, " + std::to_string(h) + "] iota")}).ok() && right;
    auto r = program->run(in);
    right = right && r.ok() && near((*r)[0], expected[0], 1e-6) && (kChaos || program->counters().native_regions > 0);
    (void)program->jit_view();
    program.reset();
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(program->run(in).ok());
#endif
}

}  // namespace
}  // namespace msvm::testing
#endif  // MSVM_COMPILER
