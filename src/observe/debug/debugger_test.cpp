#include "observe/debug/debugger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "msvm/base/file.h"
#include "observe/debug/testing.h"

namespace msvm::observe::debug::testing {
namespace {

using ::testing::HasSubstr;

// Lines of the listing are those of the text below, in its canonical form; source lines stand behind the instructions.
constexpr const char* kProgram = R"(
module "m" version 1
symbol N, H
const %w f32[4] = fill(0.5)
func @main(x: f32[N, H]) -> (y: f32[N, H])
b0:
  R0 = TENSOR_CREATE input 0, [(N, N), (height, H)] ; model.py:10
  R1 = TENSOR_ALLOC [N, H], f32, CPU(0) ; model.py:11
  OP_CALL Mul(R0, R0) -> R1 ; model.py:11
  R2 = TENSOR_ALLOC [N, H], f32, CPU(0) ; model.py:12
  OP_CALL Add(R1, R0) -> R2 ; model.py:12
  TENSOR_FREE R1 ; model.py:12
  RETURN R2 ; model.py:13
)";

// Runs to n; the loop's body is block 2.
constexpr const char* kLoop = R"(
module "loop" version 1
func @count(n: i64) -> (i64)
b0:
  R0 = SCALAR_INPUT 0 ; loop.py:1
  JUMP b1 ; loop.py:1
b1:
  R1: i64 = SCALAR_PHI [b0: 0, b2: R1 + 1] ; loop.py:2
  R2: i64 = SCALAR_PHI [b0: 0, b2: R3] ; loop.py:2
  R4 = SHAPE_CALC lt R1, R0 ; loop.py:3
  BRANCH_IF R4, b2, b3 ; loop.py:3
b2:
  R3 = SHAPE_CALC add R2, R1 ; loop.py:4
  JUMP b1 ; loop.py:4
b3:
  RETURN (; R2) ; loop.py:5
)";

class Debugging : public ::testing::Test {
 protected:
  std::shared_ptr<Engine> engine = make_engine({.num_threads = 1, .jit = {.jit_level = 0}});
};

std::vector<LineBreakpoint> at(int32_t line, BreakpointOptions options = {}) { return {{line, std::move(options)}}; }

TEST_F(Debugging, ABreakpointStopsBeforeTheFirstInstructionOfItsLine) {
  auto program = load(*engine, kProgram);
  Client client;
  auto set = debugger().set_source_breakpoints("/home/me/model.py", at(12));
  ASSERT_EQ(set.size(), 1u);
  EXPECT_TRUE(set[0].verified) << set[0].message;
  ASSERT_EQ(set[0].places.size(), 1u);
  EXPECT_EQ(set[0].places[0].instruction, 3);
  RunThread run(*engine, program, "f32[1, 2] [3, 4]");
  Stop s = client.next();
  EXPECT_EQ(s.reason, StopReason::kBreakpoint);
  EXPECT_EQ(s.breakpoints, std::vector<int>{set[0].id});
  EXPECT_EQ(s.place.instruction, 3);
  auto frames = debugger().frames(s.thread);
  ASSERT_TRUE(frames.ok());
  EXPECT_EQ(frames->at(0).opcode, "TENSOR_ALLOC");
  EXPECT_EQ(frames->at(0).line, 12);
  EXPECT_EQ(frames->at(0).call, "@main(f32[1, 2])");
  EXPECT_EQ(frames->at(0).address, debugger().address(s.place));
  auto listing = debugger().listing(s.place.program);
  ASSERT_TRUE(listing.ok());
  EXPECT_THAT(listing->lines[static_cast<size_t>(frames->at(0).listing_line) - 1].text, HasSubstr("R2 = TENSOR_ALLOC"));
  EXPECT_EQ(debugger().evaluate(s.thread, "R1[0, 1] + R0[0, 0]")->text, "19");
  EXPECT_EQ(debugger().evaluate(s.thread, "R1")->text, "[N=1, H=2] [[9, 16]]");
  EXPECT_EQ(debugger().evaluate(s.thread, "x.shape")->text, "[1, 2]");
  EXPECT_EQ(debugger().evaluate(s.thread, "N * 10 + H")->text, "12");
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_EQ(run.text(), "f32[1, 2] [12, 20]");
  EXPECT_EQ(client.runs, 1);
}

