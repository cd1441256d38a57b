// Programs with their native code: interpreter, tier 1 and tier 2 agree, and each test shows which of them ran.
#ifdef MSVM_COMPILER
#include "msvm/base/chaos.h"
#include "msvm/engine/native_testing.h"

namespace msvm::testing {
namespace {

constexpr const char* kChain = R"(
module "chain" version 1
symbol N, H, W
func @main(x: f32[N, 3, H, W], y: f32[N, 3, H, W]) -> (z: f32[N, 3, H, W], s: f32[N, 3, H, W])
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 "y" = TENSOR_CREATE input 1
  R2 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Mul(R0, R1) -> R2
  R3 = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Exp(R2) -> R3
  TENSOR_FREE R2
  R4 "z" = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Add(R3, R0) -> R4
  TENSOR_FREE R3
  R5 "s" = TENSOR_ALLOC [N, 3, H, W], f32, CPU(0)
  OP_CALL Softmax(R4) -> R5 {axis: -1}
  RETURN R4, R5
)";

TEST(Native, TiersAgreeAndRun) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  auto plain = native_engine({.jit_level = 0}), engine = native_engine();
  auto a = load(*plain, kChain), b = load(*engine, kChain);
  ASSERT_TRUE(a && b);
  auto compare = [&](int h, int w, int n) {
    const std::string shape = "f32[" + std::to_string(n) + ", 3, " + std::to_string(h) + ", " + std::to_string(w) + "] iota";
    std::vector<Value> in{tensor(*plain, shape), tensor(*plain, shape)};
    for (Value& v : in) {
      auto& t = std::get<TensorValue>(v);
      auto* p = reinterpret_cast<float*>(t.meta.data);
      for (int64_t i = 0; i < t.meta.elements(); ++i) p[i] = static_cast<float>(i % 17) * 0.125f - 1;
    }
    auto x = a->run(in), y = b->run(in);
    ASSERT_TRUE(x.ok() && y.ok());
    EXPECT_EQ(to_text((*x)[0]), to_text((*y)[0]));
    const std::vector<double> p = elements((*x)[1]), q = elements((*y)[1]);
    for (size_t i = 0; i < p.size(); ++i) ASSERT_NEAR(p[i], q[i], 1e-6) << i;
  };
  compare(5, 7, 2);
  compare(5, 7, 2);
  engine->drain_jit();
  JitView v = b->jit_view();
  ASSERT_EQ(v.regions.size(), 1u) << to_text(v);
  ASSERT_EQ(v.regions[0].entries.size(), 1u) << to_text(v);
  EXPECT_EQ(v.regions[0].entries[0].tier, 1);
  EXPECT_EQ(v.native, 0);
  EXPECT_GT(v.regions[0].fused_calls, 1) << to_text(v);
  EXPECT_EQ(v.compiled, 1) << to_text(v);
  // Sizes never seen run in the code for all sizes at once.
  const std::pair<int, int> sizes[] = {{1, 1}, {16, 16}, {3, 129}, {0, 4}, {4, 0}, {31, 33}};
  int64_t runs = 0;
  for (auto [h, w] : sizes) {
    compare(h, w, 1 + static_cast<int>(runs++ % 3));
    EXPECT_EQ(b->counters().native_regions, runs);
  }
  // Those that come back get code of their own.
  for (int k = 0; k < 12; ++k) {
    compare(16, 24, 1 + k % 4);
    engine->drain_jit();
  }
  v = b->jit_view();
  ASSERT_EQ(v.regions[0].entries.size(), 2u) << to_text(v);
  EXPECT_EQ(v.regions[0].entries[0].box, "N*_H16_W24");
  EXPECT_EQ(v.regions[0].entries[0].alias, "jit_24x16");
  EXPECT_EQ(v.regions[0].entries[0].tier, 2);
  EXPECT_GT(v.regions[0].entries[0].hits, 2);
  EXPECT_EQ(v.specialised, v.regions[0].entries[0].hits);
  EXPECT_EQ(v.failed, 0) << to_text(v);
}

// Rows shorter than a vector: the calls' own kernels serve, from the plan, with the same results.
TEST(Native, NarrowRowsStayCalls) {
  if (kChaos) GTEST_SKIP() << "no entry stays";
  constexpr const char* kNarrow = R"(
module "narrow" version 1
symbol N, W
func @main(x: f32[N, W]) -> (y: f32[N, W])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, W], f32, CPU(0)
  OP_CALL Add(R0, R0) -> R1
  R2 = TENSOR_ALLOC [N, W], f32, CPU(0)
  OP_CALL Softmax(R1) -> R2 {axis: -1}
  TENSOR_FREE R1
  R3 = TENSOR_ALLOC [N, W], f32, CPU(0)
  OP_CALL Mul(R2, R0) -> R3
  TENSOR_FREE R2
  RETURN R3
)";
  auto plain = native_engine({.jit_level = 0}), engine = native_engine();
  auto a = load(*plain, kNarrow), b = load(*engine, kNarrow);
  ASSERT_TRUE(a && b);
  b->warm_up();
  b->set_profiling(true);
  auto kernels = [&](const char* shape) {
    const std::vector<Value> in{tensor(*plain, shape)};
    auto x = a->run(in), y = b->run(in);
    EXPECT_TRUE(x.ok() && y.ok() && near((*x)[0], (*y)[0], 1e-6)) << shape;
    std::string last;
    for (const InstrProfile& p : b->profile())
      if (!p.kernel.empty()) last = p.kernel;
    return last;
  };
  EXPECT_EQ(kernels("f32[64, 32] iota"), "native code of 3 calls");
  EXPECT_NE(kernels("f32[512, 7] iota").find("mul"), std::string::npos);
  EXPECT_EQ(b->counters().native_regions, 2);
}

}  // namespace
}  // namespace msvm::testing
#endif  // MSVM_COMPILER
