// Streams of sizes without end, and sizes that can't be served: memory stays flat, the next run is as usual.
#ifdef MSVM_COMPILER
#include <gmock/gmock.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>

#include "msvm/base/chaos.h"
#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

constexpr const char* kTwo = R"(
module "two" version 1
symbol H, W
func @main(x: f32[H, W]) -> f32[H, W]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [H, W], f32, CPU(0)
  OP_CALL Mul(R0, R0) -> R1
  R2 = TENSOR_ALLOC [H, W], f32, CPU(0)
  OP_CALL Add(R1, R0) -> R2
  TENSOR_FREE R1
  RETURN R2
)";

int64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  int64_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

class ManyShapes : public ::testing::TestWithParam<CacheMode> {};

TEST_P(ManyShapes, HundredThousandKeepMemoryFlat) {
  constexpr int kShapes = 100'000, kWarm = 20'000;
  JitOptions jit{.cache_mode = GetParam(), .cache_bytes = 32 << 10, .disk_cache = false};
  if (jit.cache_mode == CacheMode::kBucket) jit.named_boundaries["W"] = {8, 64, 200};
  auto engine = make_engine({.num_threads = 1, .jit = jit, .compiler = MSVM_COMPILER});
  auto program = load(*engine, kTwo);
  ASSERT_TRUE(program);
  std::vector<float> data(500 * 200);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 13);
  int64_t early = 0;
  std::vector<Value> results;
  for (int k = 0; k < kShapes; ++k) {
    // Each of 500 x 200 shapes once, in an order that jumps about; every eighth run one that comes back.
    const int64_t at = static_cast<int64_t>(k) * 7919 % kShapes;
    const int64_t h = k % 8 ? at / 200 : 3 + k / 8 % 3, w = k % 8 ? at % 200 : 5 + 16 * (k / 20'000);
    TensorMeta m;
    m.dtype = DType::kF32;
    m.rank = 2;
    m.shape[0] = h;
    m.shape[1] = w;
    ASSERT_TRUE(set_dense_strides(m));
    m.data = reinterpret_cast<std::byte*>(data.data());
    const std::vector<Value> in{borrow(m, h * w * 4, nullptr, nullptr)};
    ASSERT_TRUE(program->run(in, results).ok()) << h << " x " << w;
    const auto& out = std::get<TensorValue>(results[0]).meta;
    ASSERT_EQ(out.elements(), h * w);
    if (h > 0 && w > 0) {
      ASSERT_EQ(out.as<float>()[h * w - 1], data[static_cast<size_t>(h * w - 1)] * (data[static_cast<size_t>(h * w - 1)] + 1));
    }
    if (k == kWarm) {
      engine->drain_jit();
      ::malloc_trim(0);
      early = resident_bytes();
    }
  }
  engine->drain_jit();
  ::malloc_trim(0);
  const int64_t late = resident_bytes();
  const JitView v = program->jit_view();
  EXPECT_LT(late - early, 6 << 20) << "bytes; " << early << " after the first " << kWarm << "\n" << to_text(v);
  EXPECT_EQ(v.failed, 0) << to_text(v);
  EXPECT_LE(v.code_bytes, v.cache_bytes) << to_text(v);
  if (!kChaos) {
    EXPECT_GT(v.native, kShapes / 2) << to_text(v);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ManyShapes, ::testing::Values(CacheMode::kExact, CacheMode::kBucket, CacheMode::kAdaptive),
                         [](const auto& mode) { return std::string(cache_mode_name(mode.param)); });

// One error with the bytes that would be needed; the next size runs in native code.
TEST(ManyShapes, ASizeThatCannotFitIsOneError) {
  auto engine = make_engine({.num_threads = 1, .jit = {.disk_cache = false}, .compiler = MSVM_COMPILER});
  auto program = load(*engine, kTwo);
  ASSERT_TRUE(program);
  Limits limits;
  limits.max_bytes = 1 << 20;
  program->set_limits(limits);
  std::mt19937 random(1);
  program->warm_up();
  int64_t native = 0, errors = 0;
  for (int k = 0; k < 300; ++k) {
    const int64_t h = 1 + static_cast<int64_t>(random() % 600), w = 1 + static_cast<int64_t>(random() % 600), bytes = h * w * 4;
    const std::vector<Value> in{random_tensor(*engine, {h, w}, random)};
    const int64_t before = program->counters().native_regions;
    auto out = program->run(in);
    if (bytes > limits.max_bytes) {
      ASSERT_FALSE(out.ok()) << h << " x " << w;
      EXPECT_EQ(out.status().code(), StatusCode::kResourceLimit);
      EXPECT_THAT(out.status().message(), ::testing::ContainsRegex("needs? [0-9]+ bytes"));
      ++errors;
      continue;
    }
    if (!out.ok()) {  // both results at once may be too much
      EXPECT_GT(2 * bytes + (bytes >> 1), limits.max_bytes) << out.status().message();
      ++errors;
      continue;
    }
    if (!kChaos) {  // there the entry may be gone just now
      EXPECT_EQ(program->counters().native_regions, before + 1) << h << " x " << w << " after " << errors << " errors";
    }
    ++native;
  }
  EXPECT_GT(native, 100);
  EXPECT_GT(errors, 50);
  EXPECT_EQ(program->jit_view().failed, 0);
}

}  // namespace
}  // namespace msvm::testing
#endif  // MSVM_COMPILER
