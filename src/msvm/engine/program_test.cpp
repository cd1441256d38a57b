// tests/vm/*.msasm: programs with what each run gives, or how it fails.
//   ; run @name(x = f32[2] [1, 2], 3) -> f32[2] [2, 3], 5
//   ; run @name(f32[0] []) fails: part of the message
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "msvm/engine/executable.h"
#include "msvm/engine/native_testing.h"
#include "msvm/engine/optimizer.h"
#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

struct Case {
  int line;
  std::string function, inputs, results, failure;
};

std::string trimmed(std::string s) {
  while (!s.empty() && s.back() == ' ') s.pop_back();
  while (!s.empty() && s.front() == ' ') s.erase(s.begin());
  return s;
}

std::vector<Case> runs_of(const std::string& text) {
  std::vector<Case> out;
  std::istringstream lines(text);
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n) {
    constexpr std::string_view kRun = "; run @", kFails = " fails:", kGives = " ->";
    if (!line.starts_with(kRun)) continue;
    const size_t open = line.find('(');
    const bool fails = line.find(kFails) != std::string::npos;
    const std::string_view mark = fails ? kFails : kGives;
    const size_t at = line.find(mark);
    if (open == std::string::npos || at == std::string::npos) {
      ADD_FAILURE() << "line " << n << " is not a run: " << line;
      continue;
    }
    const size_t close = line.rfind(')', at);
    Case r{n, line.substr(kRun.size(), open - kRun.size()), line.substr(open + 1, close - open - 1), {}, {}};
    (fails ? r.failure : r.results) = trimmed(line.substr(at + mark.size()));
    out.push_back(std::move(r));
  }
  return out;
}

std::vector<std::string> program_files() {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::directory_iterator(std::string(MSVM_SOURCE_DIR) + "/tests/vm"))
    if (e.path().extension() == ".msasm") out.push_back(e.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

int32_t function_index(const Module& m, const std::string& name) {
  for (size_t f = 0; f < m.functions.size(); ++f)
    if (m.functions[f].name == name) return static_cast<int32_t>(f);
  ADD_FAILURE() << "there is no function " << name;
  return -1;
}

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
    const int32_t f = function_index(module->module(), r.function);
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
