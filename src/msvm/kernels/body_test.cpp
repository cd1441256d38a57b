// Arithmetic of body steps and programs of them.
#include <gtest/gtest.h>

#include "msvm/kernels/body_program.h"
#include "msvm/kernels/epilogue.h"
#include "msvm/kernels/layout_testing.h"
#include "msvm/kernels/loops.h"

namespace msvm::testing {
namespace {

std::vector<Isa> isas() {
  std::vector<Isa> list;
  for (Isa isa : {Isa::kAvx2, Isa::kAvx512})
    if (isa <= cpu_features().isa) list.push_back(isa);
  return list;
}
uint32_t bits_of(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}
bool same(float a, float b) { return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b)); }

double exact(BodyOp op, double a, double b, double p, double q) {
  auto clamp01 = [](double v) { return v < 0 ? 0.0 : v > 1 ? 1.0 : v; };
  auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  auto softplus = [](double v) { return v > 0 ? v + std::log1p(std::exp(-v)) : std::log1p(std::exp(v)); };
  switch (op) {
    case BodyOp::kAdd: return a + b;
    case BodyOp::kSub: return a - b;
    case BodyOp::kMul: return a * b;
    case BodyOp::kDiv: return a / b;
    case BodyOp::kMin: return a < b || std::isnan(a) ? a : b;
    case BodyOp::kMax: return a > b || std::isnan(a) ? a : b;
    case BodyOp::kPow: return std::pow(a, b);
    case BodyOp::kNeg: return -a;
    case BodyOp::kAbs: return std::fabs(a);
    case BodyOp::kSqrt: return std::sqrt(a);
    case BodyOp::kReciprocal: return 1 / a;
    case BodyOp::kExp: return std::exp(a);
    case BodyOp::kLog: return std::log(a);
    case BodyOp::kFloor: return std::floor(a);
    case BodyOp::kCeil: return std::ceil(a);
    case BodyOp::kRound: return std::nearbyint(a);
    case BodyOp::kErf: return std::erf(a);
    case BodyOp::kTanh: return std::tanh(a);
    case BodyOp::kSigmoid: return sigmoid(a);
    case BodyOp::kRelu: return a < 0 ? 0 : a;
    case BodyOp::kLeakyRelu: return a < 0 ? p * a : a;
    case BodyOp::kClip: return a < p ? p : a > q ? q : a;
    case BodyOp::kHardSigmoid: return std::isnan(a) ? a : clamp01(p * a + q);
    case BodyOp::kHardSwish: return a * clamp01(a / 6 + 0.5);
    case BodyOp::kSilu: return a * sigmoid(a);
    case BodyOp::kGelu: return 0.5 * a * std::erfc(-a * std::sqrt(0.5));
    case BodyOp::kGeluTanh: return 0.5 * a * (1 + std::tanh(0.7978845608028654 * (a + 0.044715 * a * a * a)));
    case BodyOp::kElu: return a < 0 ? p * std::expm1(a) : a;
    case BodyOp::kSoftplus: return softplus(a);
    case BodyOp::kMish: return a * std::tanh(softplus(a));
    case BodyOp::kSin: return std::sin(a);
    case BodyOp::kCos: return std::cos(a);
  }
  return 0;
}

struct Range {
  double low, high, bound;  // |error| <= bound * max(|exact|, 1 if `absolute`)
  bool absolute;
};
Range range_of(BodyOp op) {
  switch (op) {
    case BodyOp::kSqrt: return {0, 1e6, 6e-8, false};
    case BodyOp::kLog: return {1e-30, 1e6, 8e-8, false};
    case BodyOp::kPow: return {0.1, 20, 1.3e-7, false};
    case BodyOp::kExp: return {-80, 80, 7.5e-8, false};
    case BodyOp::kErf: return {-5, 5, 9.5e-8, false};
    case BodyOp::kTanh: return {-10, 10, 1.8e-7, false};
    case BodyOp::kSigmoid: return {-40, 40, 1.5e-7, false};
    case BodyOp::kSin:
    case BodyOp::kCos: return {-60000, 60000, 1.2e-7, true};
    case BodyOp::kHardSigmoid:
    case BodyOp::kHardSwish:
    case BodyOp::kSilu:
    case BodyOp::kGelu:
    case BodyOp::kGeluTanh:
    case BodyOp::kElu:
    case BodyOp::kSoftplus:
    case BodyOp::kMish: return {-20, 20, 2.5e-7, true};
    default: return {-1000, 1000, 6e-8, false};
  }
}

