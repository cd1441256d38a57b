// msvm.Pointwise, and the references of msvm.Conv and msvm.MatMul.
#include "msvm/kernels/body_program.h"
#include "msvm/kernels/layout_testing.h"

namespace msvm::testing {
namespace {

using Strings = std::vector<std::string>;

Tensor pointwise(const std::string& kernel_name, const Strings& body, const std::vector<Tensor>& inputs, const Shape& shape, Memory memory, int threads) {
  Tensor y = in_memory(Tensor(DType::kF32, shape), memory);
  Call call;
  for (const Tensor& t : inputs) call.inputs.push_back(&t);
  call.outputs = {&y};
  call.attrs.set("body", body);
  call.threads = threads;
  Status s = call.run(kernel_name);
  EXPECT_TRUE(s.ok()) << kernel_name << ": " << s.message();
  EXPECT_TRUE(memory == Memory::kRowMajor || gaps_untouched(y)) << kernel_name << " writes between the elements";
  return y;
}

struct Case {
  Strings body;
  std::vector<Shape> inputs;
  Shape shape;
};

void check(const Case& c, const std::vector<Memory>& in, Memory out) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) inputs.push_back(in_memory(random_tensor(c.inputs[i], static_cast<unsigned>(i) + 5), in[i % in.size()]));
  const Tensor want = pointwise("ref_pointwise", c.body, inputs, c.shape, Memory::kRowMajor, 1);
  for (const char* name : {"avx2_pointwise_f32", "avx512_pointwise_f32"}) {
    if (!can_run(kernel(name))) continue;
    for (int threads : {1, 2}) {
      const Tensor got = pointwise(name, c.body, inputs, c.shape, out, threads);
      EXPECT_LE(difference(got.values(), want.values()), 1e-6) << name << " " << c.body[0] << " to " << to_string(got.meta) << " " << name_of(in[0]) << " -> " << name_of(out);
    }
  }
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list = [] {
    std::vector<Case> l;
    for (const Shape& s : std::vector<Shape>{{1, 16, 7, 5}, {2, 17, 3, 3}, {1, 1, 4, 4}, {1, 300, 5, 3}, {2, 3, 1, 1}, {1, 64, 20, 23}, {0, 4, 4, 4}, {1, 8, 0, 2}, {3, 24, 1, 33}}) {
      const int64_t n = s[0], ch = s[1], h = s[2], w = s[3];
      l.push_back({{"Add(i0, i1)", "Relu(s0)"}, {s, s}, s});
      l.push_back({{"Mul(i0, i1)"}, {s, {n, ch, 1, 1}}, s});               // squeeze-excite
      l.push_back({{"Mul(i0, i1)", "Add(s0, i2)"}, {s, {ch, 1, 1}, {1, ch, 1, 1}}, s});
      l.push_back({{"Sub(i0, i1)", "Div(s0, i2)", "Sigmoid(s1)"}, {s, {n, 1, h, w}, {}}, s});
      l.push_back({{"Add(i0, i1)"}, {{n, ch, h, 1}, {w}}, s});
      l.push_back({{"Add(i0, i1)", "Mul(s0, i0)", "Tanh(s1)", "Sub(s2, 0.25)"}, {s, {n, ch, 1, w}}, s});
    }
    l.push_back({{"Add(i0, i1)"}, {{2, 12, 33, 33}, {2, 1, 1, 33}}, {2, 12, 33, 33}});  // attention mask
    l.push_back({{"Exp(i0)", "Mul(s0, 2)"}, {{100003}}, {100003}});
    l.push_back({{"Add(i0, i1)", "Gelu(s0)"}, {{37, 384}, {384}}, {37, 384}});
    l.push_back({{"Sub(i0, i1)", "Mul(s0, i2)"}, {{37, 384}, {37, 1}, {37, 1}}, {37, 384}});
    l.push_back({{"Sub(i0, i1)"}, {{500, 7}, {500, 1}}, {500, 7}});
    l.push_back({{"Add(i0, i1)"}, {{}, {}}, {}});
    l.push_back({{"Add(i0, 1)", "Sqrt(s0)"}, {{1}}, {1}});
    return l;
  }();
  return list;
}