TEST_F(Debugging, RegistersSayWhatTheyAre) {
  auto program = load(*engine, kProgram);
  Client client;
  debugger().set_stops({.entry = true});
  RunThread run(*engine, program, "f32[1, 2] [3, 4]");
  Stop s = client.next();
  EXPECT_EQ(s.reason, StopReason::kEntry);
  auto read = [&](Reg r) { return debugger().registers(s.thread, r, 1)->registers.at(0); };
  auto step = [&] {
    EXPECT_TRUE(debugger().step(s.thread, Step::kIn).ok());
    s = client.next();
    EXPECT_EQ(s.reason, StopReason::kStep);
  };
  EXPECT_EQ(debugger().registers(s.thread)->total, 3);
  EXPECT_EQ(read(0).state, "unset");
  EXPECT_EQ(read(0).declared, "f32[N, H]");
  step();
  RegisterView r = read(0);
  EXPECT_EQ(r.state + " " + r.text + " " + r.owner + " " + r.dtype + " " + r.device + " " + r.layout, "live [N=1, height=2] input 0 f32 CPU(0) row-major");
  EXPECT_EQ(r.strides, (std::vector<int64_t>{2, 1}));
  EXPECT_TRUE(r.changed && r.address && r.bytes == 8 && !r.is_jit_compiled);
  step();
  EXPECT_FALSE(read(0).changed);
  r = read(1);
  EXPECT_EQ(r.state + " " + r.owner, "unwritten arena");
  EXPECT_FALSE(r.readable);
  EXPECT_THAT(debugger().tensor(s.thread, "R1").status().message(), HasSubstr("R1 is unwritten: only its metadata can be looked at"));
  EXPECT_EQ(debugger().evaluate(s.thread, "R1")->text, "[N=1, H=2] (unwritten)");
  auto call = debugger().call(s.thread);
  ASSERT_TRUE(call.ok() && call->has_value());
  EXPECT_EQ((*call)->op, "Mul");
  ASSERT_EQ((*call)->inputs.size(), 2u);
  EXPECT_EQ((*call)->inputs[0].name + " " + (*call)->inputs[0].value.text, "A [N=1, height=2]");
  ASSERT_FALSE((*call)->candidates.empty());
  EXPECT_TRUE((*call)->candidates[0].chosen);
  EXPECT_GT((*call)->candidates[0].cost_ns, 0);
  step();
  r = read(1);
  EXPECT_EQ(r.state, "live");
  EXPECT_TRUE(r.changed);
  EXPECT_FALSE(debugger().call(s.thread)->has_value());
  step();  // the alloc of R2
  step();
  EXPECT_EQ(read(2).state, "live");
  step();
  EXPECT_EQ(read(1).state, "freed");
  EXPECT_EQ(debugger().evaluate(s.thread, "state(R1)")->text, "freed");
  auto symbols = debugger().symbols(s.thread);
  ASSERT_TRUE(symbols.ok());
  ASSERT_EQ(symbols->size(), 2u);
  EXPECT_EQ((*symbols)[1].name + "=" + std::to_string((*symbols)[1].value) + " " + (*symbols)[1].from, "H=2 input 0 (x), axis 1");
  EXPECT_TRUE(debugger().step(s.thread, Step::kIn).ok());  // past the end
  EXPECT_EQ(run.text(), "f32[1, 2] [12, 20]");
}

TEST_F(Debugging, ConditionsOnShapesHitCountsAndLogs) {
  auto program = load(*engine, kProgram);
  Client client;
  auto set = debugger().set_source_breakpoints("model.py", at(12, {.condition = "shape(R0)[1] > 2"}));
  EXPECT_TRUE(set[0].verified);
  EXPECT_EQ(RunThread(*engine, program, "f32[1, 2] [3, 4]").text(), "f32[1, 2] [12, 20]");
  EXPECT_FALSE(client.waiting());
  RunThread run(*engine, program, "f32[1, 3] [1, 2, 3]");
  Stop s = client.next();
  EXPECT_EQ(debugger().evaluate(s.thread, "shape(R0)[1]")->integer, 3);
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  run.join();

  set = debugger().set_source_breakpoints("model.py", at(12, {.hit_condition = "% 2", .log_message = "H is {H}, x0 {R0[0, 0]}, {R9}"}));
  EXPECT_TRUE(set[0].verified);
  for (int k = 0; k < 4; ++k) RunThread(*engine, program, "f32[1, 2] [3, 4]").text();
  EXPECT_EQ(client.told, "H is 2, x0 3, {column 1: there is no register, symbol or name 'R9' in @main: its registers are R0 to R2}\nH is 2, x0 3, {column 1: there is no register, symbol or name 'R9' in @main: its registers are R0 to R2}\n");
  EXPECT_EQ(debugger().breakpoints()[0].hits, 4u);

  // What can't be read is said at once; what can't be evaluated when control comes by.
  set = debugger().set_source_breakpoints("model.py", at(12, {.condition = "shape(R0)[1] >"}));
  EXPECT_FALSE(set[0].verified);
  EXPECT_EQ(set[0].message, "condition: column 15: expected a value, found the end");
  set = debugger().set_source_breakpoints("model.py", at(12, {.condition = "nosuch > R0[0, N]"}));
  EXPECT_TRUE(set[0].verified);
  EXPECT_EQ(set[0].message, "condition: column 1: there is no register, symbol or name 'nosuch' in @main: its registers are R0 to R2");
  for (const char* known : {"H > 2", "R0[0, H - 1] > 2", "shape(R2)[0] > 2"}) {
    set = debugger().set_source_breakpoints("model.py", at(12, {.condition = known}));
    EXPECT_EQ(set[0].message, "") << known;
  }
  EXPECT_EQ(debugger().set_source_breakpoints("model.py", at(12, {.condition = "R0[0, R7] > 2"}))[0].message, "condition: column 7: there is no register, symbol or name 'R7' in @main: its registers are R0 to R2");
  set = debugger().set_source_breakpoints("model.py", at(12, {.condition = "R2[0, 0] > 2"}));
  RunThread bad(*engine, program, "f32[1, 2] [3, 4]");
  s = client.next();
  EXPECT_EQ(s.text, "the condition can't be evaluated: column 1: R2 has no value yet");
  EXPECT_TRUE(debugger().resume(s.thread).ok());
}

