// Reductions: whole numbers and extremes exactly, sums and products of floats within the stated bound; softmax and layer normalisation.
#include "msvm/jit/compiler/compile_testing.h"

namespace msvm::compiler {
namespace {

constexpr int64_t kSizes[] = {0, 1, 2, 7, 8, 15, 16, 17, 33, 63, 64, 65, 127, 131, 1000, 4099};

std::string reduce(const char* op, const std::string& type, const std::string& value, const std::string& stride) {
  return "kernel k(t0: " + type + ", t1: out " + value + "; n0, n1, n2)\nouter [n1]\ninner n0\nt0 [n2, " + stride + "]\nt1 [1, 0]\npass\nv0 = load t0 : " + value + "\nr0 = " + op + " v0 : " + value +
         "\nrow\nstore t1, r0\n";
}

double at(const Buffer& b, int64_t i) { return loops::load_scalar(b.bytes.data() + (b.origin + i) * dtype_bytes(b.type), b.type).number; }

TEST(CompiledReductions, ExactOnes) {
  std::string text;
  for (const char* op : {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"})
    for (const char* type : {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}) text += reduce(op, type, type, "1") + reduce(op, type, type, "3");
  const loops::Program program = parsed(text);
  for (const jit::ImageIsa isa : isas()) {
    const auto image = native(program, isa);
    ASSERT_TRUE(image);
    std::mt19937 random(3);
    for (size_t i = 0; i < program.kernels.size(); ++i)
      for (const int64_t n : kSizes) {
        expect_same(program.kernels[i], image->entry(i), {n, 3, 5000}, {0, 3, 0, n}, random);
        if (HasFatalFailure()) return;
      }
  }
}

// The sign of a zero is left open, a NaN is always found.
TEST(CompiledReductions, ExtremesOfFloats) {
  std::string text;
  for (const char* op : {"reduce_max", "reduce_min"})
    for (const auto& [type, value] : {std::pair<const char*, const char*>{"f32", "f32"}, {"f64", "f64"}, {"f16", "f32"}, {"bf16", "f32"}}) text += reduce(op, type, value, "1") + reduce(op, type, value, "n2");
  const loops::Program program = parsed(text);
  for (const jit::ImageIsa isa : isas()) {
    const auto image = native(program, isa);
    ASSERT_TRUE(image);
    std::mt19937 random(4);
    for (size_t i = 0; i < program.kernels.size(); ++i)
      for (const int64_t n : kSizes)
        for (int kind = 0; kind < 3; ++kind) {  // wild, tame, tame with one NaN
          Buffer x = random_buffer(random, program.kernels[i].tensors[0].dtype, 8, n + 8, kind > 0), y = random_buffer(random, program.kernels[i].tensors[1].dtype, 0, 1, true), z = y;
          if (kind == 2 && n > 0) loops::store_scalar(x.pointer() + static_cast<int64_t>(random() % static_cast<uint64_t>(n)) * dtype_bytes(x.type), x.type, {loops::value_type(x.type), NAN, 0});
          void *a[] = {x.pointer(), y.pointer()}, *b[] = {x.pointer(), z.pointer()};
          const int64_t sizes[] = {n, 1, 1};
          loops::evaluate(program.kernels[i], a, sizes, 0, 1, 0, n);
          image->entry(i)(b, sizes, 0, 1, 0, n);
          if (std::isnan(at(y, 0))) ASSERT_TRUE(std::isnan(at(z, 0))) << n;
          else ASSERT_EQ(at(y, 0), at(z, 0)) << n;
        }
  }
}

TEST(CompiledReductions, SumsAndProductsWithinTheBound) {
  const loops::Program program = parsed(reduce("reduce_sum", "f32", "f32", "1") + reduce("reduce_sum", "f64", "f64", "1") + reduce("reduce_sum", "f16", "f32", "2") + reduce("reduce_prod", "f32", "f32", "1"));
  for (const jit::ImageIsa isa : isas()) {
    const auto image = native(program, isa);
    ASSERT_TRUE(image);
    std::mt19937 random(5);
    const int lanes = isa == jit::ImageIsa::kAvx512 ? 16 : 8;
    for (size_t i = 0; i < program.kernels.size(); ++i)
      for (const int64_t n : kSizes) {
        const loops::Kernel& k = program.kernels[i];
        const bool product = i == 3;
        const int64_t step = i == 2 ? 2 : 1;
        Buffer x = random_buffer(random, k.tensors[0].dtype, 0, step * n + 1, true), y = random_buffer(random, k.tensors[1].dtype, 0, 1, true), z = y;
        if (product)
          for (int64_t j = 0; j < n; ++j) loops::store_scalar(x.pointer() + j * 4, DType::kF32, {DType::kF32, 1 + (static_cast<double>(random() % 2001) - 1000) * 1e-5, 0});
        void *a[] = {x.pointer(), y.pointer()}, *b[] = {x.pointer(), z.pointer()};
        const int64_t sizes[] = {n, 1, 1};
        loops::evaluate(k, a, sizes, 0, 1, 0, n);
        image->entry(i)(b, sizes, 0, 1, 0, n);
        double size = 0;
        for (int64_t j = 0; j < n; ++j) size += std::abs(at(x, j * step));
        const double unit = y.type == DType::kF64 ? 0x1p-53 : 0x1p-24, roundings = product || step > 1 ? static_cast<double>(n) + 8 : static_cast<double>(n) / lanes + 8;
        ASSERT_NEAR(at(y, 0), at(z, 0), roundings * unit * (product ? at(y, 0) : size)) << n << " of kernel " << i;
      }
  }
}

constexpr const char* kRows = R"(kernel softmax(t0: f32, t1: out f32; n0, n1)
    outer [n1]
    inner n0
    t0 [n0, 1]
    t1 [n0, 1]
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
    store t1, v5
kernel norm(t0: f32, t1: f32, t2: f32, t3: out f32, t4: out f32; n0, n1)
    outer [n1]
    inner n0
    t0 [n0, 1]
    t1 [0, 1]
    t2 [0, 1]
    t3 [n0, 1]
    t4 [1, 0]
    row
    r0 = cast n0 : f32
    pass
    v0 = load t0 : f32
    r1 = reduce_sum v0 : f32
    row
    r2 = div r1, r0 : f32
    store t4, r2
    pass
    v1 = load t0 : f32
    v2 = sub v1, r2 : f32
    v3 = mul v2, v2 : f32
    r3 = reduce_sum v3 : f32
    row
    r4 = div r3, r0 : f32
    r5 = add r4, 1e-5 : f32
    r6 = sqrt r5 : f32
    r7 = div 1, r6 : f32
    pass
    v4 = load t0 : f32
    v5 = sub v4, r2 : f32
    v6 = mul v5, r7 : f32
    v7 = load t1 : f32
    v8 = mul v6, v7 : f32
    v9 = load t2 : f32
    v10 = add v8, v9 : f32
    store t3, v10
)";

TEST(CompiledReductions, SoftmaxAndLayerNorm) {
  const loops::Program program = parsed(kRows);
  for (const jit::ImageIsa isa : isas()) {
    const auto image = native(program, isa);
    ASSERT_TRUE(image);
    std::mt19937 random(6);
    for (size_t i = 0; i < 2; ++i)
      for (const int64_t n : {1, 3, 16, 49, 197, 1000}) {
        const loops::Kernel& k = program.kernels[i];
        std::vector<Buffer> want;
        for (const auto& t : k.tensors) want.push_back(random_buffer(random, t.dtype, 0, 5 * n, true));
        std::vector<Buffer> have = want;
        std::vector<void*> a, b;
        for (Buffer& x : want) a.push_back(x.pointer());
        for (Buffer& x : have) b.push_back(x.pointer());
        const int64_t sizes[] = {n, 5};
        loops::evaluate(k, a.data(), sizes, 1, 5, 0, n);
        image->entry(i)(b.data(), sizes, 1, 5, 0, n);
        for (size_t t = 0; t < want.size(); ++t)
          for (int64_t j = 0; j < 5 * n; ++j)
            // Rows of one element: the variance is 0, up to a rounding of the mean.
            ASSERT_NEAR(at(want[t], j), at(have[t], j), i == 0 ? 1e-6 * std::abs(at(want[t], j)) : 4e-5) << n << " t" << t;
      }
  }
}

}  // namespace
}  // namespace msvm::compiler