TEST(Pointwise, EveryLayoutAgreesWithTheReference) {
  for (const Case& c : cases())
    for (Memory in : all_memories())
      for (Memory out : all_memories()) check(c, {in}, out);
}
TEST(Pointwise, MixedLayoutsAgreeWithTheReference) {
  for (const Case& c : cases())
    for (Memory out : all_memories()) {
      check(c, {Memory::kChannelsLast, Memory::kRowMajor}, out);
      check(c, {Memory::kRowMajor, Memory::kChannelSlice, Memory::kGaps}, out);
    }
}
TEST(Pointwise, ResultsDoNotDependOnThreads) {
  const Tensor x = random_tensor({3, 50, 61, 67}, 1), s = random_tensor({3, 50, 1, 1}, 2);
  for (Memory m : all_memories())
    for (const char* name : {"avx2_pointwise_f32", "avx512_pointwise_f32"}) {
      if (!can_run(kernel(name))) continue;
      const Strings body = {"Mul(i0, i1)", "Silu(s0)"};
      const std::vector<Tensor> inputs = {in_memory(x, m), s};
      EXPECT_TRUE(same_bits(pointwise(name, body, inputs, x.shape(), m, 1), pointwise(name, body, inputs, x.shape(), m, 2))) << name_of(m);
    }
}
TEST(Pointwise, InPlaceOverAnInput) {
  for (Memory m : all_memories()) {
    Tensor x = in_memory(random_tensor({2, 19, 9, 8}, 4), m);
    const Tensor before = x, b = random_tensor({19, 1, 1}, 5);
    for (const char* name : {"avx2_pointwise_f32", "avx512_pointwise_f32"}) {
      if (!can_run(kernel(name))) continue;
      Tensor y = before;
      Call call;
      call.inputs = {&y, &b};
      call.outputs = {&y};
      call.attrs.set("body", Strings{"Add(i0, i1)", "Mul(s0, i0)"});
      ASSERT_TRUE(call.run(name).ok());
      EXPECT_LE(difference(y.values(), pointwise("ref_pointwise", {"Add(i0, i1)", "Mul(s0, i0)"}, {before, b}, before.shape(), Memory::kRowMajor, 1).values()), 1e-6);
    }
  }
}
TEST(Pointwise, RefusesWhatDoesNotFit) {
  const Tensor a = random_tensor({2, 3}, 1), b = random_tensor({4}, 2);
  for (const char* name : {"ref_pointwise", "avx2_pointwise_f32", "avx512_pointwise_f32"}) {
    if (!can_run(kernel(name))) continue;
    Tensor y(DType::kF32, {2, 3});
    Call call;
    call.inputs = {&a, &b};
    call.outputs = {&y};
    call.attrs.set("body", Strings{"Add(i0, i1)"});
    EXPECT_EQ(call.run(name).code(), StatusCode::kShapeMismatch) << name;
    Call absent;
    absent.inputs = {&a, nullptr};
    absent.outputs = {&y};
    absent.attrs.set("body", Strings{"Add(i0, i1)"});
    EXPECT_FALSE(absent.run(name).ok()) << name;
    Call nonsense;
    nonsense.inputs = {&a};
    nonsense.outputs = {&y};
    nonsense.attrs.set("body", Strings{"Add(i0, i9)"});
    EXPECT_FALSE(nonsense.run(name).ok()) << name;
  }
}

