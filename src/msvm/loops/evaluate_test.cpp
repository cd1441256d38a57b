// The evaluator against formulas written out.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "msvm/base/half.h"
#include "msvm/loops/loop_program.h"

namespace msvm::loops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Kernel kernel(std::string_view body) {
  auto p = parse("loops version 1\n" + std::string(body));
  EXPECT_TRUE(p.ok()) << p.status().message();
  return p.ok() ? p->kernels[0] : Kernel{};
}

TEST(LoopEvaluate, Softmax) {
  const Kernel k = kernel(R"(kernel softmax(t0: f32, t1: out f32; n0, n1, n2)
    outer [n0]
    inner n1
    t0 [n2, 1]
    t1 [n1, 1]
    pass
    v0 = load t0 : f32
    r0 = reduce_max v0 : f32
    pass
    v1 = load t0 : f32
    v2 = sub v1, r0 : f32
    v3 = exp v2 : f32
    store t1, v3
    r1 = reduce_sum v3 : f32
    row
    r2 = div 1, r1 : f32
    pass
    v4 = load t1 : f32
    v5 = mul v4, r2 : f32
    store t1, v5)");
  const float x[] = {1, 2, 3, 99, -1, 0, 1, 99};
  float y[6] = {};
  void* pointers[] = {const_cast<float*>(x), y};
  const int64_t sizes[] = {2, 3, 4};
  evaluate(k, pointers, sizes, 0, 2, 0, 3);
  const double sum = std::exp(-2.0) + std::exp(-1.0) + 1;
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(y[i], std::exp(i % 3 - 2.0) / sum, 1e-7);
}

TEST(LoopEvaluate, LayerNormOfF16WithScale) {
  const Kernel k = kernel(R"(kernel norm(t0: f16, t1: f32, t2: out f16, t3: out f32; n0, n1)
    outer [n0]
    inner n1
    t0 [n1, 1]
    t1 [0, 1]
    t2 [n1, 1]
    t3 [1, 0]
    row
    r0 = cast n1 : f32
    pass
    v0 = load t0 : f32
    r1 = reduce_sum v0 : f32
    row
    r2 = div r1, r0 : f32
    store t3, r2
    pass
    v1 = load t0 : f32
    v2 = sub v1, r2 : f32
    v3 = mul v2, v2 : f32
    r3 = reduce_sum v3 : f32
    row
    r4 = div r3, r0 : f32
    r5 = add r4, 0.5 : f32
    r6 = sqrt r5 : f32
    r7 = div 1, r6 : f32
    pass
    v4 = load t0 : f32
    v5 = sub v4, r2 : f32
    v6 = mul v5, r7 : f32
    v7 = load t1 : f32
    v8 = mul v6, v7 : f32
    store t2, v8)");
  EXPECT_FALSE(k.splits_columns());
  uint16_t x[8], y[8] = {};
  const float scale[] = {1, 2, -1, 0.5f};
  for (int i = 0; i < 8; ++i) x[i] = f32_to_f16(static_cast<float>(i * i));
  float mean[2] = {};
  void* pointers[] = {x, const_cast<float*>(scale), y, mean};
  const int64_t sizes[] = {2, 4};
  evaluate(k, pointers, sizes, 0, 2, 0, 4);
  EXPECT_EQ(mean[0], 3.5f);
  EXPECT_EQ(mean[1], (16 + 25 + 36 + 49) / 4.0f);
  for (int r = 0; r < 2; ++r) {
    double variance = 0;
    for (int j = 0; j < 4; ++j) variance += std::pow((r * 4 + j) * (r * 4 + j) - mean[r], 2) / 4;
    for (int j = 0; j < 4; ++j)
      EXPECT_NEAR(f16_to_f32(y[r * 4 + j]), ((r * 4 + j) * (r * 4 + j) - mean[r]) / std::sqrt(variance + 0.5) * scale[j], 2e-3);
  }
}

TEST(LoopEvaluate, StridesRowsAndColumns) {
  const Kernel k = kernel(R"(kernel k(t0: i32, t1: i64, t2: out i64; n0)
    outer [2, 3]
    inner 4
    t0 [12, 4, -1]
    t1 [0, 1, 0]
    t2 [n0, 4, 1]
    pass
    v0 = load t0 : i32
    v1 = cast v0 : i64
    v2 = load t1 : i64
    v3 = mul v1, v2 : i64
    v4 = index : i64
    v5 = add v3, v4 : i64
    store t2, v5)");
  int32_t a[24];
  int64_t b[] = {1, 10, 100}, y[30] = {};
  for (int i = 0; i < 24; ++i) a[i] = i;
  void* pointers[] = {a + 3, b, y};
  const int64_t sizes[] = {15};
  evaluate(k, pointers, sizes, 1, 6, 1, 3);
  for (int row = 0; row < 6; ++row)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(y[row / 3 * 15 + row % 3 * 4 + j], row >= 1 && j >= 1 && j < 3 ? (row * 4 + 3 - j) * b[row % 3] + j : 0) << row << " " << j;
}

