#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

// numpy's rule, in f64; also gives the shape.
std::vector<double> expected_matmul(const Tensor& ta, const Tensor& tb, Shape& shape) {
  Shape a = ta.shape(), b = tb.shape();
  bool a1 = a.size() == 1, b1 = b.size() == 1;
  if (a1) a.insert(a.begin(), 1);
  if (b1) b.push_back(1);
  auto av = ta.values(), bv = tb.values();
  int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  Shape ba(a.begin(), a.end() - 2), bb(b.begin(), b.end() - 2), batch;
  size_t r = std::max(ba.size(), bb.size());
  ba.insert(ba.begin(), r - ba.size(), 1);
  bb.insert(bb.begin(), r - bb.size(), 1);
  for (size_t d = 0; d < r; ++d) batch.push_back(ba[d] == 1 ? bb[d] : ba[d]);
  std::vector<double> out;
  for (int64_t i = 0; i < size_of(batch); ++i) {
    int64_t rest = i, ia = 0, ib = 0, sa = 1, sb = 1;
    for (size_t d = r; d-- > 0;) {
      int64_t x = rest % batch[d];
      rest /= batch[d];
      ia += (ba[d] == 1 ? 0 : x) * sa, ib += (bb[d] == 1 ? 0 : x) * sb;
      sa *= ba[d], sb *= bb[d];
    }
    for (int64_t p = 0; p < m; ++p)
      for (int64_t q = 0; q < n; ++q) {
        double s = 0;
        for (int64_t t = 0; t < k; ++t) s += av[static_cast<size_t>((ia * m + p) * k + t)] * bv[static_cast<size_t>((ib * k + t) * n + q)];
        out.push_back(s);
      }
  }
  shape = batch;
  if (!a1) shape.push_back(m);
  if (!b1) shape.push_back(n);
  return out;
}

const std::vector<std::pair<Shape, Shape>> kShapes = {
    {{3, 4}, {4, 5}},          {{1, 7}, {7, 1}},      {{5}, {5}},           {{5}, {5, 3}},        {{2, 5}, {5}},          {{0, 4}, {4, 3}},    {{2, 0}, {0, 3}},     {{2, 3}, {3, 0}},
    {{2, 3, 4}, {4, 5}},       {{2, 3, 4}, {2, 4, 5}}, {{3, 4}, {2, 4, 5}},  {{2, 1, 3, 4}, {3, 4, 5}}, {{2, 3, 1, 4}, {1, 3, 4, 2}}, {{4}, {3, 4, 2}}, {{3, 2, 4}, {4}}, {{0, 2, 3}, {0, 3, 4}},
    {{1, 17}, {17, 97}},       {{8, 48}, {48, 48}},   {{9, 49}, {49, 47}},  {{16, 16}, {16, 15}}, {{13, 600}, {600, 50}}, {{100, 31}, {31, 200}}, {{1, 1100}, {1100, 33}}, {{1, 37}, {37, 1500}}, {{3, 1, 20}, {3, 20, 70}}, {{3, 12, 7, 64}, {3, 12, 64, 7}},
};

TEST(MatMul, ReferenceAndFastKernels) {
  for (auto& [sa, sb] : kShapes)
    for (bool gaps : {false, true}) {
      Shape shape;
      Tensor a = random_tensor(sa, 1), b = random_tensor(sb, 2);
      auto want = expected_matmul(a, b, shape);
      if (gaps) a = strided(a), b = strided(b);
      Tensor y(DType::kF32, shape);
      Call call{{&a, &b}, {&y}};
      Status s = call.run("ref_matmul");
      ASSERT_TRUE(s.ok()) << s.message();
      EXPECT_LE(difference(y.values(), want), 2e-5) << to_string(a.meta) << to_string(b.meta);
      for (const char* name : {"avx512_matmul_f32_generic", "avx2_matmul_f32_generic"})
        for (int threads : {1, 2, 3})
          for (uint64_t constant : {0, 2}) {
            if (!can_run(kernel(name))) continue;
            Tensor fast(DType::kF32, shape);
            Call f{{&a, &b}, {&fast}};
            f.threads = threads;
            f.const_inputs = constant;
            for (int twice = 0; twice < 2; ++twice) {
              Status t = f.run(name);
              ASSERT_TRUE(t.ok()) << t.message();
              EXPECT_EQ(fast.values(), y.values()) << name << to_string(a.meta) << to_string(b.meta) << " threads " << threads;  // one fma chain: the same bits
            }
          }
    }
}