TEST(BodySteps, AreRightAndTheSameInEverySet) {
  for (Isa isa : isas())
    for (const BodyOpInfo& info : body_ops()) {
      const BodyOp op = *find_body_op(info.name);
      const Range range = range_of(op);
      const BodyStepFn* step = body_kernels(isa)->step[static_cast<size_t>(op)];
      const float p = op == BodyOp::kClip ? -3.0f : 0.2f, q = op == BodyOp::kClip ? 6.0f : 0.5f;
      std::mt19937 random(7);
      std::uniform_real_distribution<float> values(static_cast<float>(range.low), static_cast<float>(range.high));
      const int64_t n = 20011;
      std::vector<float> a(n), b(n), out(n), one(1), scalar(n);
      for (auto& v : a) v = values(random);
      for (auto& v : b) v = op == BodyOp::kPow ? values(random) * 0.2f : values(random);
      step[0](a.data(), b.data(), p, q, out.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        const size_t k = static_cast<size_t>(i);
        const double want = exact(op, a[k], b[k], p, q), error = std::fabs(out[k] - want), limit = range.bound * (range.absolute ? std::max(1.0, std::fabs(want)) : std::fabs(want));
        ASSERT_LE(error, limit + 1e-38) << info.name << " of " << a[k] << ", " << b[k] << " is " << want << ", not " << out[k];
        if (i < 100) {
          step[0](&a[k], &b[k], p, q, one.data(), 1);
          ASSERT_TRUE(same(one[0], out[k])) << info.name << " alone at " << i;
          const float s = body_step_scalar(op, a[k], b[k], p, q);
          ASSERT_LE(std::fabs(s - want), 3 * limit + 1e-38) << info.name << " by the C library";
        }
      }
      for (int64_t m : {0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 101}) {
        std::vector<float> short_out(static_cast<size_t>(m) + 1, 77.0f);
        step[0](a.data(), b.data(), p, q, short_out.data(), m);
        for (size_t i = 0; i < static_cast<size_t>(m); ++i) ASSERT_TRUE(same(short_out[i], out[i])) << info.name << " " << m;
        ASSERT_EQ(short_out.back(), 77.0f) << info.name << " writes beyond its row";
        if (kBodyStepShapes[static_cast<size_t>(op)].operands - kBodyStepShapes[static_cast<size_t>(op)].constants < 2) continue;
        for (int which : {1, 2}) {
          step[which](a.data(), b.data(), p, q, short_out.data(), m);
          for (size_t i = 0; i < static_cast<size_t>(m); ++i) {
            step[0](which == 1 ? a.data() : &a[i], which == 2 ? b.data() : &b[i], p, q, one.data(), 1);
            ASSERT_TRUE(same(short_out[i], one[0])) << info.name << " with a number";
          }
        }
      }
      if (isa == Isa::kAvx512) {
        body_kernels(Isa::kAvx2)->step[static_cast<size_t>(op)][0](a.data(), b.data(), p, q, scalar.data(), n);
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) ASSERT_TRUE(same(out[i], scalar[i])) << info.name << " differs between instruction sets";
      }
    }
}

