// What a debugger's hook is told, and what it sees, of the programs of tests/vm: interpreted, and with their regions served as native code.
#include <map>

#include "msvm/engine/executable.h"
#include "msvm/engine/native_testing.h"
#include "msvm/engine/program_files_testing.h"

namespace msvm::testing {
namespace {

struct Told {
  bool interpret = false;      // regions, even if they have code
  StatusCode end_at = StatusCode::kOk;
  int end_after = -1;          // steps; then before() gives this
  int steps = 0, done = 0, regions = 0, refused = 0, failures = 0, runs = 0, live_at_failure = 0;
  std::map<Opcode, int> seen;
};

class Watch final : public RunWatch {
 public:
  Watch(RunView& view, Told& told) : view_(view), told_(told) {}
  Status before(int32_t instruction) override {
    EXPECT_EQ(view_.instruction(), instruction);
    ++told_.steps;
    ++told_.seen[view_.instr(instruction).op];
    open_ = instruction;
    look();
    if (told_.end_after >= 0 && told_.steps > told_.end_after) return {told_.end_at, "the debugger ends it"};
    return {};
  }
  Status after(int32_t instruction) override {
    EXPECT_EQ(instruction, open_);
    ++told_.done;
    look();
    return {};
  }
  Result<bool> interprets(int32_t region) override {
    EXPECT_EQ(view_.regions()[static_cast<size_t>(view_.instruction())], region);
    return told_.interpret;
  }
  Status after_region(int32_t, const RegionEntry* entry) override {
    ++(entry ? told_.regions : told_.refused);
    look();
    return {};
  }
  void failing(int32_t, const Status&) override {
    ++told_.failures;
    for (size_t k = 0; k < view_.code().regs.size(); ++k) told_.live_at_failure += view_.look(static_cast<Reg>(k)).state == RegisterState::kLive;
    look();
  }
  void ended(const Status&) override { ++told_.runs; }

 private:
  /// Every register, and every byte of those that are said to be readable.
  void look() {
    for (size_t k = 0; k < view_.code().regs.size(); ++k) {
      const auto r = static_cast<Reg>(k);
      const RegisterLook l = view_.look(r);
      if (view_.code().regs[k].type.kind != RegKind::kTensor || l.state == RegisterState::kUnset) continue;
      (void)view_.reused_from(r);
      int32_t index;
      (void)view_.owner(r, index);
      const TensorMeta& m = view_.tensor(r);
      if (!l.readable()) continue;
      ASSERT_TRUE(m.data || m.elements() == 0) << "R" << r;
      if (m.device.kind != DeviceKind::kCpu || m.dtype == DType::kString) continue;
      auto copy = view_.copy(m);
      ASSERT_TRUE(copy.ok()) << copy.status().message();
    }
    for (SymbolId s = 0; s < view_.program().module().dims->num_symbols(); ++s) (void)view_.symbol(s);
    auto call = view_.call();
    EXPECT_TRUE(!call.ok() || !*call || (*call)->state);
  }
  RunView& view_;
  Told& told_;
  int32_t open_ = -1;
};

class Hook final : public DebugHook {
 public:
  std::unique_ptr<RunWatch> begin(RunView& view) override { return watch ? std::make_unique<Watch>(view, told) : nullptr; }
  Told told;
  bool watch = true;
};

class Watched : public ::testing::TestWithParam<std::string> {};

TEST_P(Watched, GivesWhatItSays) {
  const std::string text = text_of(GetParam());
  auto engine = make_engine({.num_threads = 1, .simulated_devices = 2, .jit = {.jit_level = 0}});
  auto module = verified(text, GetParam());
  ASSERT_TRUE(module);
  auto program = Program::create(module), served = Program::create(module);
  ASSERT_TRUE(program.ok() && served.ok());
  serve_all_regions(**served);
  Devices devices({.num_threads = 1, .simulated_devices = 2});
  PooledSession plain(*program, devices, {}), native(*served, devices, {});
  auto hook = std::make_shared<Hook>();
  int regions = 0, runs = 0;
  for (const Case& r : runs_of(text)) {
    SCOPED_TRACE("line " + std::to_string(r.line) + ": @" + r.function + "(" + r.inputs + ")");
    const int32_t f = function_index(module->module().functions, r.function);
    auto inputs = parse_values(*engine, r.inputs);
    ASSERT_TRUE(inputs);
    std::string expected = r.results;
    if (r.failure.empty()) expected = to_text(*parse_values(*engine, r.results));
    for (PooledSession* session : {&plain, &native})
      for (const bool interpret : {false, true})
        for (const bool planning : {false, true})
          for (int again = 0; again < 2; ++again) {
            session->session.set_planning(planning);
            session->session.set_debug_hook(hook);
            hook->told = {.interpret = interpret};
            auto found = session->session.run(f, *inputs);
            const Told told = hook->told;
            EXPECT_TRUE(session->session.watched());
            EXPECT_EQ(told.runs, 1);
            if (r.failure.empty()) {
              ASSERT_TRUE(found.ok()) << found.status().message();
              EXPECT_EQ(to_text(*found), expected);
              EXPECT_EQ(told.failures, 0);
            } else {
              ASSERT_FALSE(found.ok());
              EXPECT_NE(found.status().message().find(r.failure), std::string::npos) << found.status().message();
              EXPECT_EQ(told.failures, 1);
            }
            EXPECT_TRUE(told.regions == 0 || (session == &native && !interpret));
            regions += told.regions;
            runs += told.runs;
          }
    // A run that the debugger ends leaves nothing behind.
    for (int steps : {0, 1, 3, 7}) {
      hook->told = {.end_at = StatusCode::kCancelled, .end_after = steps};
      auto found = plain.session.run(f, *inputs);
      EXPECT_TRUE(hook->told.steps <= steps || found.status().code() == StatusCode::kCancelled) << found.status().message();
    }
    const auto left = devices.pool.stats();
    EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kInterpreter)], 0);
    EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kResults)], 0);
    hook->watch = false;
    EXPECT_EQ(plain.session.run(f, *inputs).ok(), r.failure.empty());
    EXPECT_FALSE(plain.session.watched());
    hook->watch = true;
  }
  EXPECT_GT(runs, 0);
  EXPECT_TRUE(regions > 0 || GetParam().find("memory") == std::string::npos);
}