TEST(MatMul, OtherDtypes) {
  for (DType t : {DType::kF64, DType::kF16, DType::kBF16, DType::kI32, DType::kI64, DType::kU32, DType::kU64}) {
    Tensor a = random_tensor({2, 3, 5}, 1, t, is_float(t) ? -1 : 0, is_float(t) ? 1 : 50), b = random_tensor({5, 4}, 2, t, is_float(t) ? -1 : 0, is_float(t) ? 1 : 50);
    Shape shape;
    auto want = expected_matmul(a, b, shape);
    Tensor y(t, shape);
    Call call{{&a, &b}, {&y}};
    ASSERT_TRUE(call.run("ref_matmul").ok());
    EXPECT_LE(difference(y.values(), want), t == DType::kBF16 ? 8e-3 : t == DType::kF16 ? 1e-3 : 1e-12) << dtype_name(t);
  }
}

TEST(MatMul, RefusesInnerSizes) {
  Tensor a = random_tensor({2, 3}, 1), b = random_tensor({4, 2}, 2), y(DType::kF32, {2, 2});
  Call call{{&a, &b}, {&y}};
  EXPECT_EQ(call.run("ref_matmul").code(), StatusCode::kShapeMismatch);
}

TEST(Gemm, AlphaBetaTransposesAndBiasShapes) {
  for (Shape mnk : std::vector<Shape>{{3, 5, 4}, {1, 49, 17}, {9, 50, 600}, {0, 3, 2}, {3, 0, 2}, {4, 3, 0}})
    for (int trans = 0; trans < 4; ++trans)
      for (int bias = 0; bias < 6; ++bias)
        for (double alpha : {1.0, 0.5}) {
          int64_t m = mnk[0], n = mnk[1], k = mnk[2];
          bool ta = trans & 1, tb = trans & 2;
          double beta = bias % 2 ? 1.0 : 2.0;
          Tensor a = random_tensor(ta ? Shape{k, m} : Shape{m, k}, 1), b = random_tensor(tb ? Shape{n, k} : Shape{k, n}, 2);
          const Shape shapes[] = {{}, {n}, {1, n}, {m, 1}, {m, n}, {1}};
          Tensor c = random_tensor(shapes[bias], 3), y(DType::kF32, {m, n});
          bool has_c = alpha == 1.0 || bias > 0;
          auto av = a.values(), bv = b.values(), cv = c.values();
          std::vector<double> want;
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              double s = 0;
              for (int64_t t = 0; t < k; ++t) s += av[static_cast<size_t>(ta ? t * m + i : i * k + t)] * bv[static_cast<size_t>(tb ? j * k + t : t * n + j)];
              int64_t at = shapes[bias].size() == 2 ? (shapes[bias][0] == 1 ? 0 : i * shapes[bias][1]) + (shapes[bias][1] == 1 ? 0 : j) : shapes[bias].empty() || shapes[bias][0] == 1 ? 0 : j;
              want.push_back(alpha * s + (has_c ? beta * cv[static_cast<size_t>(at)] : 0));
            }
          Attributes attrs{{"alpha", alpha}, {"beta", beta}, {"transA", int64_t{ta}}, {"transB", int64_t{tb}}};
          Call call{{&a, &b, has_c ? &c : nullptr}, {&y}, attrs};
          Status s = call.run("ref_gemm");
          ASSERT_TRUE(s.ok()) << s.message();
          EXPECT_LE(difference(y.values(), want), 2e-5);
          for (const char* name : {"avx512_gemm_f32_generic", "avx2_gemm_f32_generic"})
            for (int threads : {1, 3}) {
              if (!can_run(kernel(name))) continue;
              Tensor fast(DType::kF32, {m, n});
              Call f{{&a, &b, has_c ? &c : nullptr}, {&fast}, attrs};
              f.threads = threads;
              f.const_inputs = threads == 1 ? 2 : 0;
              ASSERT_TRUE(f.run(name).ok());
              EXPECT_EQ(fast.values(), y.values()) << name;
            }
        }
}

