#include <cfenv>
#include <numbers>

#include "msvm/kernels/body_kernels.h"
#include "msvm/kernels/half.h"
#include "msvm/kernels/loops.h"
#include "msvm/kernels/op_testing.h"

namespace msvm {
namespace {
using namespace testing;

const std::vector<Shape> kShapes = {{}, {0}, {1}, {7}, {15}, {16}, {17}, {2, 0, 3}, {3, 5}, {2, 3, 7}, {1, 4, 1, 9}, {2, 1, 3, 2, 1, 2, 2, 3}, {600}};

struct Unary {
  const char* op;
  double (*f)(double);
  double low, high;
};
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

const Unary kUnary[] = {
    {"Abs", [](double x) { return std::fabs(x); }, -3, 3},
    {"Neg", [](double x) { return -x; }, -3, 3},
    {"Sign", [](double x) { return static_cast<double>((x > 0) - (x < 0)); }, -1, 1},
    {"Relu", [](double x) { return x > 0 ? x : 0.0; }, -3, 3},
    {"Sqrt", [](double x) { return std::sqrt(x); }, 0, 9},
    {"Exp", [](double x) { return std::exp(x); }, -5, 5},
    {"Log", [](double x) { return std::log(x); }, 0.1, 9},
    {"Reciprocal", [](double x) { return 1 / x; }, 0.5, 4},
    {"Ceil", [](double x) { return std::ceil(x); }, -3, 3},
    {"Floor", [](double x) { return std::floor(x); }, -3, 3},
    {"Round", [](double x) { return std::nearbyint(x); }, -3, 3},
    {"Sin", [](double x) { return std::sin(x); }, -3, 3},
    {"Cos", [](double x) { return std::cos(x); }, -3, 3},
    {"Tan", [](double x) { return std::tan(x); }, -1, 1},
    {"Asin", [](double x) { return std::asin(x); }, -1, 1},
    {"Acos", [](double x) { return std::acos(x); }, -1, 1},
    {"Atan", [](double x) { return std::atan(x); }, -3, 3},
    {"Sinh", [](double x) { return std::sinh(x); }, -3, 3},
    {"Cosh", [](double x) { return std::cosh(x); }, -3, 3},
    {"Tanh", [](double x) { return std::tanh(x); }, -3, 3},
    {"Asinh", [](double x) { return std::asinh(x); }, -3, 3},
    {"Acosh", [](double x) { return std::acosh(x); }, 1, 4},
    {"Atanh", [](double x) { return std::atanh(x); }, -0.9, 0.9},
    {"Erf", [](double x) { return std::erf(x); }, -3, 3},
    {"Sigmoid", sigmoid, -8, 8},
    {"Softplus", softplus, -8, 8},
    {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }, -3, 3},
    {"HardSwish", [](double x) { return x * clamp01(x / 6 + 0.5); }, -5, 5},
    {"Mish", [](double x) { return x * std::tanh(softplus(x)); }, -5, 5},
    {"LeakyRelu", [](double x) { return x < 0 ? 0.01 * x : x; }, -3, 3},
    {"Elu", [](double x) { return x < 0 ? std::expm1(x) : x; }, -3, 3},
    {"Selu", [](double x) { return 1.05070102214813232421875 * (x > 0 ? x : 1.67326319217681884765625 * std::expm1(x)); }, -3, 3},
    {"Celu", [](double x) { return x < 0 ? std::expm1(x) : x; }, -3, 3},
    {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0.0; }, -3, 3},
    {"HardSigmoid", [](double x) { return clamp01(0.2 * x + 0.5); }, -5, 5},
    {"Swish", [](double x) { return x * sigmoid(x); }, -5, 5},
    {"Gelu", [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }, -5, 5},
    {"Shrink", [](double x) { return x < -0.5 ? x : x > 0.5 ? x : 0.0; }, -3, 3},
};

TEST(Elementwise, UnaryOperatorsAgreeWithTheirFormulas) {
  for (const Unary& u : kUnary) {
    for (DType t : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
      unsigned seed = 0;
      for (const Shape& shape : kShapes) {
        Tensor x = random_tensor(shape, ++seed, t, u.low, u.high);
        for (bool gaps : {false, true}) {
          Tensor in = gaps ? strided(x) : x;
          std::vector<double> expected;
          for (double v : x.values()) expected.push_back(u.f(v));
          auto got = values_of({.op = u.op, .inputs = {&in}, .strided_outputs = gaps});
          EXPECT_LE(difference(got, expected), step_of(t) * 2) << u.op << " " << dtype_name(t) << " rank " << shape.size();
        }
      }
    }
  }
}

