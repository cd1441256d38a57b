// tests/vm/*.msasm: programs with what each run gives, or how it fails.
#include <filesystem>

#include "msvm/engine/executable.h"
#include "msvm/engine/native_testing.h"
#include "msvm/engine/optimizer.h"
#include "msvm/engine/program_files_testing.h"

namespace msvm::testing {
namespace {

class Programs : public ::testing::TestWithParam<std::string> {};

TEST_P(Programs, GiveWhatTheySay) {
  const std::string text = text_of(GetParam());
  const auto runs = runs_of(text);
  ASSERT_FALSE(runs.empty());
  auto engine = make_engine({.num_threads = 1, .simulated_devices = 2});
  auto module = verified(text, GetParam());
  ASSERT_TRUE(module);
  auto loaded = engine->load(module);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  auto program = Program::create(module), served = Program::create(module);
  ASSERT_TRUE(program.ok() && served.ok());
  serve_all_regions(**served);

  auto optimized = verify_and_optimize(module->module());
  ASSERT_TRUE(optimized.ok()) << optimized.status().message();
  auto better = engine->load(*optimized);
  ASSERT_TRUE(better.ok()) << better.status().message();

  // Each run: through the pool of sessions, as it is and optimised; planned and unplanned; with and without the profile; its
  // regions step by step from plans; again and again.
  Devices devices({.num_threads = 1, .simulated_devices = 2});
  PooledSession session(*program, devices, {}), native(*served, devices, {});
  for (const Case& r : runs) {
    SCOPED_TRACE("line " + std::to_string(r.line) + ": @" + r.function + "(" + r.inputs + ")");
    const int32_t f = function_index(module->module().functions, r.function);
    ASSERT_GE(f, 0);
    auto inputs = parse_values(*engine, r.inputs);
    ASSERT_TRUE(inputs) << "bad values";
    std::string expected = r.results;
    if (r.failure.empty()) {
      auto results = parse_values(*engine, r.results);
      ASSERT_TRUE(results) << "bad values";
      expected = to_text(*results);
    }
    auto check = [&](const Result<std::vector<Value>>& found) {
      if (r.failure.empty()) {
        ASSERT_TRUE(found.ok()) << found.status().message();
        EXPECT_EQ(to_text(*found), expected);
        for (const Value& v : *found) EXPECT_TRUE(!std::holds_alternative<TensorValue>(v) || std::get<TensorValue>(v).meta.dense());
      } else {
        ASSERT_FALSE(found.ok()) << to_text(*found);
        EXPECT_NE(found.status().message().find(r.failure), std::string::npos) << found.status().message();
      }
    };
    for (int again = 0; again < 2; ++again) check((*loaded)->run(*inputs, f));
    // What fails only in what no result needs is gone.
    if (auto found = (*better)->run(*inputs, f); r.failure.empty() || !found.ok()) check(found);
    for (bool planning : {false, true})
      for (bool profiling : {false, true}) {
        session.session.set_planning(planning);
        session.session.set_profiling(profiling);
        check(session.session.run(f, *inputs));
        native.session.set_planning(planning);
        native.session.set_profiling(profiling);
        for (int again = 0; again < 2; ++again) check(native.session.run(f, *inputs));
      }
    // Nothing is left behind but the arena and scratch.
    auto left = devices.pool.stats();
    EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kInterpreter)], 0);
    EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kResults)], 0);
    for (auto& sim : devices.sims) {
      sim->queue->wait();
      EXPECT_EQ(sim->pool->stats().by_owner[static_cast<int>(MemoryOwner::kInterpreter)], 0);
      EXPECT_EQ(sim->pool->stats().by_owner[static_cast<int>(MemoryOwner::kResults)], 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Programs, ::testing::ValuesIn(program_files()), [](const auto& file) {
  return std::filesystem::path(file.param).stem().string();
});

}  // namespace
}  // namespace msvm::testing
