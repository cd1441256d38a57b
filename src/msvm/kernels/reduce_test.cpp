#include "msvm/kernels/op_testing.h"

namespace msvm {
namespace {
using namespace testing;

struct Reduction {
  const char* op;
  double (*f)(const std::vector<double>&);
};
double sum(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}
double squares(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x * x;
  return s;
}
const Reduction kReductions[] = {
    {"ReduceSum", sum},
    {"ReduceMean", [](const std::vector<double>& v) { return sum(v) / static_cast<double>(v.size()); }},
    {"ReduceProd", [](const std::vector<double>& v) { double p = 1; for (double x : v) p *= x; return p; }},
    {"ReduceMax", [](const std::vector<double>& v) { double m = -INFINITY; for (double x : v) m = std::max(m, x); return m; }},
    {"ReduceMin", [](const std::vector<double>& v) { double m = INFINITY; for (double x : v) m = std::min(m, x); return m; }},
    {"ReduceL1", [](const std::vector<double>& v) { double s = 0; for (double x : v) s += std::fabs(x); return s; }},
    {"ReduceL2", [](const std::vector<double>& v) { return std::sqrt(squares(v)); }},
    {"ReduceSumSquare", squares},
    {"ReduceLogSum", [](const std::vector<double>& v) { return std::log(sum(v)); }},
    {"ReduceLogSumExp", [](const std::vector<double>& v) { double s = 0; for (double x : v) s += std::exp(x); return std::log(s); }},
};

std::vector<double> expected(const Tensor& x, uint32_t mask, double (*f)(const std::vector<double>&)) {
  Shape shape = x.shape(), kept;
  for (size_t a = 0; a < shape.size(); ++a) kept.push_back(mask >> a & 1 ? 1 : shape[a]);
  std::vector<std::vector<double>> groups(static_cast<size_t>(size_of(kept)));
  auto v = x.values();
  size_t i = 0;
  each_index(shape, [&](const Shape& index) { groups[flat_of(kept, index)].push_back(v[i++]); });
  std::vector<double> out;
  for (auto& g : groups) out.push_back(f(g));
  return out;
}

TEST(Reduce, AgreesWithTheFormulasForEverySetOfAxes) {
  for (const Shape& shape : std::vector<Shape>{{}, {1}, {5}, {0}, {3, 0}, {2, 3}, {3, 17}, {17, 3}, {2, 3, 4}, {4, 1, 33}, {2, 3, 2, 5}, {600}, {2, 530}}) {
    for (uint32_t mask = 0; mask < 1u << shape.size(); ++mask) {
      std::vector<int64_t> axes;
      for (size_t a = 0; a < shape.size(); ++a)
        if (mask >> a & 1) axes.push_back(a % 2 ? static_cast<int64_t>(a) : static_cast<int64_t>(a) - static_cast<int64_t>(shape.size()));
      for (const Reduction& r : kReductions) {
        for (DType t : {DType::kF32, DType::kF64, DType::kF16}) {
          Tensor x = random_tensor(shape, 3 + mask, t, 0.2, 1.5);
          const auto want = expected(x, mask, r.f);
          for (int variant = 0; variant < 2; ++variant) {
            Tensor in = variant ? strided(x) : x;
            auto got = values_of({.op = r.op, .inputs = {&in}, .attrs = {{"axes", axes}, {"keepdims", int64_t{variant}}}, .strided_outputs = variant == 1});
            // What f16 can hold at most is 65504; products of many stay small.
            EXPECT_LE(difference(got, want), step_of(t) * 4) << r.op << " " << dtype_name(t) << " mask " << mask << " rank " << shape.size();
          }
        }
      }
    }
  }
}

TEST(Reduce, NothingGivesTheNeutralElement) {
  Tensor x(DType::kF32, {2, 0});
  const Attributes axes = {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}};
  EXPECT_EQ(values_of({.op = "ReduceSum", .inputs = {&x}, .attrs = axes}), (std::vector<double>{0, 0}));
  EXPECT_EQ(values_of({.op = "ReduceProd", .inputs = {&x}, .attrs = axes}), (std::vector<double>{1, 1}));
  EXPECT_EQ(values_of({.op = "ReduceMax", .inputs = {&x}, .attrs = axes}), (std::vector<double>{-INFINITY, -INFINITY}));
  EXPECT_EQ(values_of({.op = "ReduceLogSum", .inputs = {&x}, .attrs = axes}), (std::vector<double>{-INFINITY, -INFINITY}));
  EXPECT_EQ(values_of({.op = "ReduceLogSumExp", .inputs = {&x}, .attrs = axes}), (std::vector<double>{-INFINITY, -INFINITY}));
  for (double v : values_of({.op = "ReduceMean", .inputs = {&x}, .attrs = axes})) EXPECT_TRUE(std::isnan(v));
  Tensor i(DType::kI16, {2, 0});
  EXPECT_EQ(values_of({.op = "ReduceMax", .inputs = {&i}, .attrs = axes}), (std::vector<double>{-32768, -32768}));
  EXPECT_EQ(values_of({.op = "ReduceMin", .inputs = {&i}, .attrs = axes}), (std::vector<double>{32767, 32767}));
  EXPECT_EQ(code_of({.op = "ReduceMean", .inputs = {&i}, .attrs = axes}), StatusCode::kOutOfRange);
  Tensor u(DType::kU64, {2, 0});
  auto r = run_op({.op = "ReduceMin", .inputs = {&u}, .attrs = axes});
  EXPECT_EQ((*r)[0].meta.as<uint64_t>()[0], ~uint64_t{0});
}

TEST(Reduce, IntegersAndBools) {
  Tensor x = tensor(DType::kI32, {2, 3}, {1, -2, 4, -7, 0, 6});
  const Attributes rows = {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}};
  EXPECT_EQ(values_of({.op = "ReduceSum", .inputs = {&x}, .attrs = rows}), (std::vector<double>{3, -1}));
  EXPECT_EQ(values_of({.op = "ReduceMean", .inputs = {&x}, .attrs = rows}), (std::vector<double>{1, 0}));
  EXPECT_EQ(values_of({.op = "ReduceL1", .inputs = {&x}, .attrs = rows}), (std::vector<double>{7, 13}));
  EXPECT_EQ(values_of({.op = "ReduceSumSquare", .inputs = {&x}, .attrs = rows}), (std::vector<double>{21, 85}));
  EXPECT_EQ(values_of({.op = "ReduceL2", .inputs = {&x}, .attrs = rows}), (std::vector<double>{4, 9}));
  Tensor big = tensor(DType::kI32, {2}, {2147483647, 1});
  EXPECT_EQ(values_of({.op = "ReduceSum", .inputs = {&big}, .attrs = {{"axes", std::vector<int64_t>{0}}, {"keepdims", int64_t{0}}}}), (std::vector<double>{-2147483648.0}));
  Tensor b(DType::kBool, {2, 2});
  b.meta.as<uint8_t>()[0] = 0, b.meta.as<uint8_t>()[1] = 4, b.meta.as<uint8_t>()[2] = 1, b.meta.as<uint8_t>()[3] = 9;
  EXPECT_EQ(values_of({.op = "ReduceMax", .inputs = {&b}, .attrs = rows}), (std::vector<double>{1, 1}));
  EXPECT_EQ(values_of({.op = "ReduceMin", .inputs = {&b}, .attrs = rows}), (std::vector<double>{0, 1}));
}