TEST_F(Debugging, BreakpointsOfAllKindsBindAndWait) {
  Client client;
  auto set = debugger().set_source_breakpoints("later.py", at(3));
  EXPECT_FALSE(set[0].verified);
  EXPECT_EQ(set[0].message, "no instruction of a loaded program comes from line 3 of later.py");
  auto by_name = debugger().set_function_breakpoints(std::vector<FunctionBreakpoint>{{"@main", {}}, {"Add", {}}, {"Nothing", {}}});
  EXPECT_FALSE(by_name[0].verified || by_name[2].verified);
  auto program = load(*engine, kProgram, "the program");
  EXPECT_EQ(client.loaded, std::vector<std::string>{"the program"});
  ASSERT_EQ(client.changes.size(), 2u);
  EXPECT_TRUE(client.changes[0].verified);
  EXPECT_EQ(client.changes[1].places[0].instruction, 4);
  const uint64_t number = debugger().programs().back().program;
  auto listing = debugger().listing(number);
  int32_t line = 0;
  uint64_t address = 0;
  for (size_t k = 0; k < listing->lines.size(); ++k) {
    if (listing->lines[k].instruction == 2) line = static_cast<int32_t>(k) + 1;
    if (listing->lines[k].instruction == 6) address = listing->lines[k].address;
  }
  EXPECT_TRUE(debugger().set_listing_breakpoints(number, at(line))[0].verified);
  EXPECT_TRUE(debugger().set_address_breakpoints(std::vector<AddressBreakpoint>{{address, {}}})[0].verified);
  EXPECT_FALSE(debugger().set_address_breakpoints(std::vector<AddressBreakpoint>{{address, {}}, {address + 1, {}}})[1].verified);
  EXPECT_EQ(debugger().source_lines("model.py"), (std::vector<int32_t>{10, 11, 12, 13}));
  RunThread run(*engine, program, "f32[1, 2] [3, 4]");
  std::vector<int32_t> where;
  for (int k = 0; k < 4; ++k) {
    const Stop s = client.next();
    where.push_back(s.place.instruction);
    EXPECT_EQ(s.reason, k == 3 ? StopReason::kInstructionBreakpoint : StopReason::kBreakpoint);
    EXPECT_TRUE(debugger().resume(s.thread).ok());
  }
  EXPECT_EQ(where, (std::vector<int32_t>{0, 2, 4, 6}));
  run.join();
}

TEST_F(Debugging, StepsOverALoopAtItsWayBack) {
  auto program = load(*engine, kLoop);
  Client client;
  debugger().set_source_breakpoints("loop.py", at(4));
  RunThread run(*engine, program, "100");
  Stop s = client.next();
  std::vector<int32_t> where{s.place.instruction};
  auto step = [&](Step how) {
    EXPECT_TRUE(debugger().step(s.thread, how).ok());
    s = client.next();
    where.push_back(s.place.instruction);
  };
  step(Step::kIn);    // the jump back
  step(Step::kIn);    // the PHIs, one step
  step(Step::kIn);
  debugger().clear_breakpoints();
  step(Step::kIn);
  step(Step::kIn);
  step(Step::kIn);
  EXPECT_EQ(debugger().evaluate(s.thread, "R1")->integer, 1);
  step(Step::kOver);  // the next round
  EXPECT_EQ(where, (std::vector<int32_t>{6, 7, 2, 4, 5, 6, 7, 2}));
  EXPECT_EQ(client.ended_steps, 0);
  EXPECT_TRUE(debugger().step(s.thread, Step::kOut).ok());
  EXPECT_EQ(run.text(), "4950");
  EXPECT_EQ(client.ended_steps, 1);
}

