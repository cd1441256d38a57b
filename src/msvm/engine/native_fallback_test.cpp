// Kernels that go away and come back, compilers that aren't there: what native programs do then.
#ifdef MSVM_COMPILER
#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

constexpr const char* kDense = R"(
module "dense" version 1
symbol N
func @main(x: f32[N, 8], w: f32[8, 4]) -> (y: f32[N, 4])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 "w" = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL MatMul(R0, R1) -> R2      ; dense.py:3
  R3 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL Tanh(R2) -> R3
  TENSOR_FREE R2
  R4 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL Mul(R3, R3) -> R4
  TENSOR_FREE R3
  RETURN R4
)";

std::shared_ptr<Engine> native_engine(bool fallback, const std::string& compiler = MSVM_COMPILER, bool compile_fallback = true) {
  EngineOptions o;
  o.num_threads = 1;
  o.fallback = fallback;
  o.compiler = compiler;
  o.jit.disk_cache = false;
  o.jit.fallback = compile_fallback;
  return make_engine(o);
}

std::vector<Value> inputs(Engine& e, int rows) { return {tensor(e, "f32[" + std::to_string(rows) + ", 8] iota"), tensor(e, "f32[8, 4] iota")}; }

/// A patch that takes out all kernels of the sections whose names begin like this.
std::string without(Engine& e, const std::string& sections) {
  std::string patch = R"json({"format": 1, "device": "CPU(0)", "sections": {)json", comma;
  for (const auto& [key, list] : e.capability_db()->sections())
    if (key.starts_with(sections)) patch += comma + "\"" + key + "\": []", comma = ", ";
  return patch + "}}";
}

size_t count(const JitView& v, JitEventKind kind) {
  size_t n = 0;
  for (const JitEventView& e : v.events) n += e.kind == kind;
  return n;
}

TEST(NativeFallback, AKernelThatIsGoneIsAnErrorUntilAPatchBringsItBack) {
  auto engine = native_engine(false);
  auto program = load(*engine, kDense);
  ASSERT_TRUE(program);
  const std::string before = engine->capability_db()->to_json();
  program->warm_up();
  auto first = program->run(inputs(*engine, 3));
  ASSERT_TRUE(first.ok()) << first.status().message();
  ASSERT_EQ(program->counters().native_regions, 1) << to_text(program->jit_view());
  const JitView made = program->jit_view();
  ASSERT_EQ(made.regions.size(), 1u);
  ASSERT_EQ(made.regions[0].entries.size(), 1u);

  ASSERT_TRUE(engine->patch_capabilities(without(*engine, "matmul"), "test").ok());
  engine->drain_jit();
  EXPECT_EQ(count(program->jit_view(), JitEventKind::kRetired), 1u) << to_text(program->jit_view());
  for (int k = 0; k < 2; ++k) {  // it is no state that a run leaves behind
    auto refused = program->run(inputs(*engine, 3));
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.status().message().find("Kernel not found for op MatMul (f32) on device CPU(0) ["), std::string::npos) << refused.status().message();
    EXPECT_NE(refused.status().message().find("dense.py:3"), std::string::npos) << refused.status().message();
  }

  // The same process, the same program.
  ASSERT_TRUE(engine->patch_capabilities(before, "test").ok());
  engine->drain_jit();
  const JitView again = program->jit_view();
  EXPECT_EQ(count(again, JitEventKind::kRetired), 2u) << to_text(again);
  ASSERT_EQ(again.regions[0].entries.size(), 1u) << to_text(again);
  EXPECT_EQ(again.regions[0].entries[0].hits, 0) << "an entry that was made again";
  const int64_t native = program->counters().native_regions;
  auto last = program->run(inputs(*engine, 3));
  ASSERT_TRUE(last.ok()) << last.status().message();
  EXPECT_EQ(program->counters().native_regions, native + 1);
  EXPECT_EQ(program->jit_view().regions[0].entries[0].hits, 1);
  EXPECT_EQ(to_text(*last), to_text(*first));
}

TEST(NativeFallback, TheReferenceKernelServesOtherwise) {
  auto engine = native_engine(true);
  auto program = load(*engine, kDense);
  ASSERT_TRUE(program);
  program->warm_up();
  auto first = program->run(inputs(*engine, 5));
  ASSERT_TRUE(engine->patch_capabilities(without(*engine, "matmul"), "test").ok());
  engine->drain_jit();
  program->set_profiling(true);
  auto served = program->run(inputs(*engine, 5));
  ASSERT_TRUE(first.ok() && served.ok());
  const auto p = elements((*first)[0]), q = elements((*served)[0]);
  for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i], q[i], 1e-5) << i;
}

TEST(NativeFallback, WithoutACompilerProgramsStayInterpretedAndSayWhy) {
  auto engine = native_engine(true, "/nonexistent/msvm-cc");
  auto program = load(*engine, kDense);
  ASSERT_TRUE(program);
  program->warm_up();
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(program->run(inputs(*engine, 2)).ok());
  const JitView v = program->jit_view();
  EXPECT_EQ(program->counters().native_regions, 0);
  EXPECT_EQ(v.failed, 1);
  ASSERT_EQ(v.slow_path.size(), 1u) << to_text(v);
  EXPECT_NE(v.slow_path[0].reason.find("no compiler at /nonexistent/msvm-cc"), std::string::npos) << v.slow_path[0].reason;
}

TEST(NativeFallback, WithoutFallbackTheNextRunSaysWhy) {
  auto engine = native_engine(true, "/nonexistent/msvm-cc", false);
  auto program = load(*engine, kDense);
  ASSERT_TRUE(program);
  ASSERT_TRUE(program->run(inputs(*engine, 2)).ok());
  ASSERT_TRUE(program->run(inputs(*engine, 2)).ok());
  engine->drain_jit();
  auto refused = program->run(inputs(*engine, 2));
  ASSERT_FALSE(refused.ok());
  for (const char* part : {"can't be compiled", "no compiler at /nonexistent/msvm-cc", "MSVM_CC", "fallback is off"})
    EXPECT_NE(refused.status().message().find(part), std::string::npos) << refused.status().message();
}

}  // namespace
}  // namespace msvm::testing
#endif  // MSVM_COMPILER