TEST(Reduce, NanAndLargeExponents) {
  for (int64_t n : {3, 40}) {
    std::vector<double> v(static_cast<size_t>(n), 1);
    v[1] = NAN;
    Tensor x = tensor(DType::kF32, {n}, v);
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum"})
      EXPECT_TRUE(std::isnan(values_of({.op = op, .inputs = {&x}, .attrs = {{"axes", std::vector<int64_t>{0}}, {"keepdims", int64_t{0}}}})[0])) << op;
  }
  Tensor x = tensor(DType::kF32, {2}, {1000, 1000});
  EXPECT_LE(difference(values_of({.op = "ReduceLogSumExp", .inputs = {&x}, .attrs = {{"axes", std::vector<int64_t>{0}}, {"keepdims", int64_t{0}}}}), {1000 + std::log(2.0)}), 1e-6);
}

TEST(Reduce, BitsDoNotDependOnThreads) {
  Tensor x = random_tensor({5, 61, 1009}, 8);
  for (const Reduction& r : kReductions)
    for (const std::vector<int64_t>& axes : std::vector<std::vector<int64_t>>{{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}}) {
      OpCall call{.op = r.op, .inputs = {&x}, .attrs = {{"axes", axes}}, .threads = 1};
      auto one = run_op(call);
      ASSERT_TRUE(one.ok());
      for (call.threads = 2; call.threads <= 3; ++call.threads) {
        auto more = run_op(call);
        EXPECT_TRUE((*one)[0].bytes == (*more)[0].bytes) << r.op;
      }
    }
  // Rounding does not pile up over millions.
  Tensor ones(DType::kF32, {3'000'001});
  std::fill_n(ones.meta.as<float>(), 3'000'001, 0.1f);
  auto s = values_of({.op = "ReduceSum", .inputs = {&ones}, .attrs = {{"axes", std::vector<int64_t>{0}}}, .threads = 3});
  EXPECT_NEAR(s[0], 3'000'001 * static_cast<double>(0.1f), 0.2);
}

}  // namespace
}  // namespace msvm