float one(std::string_view step, float a, float b = 0, float c = 0) {
  const Kernel k = kernel("kernel k(t0: f32, t1: f32, t2: f32, t3: out f32)\nouter []\ninner 1\nt0 [1]\nt1 [1]\nt2 [1]\nt3 [1]\npass\n"
                          "v0 = load t0 : f32\nv1 = load t1 : f32\nv2 = load t2 : f32\nv3 = " + std::string(step) + " : f32\nstore t3, v3");
  float y = 0;
  void* pointers[] = {&a, &b, &c, &y};
  evaluate(k, pointers, nullptr, 0, 1, 0, 1);
  return y;
}

TEST(LoopEvaluate, Functions) {
  EXPECT_EQ(one("fma v0, v1, v2", 1.5f, 2, 3), 6);
  EXPECT_TRUE(std::isnan(one("max v0, v1", 1, NAN)));
  EXPECT_TRUE(std::isnan(one("min v0, v1", NAN, 1)));
  EXPECT_TRUE(std::isnan(one("relu v0", NAN)));
  EXPECT_EQ(one("clip v0, v1, v2", -4, -1, 1), -1);
  EXPECT_EQ(one("round v0", 2.5f), 2);
  EXPECT_EQ(one("leaky_relu v0, 0.25", -4), -1);
  EXPECT_EQ(one("hard_sigmoid v0, 0.5, 0.25", 1), 0.75f);
  EXPECT_EQ(one("pow v0, 2", 1.1f), 1.1f * 1.1f);
  EXPECT_EQ(one("exp v0", -kInf), 0);
  const struct {
    std::string_view step;
    double (*truth)(double);
  } kFunctions[] = {
      {"exp v0", [](double x) { return std::exp(x); }},
      {"erf v0", [](double x) { return std::erf(x); }},
      {"tanh v0", [](double x) { return std::tanh(x); }},
      {"sigmoid v0", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"silu v0", [](double x) { return x / (1 + std::exp(-x)); }},
      {"gelu v0", [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"gelu_tanh v0", [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
      {"elu v0, 1.5", [](double x) { return x > 0 ? x : 1.5 * std::expm1(x); }},
      {"softplus v0", [](double x) { return std::log1p(std::exp(x)); }},
      {"mish v0", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"sin v0", [](double x) { return std::sin(x); }},
      {"cos v0", [](double x) { return std::cos(x); }},
  };
  for (const auto& f : kFunctions)
    for (float x : {-6.5f, -1.0f, -0.25f, 0.0f, 0.7f, 3.0f}) {
      const double want = f.truth(x);
      EXPECT_NEAR(one(f.step, x), want, 5e-7 * std::max(1.0, std::abs(want))) << f.step << " of " << x;
    }
  for (float x : {1e-30f, 0.5f, 1.0f, 7.0f}) EXPECT_NEAR(one("log v0", x), std::log(static_cast<double>(x)), 1e-6 * std::max(1.0, std::abs(std::log(static_cast<double>(x)))));
}

TEST(LoopEvaluate, ReductionsOfNothingAndNan) {
  const Kernel k = kernel(R"(kernel k(t0: i8, t1: f32, t2: out i8, t3: out f32; n0)
    outer []
    inner n0
    t0 [1]
    t1 [1]
    t2 [0]
    t3 [0]
    pass
    v0 = load t0 : i8
    v1 = load t1 : f32
    r0 = reduce_max v0 : i8
    r1 = reduce_min v1 : f32
    row
    store t2, r0
    store t3, r1)");
  int8_t a[3] = {-5, -3, -9}, y = 0;
  float b[3] = {2, NAN, 1}, z = 0;
  void* pointers[] = {a, b, &y, &z};
  int64_t n = 0;
  evaluate(k, pointers, &n, 0, 1, 0, n);
  EXPECT_EQ(y, -128);
  EXPECT_EQ(z, kInf);
  n = 3;
  evaluate(k, pointers, &n, 0, 1, 0, n);
  EXPECT_EQ(y, -3);
  EXPECT_TRUE(std::isnan(z));
}

}  // namespace
}  // namespace msvm::loops
