#include "msvm/engine/packed_weights.h"

#include <thread>

#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

constexpr int kWeights = static_cast<int>(MemoryOwner::kWeights);

constexpr const char* kTwice = R"(
module "twice" version 1
symbol N
const %w f32[64, 64] = fill(0.5)
const %v f32[64, 64] = fill(0.25)
func @main(x: f32[N, 64]) -> f32[N, 64]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
  R2 = TENSOR_CONST %v
  R3 = TENSOR_ALLOC [N, 64], f32, CPU(0)
  OP_CALL MatMul(R0, R1) -> R3
  R4 = TENSOR_ALLOC [N, 64], f32, CPU(0)
  OP_CALL MatMul(R3, R1) -> R4
  R5 = TENSOR_ALLOC [N, 64], f32, CPU(0)
  OP_CALL MatMul(R4, R2) -> R5
  TENSOR_FREE R3
  TENSOR_FREE R4
  RETURN R5
)";

TEST(PackedWeights, OneBufferPerConstantForAllSitesAndSessions) {
  auto engine = make_engine({.num_threads = 2});
  {
    auto program = load(*engine, kTwice);
    ASSERT_TRUE(program);
    Value x = tensor(*engine, "f32[32, 64] iota");
    auto first = program->run(std::vector<Value>{x});
    ASSERT_TRUE(first.ok()) << first.status().message();
    const int64_t packed = engine->memory_stats().by_owner[kWeights];
    if (cpu_features().isa != Isa::kScalar) { EXPECT_GE(packed, 2 * 64 * 64 * 4); }
    EXPECT_LT(packed, 3 * 64 * 96 * 4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          auto r = program->run(std::vector<Value>{x});
          ASSERT_TRUE(r.ok());
          EXPECT_EQ(elements((*r)[0]), elements((*first)[0]));
        }
      });
    for (auto& t : threads) t.join();
    EXPECT_EQ(engine->memory_stats().by_owner[kWeights], packed);
  }
  EXPECT_EQ(engine->memory_stats().by_owner[kWeights], 0);
}

TEST(PackedWeights, TellsFormatsAndViewsApart) {
  Module module;
  auto values = std::make_shared<std::vector<float>>(16, 1.0f);
  Constant c;
  c.data = reinterpret_cast<const std::byte*>(values->data());
  c.bytes = 64;
  c.keep_alive = values;
  module.constants.push_back(c);
  BufferPool pool;
  PackedWeights weights(module, RawConstants(module), pool);
  TensorMeta m;
  m.rank = 2;
  m.shape = {4, 4};
  ASSERT_TRUE(set_dense_strides(m));
  m.data = const_cast<std::byte*>(c.data);
  int packs = 0;
  auto get = [&](const TensorMeta& source, const PackedFormat& format) {
    auto r = weights.get(source, format, 64, [&](std::byte* to) { to[0] = static_cast<std::byte>(++packs); });
    EXPECT_TRUE(r.ok());
    return *r;
  };
  const std::byte* a = get(m, {"A", 1, 0});
  EXPECT_EQ(get(m, {"A", 1, 0}), a);
  EXPECT_EQ(packs, 1);
  TensorMeta transposed = m;
  std::swap(transposed.strides[0], transposed.strides[1]);
  EXPECT_NE(get(transposed, {"A", 1, 0}), a);
  EXPECT_NE(get(m, {"A", 2, 0}), a);
  EXPECT_NE(get(m, {"B", 1, 0}), a);
  EXPECT_NE(get(m, {"A", 1, 1}), a);
  EXPECT_EQ(packs, 5);
  EXPECT_EQ(get(m, {"A", 1, 0}), a);
  TensorMeta elsewhere = m;
  std::vector<float> copy(*values);
  elsewhere.data = reinterpret_cast<std::byte*>(copy.data());
  EXPECT_EQ(get(elsewhere, {"A", 1, 0}), nullptr);  // no constant of this module
  EXPECT_EQ(pool.stats().by_owner[kWeights], pool.stats().in_use);
  pool.set_limit(pool.stats().in_use);
  EXPECT_EQ(weights.get(m, {"C", 1, 0}, 1 << 20, [](std::byte*) {}).status().code(), StatusCode::kResourceLimit);
}

}  // namespace
}  // namespace msvm::testing