TEST(BodyOver, BlocksOfAResultAgreeWithTheWhole) {
  // An epilogue over rows and columns of a channels-last result.
  const Strings body = {"Add(y, i3)", "Relu(s0)", "Mul(s1, i4)", "Add(s2, i5)"};
  for (const Shape& s : std::vector<Shape>{{2, 24, 5, 7}, {1, 100, 3, 3}, {1, 300, 2, 5}, {1, 1, 4, 4}})
    for (Memory m : {Memory::kChannelsLast, Memory::kChannelSlice, Memory::kRowMajor})
      for (Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
        if (isa > cpu_features().isa) continue;
        const Tensor x = random_tensor(s, 1), residual = in_memory(random_tensor(s, 2), m), scale = random_tensor({s[0], s[1], 1, 1}, 3), mask = random_tensor({s[0], 1, s[2], s[3]}, 4);
        Tensor want = in_memory(x, Memory::kRowMajor), got = in_memory(x, m);
        const std::vector<double> e = residual.values(), c = scale.values(), k = mask.values(), y = x.values();
        std::vector<double> expected(y.size());
        const int64_t plane = s[2] * s[3];
        for (size_t i = 0; i < y.size(); ++i) {
          const size_t channel = i / static_cast<size_t>(plane), image = channel / static_cast<size_t>(s[1]);
          expected[i] = std::max(y[i] + e[i], 0.0) * c[channel] + k[image * static_cast<size_t>(plane) + i % static_cast<size_t>(plane)];
        }
        Attributes attrs;
        attrs.set("body", body);
        OpSchema schema;
        schema.name = "msvm.Conv";
        const TensorMeta* in[6] = {&x.meta, &x.meta, nullptr, &residual.meta, &scale.meta, &mask.meta};
        TensorMeta* out[1] = {&got.meta};
        TestMemory memory;
        WorkerPool pool(1);
        std::unique_ptr<KernelSiteState> site;
        KernelCall call{schema, attrs, in, {}, out, 0, pool, memory, site, false};
        auto program = body_program(call, 3, true);
        ASSERT_TRUE(program.ok() && *program);
        BodyOver over;
        const int column = m == Memory::kRowMajor ? 3 : 1;
        ASSERT_TRUE(over.prepare(call, *vector_kernels(isa), **program, true, column).ok());
        ASSERT_EQ(over.columns(), s[static_cast<size_t>(column)]);
        ASSERT_EQ(over.rows() * over.columns(), size_of(s));
        std::vector<std::byte> scratch(static_cast<size_t>(over.scratch_bytes()) + 64);
        std::byte* p = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
        const int64_t half = over.columns() / 2;
        for (int64_t r = 0; r < over.rows(); r += 5) {
          over.run(r, std::min(r + 5, over.rows()), 0, half, p);
          over.run(r, std::min(r + 5, over.rows()), half, over.columns(), p);
        }
        EXPECT_LE(difference(got.values(), expected), 1e-6) << name_of(m) << " " << to_string(got.meta);
      }
}

TEST(FusedReferences, ConvIsThePlainOneThenTheBody) {
  for (Memory m : all_memories()) {
    const Tensor x = in_memory(random_tensor({2, 3, 6, 5}, 1), m), w = random_tensor({4, 3, 3, 3}, 2), b = random_tensor({4}, 3), e = random_tensor({4, 1, 1}, 4);
    Tensor plain(DType::kF32, {2, 4, 6, 5}), fused = in_memory(plain, m);
    Call conv;
    conv.inputs = {&x, &w, &b};
    conv.outputs = {&plain};
    conv.attrs.set("pads", std::vector<int64_t>{1, 1, 1, 1});
    ASSERT_TRUE(conv.run("ref_conv").ok());
    Call call;
    call.inputs = {&x, &w, &b, &e};
    call.outputs = {&fused};
    call.attrs = conv.attrs;
    call.attrs.set("body", Strings{"Mul(y, i3)", "Relu(s0)"});
    Status s = call.run("ref_fused_conv");
    ASSERT_TRUE(s.ok()) << s.message();
    std::vector<double> want = plain.values();
    for (size_t i = 0; i < want.size(); ++i) want[i] = std::max(0.0, want[i] * e.values()[i / 30 % 4]);
    EXPECT_LE(difference(fused.values(), want), 1e-6);
    call.attrs = conv.attrs;  // no body: the convolution itself
    call.site.reset();
    ASSERT_TRUE(call.run("ref_fused_conv").ok());
    EXPECT_EQ(fused.values(), plain.values());
  }
}
TEST(FusedReferences, MatMulTransposesAddsTheBiasAndRunsTheBody) {
  const Tensor a = random_tensor({2, 3, 5}, 1), b = random_tensor({4, 5}, 2), bias = random_tensor({4}, 3), e = random_tensor({2, 3, 4}, 4);
  Tensor y(DType::kF32, {2, 3, 4});
  Call call;
  call.inputs = {&a, &b, &bias, &e};
  call.outputs = {&y};
  call.attrs.set("transB", int64_t{1});
  call.attrs.set("body", Strings{"Add(y, i3)"});
  Status s = call.run("ref_fused_matmul");
  ASSERT_TRUE(s.ok()) << s.message();
  const auto va = a.values(), vb = b.values(), vc = bias.values(), ve = e.values(), vy = y.values();
  for (size_t r = 0; r < 6; ++r)
    for (size_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 5; ++k) sum += va[r * 5 + k] * vb[j * 5 + k];
      EXPECT_NEAR(vy[r * 4 + j], sum + vc[j] + ve[r * 4 + j], 1e-5);
    }
}

}  // namespace
}  // namespace msvm::testing