TEST(MatMulInteger, ZeroPoints) {
  Tensor a = tensor(DType::kU8, {4, 3}, {11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0}), b = tensor(DType::kU8, {3, 2}, {1, 4, 2, 5, 3, 6});
  Tensor az = tensor(DType::kU8, {1}, {12}), bz = tensor(DType::kU8, {1}, {0}), y(DType::kI32, {4, 2});
  Call call{{&a, &b, &az, &bz}, {&y}};
  ASSERT_TRUE(call.run("ref_matmul_integer").ok());
  EXPECT_EQ(y.values(), (std::vector<double>{-38, -83, -44, -98, -50, -113, -56, -128}));  // ONNX's example
  Tensor columns = tensor(DType::kU8, {2}, {0, 5});
  Call per_column{{&a, &b, nullptr, &columns}, {&y}};
  ASSERT_TRUE(per_column.run("ref_matmul_integer").ok());
  EXPECT_EQ(y.values()[1], 11 * -1 + 7 * 0 + 3 * 1);
}

TEST(Einsum, Forms) {
  Tensor a = random_tensor({2, 3, 4}, 1), b = random_tensor({2, 4, 5}, 2), y(DType::kF32, {2, 3, 5});
  auto run = [](std::string equation, std::vector<const Tensor*> in, Tensor& out) {
    Call call{std::move(in), {&out}, {{"equation", equation}}};
    Status s = call.run("ref_einsum");
    EXPECT_TRUE(s.ok()) << s.message();
    return out.values();
  };
  Shape shape;
  auto product = expected_matmul(a, b, shape);
  EXPECT_LE(difference(run("bij, bjk -> bik", {&a, &b}, y), product), 1e-6);
  EXPECT_LE(difference(run("...ij,...jk->...ik", {&a, &b}, y), product), 1e-6);
  Tensor left = random_tensor({3, 4}, 1), right = random_tensor({4, 2}, 2), flat(DType::kF32, {3, 2});
  EXPECT_LE(difference(run("ij,jk", {&left, &right}, flat), expected_matmul(left, right, shape)), 1e-6);
  Tensor square = tensor(DType::kF32, {2, 2}, {1, 2, 3, 4}), diagonal(DType::kF32, {2}), scalar(DType::kF32, {}), transposed(DType::kF32, {2, 2});
  EXPECT_EQ(run("ii->i", {&square}, diagonal), (std::vector<double>{1, 4}));
  EXPECT_EQ(run("ij->", {&square}, scalar), (std::vector<double>{10}));
  EXPECT_EQ(run("ij->ji", {&square}, transposed), (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(run("ij,ij,ij->", {&square, &square, &square}, scalar), (std::vector<double>{1 + 8 + 27 + 64}));
  Tensor empty(DType::kF32, {0, 2}), sums(DType::kF32, {2});
  EXPECT_EQ(run("ij->j", {&empty}, sums), (std::vector<double>{0, 0}));
  Tensor ints = tensor(DType::kI32, {2}, {3, 4}), dot(DType::kI32, {});
  EXPECT_EQ(run("i,i->", {&ints, &ints}, dot), (std::vector<double>{25}));
  Call wrong{{&a, &b}, {&y}, {{"equation", std::string("bij->bi")}}};
  EXPECT_FALSE(wrong.run("ref_einsum").ok());
}

TEST(Det, SmallMatrices) {
  Tensor x = tensor(DType::kF32, {2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0}), y(DType::kF32, {2});
  Call call{{&x}, {&y}};
  ASSERT_TRUE(call.run("ref_det").ok());
  EXPECT_LE(difference(y.values(), {-2, -1}), 1e-6);
  Tensor none(DType::kF32, {1, 0, 0}), one(DType::kF32, {1});
  Call empty{{&none}, {&one}};
  ASSERT_TRUE(empty.run("ref_det").ok());
  EXPECT_EQ(one.values()[0], 1);
}

}  // namespace
}  // namespace msvm