// Native code for other sizes only: the region is interpreted, and the hook is told.
TEST(WatchedRegion, WithoutCodeForTheseSizes) {
  auto engine = make_engine({.num_threads = 1, .jit = {.jit_level = 0}});
  auto module = verified(kTwoGroups);
  ASSERT_TRUE(module);
  auto program = Program::create(module);
  ASSERT_TRUE(program.ok());
  serve_all_regions(**program);
  Devices devices({.num_threads = 1});
  PooledSession session(*program, devices, {});
  auto hook = std::make_shared<Hook>();
  session.session.set_debug_hook(hook);
  const auto inputs = parse_values(*engine, "f32[2, 4, 8] iota");
  ASSERT_TRUE(inputs);
  auto served = session.session.run(0, *inputs);
  ASSERT_TRUE(served.ok());
  EXPECT_GT(hook->told.regions, 0);
  const int steps = hook->told.steps;
  RegionTable* table = (*program)->regions(0);
  for (size_t r = 0; r < table->regions().size(); ++r) {
    auto entry = std::make_shared<RegionEntry>();
    entry->box.assign(table->regions()[r].symbols.size(), Extent::value(999));
    table->publish(r, {entry});
  }
  hook->told = {};
  auto refused = session.session.run(0, *inputs);
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(to_text(*refused), to_text(*served));
  EXPECT_GT(hook->told.refused, 0);
  EXPECT_EQ(hook->told.regions, 0);
  EXPECT_GT(hook->told.steps, steps);
  EXPECT_EQ(hook->told.steps, hook->told.done + 1);  // all but RETURN
}

// Sizes that don't fit are found before a region's first call, behind a branch, too. The interpreter begins again, and every register is there.
TEST(WatchedRegion, ThatFailsBeforeItsFirstCallIsInterpreted) {
  auto engine = make_engine({.num_threads = 1, .jit = {.jit_level = 0}});
  auto module = verified(R"(
symbol N, M, K
func @f(x: f32[N, M], y: f32[N, K]) -> f32[N, M]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Relu(R0) -> R2
  R3 = SHAPE_CALC lt M, 10
  BRANCH_IF R3, b1, b2
b1:
  R4 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Neg(R2) -> R4
  JUMP b3
b2:
  R5 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Abs(R2) -> R5
  JUMP b3
b3:
  R6: f32[N, M] = TENSOR_PHI [b1: R4, b2: R5]
  R7 = SHAPE_CALC eq M, K
  SHAPE_ASSERT R7, "M is K"
  R8 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Add(R6, R2) -> R8
  TENSOR_FREE R2
  TENSOR_FREE R6
  RETURN R8
)");
  ASSERT_TRUE(module);
  auto program = Program::create(module), served = Program::create(module);
  ASSERT_TRUE(program.ok() && served.ok());
  serve_all_regions(**served);
  Devices devices({.num_threads = 1});
  PooledSession plain(*program, devices, {}), native(*served, devices, {});
  auto hook = std::make_shared<Hook>();
  native.session.set_debug_hook(hook);
  const auto fits = parse_values(*engine, "f32[1, 2] [-1, 2], f32[1, 2] iota"), bad = parse_values(*engine, "f32[1, 2] [-1, 2], f32[1, 3] iota");
  ASSERT_TRUE(fits && bad);
  for (int again = 0; again < 2; ++again) {
    hook->told = {};
    auto good = native.session.run(0, *fits);
    ASSERT_TRUE(good.ok()) << good.status().message();
    EXPECT_EQ(to_text(*good), "f32[1, 2] [0, 0]");
    EXPECT_EQ(hook->told.regions, 1);
    hook->told = {};
    auto failed = native.session.run(0, *bad), expected = plain.session.run(0, *bad);
    ASSERT_FALSE(failed.ok() || expected.ok());
    EXPECT_EQ(failed.status().message(), expected.status().message());
    EXPECT_EQ(hook->told.refused, 1);
    EXPECT_EQ(hook->told.failures, 1);
    EXPECT_EQ(hook->told.seen[Opcode::kOpCall], 2);
    EXPECT_EQ(hook->told.live_at_failure, 6);  // R0 to R3, R6, R7: R4 has gone into R6
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Watched, ::testing::ValuesIn(program_files()), [](const auto& file) { return std::filesystem::path(file.param).stem().string(); });

}  // namespace
}  // namespace msvm::testing