TEST(BodySteps, HandleSpecialValues) {
  const float inf = INFINITY, nan = NAN;
  const std::vector<float> special = {0.0f, -0.0f, inf, -inf, nan, 1e-40f, -1e-40f, 3.4e38f, -3.4e38f, 1e6f, -1e6f, 88.8f, -104.5f, 1.0f, -1.0f, 2.5f, 3.5f};
  for (Isa isa : isas())
    for (const BodyOpInfo& info : body_ops()) {
      const BodyOp op = *find_body_op(info.name);
      std::vector<float> a, b;
      for (float x : special)
        for (float y : special) a.push_back(x), b.push_back(y);
      std::vector<float> out(a.size());
      body_kernels(isa)->step[static_cast<size_t>(op)][0](a.data(), b.data(), 0.2f, 0.5f, out.data(), static_cast<int64_t>(a.size()));
      for (size_t i = 0; i < a.size(); ++i) {
        const float want = body_step_scalar(op, a[i], b[i], 0.2f, 0.5f);
        const double error = std::fabs(static_cast<double>(out[i]) - want);
        EXPECT_TRUE(same(out[i], want) || error <= 1e-6 * std::max(1.0f, std::fabs(want))) << info.name << " of " << a[i] << ", " << b[i] << " is " << want << ", not " << out[i];
      }
    }
}

TEST(BodySteps, HaveTheBitsOfTheSeparateOperators) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> values(-9, 9);
  std::vector<float> a(999), b(999), fused(999), apart(999);
  for (auto& v : a) v = values(random);
  for (auto& v : b) v = values(random);
  for (Isa isa : isas()) {
    const F32Loops& loops = isa == Isa::kAvx512 ? kF32LoopsAvx512 : kF32LoopsAvx2;
    auto check = [&](BodyOp op, DenseFn loop, float p, float q, LoopParams params) {
      const void* in[3] = {a.data(), b.data(), nullptr};
      loop(in, apart.data(), 999, params);
      body_kernels(isa)->step[static_cast<size_t>(op)][0](a.data(), b.data(), p, q, fused.data(), 999);
      for (size_t i = 0; i < 999; ++i) ASSERT_TRUE(same(fused[i], apart[i])) << body_op_info(op).name << " of " << a[i];
    };
#define SAME(name) check(BodyOp::k##name, loops.name, 0, 0, {});
    SAME(Add) SAME(Sub) SAME(Mul) SAME(Div) SAME(Relu) SAME(Sigmoid) SAME(HardSwish) SAME(Tanh) SAME(Erf) SAME(Exp) SAME(Sqrt) SAME(Abs) SAME(Neg) SAME(Reciprocal) SAME(Mish)
    SAME(Softplus) SAME(Log) SAME(Gelu)
#undef SAME
    check(BodyOp::kGeluTanh, loops.Gelu, 0, 0, {.flag = 1});
    check(BodyOp::kSilu, loops.Swish, 0, 0, {.a = 1});
    check(BodyOp::kLeakyRelu, loops.LeakyRelu, 0.01f, 0, {.a = 0.01});
    check(BodyOp::kElu, loops.Elu, 0.7f, 0, {.a = 0.7});
    check(BodyOp::kHardSigmoid, loops.HardSigmoid, 0.2f, 0.5f, {.a = 0.2, .b = 0.5});
  }
}

BodyProgram program_of(const std::vector<std::string>& text, size_t first, size_t inputs, bool has_result) {
  auto body = parse_body(text, first, inputs, has_result);
  EXPECT_TRUE(body.ok()) << body.status().message();
  return BodyProgram(body.ok() ? *body : Body{});
}

TEST(BodyProgram, RunsTilesOfAnyLengthInPlace) {
  const BodyProgram p = program_of({"Add(y, i3)", "Relu(s0)", "Mul(s1, i4)", "Add(2, 0.5)", "Sub(s2, s3)", "Max(s4, s0)", "Add(s5, y)"}, 3, 5, true);
  EXPECT_EQ(p.inputs().size(), 2u);
  for (Isa isa : isas())
    for (int64_t n : {0, 1, 16, 17, 511, 512, 513, 2000})
      for (bool in_place : {false, true}) {
        std::vector<float> y(static_cast<size_t>(n)), i3(y), out(y);
        for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i % 13) - 6, i3[i] = static_cast<float>(i % 7) * 0.5f;
        const float i4 = 3;
        std::vector<float> want(y.size()), scratch(static_cast<size_t>(p.scratch_floats()));
        for (size_t i = 0; i < y.size(); ++i) {
          float s0 = y[i] + i3[i], s2 = std::max(s0, 0.0f) * i4;
          want[i] = std::max(s2 - 2.5f, s0) + y[i];
        }
        std::vector<BodyRow> rows = {{}, {}, {}, {i3.data(), 1}, {&i4, 0}};
        float* to = in_place ? y.data() : out.data();
        p.run(*vector_kernels(isa), y.data(), rows, to, n, scratch.data());
        for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(to[i], want[i]) << n << " at " << i;
      }
}