TEST_F(Debugging, CommentsOfListingsNameFilesWithoutTheirFolders) {
  auto program = load(*engine, R"(
module "m" version 1
func @f(n: i64) -> (i64)
b0:
  R0 = SCALAR_INPUT 0 ; /home/me/model/train.py:3:5
  R1 = SHAPE_CALC add R0, 1 ; /home/me/model/a/util.py:7
  R2 = SHAPE_CALC add R1, 1 ; /home/me/model/b/util.py:8
  RETURN (; R2) ; /home/me/model/train.py:4
)");
  ASSERT_TRUE(program);
  Client client;
  std::vector<std::string> texts, files;
  auto listing = debugger().listing(debugger().programs().back().program);
  ASSERT_TRUE(listing.ok());
  for (const ListingLine& l : listing->lines)
    if (l.instruction >= 0) {
      texts.push_back(l.text.substr(l.text.find("; ", l.text.find(") ") == std::string::npos ? 0 : l.text.find(") "))));
      files.push_back(l.file);
    }
  EXPECT_THAT(texts, ::testing::ElementsAre("; train.py:3:5", HasSubstr("; /home/me/model/a/util.py:7"), HasSubstr("; /home/me/model/b/util.py:8"), "; train.py:4"));
  EXPECT_THAT(files, ::testing::ElementsAre("/home/me/model/train.py", "/home/me/model/a/util.py", "/home/me/model/b/util.py", "/home/me/model/train.py"));
  debugger().set_source_breakpoints("/home/me/model/a/util.py", at(7));
  RunThread run(*engine, program, "5");
  const Stop s = client.next();
  EXPECT_EQ(s.place.instruction, 1);
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_EQ(run.text(), "7");
}

TEST_F(Debugging, AThousandRoundsWithAFalseCondition) {
  auto program = load(*engine, kLoop);
  Client client;
  debugger().set_source_breakpoints("loop.py", at(4, {.condition = "R1 == 5000 or R2 < 0"}));
  EXPECT_EQ(RunThread(*engine, program, "1000").text(), "499500");
  debugger().set_source_breakpoints("loop.py", at(4, {.condition = "R1 == 999"}));
  RunThread run(*engine, program, "1000");
  const Stop s = client.next();
  EXPECT_EQ(debugger().evaluate(s.thread, "R2")->integer, 498501);
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_EQ(run.text(), "499500");
}