TEST(Elementwise, IntegersWrapAndKeepTheirSigns) {
  Tensor x = tensor(DType::kI8, {4}, {-128, -1, 0, 127});
  EXPECT_EQ(values_of({.op = "Abs", .inputs = {&x}}), (std::vector<double>{-128, 1, 0, 127}));
  EXPECT_EQ(values_of({.op = "Neg", .inputs = {&x}}), (std::vector<double>{-128, 1, 0, -127}));
  EXPECT_EQ(values_of({.op = "Sign", .inputs = {&x}}), (std::vector<double>{-1, -1, 0, 1}));
  EXPECT_EQ(values_of({.op = "BitwiseNot", .inputs = {&x}}), (std::vector<double>{127, 0, -1, -128}));
  Tensor u = tensor(DType::kU16, {2}, {65535, 2});
  EXPECT_EQ(values_of({.op = "Mul", .inputs = {&u, &u}}), (std::vector<double>{1, 4}));
  EXPECT_EQ(values_of({.op = "Add", .inputs = {&u, &u}}), (std::vector<double>{65534, 4}));
}

const std::vector<std::pair<Shape, Shape>> kPairs = {
    {{}, {}}, {{3}, {}}, {{}, {5}}, {{0}, {1}}, {{2, 3}, {3}}, {{2, 1, 4}, {3, 1}}, {{5, 1}, {1, 7}}, {{2, 3, 4}, {2, 1, 1}}, {{1, 3, 1, 5}, {2, 1, 4, 1}},
    {{3, 37}, {37}}, {{3, 600}, {3, 1}}, {{4, 0, 2}, {4, 1, 2}}, {{1, 2, 1, 2, 1, 2, 1, 2}, {2, 1, 2, 1, 2, 1, 2, 1}}};

struct Binary {
  const char* op;
  double (*f)(double, double);
};

void check_binary(const Binary& b, DType t, double low, double high, Attributes attrs = {}) {
  unsigned seed = 7;
  for (const auto& [sa, sb] : kPairs) {
    Tensor x = random_tensor(sa, ++seed, t, low, high), y = random_tensor(sb, ++seed, t, low, high);
    // No divisor is 0.
    std::vector<double> yv = y.values();
    for (double& v : yv) v = v == 0 ? 1 : v;
    y.set(yv);
    for (int variant = 0; variant < 3; ++variant) {
      Tensor p = variant & 1 ? strided(x) : x, q = variant ? strided(y) : y;
      OpCall call{.op = b.op, .inputs = {&p, &q}, .attrs = attrs, .strided_outputs = variant == 2};
      auto r = run_op(call);
      ASSERT_TRUE(r.ok()) << r.status().message();
      std::vector<double> expected, xv = x.values();
      yv = y.values();
      each_index((*r)[0].shape(), [&](const Shape& i) { expected.push_back(b.f(xv[flat_of(sa, i)], yv[flat_of(sb, i)])); });
      EXPECT_LE(difference((*r)[0].values(), expected), is_float(t) ? step_of(t) * 4 : 0) << b.op << " " << dtype_name(t) << " ranks " << sa.size() << " " << sb.size();
    }
  }
}

