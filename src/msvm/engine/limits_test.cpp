// What a session may use, and what is left after a run that failed.
#include <chrono>
#include <thread>

#include "msvm/engine/executable.h"
#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

const std::string kLoop = std::string(kForever) + R"(func @once(x: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Relu(R0) -> R1
  RETURN R1
func @hoard(x: f32[N]) -> (i64)
b0:
  R0 = TENSOR_CREATE input 0
  R1: list<f32> = LIST_MAKE []
  JUMP b1
b1:
  R2: i64 = SCALAR_PHI [b0: 0, b2: R2 + 1]
  R3: list<f32> = TENSOR_PHI [b0: R1, b2: R6]
  R4 = SHAPE_CALC lt R2, 1000
  BRANCH_IF R4, b2, b3
b2:
  R5 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R0 -> R5
  R6 = LIST_APPEND R3, R5
  JUMP b1
b3:
  TENSOR_FREE R3
  RETURN (; R2)
func @release(x: f32[N]) -> (i64)
b0:
  R0 = TENSOR_CREATE input 0
  JUMP b1
b1:
  R2: i64 = SCALAR_PHI [b0: 0, b2: R2 + 1]
  R4 = SHAPE_CALC lt R2, 1000
  BRANCH_IF R4, b2, b3
b2:
  R5 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R0 -> R5
  R6 = LIST_MAKE [R5]
  TENSOR_FREE R6
  R7 = TENSOR_ALLOC [N], f32, CPU(0)
  TENSOR_COPY R0 -> R7
  TENSOR_FREE R7
  JUMP b1
b3:
  RETURN (; R2)
)";

class LimitsTest : public ::testing::Test {
 protected:
  std::shared_ptr<Engine> engine = make_engine();
  std::shared_ptr<Executable> program = load(*engine, kLoop);
  std::vector<Value> x{tensor(*engine, "f32[16] iota")};

  Status run(int32_t function, Limits limits) {
    program->set_limits(limits);
    auto r = program->run(x, function);
    return r.ok() ? Status() : r.status();
  }
  void expect_usable() {
    program->set_limits({});
    auto r = program->run(x, 1);
    ASSERT_TRUE(r.ok()) << r.status().message();
    EXPECT_EQ(elements((*r)[0]), elements(x[0]));
  }
};

TEST_F(LimitsTest, Instructions) {
  Status s = run(0, {.max_instructions = 1000});
  EXPECT_EQ(s.code(), StatusCode::kResourceLimit);
  EXPECT_NE(s.message().find("more than 1000 instructions"), std::string::npos) << s.message();
  expect_usable();
  EXPECT_EQ(run(1, {.max_instructions = 3}).code(), StatusCode::kResourceLimit);  // straight lines, too
  EXPECT_TRUE(run(1, {.max_instructions = 4}).ok());
}

TEST_F(LimitsTest, Time) {
  Status s = run(0, {.max_time = std::chrono::milliseconds(20)});
  EXPECT_EQ(s.code(), StatusCode::kResourceLimit);
  EXPECT_NE(s.message().find("longer than 20 ms"), std::string::npos) << s.message();
  expect_usable();
}

TEST_F(LimitsTest, Bytes) {
  Status s = run(2, {.max_bytes = 4096});
  EXPECT_EQ(s.code(), StatusCode::kResourceLimit);
  EXPECT_NE(s.message().find("session's limit of 4096"), std::string::npos) << s.message();
  EXPECT_NE(s.message().find("TENSOR_ALLOC"), std::string::npos) << s.message();
  expect_usable();
  EXPECT_TRUE(run(3, {.max_bytes = 4096}).ok());  // what was dropped doesn't count, also out of lists
}