TEST_F(Debugging, AMismatchStopsWithTheRegistersAlive) {
  auto program = load(*engine, R"(
module "m" version 1
symbol N, M
func @f(x: f32[N], y: f32[M]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = SHAPE_CALC eq N, M
  SHAPE_ASSERT R2, "sizes agree"
  R3 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Add(R0, R1) -> R3
  RETURN R3
)");
  ASSERT_TRUE(program);
  Client client;
  debugger().set_stops({.failure = true});
  RunThread run(*engine, program, "f32[2] [1, 2], f32[3] [4, 5, 6]");
  const Stop s = client.next();
  EXPECT_EQ(s.reason, StopReason::kFailure);
  EXPECT_THAT(s.text, HasSubstr("sizes agree"));
  EXPECT_EQ(s.fix, "give inputs for which these sizes fit each other, or mend the program where the message says");
  const uint32_t offset = debugger().frames(s.thread)->at(0).offset;
  EXPECT_GT(offset, 0u);
  EXPECT_THAT(s.text, HasSubstr(fmt::format("Error at instruction 3 (SHAPE_ASSERT), offset 0x{:x}: ", offset)));
  EXPECT_EQ(s.place.instruction, 3);
  EXPECT_EQ(debugger().evaluate(s.thread, "sum(R1) + R0[1]")->real, 17);
  look_at_everything(s.thread);
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_THAT(run.text(), HasSubstr("sizes agree"));
  // Inputs that don't fit: before the first instruction.
  RunThread bad(*engine, program, "f32[2, 2] iota, f32[3] iota");
  const Stop b = client.next();
  EXPECT_EQ(b.reason, StopReason::kFailure);
  EXPECT_THAT(b.text, HasSubstr("input 0 (x): expected f32[N], found f32[2, 2]"));
  look_at_everything(b.thread);
  EXPECT_TRUE(debugger().resume(b.thread).ok());
}

TEST_F(Debugging, TheFixFitsTheInputsThatDont) {
  auto program = load(*engine, R"(
symbol N
func @main(x: f32[N, 4], y: f32[N]) -> f32[N, 4]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  RETURN R1
)");
  ASSERT_TRUE(program);
  Client client;
  debugger().set_stops({.failure = true});
  auto fix = [&](const char* inputs) {
    RunThread run(*engine, program, inputs);
    const Stop s = client.next();
    EXPECT_TRUE(debugger().resume(s.thread).ok());
    return s.fix;
  };
  EXPECT_EQ(fix("f32[2, 5] iota, f32[2] iota"), "give input 0 (x) the size 4 at axis 1, or declare that axis as a symbol");
  EXPECT_EQ(fix("f32[2, 4] iota, f32[3] iota"), "give inputs whose sizes fit each other, and what is declared of their symbols");
}

TEST_F(Debugging, StopsAtNaN) {
  auto program = load(*engine, R"(
module "m" version 1
symbol N
func @f(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Sqrt(R0) -> R1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Add(R1, R0) -> R2
  TENSOR_FREE R1
  RETURN R2
)");
  ASSERT_TRUE(program);
  Client client;
  debugger().set_stops({.nan = true});
  EXPECT_EQ(RunThread(*engine, program, "f32[2] [1, 4]").text(), "f32[2] [2, 6]");
  RunThread run(*engine, program, "f32[3] [1, -4, -1]");
  const Stop s = client.next();
  EXPECT_EQ(s.reason, StopReason::kNan);
  EXPECT_EQ(s.place.instruction, 2);
  EXPECT_THAT(s.text, HasSubstr("Sqrt gave R1"));
  EXPECT_THAT(s.text, HasSubstr("NaN at [1]"));
  EXPECT_TRUE(debugger().evaluate(s.thread, "any_nan(R1)")->boolean);
  const auto copy = debugger().tensor(s.thread, "R1");
  ASSERT_TRUE(copy.ok());
  EXPECT_TRUE(std::isnan(copy->reals[1]));
  EXPECT_EQ(copy->statistics.nan, 2);
  debugger().set_stops({});
  EXPECT_TRUE(debugger().resume(s.thread).ok());
}

TEST_F(Debugging, StopsWhereAKernelIsMissing) {
  auto program = load(*engine, kProgram);
  ASSERT_TRUE(program);
  std::string patch = R"json({"format": 1, "device": "CPU(0)", "sections": {)json", comma;
  for (const auto& [key, list] : engine->capability_db()->sections()) {
    if (!key.starts_with("add_")) continue;
    for (const auto& k : list) patch += std::exchange(comma, ", ") + "\"" + key + "\": [{\"name\": \"" + k.name + "\", \"enabled\": false}]";
  }
  const Status patched = engine->patch_capabilities(patch + "}}", "test");
  ASSERT_TRUE(patched.ok()) << patched.message() << patch;
  Client client;
  debugger().set_stops({.fallback = true});
  RunThread run(*engine, program, "f32[1, 2] [3, 4]");
  const Stop s = client.next();
  EXPECT_EQ(s.reason, StopReason::kFallback);
  EXPECT_EQ(s.place.instruction, 4);
  EXPECT_THAT(s.text, HasSubstr("Add took the slow path: "));
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_EQ(run.text(), "f32[1, 2] [12, 20]");
}

TEST_F(Debugging, SetsScalarsThatNothingProvedRestsOn) {
  auto program = load(*engine, R"(
module "m" version 1
symbol N
func @f(x: f32[N], k: i64, s: f64) -> (i64, f64)
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  R2 = SCALAR_INPUT 2
  R3 = SHAPE_PROPAGATE R0, 0
  R4 = SHAPE_CALC add R1, 1
  R5 = SCALAR_CALC add R2, R2
  RETURN (R5; R4)
)");
  ASSERT_TRUE(program);
  Client client;
  debugger().set_stops({.entry = true});
  RunThread run(*engine, program, "f32[2] [1, 2], 5, 1.5");
  Stop s = client.next();
  EXPECT_THAT(debugger().set_scalar(s.thread, 1, "7").status().message(), HasSubstr("R1 has no value yet"));
  for (int k = 0; k < 4; ++k) {
    EXPECT_TRUE(debugger().step(s.thread, Step::kIn).ok());
    s = client.next();
  }
  auto set = debugger().set_scalar(s.thread, 1, "7");
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_EQ(set->value, "7");
  EXPECT_EQ(debugger().set_scalar(s.thread, 2, "R1 / 2")->value, "3.5");
  EXPECT_THAT(debugger().set_scalar(s.thread, 3, "7").status().message(), HasSubstr("R3 is set by SHAPE_PROPAGATE"));
  EXPECT_EQ(debugger().set_scalar(s.thread, 1, "1.5").status().message(), "R1 is a i64, '1.5' gives a f64");
  EXPECT_THAT(debugger().set_scalar(s.thread, 0, "1").status().message(), HasSubstr("only i64, f64 and bool registers can be set"));
  EXPECT_TRUE(debugger().step(s.thread, Step::kIn).ok());
  s = client.next();
  EXPECT_THAT(debugger().set_scalar(s.thread, 1, "8").status().message(), HasSubstr("R1 was read since it was set"));
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_EQ(run.text(), "8, 7.0");
}

TEST_F(Debugging, TensorsBySliceAndAsFiles) {
  auto program = load(*engine, kProgram);
  Client client;
  debugger().set_source_breakpoints("model.py", at(11));
  RunThread run(*engine, program, "f32[2, 3] iota");
  const Stop s = client.next();
  auto part = debugger().tensor(s.thread, "x", "1, ::2");
  ASSERT_TRUE(part.ok()) << part.status().message();
  EXPECT_EQ(part->shape, std::vector<int64_t>{2});
  EXPECT_EQ(part->strides, std::vector<int64_t>{2});
  EXPECT_EQ(part->reals, (std::vector<double>{3, 5}));
  part = debugger().tensor(s.thread, "R0[:, 1:]", "-1", 1);
  EXPECT_EQ(part->reals, std::vector<double>{4});
  EXPECT_TRUE(part->truncated);
  EXPECT_EQ(part->total, 2);
  EXPECT_EQ(part->statistics.max, 5);
  EXPECT_EQ(part->statistics.histogram.counts.size() + 1, part->statistics.histogram.edges.size());
  EXPECT_EQ(debugger().tensor(s.thread, "R0", "2").status().message(), "slice: column 1: axis 0: index 2 of an axis of size 2");
  EXPECT_THAT(debugger().tensor(s.thread, "R0", "0, 0, 0").status().message(), HasSubstr("3 indices for a tensor of rank 2"));
  EXPECT_EQ(debugger().evaluate(s.thread, "R0[0:1]")->text, "f32[1, 3] [[0, 1, 2]]");
  EXPECT_EQ(debugger().evaluate(s.thread, "max(R0) - mean(R0)")->real, 2.5);
  const std::string path = ::testing::TempDir() + "/part.npy";
  auto saved = debugger().save_npy(s.thread, "R0", ":, 1", path);
  ASSERT_TRUE(saved.ok()) << saved.status().message();
  auto file = read_file(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(static_cast<int64_t>(file->size()), *saved);
  const std::string bytes(reinterpret_cast<const char*>(file->data()), file->size());
  EXPECT_THAT(bytes, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2, ), }"));
  const float kept[] = {1, 4};
  EXPECT_EQ(bytes.substr(128), std::string(reinterpret_cast<const char*>(kept), sizeof kept));
  std::filesystem::remove(path);
  auto memory = debugger().read_memory(s.thread, debugger().registers(s.thread)->registers[0].address + 4, 100);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->size(), 20u);
  const auto words = debugger().completions(s.thread, "1 + R", 5);
  EXPECT_THAT(words.at(0).label, "R0");
  EXPECT_EQ(words.at(0).start, 4);
  EXPECT_EQ(debugger().completions(s.thread, "sha", 3).at(0).text, "shape(");
  EXPECT_TRUE(debugger().resume(s.thread).ok());
}

TEST_F(Debugging, AnythingCanBeAskedOfARunThatWaits) {
  auto program = load(*engine, kProgram);
  Client client;
  debugger().set_source_breakpoints("model.py", at(12));
  RunThread run(*engine, program, "f32[2, 3] iota");
  const Stop s = client.next();
  constexpr std::string_view kPieces[] = {"R0", "R1", "R2", "R9", "N", "H", "x", "(", ")", "[", "]", ",", ":", ".shape", "+", "-", "*", "/", "//", "%", "<", "==", " and ", " or ", "not ", "0", "1", "-1", "7", "2.5", "'a'", "shape(R0)", "max(", "sum(R1)", "[0]", "[0, 1]", "[::2]", "true", "9223372036854775807", "strides", "any_nan(", "len("};
  std::mt19937 random(11);
  int good = 0;
  for (int k = 0; k < 4000; ++k) {
    std::string text;
    for (int n = static_cast<int>(random() % 9); n >= 0; --n) text += kPieces[random() % std::size(kPieces)];
    auto v = debugger().evaluate(s.thread, text);
    good += v.ok();
    EXPECT_FALSE((v.ok() ? v->type : v.status().message()).empty()) << text;
    (void)debugger().tensor(s.thread, text, text, static_cast<int64_t>(random() % 7));
    (void)debugger().tensor(s.thread, "R0", text);
    (void)debugger().completions(s.thread, text, static_cast<int32_t>(random() % 20) - 2);
    EXPECT_FALSE(debugger().set_scalar(s.thread, static_cast<Reg>(random() % 5) - 1, text).ok());
    (void)debugger().registers(s.thread, static_cast<int32_t>(random()), static_cast<int32_t>(random()));
    (void)debugger().read_memory(s.thread, random(), static_cast<int64_t>(random()));
  }
  EXPECT_GT(good, 100);
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_TRUE(run.text().starts_with("f32[2, 3] [0, 2"));
}

TEST_F(Debugging, TwoThreadsWaitOnTheirOwn) {
  auto program = load(*engine, kProgram);
  Client client;
  debugger().set_source_breakpoints("model.py", at(13));
  RunThread a(*engine, program, "f32[1, 2] [1, 1]"), b(*engine, program, "f32[1, 2] [2, 2]");
  const Stop s = client.next(), t = client.next();
  EXPECT_NE(s.thread, t.thread);
  EXPECT_EQ(debugger().evaluate(s.thread, "R2[0, 0]")->real + debugger().evaluate(t.thread, "R2[0, 0]")->real, 8);
  auto threads = debugger().threads();
  EXPECT_EQ(std::count_if(threads.begin(), threads.end(), [](const ThreadInfo& i) { return i.running && i.stop; }), 2);
  EXPECT_TRUE(debugger().resume(t.thread).ok());
  look_at_everything(s.thread);
  EXPECT_FALSE(debugger().resume(99).ok());
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_EQ(a.text() + b.text(), "f32[1, 2] [2, 2]f32[1, 2] [6, 6]");
  for (int k = 0; k < 1000 && client.ended_threads < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(client.ended_threads, 2);
}

TEST_F(Debugging, ARunThatWaitsCanBeCancelled) {
  auto program = load(*engine, kProgram);
  Client client;
  debugger().set_stops({.failure = true, .entry = true});
  {
    RunControl control;
    RunThread run(*engine, program, "f32[1, 2] [1, 1]", 0, &control);
    client.next();
    control.stop();
    EXPECT_THAT(run.text(), HasSubstr("the run was cancelled"));
    EXPECT_EQ(run.status.code(), StatusCode::kCancelled);
  }
  {
    RunThread run(*engine, program, "f32[1, 2] [1, 1]");
    client.next();
    program->cancel();
    run.join();
    EXPECT_EQ(run.status.code(), StatusCode::kCancelled);
  }
  {
    RunThread run(*engine, program, "f32[1, 2] [1, 1]");
    const Stop s = client.next();
    EXPECT_TRUE(debugger().cancel(s.thread).ok());
    run.join();
    EXPECT_EQ(run.status.code(), StatusCode::kCancelled);
  }
  debugger().set_stops({});
  EXPECT_EQ(RunThread(*engine, program, "f32[1, 2] [1, 1]").text(), "f32[1, 2] [2, 2]");
}

TEST_F(Debugging, TimeThatARunWaitsIsntItsOwn) {
  auto program = load(*engine, kLoop);
  program->set_limits({.max_time = std::chrono::milliseconds(200)});
  Client client;
  debugger().set_source_breakpoints("loop.py", at(4, {.condition = "R1 == 3"}));
  RunThread run(*engine, program, "10");
  const Stop s = client.next();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(debugger().resume(s.thread).ok());
  EXPECT_EQ(run.text(), "45");
  for (const auto& tier : program->latency()) EXPECT_EQ(tier.count(), 0);
}

TEST_F(Debugging, DetachLetsAllGo) {
  auto program = load(*engine, kProgram);
  auto client = std::make_unique<Client>();
  debugger().set_stops({.entry = true});
  RunThread a(*engine, program, "f32[1, 2] [1, 1]"), b(*engine, program, "f32[1, 2] [2, 2]");
  const Stop s = client->next();
  client->next();
  client.reset();
  EXPECT_EQ(a.text() + b.text(), "f32[1, 2] [2, 2]f32[1, 2] [6, 6]");
  EXPECT_FALSE(debugger().attached());
  EXPECT_FALSE(debugger().registers(s.thread).ok());
  EXPECT_TRUE(debugger().breakpoints().empty());
  Client again;
  EXPECT_FALSE(debugger().attach(&again).ok());
}

TEST_F(Debugging, DetachFromWithinAStop) {
  auto program = load(*engine, kProgram);
  Client client([](const Stop&) { debugger().detach(); });
  debugger().set_stops({.entry = true});
  EXPECT_EQ(RunThread(*engine, program, "f32[1, 2] [1, 1]").text(), "f32[1, 2] [2, 2]");
}

TEST_F(Debugging, PauseAndTheNextRun) {
  auto program = load(*engine, msvm::testing::kForever);
  Client client;
  std::vector<msvm::Value> results;
  RunThread run(*engine, program, "f32[2] [1, 2]");
  ThreadId id = 0;
  for (int k = 0; k < 10000 && !id; ++k) {
    for (const ThreadInfo& t : debugger().threads())
      if (t.running) id = t.thread;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(debugger().pause(kAnyThread).ok());
  const Stop s = client.next();
  EXPECT_EQ(s.reason, StopReason::kPause);
  EXPECT_EQ(s.thread, id);
  EXPECT_TRUE(debugger().cancel(id).ok());
  run.join();

  auto quick = load(*engine, kProgram);
  debugger().stop_at_next_run();
  debugger().stop_at_next_run(kAnyThread, false);
  RunThread(*engine, quick, "f32[1, 2] [1, 1]").join();
  EXPECT_FALSE(client.waiting());
  const ThreadId mine = debugger().thread_of(static_cast<uint64_t>(::pthread_self()));
  EXPECT_EQ(debugger().this_thread(), mine);
  debugger().stop_at_next_run(mine);
  RunThread(*engine, quick, "f32[1, 2] [1, 1]").join();  // another thread
  EXPECT_FALSE(client.waiting());
  debugger().stop_at_next_run(kAnyThread);
  RunThread stopped(*engine, quick, "f32[1, 2] [1, 1]");
  const Stop e = client.next();
  EXPECT_EQ(e.reason, StopReason::kEntry);
  EXPECT_EQ(e.place.instruction, 0);
  EXPECT_TRUE(debugger().resume(kAnyThread).ok());
}

// The run began before anybody debugged it: a pause stops it in its midst, and it goes on as if nothing had been.
TEST_F(Debugging, ARunUnderWayIsPaused) {
  auto program = load(*engine, R"(
module "counts" version 1
symbol N
func @main(x: f32[N], n: i64) -> (f32[N], i64)
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Add(R0, R0) -> R2
  JUMP b1
b1:
  R3: i64 = SCALAR_PHI [b0: 0, b2: R5]
  R4 = SHAPE_CALC lt R3, R1
  BRANCH_IF R4, b2, b3
b2:
  R5 = SHAPE_CALC add R3, 1
  JUMP b1
b3:
  RETURN (R2; R3)
)");
  const std::string count = "4000000000";  // for minutes, if nobody ended it
  struct Control final : RunControl {
    Control() { look_from(0); }
    int64_t look() override {
      runs = true;
      return INT64_MAX;
    }
    std::atomic<bool> runs{false};
  } control;
  RunThread run(*engine, program, "f32[2] [1, 2], " + count, 0, &control);
  struct End {
    RunControl& control;
    ~End() { control.stop(); }
  } end{control};
  for (int k = 0; k < 10000 && !control.runs; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int again = 0; again < 3; ++again) {
    Client client;
    EXPECT_TRUE(debugger().pause(kAnyThread).ok());
    const Stop s = client.next();
    EXPECT_EQ(s.reason, StopReason::kPause);
    EXPECT_GE(s.place.instruction, 4);
    look_at_everything(s.thread);
    auto value = [&](const char* name) {
      auto v = debugger().evaluate(s.thread, name);
      return v.ok() ? v->text : v.status().message();
    };
    EXPECT_EQ(value("R1"), count);
    EXPECT_EQ(value("N"), "2");
    EXPECT_EQ(value("R2[1]"), "4");
    // Nothing says that no arithmetic rests on what was there before.
    EXPECT_THAT(debugger().set_scalar(s.thread, 1, "5").status().message(), HasSubstr("was read"));
    const std::string round = value("R3");
    ASSERT_TRUE(debugger().step(s.thread, Step::kIn).ok());
    const Stop next = client.next();
    EXPECT_EQ(next.reason, StopReason::kStep);
    // A breakpoint set now counts in this run.
    EXPECT_TRUE(debugger().set_listing_breakpoints(s.place.program, std::vector<LineBreakpoint>{{debugger().frames(s.thread)->at(0).listing_line, {}}})[0].verified);
    EXPECT_TRUE(debugger().resume(s.thread).ok());
    EXPECT_EQ(client.next().reason, StopReason::kBreakpoint);
    EXPECT_GT(std::atoll(value("R3").c_str()), std::atoll(round.c_str()));
  }
  EXPECT_FALSE(program->counters().runs);  // it is the same run still
  control.stop();
  run.join();
  EXPECT_EQ(run.status.code(), StatusCode::kCancelled);
}

TEST_F(Debugging, RunsAreHeldUntilTheClientIsReady) {
  auto program = load(*engine, kProgram);
  debugger().hold_runs();
  RunThread run(*engine, program, "f32[1, 2] [1, 1]");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  {
    Client client;
    debugger().set_source_breakpoints("model.py", at(10));
    EXPECT_EQ(client.runs, 0);
    debugger().release_runs();
    const Stop s = client.next();
    EXPECT_EQ(s.place.instruction, 0);
    EXPECT_TRUE(debugger().resume(s.thread).ok());
    EXPECT_EQ(run.text(), "f32[1, 2] [2, 2]");
  }
  debugger().hold_runs();
  RunControl control;
  RunThread cancelled(*engine, program, "f32[1, 2] [1, 1]", 0, &control);
  control.stop();
  cancelled.join();
  EXPECT_EQ(cancelled.status.code(), StatusCode::kCancelled);
  debugger().release_runs();
  EXPECT_EQ(RunThread(*engine, program, "f32[1, 2] [1, 1]").text(), "f32[1, 2] [2, 2]");
}

TEST_F(Debugging, AProgramThatIsGone) {
  Client client;
  auto program = load(*engine, kProgram);
  const uint64_t number = debugger().programs().back().program;
  debugger().set_source_breakpoints("model.py", at(10));
  program.reset();
  EXPECT_EQ(debugger().executable(number), nullptr);
  EXPECT_FALSE(debugger().listing(number).ok());
  auto next = load(*engine, kProgram);
  EXPECT_EQ(debugger().programs().back().program, number + 1);
  RunThread run(*engine, next, "f32[1, 2] [1, 1]");
  const Stop s = client.next();
  EXPECT_EQ(s.place.program, number + 1);
  EXPECT_TRUE(debugger().resume(s.thread).ok());
}

TEST_F(Debugging, TheChildOfAForkIsFree) {
  auto program = load(*engine, kProgram);
  Client client;
  debugger().set_stops({.entry = true});
  auto inputs = parse_values(*engine, "f32[1, 2] [1, 1]");
  const pid_t child = ::fork();
  if (child == 0) {
    auto r = program->run(*inputs);
    const bool good = r.ok() && msvm::testing::to_text(*r) == "f32[1, 2] [2, 2]" && !debugger().attached() && !debugger().resume(1).ok();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(client.waiting());
}

}  // namespace
}  // namespace msvm::observe::debug::testing