TEST(BodyProgram, StepsOfNumbersAloneFillTheRow) {
  const BodyProgram p = program_of({"Add(i0, 1)", "Mul(s0, s0)"}, 0, 1, false);
  const float three = 2;
  std::vector<float> out(700), scratch(static_cast<size_t>(p.scratch_floats()));
  std::vector<BodyRow> rows = {{&three, 0}};
  for (Isa isa : isas()) {
    p.run(*vector_kernels(isa), nullptr, rows, out.data(), 700, scratch.data());
    EXPECT_EQ(out[0], 9);
    EXPECT_EQ(out[699], 9);
  }
}

TEST(BodyProgram, KeepsManyValuesAlive) {
  // Every value is read again at the end: as many rows as steps.
  std::vector<std::string> text;
  for (int i = 0; i < 31; ++i) text.push_back("Add(i0, " + std::to_string(i) + ")");
  for (int i = 0; i < 31; ++i) text.push_back("Add(s" + std::to_string(i == 0 ? 0 : 30 + i) + ", s" + std::to_string(i) + ")");
  const BodyProgram p = program_of(text, 0, 1, false);
  std::vector<float> x(600, 1.0f), out(600), scratch(static_cast<size_t>(p.scratch_floats()));
  std::vector<BodyRow> rows = {{x.data(), 1}};
  for (Isa isa : isas()) {
    p.run(*vector_kernels(isa), nullptr, rows, out.data(), 600, scratch.data());
    EXPECT_EQ(out[0], 32 + 465);
    EXPECT_EQ(out[599], 32 + 465);
  }
}

// ---- describe_epilogue -------------------------------------------------------------------------------------------------------

struct EpilogueCall {
  Tensor x = Tensor(DType::kF32, {1, 4, 3, 3}), y = Tensor(DType::kF32, {1, 4, 3, 3}), residual = Tensor(DType::kF32, {1, 4, 3, 3}), channel = Tensor(DType::kF32, {4, 1, 1});
  std::unique_ptr<KernelSiteState> site;
  WorkerPool pool{1};

  Epilogue describe(const std::vector<std::string>& body, bool affine = false) {
    Attributes attrs;
    if (!body.empty()) attrs.set("body", body);
    OpSchema schema;
    schema.name = "msvm.Conv";
    const TensorMeta* in[5] = {&x.meta, &x.meta, nullptr, &residual.meta, &channel.meta};
    TensorMeta* out[1] = {&y.meta};
    TestMemory memory;
    KernelCall call{schema, attrs, in, {}, out, 0, pool, memory, site, false};
    auto e = describe_epilogue(call, 3, affine);
    EXPECT_TRUE(e.ok()) << e.status().message();
    auto again = describe_epilogue(call, 3, affine);
    EXPECT_TRUE(again.ok() && again->residual == e->residual && again->activation == e->activation && again->rest == e->rest);
    return e.ok() ? *e : Epilogue{};
  }
};
Epilogue describe(const std::vector<std::string>& body) { return EpilogueCall().describe(body); }

