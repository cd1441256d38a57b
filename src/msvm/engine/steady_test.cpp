// A steady run calls no malloc: operator new and the pool's requests to the system are counted.
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "msvm/base/chaos.h"
#include "msvm/bytecode/builder.h"
#include "msvm/bytecode/text.h"
#include "msvm/engine/optimizer.h"
#include "msvm/engine/program_testing.h"

namespace {
thread_local int64_t news = 0;
}

// The sanitizers bring allocators of their own: nothing is counted there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MSVM_COUNTS_NEW 0
#else
#define MSVM_COUNTS_NEW 1
// Both sides are ours; g++ looks at each alone.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

void* operator new(size_t size) {
  ++news;
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++news;
  return std::malloc(size ? size : 1);
}
void* operator new(size_t size, std::align_val_t align) {
  ++news;
  const auto a = static_cast<size_t>(align);
  if (void* p = std::aligned_alloc(a, (size + a - 1) / a * a)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
#endif

namespace msvm::testing {
namespace {

constexpr const char* kSteady = R"(
module "steady" version 1
symbol N, M, K
const %w f32[4, 4] = fill(0.5)
func @main(x: f32[N, 4], n: i64) -> (f32[N, 4], f32[N + R1, 4], i64[2, K])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  R2 = SHAPE_CALC ge R1, 1
  SHAPE_ASSERT R2, "steps"
  R3 = TENSOR_CONST %w
  R4 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL MatMul(R0, R3) -> R4
  R5 = TENSOR_VIEW transpose R4, [1, 0]
  R6 = TENSOR_ALLOC [4, N], f32, CPU(0)
  OP_CALL Relu(R5) -> R6
  TENSOR_FREE R5
  TENSOR_FREE R4
  R7 = TENSOR_VIEW transpose R6, [1, 0]
  R8 = TENSOR_VIEW identity R0
  OP_CALL NonZero(R0) -> new R9: i64[2, K]
  JUMP b1
b1:
  R10: i64 = SCALAR_PHI [b0: 0, b2: R10 + 1]
  R11: f32[N + R10, 4] strided = TENSOR_PHI [b0: R8, b2: R13]
  R12 = SHAPE_CALC lt R10, R1
  BRANCH_IF R12, b2, b3
b2:
  R13: f32[N + R10 + 1, 4] strided = TENSOR_RESIZE R11, 0, N + R10 + 1
  R14: f32[1, 4] strided = TENSOR_VIEW window R13, axis 0 from N + R10 to N + R10 + 1
  OP_CALL msvm.Fill(; 1, 4) -> R14 {value: 0.5}
  TENSOR_FREE R14
  JUMP b1
b3:
  R15 = TENSOR_ALLOC [N + R1, 4], f32, CPU(0)
  TENSOR_COPY R11 -> R15
  TENSOR_FREE R11
  R16 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL Add(R7, R0) -> R16
  TENSOR_FREE R6
  TENSOR_FREE R7
  RETURN (R16, R15, R9)
)";

// Convolutions of every kind, what stands between them, a transformer's parts.
constexpr const char* kNetwork = R"(
module "network" version 1
symbol N, H, W
const %w0 f32[16, 3, 3, 3] = fill(0.05)
const %b f32[16] = fill(0.1)
const %wd f32[16, 1, 3, 3] = fill(0.1)
const %w1 f32[16, 16, 1, 1] = fill(0.02)
const %w3 f32[16, 32, 3, 3] = fill(0.01)
const %half f32[1] = fill(0.5)
const %m f32[16, 24] = fill(0.03)
const %mb f32[24] = fill(0.2)
const %scale f32[24] = fill(1.5)
func @main(x: f32[N, 3, 2*H, 2*W]) -> (f32[N, H*W, 24], f32[N, 16, 1, 1])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w0
  R2 = TENSOR_CONST %b
  R3 = TENSOR_CONST %wd
  R4 = TENSOR_CONST %w1
  R5 = TENSOR_CONST %w3
  R6 = TENSOR_CONST %half
  R7 = TENSOR_CONST %m
  R8 = TENSOR_CONST %mb
  R9 = TENSOR_CONST %scale
  R10 = TENSOR_ALLOC [N, 16, 2*H, 2*W], f32, CPU(0)
  OP_CALL Conv(R0, R1, R2) -> R10 {pads: [1, 1, 1, 1]}
  R11 = TENSOR_ALLOC [N, 16, 2*H, 2*W], f32, CPU(0)
  OP_CALL HardSwish(R10) -> R11
  R12 = TENSOR_ALLOC [N, 16, 2*H, 2*W], f32, CPU(0)
  OP_CALL Mul(R11, R6) -> R12
  R13 = TENSOR_ALLOC [N, 16, 2*H, 2*W], f32, CPU(0)
  OP_CALL Conv(R12, R3, R2) -> R13 {group: 16, pads: [1, 1, 1, 1]}
  R14 = TENSOR_ALLOC [N, 16, H, W], f32, CPU(0)
  OP_CALL MaxPool(R13) -> R14 {kernel_shape: [2, 2], strides: [2, 2]}
  R15 = TENSOR_ALLOC [N, 16, H, W], f32, CPU(0)
  OP_CALL Conv(R14, R4, R2) -> R15
  R16 = TENSOR_ALLOC [N, 16, H, W], f32, CPU(0)
  OP_CALL Sigmoid(R15) -> R16
  R17 = TENSOR_ALLOC [N, 16, H, W], f32, CPU(0)
  OP_CALL Mul(R15, R16) -> R17
  R18 = TENSOR_ALLOC [N, 16, H, W], f32, CPU(0)
  OP_CALL Add(R17, R14) -> R18
  R19 = TENSOR_ALLOC [N, 32, H, W], f32, CPU(0)
  OP_CALL Concat(R18, R14) -> R19 {axis: 1}
  R20 = TENSOR_ALLOC [N, 16, H, W], f32, CPU(0)
  OP_CALL Conv(R19, R5) -> R20 {pads: [1, 1, 1, 1]}
  R21 = TENSOR_ALLOC [N, 16, 1, 1], f32, CPU(0)
  OP_CALL GlobalAveragePool(R20) -> R21
  R22 = TENSOR_ALLOC [N, 16, H, W], f32, CPU(0)
  OP_CALL Mul(R20, R21) -> R22
  R23 = TENSOR_ALLOC [N, 16, 2*H, 2*W], f32, CPU(0)
  OP_CALL Resize(R22; N, 16, 2*H, 2*W) -> R23 {mode: "linear"}
  R24 = TENSOR_ALLOC [N, 16, H, W], f32, CPU(0)
  OP_CALL AveragePool(R23) -> R24 {kernel_shape: [2, 2], strides: [2, 2]}
  R25 = TENSOR_VIEW reshape R24, [N, 16, H*W]
  R26 = TENSOR_VIEW transpose R25, [0, 2, 1]
  R27 = TENSOR_ALLOC [N, H*W, 24], f32, CPU(0)
  OP_CALL MatMul(R26, R7) -> R27
  R28 = TENSOR_ALLOC [N, H*W, 24], f32, CPU(0)
  OP_CALL Add(R27, R8) -> R28
  R29 = TENSOR_ALLOC [N, H*W, 24], f32, CPU(0)
  OP_CALL Gelu(R28) -> R29
  R30 = TENSOR_ALLOC [N, H*W, 24], f32, CPU(0)
  OP_CALL LayerNormalization(R29, R9) -> R30
  R31 = TENSOR_VIEW transpose R30, [0, 2, 1]
  R32 = TENSOR_ALLOC [N, H*W, H*W], f32, CPU(0)
  OP_CALL MatMul(R30, R31) -> R32
  R33 = TENSOR_ALLOC [N, H*W, H*W], f32, CPU(0)
  OP_CALL Softmax(R32) -> R33 {axis: -1}
  R34 = TENSOR_ALLOC [N, H*W, 24], f32, CPU(0)
  OP_CALL MatMul(R33, R30) -> R34
  R35 = TENSOR_ALLOC [N, H*W, 24], f32, CPU(0)
  OP_CALL Exp(R34) -> R35
  R36 = TENSOR_ALLOC [N, H*W, 24], f32, CPU(0)
  OP_CALL Neg(R35) -> R36
  RETURN R36, R21
)";

std::shared_ptr<Executable> load_optimized(Engine& engine, std::string_view text) {
  AssembleResult a = assemble(text);
  EXPECT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  for (size_t f = 0; f < a.module.functions.size(); ++f) EXPECT_TRUE(place_ownership(a.module, static_cast<int32_t>(f)).ok());
  auto verified = verify_and_optimize(std::move(a.module));
  EXPECT_TRUE(verified.ok()) << verified.status().message();
  if (!verified.ok()) return nullptr;
  auto loaded = engine.load(std::move(*verified));
  EXPECT_TRUE(loaded.ok());
  return loaded.ok() ? *loaded : nullptr;
}

void expect_no_malloc(Engine& engine_, std::shared_ptr<Executable> program, std::vector<std::vector<Value>> stream) {
  if (kChaos) GTEST_SKIP() << "there is no steady state";
  Engine* engine = &engine_;
  std::vector<Value> results;
  std::vector<std::string> expected;
  // Until code for all sizes, then for these sizes was made, and every session has plans for it.
  for (int round = 0; round < 20; ++round) {
    for (auto& inputs : stream) {
      Status s = program->run(inputs, results);
      ASSERT_TRUE(s.ok()) << s.message();
      if (round == 0) expected.push_back(to_text(results));
      EXPECT_EQ(to_text(results), expected[static_cast<size_t>(&inputs - stream.data())]);
    }
    if (round % 4 == 3) engine->drain_jit();
  }
  results.clear();
  const int64_t native = program->counters().native_regions;
  const int64_t before = news, system = engine->memory_stats().system_allocations;
  for (int round = 0; round < 20; ++round)
    for (auto& inputs : stream) {
      Status s = program->run(inputs, results);
      ASSERT_TRUE(s.ok());
    }
  EXPECT_GT(program->counters().native_regions, native);
  EXPECT_EQ(news - before, 0);
  EXPECT_TRUE(news > 0 || !MSVM_COUNTS_NEW);
  EXPECT_EQ(engine->memory_stats().system_allocations - system, 0);
  for (size_t k = 0; k < stream.size(); ++k) {
    ASSERT_TRUE(program->run(stream[k], results).ok());
    EXPECT_EQ(to_text(results), expected[k]);
  }
}

TEST(Steady, NoMalloc) {
  auto engine = make_engine({.num_threads = 2});
  auto program = load(*engine, kSteady);
  ASSERT_TRUE(program);
  // Shapes come back, as in a stream.
  std::vector<std::vector<Value>> stream;
  for (const char* x : {"f32[3, 4] iota", "f32[7, 4] iota", "f32[40, 4] iota"}) stream.push_back({tensor(*engine, x), int64_t{3}});
  expect_no_malloc(*engine, program, std::move(stream));
}

TEST(Steady, NoMallocInAnOptimizedNetwork) {
  auto engine = make_engine({.num_threads = 2});
  auto program = load_optimized(*engine, kNetwork);
  ASSERT_TRUE(program);
  std::vector<std::vector<Value>> stream;
  for (const char* x : {"f32[1, 3, 16, 24] iota", "f32[2, 3, 10, 6] iota", "f32[1, 3, 32, 32] iota"}) stream.push_back({tensor(*engine, x)});
  expect_no_malloc(*engine, program, std::move(stream));
}

TEST(Steady, ManyThreadsOneProgram) {
  auto engine = make_engine({.num_threads = 2});
  auto program = load(*engine, kSteady);
  ASSERT_TRUE(program);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto own = make_engine({.num_threads = 1});
      std::vector<Value> inputs{tensor(*engine, "f32[" + std::to_string(t + 1) + ", 4] iota"), int64_t{t + 1}};
      auto first = program->run(inputs);
      if (!first.ok()) {
        ++wrong;
        return;
      }
      const std::string expected = to_text(*first);
      std::vector<Value> results;
      for (int round = 0; round < 50; ++round) {
        if (!program->run(inputs, results).ok() || to_text(results) != expected) ++wrong;
        if (round % 10 == t) {
          program->counters();
          program->profile();
          program->set_profiling(t % 2 == 0);
        }
        if (round == 25 && t == 3) {
          Status s = engine->patch_capabilities(R"json({"format": 1, "device": "CPU(0)", "sections": {}})json", "test");
          if (!s.ok()) ++wrong;
        }
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  Counters c = program->counters();
  EXPECT_EQ(c.runs, 8 * 51);
  EXPECT_EQ(c.failed_runs, 0);
}

}  // namespace
}  // namespace msvm::testing
