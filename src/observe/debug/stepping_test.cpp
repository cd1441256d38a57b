// Every program of tests/vm, instruction by instruction, with everything looked at in between: it gives what it gives without a debugger.
#include "msvm/engine/executable.h"
#include "msvm/engine/native_testing.h"
#include "msvm/engine/program_files_testing.h"
#include "observe/debug/testing.h"

namespace msvm::observe::debug::testing {
namespace {

using namespace msvm::testing;
using debug::testing::load;

class Stepping : public ::testing::TestWithParam<std::string> {};

std::string outcome(Executable& program, const std::vector<msvm::Value>& inputs, int32_t function) {
  auto r = program.run(inputs, function);
  return r.ok() ? to_text(*r) : r.status().message();
}

TEST_P(Stepping, GivesWhatItGivesWithout) {
  const std::string text = text_of(GetParam());
  auto engine = make_engine({.num_threads = 1, .simulated_devices = 2, .jit = {.jit_level = 0}});
  auto program = load(*engine, text);
  ASSERT_TRUE(program);
  int stops = 0, failures = 0;
  std::set<std::string> seen;
  Step how = Step::kIn;
  Client client([&](const Stop& s) {
    ++stops;
    failures += s.reason == StopReason::kFailure;
    look_at_everything(s.thread);
    auto frames = debugger().frames(s.thread);
    ASSERT_TRUE(frames.ok());
    seen.insert(frames->at(0).opcode);
    EXPECT_EQ(debugger().place_of(frames->at(0).address)->instruction, s.place.instruction);
    EXPECT_TRUE(debugger().step(s.thread, how).ok());
  });
  for (const Case& r : runs_of(text)) {
    SCOPED_TRACE("line " + std::to_string(r.line) + ": @" + r.function + "(" + r.inputs + ")");
    const int32_t f = function_index(program->functions(), r.function);
    auto inputs = parse_values(*engine, r.inputs);
    ASSERT_TRUE(inputs);
    debugger().set_stops({});
    const std::string expected = outcome(*program, *inputs, f);
    for (Step step : {Step::kIn, Step::kOver}) {
      how = step;
      stops = failures = 0;
      debugger().set_stops({.failure = true, .fallback = true, .nan = true, .entry = true});
      // What a device fails at is told where it is first waited for, maybe by whoever looks.
      if (const std::string found = outcome(*program, *inputs, f); expected.find("sim(") == std::string::npos) {
        EXPECT_EQ(found, expected);
      } else {
        EXPECT_NE(found.find(r.failure), std::string::npos) << found;
      }
      EXPECT_GT(stops, 0);
      EXPECT_EQ(failures, r.failure.empty() ? 0 : 1);
    }
  }
  const auto left = engine->memory_stats();
  EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kInterpreter)], 0);
  EXPECT_GT(seen.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Files, Stepping, ::testing::ValuesIn(program_files()), [](const auto& file) { return std::filesystem::path(file.param).stem().string(); });

// All that the instruction table has is stepped over by some program of tests/vm.
TEST(SteppingTable, EveryInstructionIsSteppedOver) {
  std::set<std::string> there, all;
  for (const std::string& file : program_files()) {
    auto module = verified(text_of(file), file);
    ASSERT_TRUE(module);
    for (const Function& f : module->module().functions)
      for (const Block& b : f.blocks)
        for (const Instr& i : b.instrs) there.insert(std::string(instr_info(i.op).mnemonic));
  }
  for (const InstrInfo* i : all_instructions()) all.insert(std::string(i->mnemonic));
  EXPECT_EQ(there, all);
}

}  // namespace
}  // namespace msvm::observe::debug::testing
