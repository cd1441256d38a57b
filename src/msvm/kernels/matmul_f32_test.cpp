// Products over packed panels against the reference: the same bits, whatever sizes, strides, threads and instruction set; endings.
#include "msvm/kernels/gemm_tiles.h"
#include "msvm/kernels/kernel_testing.h"

namespace msvm {
namespace {
using namespace testing;

Tensor turned(const Tensor& t) {  // a view of the transpose, its elements where they were
  Tensor s = t;
  const auto r = static_cast<size_t>(t.meta.rank);
  std::vector<double> v = t.values();
  Shape shape = t.shape();
  std::swap(shape[r - 1], shape[r - 2]);
  Tensor u(t.meta.dtype, shape);
  std::swap(u.meta.shape[r - 1], u.meta.shape[r - 2]);
  std::swap(u.meta.strides[r - 1], u.meta.strides[r - 2]);
  u.set(v);
  return u;
}

void expect_same(const char* const (&names)[2], const Call& call, const Tensor& want, const std::string& what) {
  for (int i = 0; i < 2; ++i) {
    if (!can_run(kernel(names[i]))) continue;
    for (int threads : {1, 2, 3}) {
      Tensor y(DType::kF32, want.shape());
      Call f{call.inputs, {&y}, call.attrs};
      f.const_inputs = call.const_inputs;
      f.threads = threads;
      for (int twice = 0; twice < 2; ++twice) {
        Status s = f.run(names[i]);
        ASSERT_TRUE(s.ok()) << s.message();
        ASSERT_TRUE(f.accepted);
        ASSERT_TRUE(same_bits(y, want)) << names[i] << " " << what << " threads " << threads << " off by " << difference(y.values(), want.values());
      }
    }
  }
}

const char* const kMatMul[2] = {"avx512_matmul_f32_generic", "avx2_matmul_f32_generic"};
const char* const kFused[2] = {"avx512_fused_matmul_f32", "avx2_fused_matmul_f32"};

TEST(MatMulF32, SizeClasses) {
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 17, 29, 97, 113})
    for (int64_t n : {1, 15, 16, 17, 31, 33, 48, 49, 64, 127, 130})
      for (int64_t k : {0, 1, 7, 64}) {
        Tensor a = random_tensor({m, k}, 1), b = random_tensor({k, n}, 2), y(DType::kF32, {m, n});
        Tensor bt = turned(b);
        Call call{{&a, &b}, {&y}};
        ASSERT_TRUE(call.run("ref_matmul").ok());
        const std::string what = std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
        for (const Tensor* view : {&b, &bt})
          for (uint64_t constant : {0, 2}) {
            Call f{{&a, view}, {}};
            f.const_inputs = constant;
            expect_same(kMatMul, f, y, what);
          }
      }
}

TEST(MatMulF32, LongSums) {
  for (Shape mkn : std::vector<Shape>{{9, 768, 33}, {33, 769, 50}, {5, 1537, 17}, {2, 2000, 200}, {20, 1024, 40}, {14, 1024, 70}}) {
    Tensor a = random_tensor({mkn[0], mkn[1]}, 1), b = random_tensor({mkn[1], mkn[2]}, 2), y(DType::kF32, {mkn[0], mkn[2]});
    Call call{{&a, &b}, {&y}};
    ASSERT_TRUE(call.run("ref_matmul").ok());
    Tensor as = strided(a), bs = strided(b);
    Call plain{{&a, &b}, {}}, gaps{{&as, &bs}, {}};
    expect_same(kMatMul, plain, y, "dense");
    expect_same(kMatMul, gaps, y, "with gaps");
    plain.const_inputs = 2;
    expect_same(kMatMul, plain, y, "constant");
  }
}

TEST(MatMulF32, BatchesOfHeads) {
  for (auto [batch, rows, size] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{{6, 1, 32}, {6, 7, 32}, {4, 40, 32}, {3, 65, 64}, {1, 100, 17}}) {
    Tensor q = random_tensor({2, batch, rows, size}, 1), k = random_tensor({2, batch, size, rows}, 2), one = random_tensor({batch, size, rows}, 3), y(DType::kF32, {2, batch, rows, rows});
    for (const Tensor* keys : {&k, &one}) {
      Call call{{&q, keys}, {&y}};
      ASSERT_TRUE(call.run("ref_matmul").ok());
      Tensor view = turned(*keys);
      Call plain{{&q, keys}, {}}, turned_call{{&q, &view}, {}};
      expect_same(kMatMul, plain, y, "heads");
      expect_same(kMatMul, turned_call, y, "heads, keys turned");
      turned_call.const_inputs = 2;
      expect_same(kMatMul, turned_call, y, "heads, keys constant");
    }
  }
}

