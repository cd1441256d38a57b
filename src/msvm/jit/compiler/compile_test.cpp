// Every step, every type, every instruction set, sizes around a vector, all kinds of strides: the evaluator's bits.
#include <gmock/gmock.h>

#include <set>

#include "msvm/jit/compiler/compile_testing.h"

namespace msvm::compiler {
namespace {

using ::testing::HasSubstr;
using loops::Op;

constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kBool};
constexpr int64_t kSizes[] = {0, 1, 2, 7, 8, 13, 16, 17, 31, 64, 65, 131, 257, 1009};

// Strides of a, b, c and the result along the row; n1 is an argument.
constexpr std::array<const char*, 4> kStrides[] = {{"1", "1", "1", "1"}, {"1", "0", "1", "1"}, {"0", "1", "0", "1"}, {"2", "1", "-1", "1"}, {"1", "-1", "n1", "2"}, {"n1", "n1", "n1", "n1"}, {"1", "0", "0", "n1"}};

/// t3[j] = step(t0[j], t1[j], t2[j])
std::string one_step(Op op, DType type, DType source, const std::array<const char*, 4>& strides) {
  const auto& info = loops::op_info(op);
  const std::string t(dtype_name(source)), first = op == Op::kSelect ? "bool" : t;
  std::string text = "kernel k(t0: " + first + ", t1: " + t + ", t2: " + t + ", t3: out " + std::string(dtype_name(type)) + "; n0, n1)\nouter []\ninner n0\n";
  for (int i = 0; i < 4; ++i) text += "t" + std::to_string(i) + " [" + strides[static_cast<size_t>(i)] + "]\n";
  text += "pass\n";
  std::string call = std::string(info.name);
  for (int i = 0; i < info.operands; ++i) {
    text += "v" + std::to_string(i) + " = load t" + std::to_string(i) + " : " + (i == 0 ? first : t) + "\n";
    call += (i ? ", v" : " v") + std::to_string(i);
  }
  return text + "v9 = " + call + " : " + std::string(dtype_name(type)) + "\nstore t3, v9\n";
}

void check_all(const std::vector<std::string>& texts, bool tame = false) {
  std::string all;
  for (const std::string& t : texts) all += t;
  const loops::Program program = parsed(all);
  ASSERT_EQ(program.kernels.size(), texts.size());
  for (const jit::ImageIsa isa : isas()) {
    const auto image = native(program, isa);
    ASSERT_TRUE(image);
    std::mt19937 random(1);
    for (size_t i = 0; i < program.kernels.size(); ++i)
      for (const int64_t n : kSizes)
        for (const int64_t stride : {1, 3}) {
          expect_same(program.kernels[i], image->entry(i), {n, stride}, {0, 1, 0, n}, random, tame);
          if (::testing::Test::HasFatalFailure()) return;
          if (loops::print({{program.kernels[i]}}).find(" n1") == std::string::npos) break;
        }
  }
}

TEST(Compile, EveryStepOfEveryType) {
  std::vector<std::string> texts;
  size_t turn = 0;
  for (int i = 0; i <= static_cast<int>(Op::kNot) + 2; ++i) {
    const Op op = static_cast<Op>(i);
    if (op == Op::kLoad || op == Op::kStore || op == Op::kIndex) continue;
    for (const DType source : kTypes) {
      const DType type = loops::is_comparison(op) ? DType::kBool : source;
      if (!loops::op_info(op).allows(type)) continue;
      texts.push_back(one_step(op, type, source, kStrides[0]));
      texts.push_back(one_step(op, type, source, kStrides[1 + turn++ % (std::size(kStrides) - 1)]));
    }
  }
  EXPECT_GT(texts.size(), 300u);
  check_all(texts);
}

TEST(Compile, EveryCast) {
  std::vector<std::string> texts;
  size_t turn = 0;
  for (const DType from : kTypes)
    for (const DType to : kTypes)
      if (!(is_float(from) && is_integer(to))) texts.push_back(one_step(Op::kCast, to, from, kStrides[turn++ % 2 ? turn / 2 % std::size(kStrides) : 0]));
  check_all(texts);
}

TEST(Compile, EveryStorageType) {
  std::vector<std::string> texts;
  for (int d = 0; d < kNumDTypes - 1; ++d)
    for (const auto& strides : kStrides) {
      const std::string type(dtype_name(static_cast<DType>(d))), value(dtype_name(loops::value_type(static_cast<DType>(d))));
      texts.push_back("kernel k(t0: " + type + ", t1: out " + type + "; n0, n1)\nouter []\ninner n0\nt0 [" + strides[0] + "]\nt1 [" + strides[3] + "]\npass\nv0 = load t0 : " + value +
                      "\nstore t1, v0\n");
    }
  check_all(texts);
}

TEST(Compile, EveryStrideOfAFewSteps) {
  std::vector<std::string> texts;
  for (const auto& strides : kStrides)
    for (const DType type : {DType::kF32, DType::kU8, DType::kF64}) texts.push_back(one_step(Op::kClip, type, type, strides));
  check_all(texts);
}

TEST(Compile, PowersOfNumbersAndLargeAngles) {
  std::vector<std::string> texts;
  for (const char* step : {"pow v0, 2", "pow v0, 3", "pow v0, -0.5", "pow 2, v0", "pow v0, 0", "sin v0", "cos v0", "leaky_relu v0, 0.1", "elu v0, 1.5", "hard_sigmoid v0, 0.2, 0.5",
                           "clip v0, -inf, 6", "max v0, nan", "min -0, v0", "sub 0, v0", "fma v0, 3, v0", "select 1, v0, 2", "select 0, v0, 2"})
    texts.push_back("kernel k(t0: f32, t1: out f32; n0, n1)\nouter []\ninner n0\nt0 [1]\nt1 [1]\npass\nv0 = load t0 : f32\nv1 = " + std::string(step) + " : f32\nstore t1, v1\n");
  check_all(texts);
}

TEST(Compile, IndicesSizesAndConstantsOfARow) {
  check_all({R"(kernel k(t0: i16, t1: out i64, t2: out f32, t3: f32; n0, n1)
    outer []
    inner n0
    t0 [1]
    t1 [1]
    t2 [1]
    t3 [0]
    pass
    v0 = index : i64
    v1 = load t0 : i16
    v2 = cast v1 : i64
    v3 = mul v0, v2 : i64
    v4 = sub n0, v3 : i64
    v5 = less v4, n1 : bool
    v6 = select v5, v4, -7 : i64
    store t1, v6
    v7 = load t3 : f32
    v8 = exp v7 : f32
    v9 = cast n1 : f32
    v10 = mul v8, v9 : f32
    v11 = cast v0 : f32
    v12 = add v11, v10 : f32
    store t2, v12
)"});
}

// Rows of one to three axes, from any row to any other, whole rows and parts.
TEST(Compile, RowsAndColumns) {
  const loops::Program program = parsed(R"(kernel k(t0: f32, t1: out f32; n0, n1, n2, n3)
    outer []
    inner n0
    t0 [1]
    t1 [1]
    pass
    v0 = load t0 : f32
    store t1, v0
kernel k(t0: f32, t1: out f32; n0, n1, n2, n3)
    outer [n1]
    inner n0
    t0 [-70, 1]
    t1 [80, 1]
    pass
    v0 = load t0 : f32
    store t1, v0
kernel k(t0: f32, t1: out i32, t2: i32; n0, n1, n2, n3)
    outer [n1, n2]
    inner n0
    t0 [0, 70, 1]
    t1 [500, 90, 1]
    t2 [n3, 0, 1]
    pass
    v0 = load t0 : f32
    v1 = less v0, 2 : bool
    v2 = load t2 : i32
    v3 = select v1, v2, 7 : i32
    store t1, v3
kernel k(t0: bf16, t1: out f16; n0, n1, n2, n3)
    outer [n1, n2, 3]
    inner n0
    t0 [n3, 5, -170, 2]
    t1 [2000, 500, 150, 1]
    pass
    v0 = load t0 : f32
    store t1, v0
kernel k(t0: f64, t1: out f64; n0, n1, n2, n3)
    outer [2, n1, n2, 3]
    inner n0
    t0 [0, n3, 5, 170, 1]
    t1 [8000, 2000, 500, 150, 1]
    pass
    v0 = load t0 : f64
    store t1, v0
)");
  for (const jit::ImageIsa isa : isas()) {
    const auto image = native(program, isa);
    ASSERT_TRUE(image);
    std::mt19937 random(2);
    for (size_t i = 0; i < program.kernels.size(); ++i)
      for (const int64_t n : {0, 1, 5, 16, 50, 67})
        for (const auto& [n1, n2] : {std::pair<int64_t, int64_t>{1, 1}, {3, 2}, {2, 4}, {0, 3}}) {
          int64_t rows = 1;
          for (const loops::Size& s : program.kernels[i].outer) rows *= s.argument < 0 ? s.value : s.argument == 1 ? n1 : n2;
          for (int64_t begin = 0; begin <= rows; ++begin) {
            const int64_t end = begin + static_cast<int64_t>(random() % static_cast<uint64_t>(rows - begin + 1)), from = static_cast<int64_t>(random() % static_cast<uint64_t>(n + 1));
            expect_same(program.kernels[i], image->entry(i), {n, n1, n2, 300}, {begin, end, 0, n}, random);
            expect_same(program.kernels[i], image->entry(i), {n, n1, n2, 300}, {begin, rows, from, from + static_cast<int64_t>(random() % static_cast<uint64_t>(n - from + 1))}, random);
            if (HasFatalFailure()) return;
          }
        }
  }
}

TEST(Compile, EqualKernelsShareTheirCode) {
  const std::string one = one_step(Op::kGelu, DType::kF32, DType::kF32, kStrides[0]), other = one_step(Op::kExp, DType::kF32, DType::kF32, kStrides[0]);
  std::string renamed = one;
  renamed.replace(renamed.find("k("), 2, "another(");
  auto bytes = compile(parsed(one + other + renamed), jit::ImageIsa::kAvx2);
  ASSERT_TRUE(bytes.ok());
  auto view = jit::decode_image(*bytes);
  ASSERT_TRUE(view.ok());
  ASSERT_EQ(view->offsets.size(), 3u);
  EXPECT_EQ(view->offsets[0], view->offsets[2]);
  EXPECT_NE(view->offsets[0], view->offsets[1]);
}

/// Lines of the program's text that code comes from.
std::set<uint32_t> lines_of(const jit::LineTable& table) {
  std::set<uint32_t> lines;
  for (const jit::LineRow& row : table.rows) lines.insert(row.line);
  return lines;
}

TEST(Compile, LinesOfTheProgram) {
  const std::string one = one_step(Op::kGelu, DType::kF32, DType::kF32, kStrides[0]), other = one_step(Op::kExp, DType::kF32, DType::kF32, kStrides[0]);
  std::string renamed = one;
  renamed.replace(renamed.find("k("), 2, "another(");
  const loops::Program p = parsed(one + other + renamed);
  for (const jit::ImageIsa isa : {jit::ImageIsa::kAvx2, jit::ImageIsa::kAvx512}) {
    auto bytes = compile(p, isa);
    ASSERT_TRUE(bytes.ok());
    auto view = jit::decode_image(*bytes);
    ASSERT_TRUE(view.ok()) << view.status().message();
    const jit::LineTable& table = view->lines;
    ASSERT_EQ(table.sizes.size(), 3u);
    EXPECT_EQ(table.sizes[0], table.sizes[2]);
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(std::to_integer<int>(view->code[view->offsets[k] + table.sizes[k] - 1]), 0xc3) << "kernel " << k << " ends with ret";
    // Every step has code of its own, in each of the two kernels that have code.
    const std::string text = loops::print(p);
    const std::set<uint32_t> lines = lines_of(table);
    uint32_t line = 0, steps = 0;
    for (size_t at = 0, end; at < text.size() && text.compare(at, 14, "kernel another") != 0; at = end + 1) {
      ++line;
      end = text.find('\n', at);
      if (text.compare(at, 4, "    ") != 0) continue;
      ++steps;
      EXPECT_TRUE(lines.count(line)) << line << ": " << text.substr(at, end - at);
    }
    EXPECT_GE(steps, 6u);
    EXPECT_LE(*lines.rbegin(), line);
  }
}

TEST(Compile, SameBytesEachTime) {
  const loops::Program p = parsed(one_step(Op::kSin, DType::kF32, DType::kF32, kStrides[0]) + one_step(Op::kPow, DType::kF32, DType::kF32, kStrides[4]));
  auto first = compile(p, jit::ImageIsa::kAvx512), second = compile(p, jit::ImageIsa::kAvx512);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
}

TEST(Compile, Refused) {
  loops::Program p = parsed(one_step(Op::kAdd, DType::kF32, DType::kF32, kStrides[0]));
  p.kernels[0].passes[0].steps[2].operands[0].index = 99;
  EXPECT_THAT(compile(p, jit::ImageIsa::kAvx2).status().message(), HasSubstr("v99 isn't defined"));
  EXPECT_THAT(isa_from_name("sse").status().message(), HasSubstr("expected avx2 or avx512"));
}

TEST(Compile, TextForPeople) {
  const loops::Program p = parsed(one_step(Op::kAdd, DType::kF32, DType::kF32, kStrides[0]));
  auto ir = compile_to_ir(p, jit::ImageIsa::kAvx512), assembly = compile_to_assembly(p, jit::ImageIsa::kAvx2);
  ASSERT_TRUE(ir.ok() && assembly.ok());
  EXPECT_THAT(*ir, HasSubstr("fadd <16 x float>"));
  // Each line of the program stands above its instructions.
  const size_t line = assembly->find(" = add v0, v1 : f32\n");
  ASSERT_NE(line, std::string::npos) << *assembly;
  EXPECT_EQ(assembly->substr(line).find("vaddps"), assembly->substr(line).find('\n') + 2) << assembly->substr(line, 200);
  for (const char* directive : {".loc", ".cfi_", ".file"}) EXPECT_EQ(assembly->find(directive), std::string::npos) << directive;
}

}  // namespace
}  // namespace msvm::compiler
