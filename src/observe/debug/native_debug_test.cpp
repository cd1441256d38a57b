// Programs with native code under the debugger.
#include <gmock/gmock.h>

#include "msvm/engine/native_testing.h"
#include "observe/debug/testing.h"

#ifdef MSVM_COMPILER
namespace msvm::observe::debug::testing {
namespace {

using namespace msvm::testing;
using ::testing::HasSubstr;
using debug::testing::load;

constexpr const char* kInput = "f32[2, 4, 8] iota";

struct NativeCode : ::testing::Test {
  void SetUp() override {
    engine = native_engine({}, 1);
    program = load(*engine, kTwoGroups);
    ASSERT_TRUE(program);
    inputs = *parse_values(*engine, kInput);
    program->warm_up();
    ASSERT_TRUE(run_here().starts_with("f32[2, 4, 8]"));
    regions = program->counters().native_regions;
    ASSERT_GT(regions, 0) << "no native code";
  }
  std::string run_here() {
    auto r = program->run(inputs);
    return r.ok() ? to_text(*r) : r.status().message();
  }
  int64_t native_runs() { return program->counters().native_regions - regions; }
  RegisterView look(ThreadId t, Reg r) { return debugger().registers(t, r, 1)->registers.at(0); }

  std::shared_ptr<Engine> engine;
  std::shared_ptr<Executable> program;
  std::vector<msvm::Value> inputs;
  int64_t regions = 0;
};

int32_t line_of(uint64_t number, int32_t instruction) {
  auto listing = debugger().listing(number);
  for (size_t k = 0; k < listing->lines.size(); ++k)
    if (listing->lines[k].instruction == instruction) return static_cast<int32_t>(k) + 1;
  return 0;
}

TEST_F(NativeCode, StaysWhereThereIsNothingToStopAt) {
  Client client;
  EXPECT_TRUE(run_here().starts_with("f32"));
  EXPECT_GT(native_runs(), 0);
  EXPECT_FALSE(client.waiting());
}

TEST_F(NativeCode, SteppedDownItIsInterpretedAndGivesTheSame) {
  const auto expected = program->run(inputs);
  const uint64_t number = debugger().programs().back().program;
  Client client;
  auto listing = debugger().listing(number);
  ASSERT_TRUE(listing.ok());
  int in_region = -1;  // its second instruction
  for (const ListingLine& l : listing->lines)
    if (l.region >= 0 && in_region < 0) in_region = l.instruction + 1;
  ASSERT_GE(in_region, 0);
  EXPECT_EQ(listing->lines[static_cast<size_t>(line_of(number, in_region)) - 1].tier, 1);
  EXPECT_FALSE(listing->lines[static_cast<size_t>(line_of(number, in_region)) - 1].signature.empty());
  EXPECT_TRUE(debugger().set_listing_breakpoints(number, std::vector<LineBreakpoint>{{line_of(number, in_region), {}}})[0].verified);
  RunThread run(*engine, program, kInput);
  const Stop s = client.next();
  EXPECT_EQ(s.place.instruction, in_region);
  look_at_everything(s.thread);
  debugger().clear_breakpoints();
  Stop at = s;
  int steps = 0;
  for (; at.place.instruction + 1 < 16 && debugger().frames(at.thread)->at(0).opcode != "RETURN"; ++steps) {
    ASSERT_TRUE(debugger().step(at.thread, Step::kIn).ok());
    at = client.next();
    look_at_everything(at.thread);
  }
  EXPECT_GT(steps, 5);
  EXPECT_TRUE(debugger().resume(at.thread).ok());
  run.join();
  ASSERT_TRUE(run.status.ok() && expected.ok());
  EXPECT_TRUE(near((*expected)[0], run.results[0], 1e-6));
  EXPECT_EQ(program->counters().native_regions, regions + 1);  // that of `expected`, maybe of several regions
}

TEST_F(NativeCode, KeptItIsOneStep) {
  const std::string expected = run_here();
  const int64_t a_run = native_runs();
  const uint64_t number = debugger().programs().back().program;
  Client client;
  debugger().set_native(Native::kStay);
  auto listing = debugger().listing(number);
  int first = -1, region = -1;
  for (const ListingLine& l : listing->lines)
    if (l.region >= 0 && first < 0) {
      first = l.instruction;
      region = l.region;
    }
  debugger().set_listing_breakpoints(number, std::vector<LineBreakpoint>{{line_of(number, first + 2), {}}});
  RunThread run(*engine, program, kInput);
  Stop s = client.next();
  EXPECT_EQ(s.place.instruction, first);
  EXPECT_THAT(s.text, HasSubstr("within native code of region"));
  EXPECT_THAT(debugger().frames(s.thread)->at(0).entry, HasSubstr("jit_"));  // what runs next
  debugger().clear_breakpoints();
  ASSERT_TRUE(debugger().step(s.thread, Step::kOver).ok());
  s = client.next();
  auto frames = debugger().frames(s.thread);
  EXPECT_NE(frames->at(0).region, region);
  EXPECT_EQ(frames->at(0).entry, "");
  look_at_everything(s.thread);
  // What the groups had in passing was never in memory.
  int fused = 0, native = 0;
  const auto after = debugger().registers(s.thread);
  ASSERT_TRUE(after.ok());
  for (const RegisterView& r : after->registers) {
    fused += r.state.starts_with("fused into 0x");
    native += r.is_jit_compiled;
    EXPECT_FALSE(r.state.starts_with("fused") && r.readable);
  }
  EXPECT_GT(fused, 0);
  EXPECT_GT(native, 0);
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_EQ(run.text(), expected);
  EXPECT_EQ(native_runs(), 2 * a_run);
}

TEST_F(NativeCode, StepOverPassesARegionAsOneAndStepInGoesIntoIt) {
  const uint64_t number = debugger().programs().back().program;
  Client client;
  debugger().set_stops({.entry = true});
  auto walk = [&](Step how) {
    std::vector<int32_t> where;
    RunThread run(*engine, program, kInput);
    for (;;) {
      const Stop s = client.next();
      EXPECT_EQ(debugger().frames(s.thread)->at(0).entry, "");  // a step in is possible
      where.push_back(s.place.instruction);
      const bool last = debugger().frames(s.thread)->at(0).opcode == "RETURN";
      EXPECT_TRUE(debugger().step(s.thread, how).ok());
      if (last || where.size() > 100) break;
    }
    return where;
  };
  const auto in = walk(Step::kIn), over = walk(Step::kOver);
  EXPECT_EQ(in.size(), static_cast<size_t>(program->offsets()[0].size()));
  EXPECT_LT(over.size(), in.size());
  (void)number;
}

// What failed is a call between two groups: the first has run, the second hasn't.
TEST(NativeFailure, ShowsTheRegistersOfTheRegion) {
  auto engine = native_engine({}, 1);
  auto program = load(*engine, R"(
module "fails" version 1
symbol N, M
func @main(x: f32[N, 4], i: i64[M]) -> (y: f32[M, 4])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL Mul(R0, R0) -> R2
  R3 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL Add(R2, R0) -> R3
  TENSOR_FREE R2
  R4 = TENSOR_ALLOC [M, 4], f32, CPU(0)
  OP_CALL Gather(R3, R1) -> R4 {axis: 0}
  TENSOR_FREE R3
  R5 = TENSOR_ALLOC [M, 4], f32, CPU(0)
  OP_CALL Mul(R4, R4) -> R5
  R6 = TENSOR_ALLOC [M, 4], f32, CPU(0)
  OP_CALL Add(R5, R4) -> R6
  TENSOR_FREE R4
  TENSOR_FREE R5
  RETURN R6
)");
  ASSERT_TRUE(program);
  const std::string good = "f32[2, 4] iota, i64[3] [0, 1, 1]", bad = "f32[2, 4] iota, i64[3] [0, 7, 1]";
  program->warm_up();
  auto run = [&](const std::string& inputs) { return RunThread(*engine, program, inputs).text(); };
  ASSERT_TRUE(run(good).starts_with("f32[3, 4]"));
  const int64_t a_run = program->counters().native_regions;
  ASSERT_GT(a_run, 0) << "no native code";
  const std::string expected = run(bad);
  EXPECT_THAT(expected, HasSubstr("OP_CALL Gather"));
  for (const Native native : {Native::kStepDown, Native::kStay}) {
    Client client;
    debugger().set_native(native);
    debugger().set_stops({.failure = true});
    RunThread failing(*engine, program, bad);
    const Stop s = client.next();
    EXPECT_EQ(s.reason, StopReason::kFailure);
    EXPECT_EQ(s.text, expected);
    const auto frames = debugger().frames(s.thread);
    ASSERT_TRUE(frames.ok());
    EXPECT_EQ(frames->at(0).op, "Gather");
    EXPECT_FALSE(frames->at(0).entry.empty());  // native code it was
    look_at_everything(s.thread);
    auto registers = debugger().registers(s.thread);
    ASSERT_TRUE(registers.ok());
    auto state = [&](Reg r) { return registers->registers[static_cast<size_t>(r)].state; };
    EXPECT_EQ(state(0), "live");
    EXPECT_EQ(state(1), "live");
    EXPECT_THAT(state(2), HasSubstr("fused into 0x"));
    EXPECT_EQ(state(3), "live");
    EXPECT_TRUE(registers->registers[3].is_jit_compiled);
    EXPECT_EQ(state(4), "unwritten");
    EXPECT_EQ(state(5), "unwritten");
    EXPECT_EQ(state(6), "unwritten");
    const auto sum = debugger().tensor(s.thread, "R3");
    ASSERT_TRUE(sum.ok()) << sum.status().message();
    EXPECT_EQ(sum->reals, (std::vector<double>{0, 2, 6, 12, 20, 30, 42, 56}));
    const auto call = debugger().call(s.thread);
    ASSERT_TRUE(call.ok() && *call);
    EXPECT_EQ((*call)->inputs.at(1).value.text, "[M=3]");
    EXPECT_TRUE(debugger().resume(s.thread).ok());
    EXPECT_EQ(failing.text(), expected);
  }
  EXPECT_TRUE(run(good).starts_with("f32[3, 4]"));
}

TEST(NativeStrict, TheBitsAreThoseOfARunWithoutADebugger) {
  auto engine = make_engine({.num_threads = 1, .strict = true, .jit = {.compile_timeout = 60, .disk_cache = false}, .compiler = MSVM_COMPILER, .eager_compiler = true});
  auto program = load(*engine, kTwoGroups);
  ASSERT_TRUE(program);
  program->warm_up();
  std::mt19937 random(3);
  std::vector<msvm::Value> inputs{random_tensor(*engine, {3, 4, 7}, random)};
  auto bits = [&] {
    auto r = program->run(inputs);
    EXPECT_TRUE(r.ok());
    const TensorMeta& m = std::get<TensorValue>((*r)[0]).meta;
    return std::string(reinterpret_cast<const char*>(m.data), static_cast<size_t>(m.elements()) * 4);
  };
  const std::string expected = bits();
  EXPECT_GT(program->counters().native_regions, 0);
  for (Step how : {Step::kIn, Step::kOver}) {
    Client client([&](const Stop& s) { EXPECT_TRUE(debugger().step(s.thread, how).ok()); });
    debugger().set_stops({.entry = true});
    EXPECT_EQ(bits(), expected);
  }
  EXPECT_EQ(bits(), expected);
}

TEST(NativePatches, AreToldWhileTheProgramRuns) {
  auto engine = native_engine({}, 1);
  Client client;
  auto program = load(*engine, kTwoGroups, "two groups");
  ASSERT_TRUE(program);
  const uint64_t number = debugger().programs().back().program, version = debugger().listing_version(number);
  program->warm_up();
  engine->drain_jit();
  std::lock_guard lock(client.mutex());
  ASSERT_FALSE(client.patches.empty());
  EXPECT_EQ(client.patches[0].program, number);
  EXPECT_EQ(client.patches[0].old_tier, 0);
  EXPECT_EQ(client.patches[0].new_tier, 1);
  EXPECT_THAT(client.patches[0].text, HasSubstr("of @main: tier 0 -> 1 (jit_cache_"));
  EXPECT_GT(debugger().listing_version(number), version);
}

}  // namespace
}  // namespace msvm::observe::debug::testing
#endif
