// Lowered groups give what the interpreter gives. Elementwise results have the same bits; reductions are within a bound.
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>

#include "msvm/base/file.h"
#include "msvm/bytecode/text.h"
#include "msvm/engine/lower_testing.h"
#include "msvm/engine/optimizer.h"
#include "msvm/engine/random_network.h"

namespace msvm::testing {
namespace {

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::directory_iterator(std::string(MSVM_SOURCE_DIR) + "/tests/lower"))
    if (e.path().extension() == ".msasm") out.push_back(e.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

class LoweredFiles : public ::testing::TestWithParam<std::string> {};

// Each function of tests/lower, for sizes 0 to 6 of each symbol.
TEST_P(LoweredFiles, GiveTheSame) {
  auto text = read_text_file(GetParam());
  ASSERT_TRUE(text.ok());
  AssembleResult a = assemble(*text, GetParam());
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  for (size_t f = 0; f < a.module.functions.size(); ++f) ASSERT_TRUE(place_ownership(a.module, static_cast<int32_t>(f)).ok());
  VerifyResult v = verify(std::move(a.module));
  ASSERT_TRUE(v.module) << format_diagnostics(v.errors);
  auto engine = make_engine();
  Devices devices({.num_threads = 1});
  std::mt19937 random(3);
  for (size_t f = 0; f < v.module->module().functions.size(); ++f) {
    SCOPED_TRACE(v.module->module().functions[f].name);
    std::vector<std::vector<int64_t>> sizes;
    for (int round = 0; round < 40; ++round) {
      sizes.emplace_back();
      for (size_t s = 0; s < v.module->module().dims->num_symbols(); ++s) sizes.back().push_back(static_cast<int64_t>(random() % 7));
    }
    sizes.emplace_back(v.module->module().dims->num_symbols(), 1);
    Totals totals;
    EXPECT_TRUE(run(*engine, devices, v.module, static_cast<int32_t>(f), sizes, random, totals)) << "no run with any of these sizes";
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, LoweredFiles, ::testing::ValuesIn(files()), [](const auto& file) { return std::filesystem::path(file.param).stem().string(); });

TEST(Lowered, RandomNetworksGiveTheSame) {
  auto engine = make_engine();
  Devices devices({.num_threads = 1});
  Totals totals;
  const char* more = std::getenv("MSVM_SEEDS");
  const unsigned seeds = more ? static_cast<unsigned>(std::atoi(more)) : 60;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int level : {0, 1}) {
      RandomNetwork network(seed);
      auto v = verify_and_optimize(network.build(), {.level = level});
      ASSERT_TRUE(v.ok()) << v.status().message();
      run(*engine, devices, *v, 0, {{2, 5, 6}, {1, 1, 1}, {3, 8, 9}}, random, totals);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(totals.groups, seeds);
  EXPECT_GT(totals.evaluated, 3 * seeds);
  fmt::print("{} groups of {} calls, evaluated {} times in {} runs\n", totals.groups, totals.members, totals.evaluated, totals.runs);
}

}  // namespace
}  // namespace msvm::testing