TEST_F(LimitsTest, EngineMemory) {
  auto small = make_engine({.num_threads = 1, .max_memory = 1 << 20});
  auto p = load(*small, kLoop);
  const int64_t before = small->memory_stats().in_use;
  {
    std::vector<Value> big{tensor(*small, "f32[65536] iota")};
    auto r = p->run(big, 2);
    ASSERT_FALSE(r.ok());
    EXPECT_EQ(r.status().code(), StatusCode::kResourceLimit);
    EXPECT_NE(r.status().message().find("memory limit"), std::string::npos) << r.status().message();
  }
  EXPECT_EQ(small->memory_stats().in_use, before);
  // By default what the machine has: asking for more fails, it isn't killed.
  const int64_t shape[] = {int64_t{1} << 44};
  EXPECT_EQ(engine->allocate(DType::kF32, shape).status().code(), StatusCode::kResourceLimit);
}

TEST_F(LimitsTest, Cancel) {
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    while (!done.load()) {
      program->cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  Status s = run(0, {});
  done = true;
  canceller.join();
  EXPECT_EQ(s.code(), StatusCode::kCancelled);
  expect_usable();
}

TEST_F(LimitsTest, SessionServesOneThread) {
  auto compiled = Program::create(verified(kLoop));
  ASSERT_TRUE(compiled.ok());
  Devices devices({.num_threads = 1});
  PooledSession s(*compiled, devices, {});
  std::atomic<bool> done{false};
  std::thread runner([&] {
    StatusCode ended;
    do ended = s.session.run(0, x).status().code();
    while (ended == StatusCode::kInvalidArgument);  // the other thread was there first
    EXPECT_EQ(ended, StatusCode::kCancelled);
    done = true;
  });
  bool refused = false;
  while (!done.load()) {
    if (!refused) {
      auto r = s.session.run(1, x);
      refused = !r.ok() && r.status().message().find("another thread") != std::string::npos;
    } else {
      s.session.cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  runner.join();
  EXPECT_TRUE(refused);
}

// --- the n-th allocation fails -----------------------------------------------------------------------------------------

class FailingAllocator final : public Allocator {
 public:
  explicit FailingAllocator(Allocator& inner) : inner_(inner) {}
  int64_t left = INT64_MAX;
  Result<StorageRef> allocate(Device device, DType dtype, int64_t bytes, MemoryUse use) override {
    if (left-- <= 0) return resource_limit("no more");
    return inner_.allocate(device, dtype, bytes, use);
  }

 private:
  Allocator& inner_;
};

constexpr const char* kMany = R"(
module "many" version 1
symbol N, M, K, L
func @many(x: f32[N, M], n: i64) -> (f32[N, M], f32[K, M], i64[2, L])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  R2 = TENSOR_ALLOC [N, M], f32, CPU(0)
  OP_CALL Relu(R0) -> R2
  OP_CALL NonZero(R2) -> new R3: i64[2, L]
  TENSOR_FREE R2
  R4 = TENSOR_VIEW identity R0
  R5: list<f32> = LIST_MAKE []
  JUMP b1
b1:
  R6: i64 = SCALAR_PHI [b0: 0, b2: R6 + 1]
  R7: f32[N + R6, M] strided = TENSOR_PHI [b0: R4, b2: R10]
  R8: list<f32> = TENSOR_PHI [b0: R5, b2: R13]
  R9 = SHAPE_CALC lt R6, R1
  BRANCH_IF R9, b2, b3
b2:
  R10: f32[N + R6 + 1, M] strided = TENSOR_RESIZE R7, 0, N + R6 + 1
  R11: f32[1, M] strided = TENSOR_VIEW window R10, axis 0 from N + R6 to N + R6 + 1
  OP_CALL msvm.Fill(; 1, M) -> R11 {value: 0.5}
  TENSOR_FREE R11
  R12 = TENSOR_ALLOC [M], f32, CPU(0)
  OP_CALL msvm.Fill(; M) -> R12 {value: 0.5}
  R13 = LIST_APPEND R8, R12
  JUMP b1
b3:
  TENSOR_FREE R8
  R14 = TENSOR_ALLOC [N + R6, M], f32, CPU(0)
  TENSOR_COPY R7 -> R14
  TENSOR_FREE R7
  R15 = TENSOR_ALLOC [N, M], f32, CPU(0)
  TENSOR_COPY R0 -> R15
  RETURN (R15, R14, R3)
)";

TEST(Failures, EveryAllocationFailsOnce) {
  auto engine = make_engine();
  auto compiled = Program::create(verified(kMany));
  ASSERT_TRUE(compiled.ok());
  Devices devices({.num_threads = 1});
  PoolAllocator pool(devices);
  FailingAllocator allocator(pool);
  SessionDispatcher dispatcher(devices);
  Session session(*compiled, dispatcher, allocator);
  std::vector<Value> inputs{tensor(*engine, "f32[2, 3] iota"), int64_t{5}};
  auto first = session.run(0, inputs);
  ASSERT_TRUE(first.ok()) << first.status().message();
  const std::string expected = to_text(*first);
  first = Status(StatusCode::kInternal, "dropped");
  const int64_t level = devices.pool.stats().in_use;
  int failures = 0;
  for (int n = 0;; ++n) {
    ASSERT_LT(n, 1000);
    allocator.left = n;
    auto r = session.run(0, inputs);
    if (r.ok()) {
      EXPECT_EQ(to_text(*r), expected);
      break;
    }
    ++failures;
    EXPECT_EQ(r.status().code(), StatusCode::kResourceLimit);
    EXPECT_NE(r.status().message().find("no more"), std::string::npos);
    r = Status(StatusCode::kInternal, "dropped");
    EXPECT_EQ(devices.pool.stats().in_use, level) << "allocation " << n;
    allocator.left = INT64_MAX;
    auto good = session.run(0, inputs);
    ASSERT_TRUE(good.ok());
    EXPECT_EQ(to_text(*good), expected);
  }
  EXPECT_GE(failures, 8);
}

// --- growth ------------------------------------------------------------------------------------------------------------

TEST(Growth, AppendsCopyNoMoreThanAFewTimesTheResult) {
  auto engine = make_engine();
  auto program = load(*engine, R"(
module "append" version 1
symbol T, K
func @append(cache: f32[T, 80], n: i64) -> f32[K, 80]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  R2 = TENSOR_VIEW identity R0
  JUMP b1
b1:
  R3: i64 = SCALAR_PHI [b0: 0, b2: R3 + 1]
  R4: f32[T + R3, 80] strided = TENSOR_PHI [b0: R2, b2: R6]
  R5 = SHAPE_CALC lt R3, R1
  BRANCH_IF R5, b2, b3
b2:
  R6: f32[T + R3 + 1, 80] strided = TENSOR_RESIZE R4, 0, T + R3 + 1
  R7: f32[1, 80] strided = TENSOR_VIEW window R6, axis 0 from T + R3 to T + R3 + 1
  OP_CALL msvm.Fill(; 1, 80) -> R7 {value: 0.5}
  TENSOR_FREE R7
  JUMP b1
b3:
  R8 = TENSOR_ALLOC [T + R3, 80], f32, CPU(0)
  TENSOR_COPY R4 -> R8
  TENSOR_FREE R4
  RETURN R8
)");
  ASSERT_TRUE(program);
  constexpr int64_t kSteps = 1000;
  std::vector<Value> inputs{tensor(*engine, "f32[1, 80] iota"), kSteps};
  auto r = program->run(inputs);
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(std::get<TensorValue>((*r)[0]).meta.shape[0], kSteps + 1);
  const int64_t final_bytes = (kSteps + 1) * 80 * 4;
  EXPECT_LT(program->counters().copied_bytes, 2 * final_bytes);
  EXPECT_LT(program->counters().allocations, 30);
}

}  // namespace
}  // namespace msvm::testing