struct Ending {
  std::vector<std::string> body;
  int extras;       // 0: none, 1: of the result's shape, 2: one value per column
  double bound;     // 0: the same bits
};

TEST(FusedMatMul, AgreesWithItsReference) {
  const std::vector<Ending> endings = {
      {{}, 0, 0},
      {{"Relu(y)"}, 0, 0},
      {{"Clip(y, -0.25, 0.5)"}, 0, 0},
      {{"Add(y, i3)"}, 1, 0},
      {{"Add(i3, y)", "Relu(s0)"}, 1, 0},
      {{"Relu(y)", "Add(s0, i3)"}, 1, 0},
      {{"Gelu(y)"}, 0, 1e-6},
      {{"Gelu(y)", "Add(s0, i3)"}, 1, 1e-6},
      {{"Add(y, i3)", "Tanh(s0)"}, 1, 1e-6},
      {{"HardSwish(y)"}, 0, 1e-6},
      {{"Mul(y, i3)"}, 2, 0},
      {{"Mul(y, 0.5)", "Sigmoid(s0)", "Mul(s1, i3)"}, 1, 1e-6},
  };
  for (Shape mkn : std::vector<Shape>{{0, 3, 4}, {1, 40, 50}, {7, 16, 16}, {15, 33, 17}, {100, 24, 49}, {10, 800, 36}, {3, 0, 5}})
    for (const Ending& e : endings)
      for (int64_t trans : {0, 1})
        for (bool bias : {true, false}) {
          const int64_t m = mkn[0], k = mkn[1], n = mkn[2];
          Tensor a = random_tensor({m, k}, 1), b = random_tensor(trans ? Shape{n, k} : Shape{k, n}, 2), c = random_tensor({n}, 3), y(DType::kF32, {m, n});
          Tensor extra = e.extras == 2 ? random_tensor({n}, 4) : random_tensor({m, n}, 4);
          Attributes attrs{{"transB", trans}, {"body", e.body}};
          Call call{{&a, &b, bias ? &c : nullptr}, {&y}, attrs};
          if (e.extras) call.inputs.push_back(&extra);
          Status s = call.run("ref_fused_matmul");
          ASSERT_TRUE(s.ok()) << s.message();
          for (uint64_t constant : {0, 6}) {
            call.const_inputs = constant;
            if (e.bound == 0) {
              expect_same(kFused, call, y, e.body.empty() ? "" : e.body[0]);
              continue;
            }
            for (const char* name : kFused) {
              if (!can_run(kernel(name))) continue;
              Tensor one(DType::kF32, {m, n}), two(DType::kF32, {m, n});
              for (auto [to, threads] : {std::pair{&one, 1}, std::pair{&two, 3}}) {
                Call f{call.inputs, {to}, attrs};
                f.const_inputs = constant;
                f.threads = threads;
                ASSERT_TRUE(f.run(name).ok());
              }
              EXPECT_TRUE(same_bits(one, two));
              EXPECT_LE(difference(one.values(), y.values()), e.bound) << name << e.body[0];
            }
          }
        }
}

TEST(FusedMatMul, BatchesWithBodies) {
  for (int64_t m : {1, 5, 40}) {
    Tensor a = random_tensor({2, 3, m, 20}, 1), b = random_tensor({3, 20, 35}, 2), mask = random_tensor({2, 1, 1, 35}, 3), same = random_tensor({2, 3, m, 35}, 4), y(DType::kF32, {2, 3, m, 35});
    for (int which = 0; which < 3; ++which) {
      const std::vector<std::string> bodies[] = {{"Mul(y, 0.25)", "Add(s0, i3)"}, {"Add(y, i3)"}, {"Add(y, i3)"}};
      Attributes attrs{{"body", bodies[which]}};
      Call call{{&a, &b, nullptr, which == 2 ? &same : &mask}, {&y}, attrs};
      Status s = call.run("ref_fused_matmul");
      ASSERT_TRUE(s.ok()) << s.message();
      expect_same(kFused, call, y, "batch");
      Tensor bt = turned(b);
      call.inputs[1] = &bt;
      expect_same(kFused, call, y, "batch, B turned");
    }
  }
}