TEST(Elementwise, BinaryOperatorsBroadcastAnyStrides) {
  const Binary kFloat[] = {{"Add", [](double a, double b) { return a + b; }},        {"Sub", [](double a, double b) { return a - b; }},
                           {"Mul", [](double a, double b) { return a * b; }},        {"Div", [](double a, double b) { return a / b; }},
                           {"Max", [](double a, double b) { return std::max(a, b); }}, {"Min", [](double a, double b) { return std::min(a, b); }},
                           {"Sum", [](double a, double b) { return a + b; }},        {"Mean", [](double a, double b) { return (a + b) / 2; }}};
  for (const Binary& b : kFloat)
    for (DType t : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) check_binary(b, t, 0.5, 4);
  const Binary kInt[] = {{"Add", [](double a, double b) { return a + b; }},
                         {"Mul", [](double a, double b) { return a * b; }},
                         {"Div", [](double a, double b) { return std::trunc(a / b); }},
                         {"Mod", [](double a, double b) { return a - std::floor(a / b) * b; }},
                         {"Max", [](double a, double b) { return std::max(a, b); }}};
  for (const Binary& b : kInt) {
    for (DType t : {DType::kI8, DType::kI16, DType::kI32, DType::kI64}) check_binary(b, t, -9, 9);
    for (DType t : {DType::kU8, DType::kU16, DType::kU32, DType::kU64}) check_binary(b, t, 0, 9);
  }
  check_binary({"Mod", [](double a, double b) { double r = std::fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }}, DType::kF32, 1, 9);
  check_binary({"Mod", [](double a, double b) { return std::fmod(a, b); }}, DType::kI32, -9, 9, {{"fmod", int64_t{1}}});
  check_binary({"Mod", [](double a, double b) { return std::fmod(a, b); }}, DType::kF32, 1, 9, {{"fmod", int64_t{1}}});
  check_binary({"Pow", [](double a, double b) { return std::pow(a, b); }}, DType::kF32, 0.5, 3);
  check_binary({"Pow", [](double a, double b) { return std::pow(a, b); }}, DType::kI64, 1, 6);
  check_binary({"BitwiseXor", [](double a, double b) { return static_cast<double>(static_cast<int64_t>(a) ^ static_cast<int64_t>(b)); }}, DType::kI32, -9, 9);
  check_binary({"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }}, DType::kF16, -2, 2);
  check_binary({"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }}, DType::kI8, -3, 3);
  check_binary({"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }}, DType::kU32, 0, 3);
}

TEST(Elementwise, PowMixesTypes) {
  Tensor i = tensor(DType::kI32, {4}, {2, 3, -2, 1}), f = tensor(DType::kF32, {4}, {0.5, 2, 3, -1}), e = tensor(DType::kI64, {4}, {3, 2, -1, -5});
  EXPECT_EQ(values_of({.op = "Pow", .inputs = {&i, &f}}), (std::vector<double>{1, 9, -8, 1}));
  EXPECT_EQ(values_of({.op = "Pow", .inputs = {&i, &e}}), (std::vector<double>{8, 9, 0, 1}));
  auto got = values_of({.op = "Pow", .inputs = {&f, &e}});
  EXPECT_LE(difference(got, {0.125, 4, 1.0 / 3, -1}), 1e-6);
  Tensor two = tensor(DType::kF32, {}, {2});
  EXPECT_LE(difference(values_of({.op = "Pow", .inputs = {&f, &two}}), {0.25, 4, 9, 1}), 0);
}

TEST(Elementwise, PowHasTheBitsOfTheBodyStep) {
  const BodyKernels* body = body_kernels(cpu_features().isa);
  if (!body) GTEST_SKIP() << "no vectors here";
  std::vector<double> bases, exponents;
  for (int i = 0; i < 999; ++i) bases.push_back(static_cast<float>(i * 7 % 101) * 0.11f - 0.7f), exponents.push_back(i % 5 == 0 ? 3 : static_cast<float>(i * 11 % 37) * 0.21f - 3);
  Tensor a = tensor(DType::kF32, {999}, bases), b = tensor(DType::kF32, {999}, exponents);
  std::vector<float> x(bases.begin(), bases.end()), y(exponents.begin(), exponents.end()), want(999);
  body->step[static_cast<int>(BodyOp::kPow)][BodyKernels::kRows](x.data(), y.data(), 0, 0, want.data(), 999);
  const auto have = values_of({.op = "Pow", .inputs = {&a, &b}});
  for (size_t i = 0; i < want.size(); ++i) ASSERT_TRUE(static_cast<float>(have[i]) == want[i] || (std::isnan(have[i]) && std::isnan(want[i]))) << x[i] << "^" << y[i];
}

TEST(Elementwise, HazardsAreErrors) {
  Tensor a = tensor(DType::kI32, {3}, {1, -2147483648.0, 5}), zero = tensor(DType::kI32, {3}, {1, 1, 0}), minus = tensor(DType::kI32, {}, {-1});
  EXPECT_EQ(code_of({.op = "Div", .inputs = {&a, &zero}}), StatusCode::kOutOfRange);
  EXPECT_EQ(code_of({.op = "Mod", .inputs = {&a, &zero}}), StatusCode::kOutOfRange);
  EXPECT_EQ(code_of({.op = "Div", .inputs = {&a, &minus}}), StatusCode::kOutOfRange);
  EXPECT_EQ(values_of({.op = "Mod", .inputs = {&a, &minus}}), (std::vector<double>{0, 0, 0}));
  Tensor u = tensor(DType::kU8, {2}, {255, 3}), by = tensor(DType::kU8, {2}, {7, 8});
  EXPECT_EQ(code_of({.op = "BitShift", .inputs = {&u, &by}, .attrs = {{"direction", std::string("LEFT")}}}), StatusCode::kOutOfRange);
  Tensor by7 = tensor(DType::kU8, {}, {7});
  EXPECT_EQ(values_of({.op = "BitShift", .inputs = {&u, &by7}, .attrs = {{"direction", std::string("LEFT")}}}), (std::vector<double>{128, 128}));
  EXPECT_EQ(values_of({.op = "BitShift", .inputs = {&u, &by7}, .attrs = {{"direction", std::string("RIGHT")}}}), (std::vector<double>{1, 0}));
  Tensor empty(DType::kI32, {0});
  EXPECT_EQ(code_of({.op = "Div", .inputs = {&empty, &empty}}), StatusCode::kOk);
}

TEST(Elementwise, NanGoesThrough) {
  const double nan = NAN;
  Tensor x = tensor(DType::kF32, {3}, {nan, 1, -1}), y = tensor(DType::kF32, {3}, {0, nan, nan});
  for (const char* op : {"Max", "Min", "Add"}) {
    auto v = values_of({.op = op, .inputs = {&x, &y}});
    for (double d : v) EXPECT_TRUE(std::isnan(d)) << op;
  }
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "Erf", "Gelu", "Exp", "Log", "HardSwish", "HardSigmoid", "LeakyRelu", "Elu", "Mish", "Softplus", "Swish", "Clip", "Sign"})
    for (const KernelInfo& k : plain_kernels())
      if (k.op == op && can_run(k)) {
        EXPECT_TRUE(std::isnan(values_of({.op = op, .inputs = {&x}, .kernel = std::string(k.name)})[0])) << k.name;
      }
  EXPECT_EQ(values_of({.op = "IsNaN", .inputs = {&x}}), (std::vector<double>{1, 0, 0}));
  Tensor inf = tensor(DType::kF16, {3}, {INFINITY, -INFINITY, 3});
  EXPECT_EQ(values_of({.op = "IsInf", .inputs = {&inf}}), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(values_of({.op = "IsInf", .inputs = {&inf}, .attrs = {{"detect_negative", int64_t{0}}}}), (std::vector<double>{1, 0, 0}));
}

TEST(Elementwise, ClipWithAndWithoutBounds) {
  for (DType t : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI16, DType::kI32, DType::kI64}) {
    Tensor x = tensor(t, {5}, {-100, -2, 0, 3, 100}), low = tensor(t, {}, {-2}), high = tensor(t, {1}, {3});
    EXPECT_EQ(values_of({.op = "Clip", .inputs = {&x, &low, &high}}), (std::vector<double>{-2, -2, 0, 3, 3}));
    EXPECT_EQ(values_of({.op = "Clip", .inputs = {&x, &low}}), (std::vector<double>{-2, -2, 0, 3, 100}));
    EXPECT_EQ(values_of({.op = "Clip", .inputs = {&x, nullptr, &high}}), (std::vector<double>{-100, -2, 0, 3, 3}));
    EXPECT_EQ(values_of({.op = "Clip", .inputs = {&x}}), x.values());
  }
  Tensor x = random_tensor({3, 700}, 5), low = tensor(DType::kF32, {}, {-0.25}), high = tensor(DType::kF32, {}, {0.5});
  auto reference = values_of({.op = "Clip", .inputs = {&x, &low, &high}});
  for (const char* k : {"avx2_clip_f32", "avx512_clip_f32"}) {
    Isa isa = std::string_view(k).starts_with("avx512") ? Isa::kAvx512 : Isa::kAvx2;
    if (cpu_features().isa >= isa) { EXPECT_EQ(values_of({.op = "Clip", .inputs = {&x, &low, &high}, .kernel = k}), reference); }
  }
}

TEST(Elementwise, VariadicOnesFoldAllInputs) {
  for (DType t : {DType::kF32, DType::kF16, DType::kF64}) {
    Tensor a = random_tensor({2, 1, 5}, 1, t), b = random_tensor({3, 1}, 2, t), c = random_tensor({}, 3, t), d = random_tensor({2, 3, 5}, 4, t);
    auto av = a.values(), bv = b.values(), cv = c.values(), dv = d.values();
    std::vector<double> sum, top;
    each_index({2, 3, 5}, [&](const Shape& i) {
      double v[4] = {av[flat_of(a.shape(), i)], bv[flat_of(b.shape(), i)], cv[0], dv[flat_of(d.shape(), i)]};
      sum.push_back(v[0] + v[1] + v[2] + v[3]);
      top.push_back(std::max({v[0], v[1], v[2], v[3]}));
    });
    std::vector<double> mean = sum;
    for (double& v : mean) v /= 4;
    EXPECT_LE(difference(values_of({.op = "Sum", .inputs = {&a, &b, &c, &d}}), sum), step_of(t) * 2);
    EXPECT_LE(difference(values_of({.op = "Mean", .inputs = {&a, &b, &c, &d}}), mean), step_of(t) * 2);
    EXPECT_EQ(values_of({.op = "Max", .inputs = {&a, &b, &c, &d}}), top);
    EXPECT_EQ(values_of({.op = "Mean", .inputs = {&d}}), d.values());
  }
}

TEST(Elementwise, WhereAndLogic) {
  Tensor c(DType::kBool, {3, 1});
  c.meta.as<uint8_t>()[0] = 0, c.meta.as<uint8_t>()[1] = 2, c.meta.as<uint8_t>()[2] = 255;  // any byte but 0 is true
  for (DType t : {DType::kF32, DType::kF64, DType::kF16, DType::kI8, DType::kI64}) {
    Tensor x = tensor(t, {4}, {1, 2, 3, 4}), y = tensor(t, {}, {9});
    EXPECT_EQ(values_of({.op = "Where", .inputs = {&c, &x, &y}}), (std::vector<double>{9, 9, 9, 9, 1, 2, 3, 4, 1, 2, 3, 4}));
    Tensor cs = strided(c), xs = strided(x);
    EXPECT_EQ(values_of({.op = "Where", .inputs = {&cs, &xs, &y}, .strided_outputs = true}), (std::vector<double>{9, 9, 9, 9, 1, 2, 3, 4, 1, 2, 3, 4}));
  }
  Tensor d = tensor(DType::kBool, {3, 1}, {0, 1, 1});
  EXPECT_EQ(values_of({.op = "Equal", .inputs = {&c, &d}}), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(values_of({.op = "Xor", .inputs = {&c, &d}}), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(values_of({.op = "And", .inputs = {&c, &d}}), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(values_of({.op = "Not", .inputs = {&c}}), (std::vector<double>{1, 0, 0}));
}

TEST(Elementwise, PReluBroadcastsItsSlope) {
  Tensor x = tensor(DType::kF32, {2, 3}, {-1, 2, -3, 4, -5, 6}), s = tensor(DType::kF32, {2, 1}, {0.5, 2});
  EXPECT_EQ(values_of({.op = "PRelu", .inputs = {&x, &s}}), (std::vector<double>{-0.5, 2, -1.5, 4, -10, 6}));
  Tensor a = tensor(DType::kF32, {3}, {-2, 0, 2}), b = tensor(DType::kF32, {3}, {1, 2, 3});
  EXPECT_LE(difference(values_of({.op = "SwiGLU", .inputs = {&a, &b}}), {-2 * sigmoid(-2), 0, 2 * sigmoid(2) * 3}), 1e-6);
}

// ---- instruction sets ------------------------------------------------------------------------------------------------------

double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }

TEST(Elementwise, FastLoopsStayWithinTheirErrors) {
  struct Row {
    const char* op;
    double (*f)(double);
    double relative;  // 0: absolute or relative, whichever is less, within 2e-7
    Attributes attrs = {};
  };
  const Row kRows[] = {{"Exp", [](double x) { return std::exp(x); }, 7.5e-8}, {"Log", [](double x) { return std::log(x); }, 8e-8},
                       {"Tanh", [](double x) { return std::tanh(x); }, 1.7e-7}, {"Erf", [](double x) { return std::erf(x); }, 9e-8},
                       {"Sigmoid", sigmoid, 1.4e-7},                            {"Softplus", softplus, 0},
                       {"Mish", [](double x) { return x * std::tanh(softplus(x)); }, 0}, {"Swish", [](double x) { return x * sigmoid(x); }, 0},
                       {"Gelu", [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }, 0},
                       {"Gelu", gelu_tanh, 0, {{"approximate", std::string("tanh")}}},
                       {"Elu", [](double x) { return x < 0 ? std::expm1(x) : x; }, 0}};
  std::vector<float> points;
  for (uint64_t u = 0; u < (uint64_t{1} << 32); u += 40009) {
    float f = std::bit_cast<float>(static_cast<uint32_t>(u));
    if (f == f) points.push_back(f);
  }
  for (float f = -20; f < 20; f += 0.0011f) points.push_back(f);
  for (float f : {0.0f, -0.0f, 88.72f, 88.73f, -87.3f, -103.9f, -104.1f, 0.55f, 0.9277f, INFINITY, -INFINITY}) points.push_back(f);
  Tensor x(DType::kF32, {static_cast<int64_t>(points.size())});
  std::copy(points.begin(), points.end(), x.meta.as<float>());
  for (const Row& row : kRows) {
    std::vector<std::byte> first;
    for (const KernelInfo& k : plain_kernels()) {
      if (k.op != row.op || k.isa == Isa::kScalar || !can_run(k)) continue;
      auto r = run_op({.op = row.op, .inputs = {&x}, .attrs = row.attrs, .kernel = std::string(k.name)});
      ASSERT_TRUE(r.ok());
      const float* y = (*r)[0].meta.as<float>();
      double worst = 0;
      float where = 0;
      for (size_t i = 0; i < points.size(); ++i) {
        const double expected = row.f(points[i]);
        if (std::isnan(expected)) {
          if (!std::isinf(points[i])) { EXPECT_TRUE(std::isnan(y[i])) << k.name << " " << points[i]; }  // x * sigmoid(x) at -inf: any
          continue;
        }
        if (std::fabs(expected) > 3.402823466e38) {
          EXPECT_TRUE(std::isinf(y[i])) << k.name << " " << points[i];
          continue;
        }
        if (std::isinf(points[i]) && points[i] < 0 && row.relative == 0) continue;
        const double absolute = std::fabs(y[i] - expected);
        double error = std::fabs(expected) < 1.18e-38 ? (absolute < 1e-38 ? 0 : 1) : absolute / std::fabs(expected);
        if (row.relative == 0) error = std::min(error, absolute);
        if (!(error <= worst)) worst = error, where = points[i];
      }
      EXPECT_LE(worst, row.relative == 0 ? 2e-7 : row.relative) << k.name << " at " << where;
      if (first.empty()) first = (*r)[0].bytes;
      EXPECT_TRUE(first == (*r)[0].bytes) << k.name << " differs from the other instruction set";
    }
  }
}

TEST(Elementwise, FastLoopsAgreeWithReference) {
  int fast = 0;
  for (const KernelInfo& k : plain_kernels()) {
    if (find_op(k.op)->op_class != OpClass::kElementwise) continue;
    fast += k.isa != Isa::kScalar;
    if (k.isa == Isa::kScalar || !can_run(k)) continue;
    const bool two = find_op(k.op)->inputs.size() == 2;
    for (int64_t n : {0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 601}) {
      Tensor x = random_tensor({3, n}, 3, DType::kF32, 0.1, 4), y = random_tensor(k.op == "SwiGLU" ? Shape{3, n} : Shape{n}, 4, DType::kF32, 0.5, 2);
      std::vector<const Tensor*> in = {&x};
      if (two) in.push_back(&y);
      EXPECT_LE(difference(values_of({.op = std::string(k.op), .inputs = in, .kernel = std::string(k.name)}), values_of({.op = std::string(k.op), .inputs = in})), 3e-7) << k.name << " " << n;
    }
  }
#if defined(__x86_64__)
  EXPECT_EQ(fast, 2 * 25);  // compiled in, whatever this machine has
#endif
}

TEST(Elementwise, BitsDependNeitherOnThreadsNorOnPlace) {
  Tensor x = random_tensor({300'001}, 9, DType::kF32, -6, 6);
  for (const KernelInfo& k : plain_kernels()) {
    if (find_op(k.op)->inputs.size() != 1 || !can_run(k) || !(find_op(k.op)->inputs[0].dtypes & bit(DType::kF32)) || find_op(k.op)->op_class != OpClass::kElementwise) continue;
    if (k.op == "Cast" || k.op == "BitCast" || find_op(k.op)->variadic) continue;
    OpCall call{.op = std::string(k.op), .inputs = {&x}, .kernel = std::string(k.name), .threads = 1};
    auto one = run_op(call);
    ASSERT_TRUE(one.ok()) << k.name;
    for (int threads : {2, 3}) {
      call.threads = threads;
      auto more = run_op(call);
      ASSERT_TRUE(more.ok());
      EXPECT_TRUE((*one)[0].bytes == (*more)[0].bytes) << k.name;
    }
    if (k.isa == Isa::kScalar) continue;
    for (int64_t from : {1, 5, 13}) {
      for (int64_t n : {1, 3, 8, 19, 64}) {
        Tensor part(DType::kF32, {n});
        std::memcpy(part.bytes.data(), x.bytes.data() + from * 4, static_cast<size_t>(n * 4));
        auto r = run_op({.op = std::string(k.op), .inputs = {&part}, .kernel = std::string(k.name)});
        const size_t size = (*r)[0].bytes.size() / static_cast<size_t>(n);
        EXPECT_EQ(std::memcmp((*r)[0].bytes.data(), (*one)[0].bytes.data() + static_cast<size_t>(from) * size, (*r)[0].bytes.size()), 0) << k.name << " " << from << " " << n;
      }
    }
  }
}

TEST(Elementwise, WorksInPlace) {
  Tensor x = random_tensor({1000}, 2), y = random_tensor({1000}, 3);
  for (const KernelInfo& k : plain_kernels()) {
    const OpSchema& op = *find_op(k.op);
    if (op.op_class != OpClass::kElementwise || op.variadic || !can_run(k) || k.op == "Clip" || k.op == "Where" || !(op.inputs[0].dtypes & bit(DType::kF32))) continue;
    if (k.op == "Mod") continue;
    for (size_t i = 0; i < op.inputs.size() && i < 2; ++i) {
      if (!(op.in_place >> i & 1)) continue;
      std::vector<const Tensor*> in = {&x};
      if (op.inputs.size() > 1) in.push_back(&y);
      auto expected = run_op({.op = std::string(k.op), .inputs = in, .kernel = std::string(k.name)});
      ASSERT_TRUE(expected.ok()) << k.name << expected.status().message();
      if ((*expected)[0].meta.dtype != DType::kF32) continue;
      Tensor a = x, b = y;
      std::vector<const TensorMeta*> metas = {&a.meta};
      if (in.size() > 1) metas.push_back(&b.meta);
      TensorMeta out = *metas[i];
      TensorMeta* outs[1] = {&out};
      TestMemory memory;
      std::unique_ptr<KernelSiteState> site;
      Attributes attrs;
      KernelCall call{op, attrs, metas, {}, outs, 0, workers(2), memory, site, false};
      ASSERT_TRUE(k.run(call).ok());
      EXPECT_EQ(std::memcmp(out.data, (*expected)[0].meta.data, 4000), 0) << k.name << " over input " << i;
    }
  }
}

// ---- Cast ------------------------------------------------------------------------------------------------------------------

TEST(Cast, EveryPairOfNumbers) {
  for (int f = 0; f < kNumDTypes; ++f)
    for (int t = 0; t < kNumDTypes; ++t) {
      const auto from = static_cast<DType>(f), to = static_cast<DType>(t);
      if (from == DType::kString || to == DType::kString) continue;
      std::vector<double> v = {0, 1, 2, 3, 5, 7, 100, 127};
      Tensor x = tensor(from, {2, 4}, v);
      for (bool gaps : {false, true}) {
        Tensor in = gaps ? strided(x) : x;
        std::vector<double> expected = x.values();
        if (from == DType::kBool || to == DType::kBool)
          for (double& e : expected) e = e != 0;
        EXPECT_EQ(values_of({.op = "Cast", .inputs = {&in}, .attrs = {{"to", to}}, .strided_outputs = gaps}), expected) << dtype_name(from) << " " << dtype_name(to);
      }
    }
}

TEST(Cast, FractionsTruncateAndWhatDoesNotFitIsAnError) {
  Tensor x = tensor(DType::kF32, {4}, {-1.9, -0.5, 0.5, 2.7});
  EXPECT_EQ(values_of({.op = "Cast", .inputs = {&x}, .attrs = {{"to", DType::kI32}}}), (std::vector<double>{-1, 0, 0, 2}));
  EXPECT_EQ(values_of({.op = "Cast", .inputs = {&x}, .attrs = {{"to", DType::kBool}}}), (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(code_of({.op = "Cast", .inputs = {&x}, .attrs = {{"to", DType::kU8}}}), StatusCode::kOutOfRange);  // -1.9
  struct { DType from, to; double v; bool fits; } kCases[] = {
      {DType::kF32, DType::kI32, 2147483520.0, true}, {DType::kF32, DType::kI32, 2147483648.0, false}, {DType::kF32, DType::kI32, -2147483648.0, true},
      {DType::kF32, DType::kI32, -2147483904.0, false}, {DType::kF64, DType::kI32, 2147483647.5, true}, {DType::kF64, DType::kI32, -2147483648.9, true},
      {DType::kF64, DType::kI32, 2147483648.0, false}, {DType::kF64, DType::kI64, 9223372036854775808.0, false}, {DType::kF64, DType::kI64, -9223372036854775808.0, true},
      {DType::kF64, DType::kU64, 18446744073709549568.0, true}, {DType::kF64, DType::kU64, 18446744073709551616.0, false}, {DType::kF64, DType::kU64, -1, false},
      {DType::kF64, DType::kU8, 255.9, true}, {DType::kF64, DType::kU8, 256, false}, {DType::kF64, DType::kU8, -0.9, true}, {DType::kF16, DType::kI8, -128.5, true},
      {DType::kF32, DType::kI64, NAN, false}, {DType::kF32, DType::kI8, INFINITY, false}, {DType::kF32, DType::kBool, NAN, true}};
  for (const auto& k : kCases) {
    Tensor t = tensor(k.from, {}, {k.v});
    EXPECT_EQ(code_of({.op = "Cast", .inputs = {&t}, .attrs = {{"to", k.to}}}), k.fits ? StatusCode::kOk : StatusCode::kOutOfRange) << k.v << " " << dtype_name(k.to);
  }
  Tensor wide = tensor(DType::kI32, {2}, {300, -1});
  EXPECT_EQ(values_of({.op = "Cast", .inputs = {&wide}, .attrs = {{"to", DType::kU8}}}), (std::vector<double>{44, 255}));
}

TEST(Cast, HalvesRoundToNearestEven) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(all.size());
  std::vector<uint16_t> back(all.size());
  f16_to_f32_row(all.data(), wide.data(), 65536);
  f32_to_f16_row(wide.data(), back.data(), 65536);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(f16_to_f32(all[i]))) << i;
    EXPECT_EQ(back[i], f32_to_f16(wide[i]));
    if (wide[i] == wide[i]) { EXPECT_EQ(back[i], all[i]); }
    EXPECT_EQ(f32_to_bf16(bf16_to_f32(all[i])), bf16_to_f32(all[i]) == bf16_to_f32(all[i]) ? all[i] : all[i] | 0x40);
  }
  // Between each two neighbours: below, at and above the middle.
  for (uint32_t i = 0; i < 0x7bff; ++i) {
    const double a = f16_to_f32(static_cast<uint16_t>(i)), b = f16_to_f32(static_cast<uint16_t>(i + 1)), middle = (a + b) / 2;
    EXPECT_EQ(f64_to_f16(middle), i & 1 ? i + 1 : i);
    EXPECT_EQ(f64_to_f16(std::nextafter(middle, 0)), i);
    EXPECT_EQ(f64_to_f16(std::nextafter(middle, 1e9)), i + 1);
    EXPECT_EQ(f32_to_f16(static_cast<float>(middle)), i & 1 ? i + 1 : i);
  }
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f64_to_f16(1e300), 0x7c00);
  EXPECT_EQ(f64_to_bf16(3.4028234663852886e38), 0x7f80);
  // The vector rows have the same bits as the single conversion.
  std::vector<float> some;
  for (uint64_t u = 0; u < (uint64_t{1} << 32); u += 65521) some.push_back(std::bit_cast<float>(static_cast<uint32_t>(u)));
  std::vector<uint16_t> narrow(some.size());
  f32_to_f16_row(some.data(), narrow.data(), static_cast<int64_t>(some.size()));
  for (size_t i = 0; i < some.size(); ++i) EXPECT_EQ(narrow[i], f32_to_f16(some[i])) << some[i];
}

/// Strings stand in memory of their own.
struct Strings {
  std::vector<std::string> data;
  Tensor t;
  explicit Strings(std::vector<std::string> d, Shape shape) : data(std::move(d)) {
    t.meta.dtype = DType::kString;
    t.meta.rank = static_cast<uint8_t>(shape.size());
    std::copy(shape.begin(), shape.end(), t.meta.shape.begin());
    EXPECT_TRUE(set_dense_strides(t.meta));
    t.meta.data = reinterpret_cast<std::byte*>(data.data());
  }
};

Status run_raw(const char* op_name, std::vector<const TensorMeta*> in, TensorMeta* out, Attributes attrs = {}, std::vector<int64_t> args = {}) {
  const OpSchema& op = *find_op(op_name);
  TensorMeta* outs[1] = {out};
  TestMemory memory;
  std::unique_ptr<KernelSiteState> site;
  KernelCall call{op, attrs, in, args, outs, 0, workers(2), memory, site, false};
  for (const KernelInfo& k : plain_kernels())
    if (k.op == op_name) return k.run(call);
  return internal_error("no kernel");
}

TEST(Strings, AreCastComparedSelectedAndMoved) {
  Strings a({"1", "-2.5", " 3e2 ", "NaN"}, {4}), b({"1", "x", "", "NaN"}, {4}), out({"", "", "", ""}, {4});
  Tensor f(DType::kF32, {4}), equal(DType::kBool, {4});
  ASSERT_TRUE(run_raw("Cast", {&a.t.meta}, &f.meta, {{"to", DType::kF32}}).ok());
  EXPECT_EQ(f.meta.as<float>()[1], -2.5f);
  EXPECT_EQ(f.meta.as<float>()[2], 300.0f);
  EXPECT_TRUE(std::isnan(f.meta.as<float>()[3]));
  ASSERT_TRUE(run_raw("Equal", {&a.t.meta, &b.t.meta}, &equal.meta).ok());
  EXPECT_EQ(equal.values(), (std::vector<double>{1, 0, 0, 1}));
  ASSERT_TRUE(run_raw("Where", {&equal.meta, &a.t.meta, &b.t.meta}, &out.t.meta).ok());
  EXPECT_EQ(out.data, (std::vector<std::string>{"1", "x", "", "NaN"}));
  f.set({1, 0.1, -1e20, INFINITY});
  ASSERT_TRUE(run_raw("Cast", {&f.meta}, &out.t.meta, {{"to", DType::kString}}).ok());
  EXPECT_EQ(out.data, (std::vector<std::string>{"1", "0.1", "-1e+20", "INF"}));
  Tensor i(DType::kI8, {4});
  Strings numbers({"1", "-128", "+7", "12.9"}, {4}), bad({"1", "2", "3", "128"}, {4}), word({"1", "2", "3", "three"}, {4});
  ASSERT_TRUE(run_raw("Cast", {&numbers.t.meta}, &i.meta, {{"to", DType::kI8}}).ok());
  EXPECT_EQ(i.values(), (std::vector<double>{1, -128, 7, 12}));
  EXPECT_EQ(run_raw("Cast", {&bad.t.meta}, &i.meta, {{"to", DType::kI8}}).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(run_raw("Cast", {&word.t.meta}, &i.meta, {{"to", DType::kI8}}).code(), StatusCode::kOutOfRange);
  Strings flipped({"", "", "", ""}, {4});
  ASSERT_TRUE(run_raw("Slice", {&b.t.meta}, &flipped.t.meta, {{"axes", std::vector<int64_t>{0}}, {"steps", std::vector<int64_t>{-1}}}, {3, -5}).ok());
  EXPECT_EQ(flipped.data, (std::vector<std::string>{"NaN", "", "x", "1"}));
}

}  // namespace
}  // namespace msvm
