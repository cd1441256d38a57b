// A steady run calls no malloc: operator new and the pool's requests to the system are counted.
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

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

TEST(Steady, NoMalloc) {
  auto engine = make_engine({.num_threads = 2});
  auto program = load(*engine, kSteady);
  ASSERT_TRUE(program);
  // Shapes come back, as in a stream.
  std::vector<std::vector<Value>> stream;
  for (const char* x : {"f32[3, 4] iota", "f32[7, 4] iota", "f32[40, 4] iota"}) stream.push_back({tensor(*engine, x), int64_t{3}});
  std::vector<Value> results;
  std::vector<std::string> expected;
  for (int round = 0; round < 3; ++round)
    for (auto& inputs : stream) {
      Status s = program->run(inputs, results);
      ASSERT_TRUE(s.ok()) << s.message();
      if (round == 0) expected.push_back(to_text(results));
    }
  results.clear();
  const int64_t before = news, system = engine->memory_stats().system_allocations;
  for (int round = 0; round < 20; ++round)
    for (auto& inputs : stream) {
      Status s = program->run(inputs, results);
      ASSERT_TRUE(s.ok());
    }
  EXPECT_EQ(news - before, 0);
  EXPECT_TRUE(news > 0 || !MSVM_COUNTS_NEW);
  EXPECT_EQ(engine->memory_stats().system_allocations - system, 0);
  for (size_t k = 0; k < stream.size(); ++k) {
    ASSERT_TRUE(program->run(stream[k], results).ok());
    EXPECT_EQ(to_text(results), expected[k]);
  }
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