TEST(Epilogue, SaysCommonBodiesWithFields) {
  EXPECT_TRUE(describe({}).simple());
  Epilogue e = describe({"Relu(y)"});
  EXPECT_TRUE(e.simple() && e.activation == Activation::kRelu && e.residual == -1);
  e = describe({"Clip(y, 0, 6)"});
  EXPECT_TRUE(e.simple() && e.activation == Activation::kClip && e.alpha == 0 && e.beta == 6);
  e = describe({"Add(i3, y)", "Gelu(s0)"});
  EXPECT_TRUE(e.simple() && e.activation == Activation::kGelu && e.residual == 3 && !e.residual_last);
  e = describe({"LeakyRelu(y, 0.1)", "Add(s0, i3)"});
  EXPECT_TRUE(e.simple() && e.activation == Activation::kLeakyRelu && e.alpha == 0.1f && e.residual == 3 && e.residual_last);
  e = describe({"Sigmoid(y)", "Mul(y, s0)", "Add(s1, i3)"});
  EXPECT_TRUE(e.simple() && e.activation == Activation::kSilu && e.residual == 3 && e.residual_last);
  e = describe({"Add(y, i3)", "HardSigmoid(s0, 0.16666667, 0.5)", "Mul(s1, s0)"});
  EXPECT_TRUE(e.simple() && e.activation == Activation::kHardSwish && e.residual == 3 && !e.residual_last);
}

TEST(Epilogue, AProductAndASumWithNumbersAfterBounds) {
  auto affine = [](const std::vector<std::string>& body) { return EpilogueCall().describe(body, true); };
  Epilogue e = affine({"HardSwish(y)", "Mul(0.5, s0)", "Add(s1, 3)"});
  EXPECT_TRUE(e.simple() && e.activation == Activation::kHardSwish && e.affine && e.scale == 0.5f && e.shift == 3);
  e = affine({"Add(y, i3)", "Relu(s0)", "Mul(s1, -2)"});
  EXPECT_TRUE(e.simple() && e.residual == 3 && !e.residual_last && e.affine && e.scale == -2 && std::signbit(e.shift));
  e = affine({"Add(y, 1.5)"});
  EXPECT_TRUE(e.simple() && e.activation == Activation::kNone && e.affine && e.scale == 1 && e.shift == 1.5f);
  for (const std::vector<std::string>& body : std::vector<std::vector<std::string>>{{"Add(y, 1)", "Mul(s0, 2)"}, {"Relu(y)", "Mul(s0, 2)", "Mul(s1, 2)"}, {"Relu(y)", "Add(s0, 2)", "Add(s1, 2)"}, {"Mul(y, 2)", "Relu(s0)"}, {"Relu(y)", "Mul(s0, 2)", "Add(s1, i3)"},
                                                                                    {"Relu(y)", "Add(s0, i3)", "Mul(s1, 2)"}, {"Tanh(y)", "Mul(s0, 2)"}, {"Relu(y)", "Mul(y, 2)"}, {"Relu(y)", "Mul(2, 3)"}})
    EXPECT_TRUE(affine(body).rest) << body.back();
  EXPECT_TRUE(describe({"HardSwish(y)", "Mul(0.5, s0)", "Add(s1, 3)"}).rest);  // a caller that doesn't do it
}

TEST(Epilogue, LeavesTheOthersToTheBody) {
  for (std::vector<std::string> body : std::vector<std::vector<std::string>>{{"Add(y, i4)"}, {"Mul(y, i3)"}, {"Add(y, 1)"}, {"Add(y, y)"}, {"Relu(y)", "Tanh(s0)"}, {"Relu(y)", "Add(y, i3)"},
                                                                              {"Add(y, i3)", "Relu(s0)", "Add(s1, i3)"}, {"Exp(y)"}, {"Sigmoid(y)", "Mul(s0, i3)"}, {"Relu(i3)"}, {"Elu(y, 1)"},
                                                                              {"HardSigmoid(y, 0.2, 0.5)", "Mul(y, s0)"}}) {
    const Epilogue e = describe(body);
    EXPECT_TRUE(e.rest && e.residual == -1 && e.activation == Activation::kNone) << body.back();
  }
  EpilogueCall other;  // a residual in another layout
  other.residual = in_memory(other.residual, Memory::kChannelsLast);
  EXPECT_TRUE(other.describe({"Add(y, i3)"}).rest);
  EpilogueCall both;
  both.residual = in_memory(both.residual, Memory::kChannelsLast);
  both.y = in_memory(both.y, Memory::kChannelsLast);
  EXPECT_EQ(both.describe({"Add(y, i3)"}).residual, 3);
}

}  // namespace
}  // namespace msvm::testing