TEST(MatMulF32, WritesIntoWindows) {
  for (Shape sizes : std::vector<Shape>{{2, 5, 7, 20}, {1, 40, 9, 35}, {3, 1, 30, 17}}) {
    const int64_t batch = sizes[0], m = sizes[1], k = sizes[2], n = sizes[3];
    Tensor a = random_tensor({batch, m, k}, 1), b = random_tensor({k, n}, 2), bias = random_tensor({n}, 3), want(DType::kF32, {batch, m, n});
    Attributes attrs{{"body", std::vector<std::string>{"Relu(y)"}}};
    ASSERT_TRUE((Call{{&a, &b, &bias}, {&want}, attrs}).run("ref_fused_matmul").ok());
    for (const char* name : kFused) {
      if (!can_run(kernel(name))) continue;
      Tensor wide(DType::kF32, {batch, m + 1, n + 3});
      wide.set(std::vector<double>(static_cast<size_t>(size_of(wide.shape())), 9));
      Tensor y = wide;
      y.meta.shape = {batch, m, n};
      Call call{{&a, &b, &bias}, {&y}, attrs};
      ASSERT_TRUE(call.run(name).ok());
      ASSERT_TRUE(call.accepted);
      EXPECT_EQ(y.values(), want.values()) << name;
      y.set(std::vector<double>(static_cast<size_t>(batch * m * n), 9));
      y.meta.shape = {batch, m + 1, n + 3};
      EXPECT_EQ(y.values(), wide.values()) << name;  // nothing outside was touched
    }
  }
}

TEST(MatMulF32, RefusesSizesThatAreNoBuffer) {
  Tensor a = random_tensor({20, 1}, 1), b = random_tensor({1, 1}, 2), y(DType::kF32, {20, 1});
  a.meta.shape = {20, int64_t{1} << 60}, a.meta.strides = {0, 0};  // views of stride 0
  b.meta.shape = {int64_t{1} << 60, 1}, b.meta.strides = {0, 0};
  for (const char* name : kMatMul) {
    if (!can_run(kernel(name))) continue;
    Call call{{&a, &b}, {&y}};
    call.const_inputs = 2;
    EXPECT_EQ(call.run(name).code(), StatusCode::kResourceLimit);
  }
}

TEST(FusedMatMul, RefusesWrongInputs) {
  Tensor a = random_tensor({3, 4}, 1), b = random_tensor({4, 5}, 2), bias = random_tensor({4}, 3), y(DType::kF32, {3, 5});
  for (const char* name : kFused) {
    if (!can_run(kernel(name))) continue;
    Call wrong_bias{{&a, &b, &bias}, {&y}};
    EXPECT_EQ(wrong_bias.run(name).code(), StatusCode::kShapeMismatch);
    Call wrong_inner{{&a, &a, nullptr}, {&y}};
    EXPECT_EQ(wrong_inner.run(name).code(), StatusCode::kShapeMismatch);
    Call wrong_extra{{&a, &b, nullptr, &bias}, {&y}, {{"body", std::vector<std::string>{"Add(y, i3)"}}}};
    EXPECT_FALSE(wrong_extra.run(name).ok());
  }
}

TEST(GemmTiles, TransposedPanels) {
  for (Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (static_cast<int>(isa) > static_cast<int>(cpu_features().isa)) continue;
    const GemmKernels& g = *gemm_kernels(isa);
    for (int64_t cols : {1, 7, 8, 9, 14, 16})
      for (int64_t steps : {0, 1, 8, 13, 40})
        for (int64_t to_step : {cols, int64_t{16}}) {
          std::vector<float> from(static_cast<size_t>(cols * (steps + 3))), to(static_cast<size_t>(steps * to_step + 16));
          for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
          g.transpose_panel(from.data(), steps + 3, cols, steps, to.data(), to_step);
          for (int64_t k = 0; k < steps; ++k)
            for (int64_t j = 0; j < cols; ++j) ASSERT_EQ(to[static_cast<size_t>(k * to_step + j)], from[static_cast<size_t>(j * (steps + 3) + k)]);
        }
  }
}

}  // namespace
}  // namespace msvm
