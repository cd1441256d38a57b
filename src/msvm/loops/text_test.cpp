// Text form: what is printed reads back the same; every error names its line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "msvm/loops/loop_program.h"

namespace msvm::loops {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSoftmax =
    "loops version 1\n"
    "kernel softmax(t0: f32, t1: out f32; n0, n1, n2)\n"
    "  outer [n0]\n"
    "  inner n1\n"
    "  t0 [n2, 1]\n"
    "  t1 [n1, 1]\n"
    "  pass\n"
    "    v0 = load t0 : f32\n"
    "    r0 = reduce_max v0 : f32\n"
    "  pass\n"
    "    v1 = load t0 : f32\n"
    "    v2 = sub v1, r0 : f32\n"
    "    v3 = exp v2 : f32\n"
    "    store t1, v3\n"
    "    r1 = reduce_sum v3 : f32\n"
    "  row\n"
    "    r2 = div 1, r1 : f32\n"
    "  pass\n"
    "    v4 = load t1 : f32\n"
    "    v5 = mul v4, r2 : f32\n"
    "    store t1, v5\n";

TEST(LoopText, RoundTrip) {
  auto p = parse(kSoftmax);
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(print(*p), kSoftmax);
  ASSERT_EQ(p->kernels.size(), 1u);
  EXPECT_FALSE(p->kernels[0].splits_columns());
  EXPECT_EQ(p->kernels[0].passes[2].steps[0].operands[0].number, 1);
}

TEST(LoopText, NumbersAndTypes) {
  const std::string text =
      "loops version 1\n"
      "kernel a.b_1(t0: u64, t1: f16, t2: out bool, t3: out f64)\n"
      "  outer [3, 4]\n"
      "  inner 5\n"
      "  t0 [20, 5, -1]\n"
      "  t1 [0, 0, 0]\n"
      "  t2 [20, 5, 1]\n"
      "  t3 [20, 5, 1]\n"
      "  pass\n"
      "    v0 = load t0 : u64\n"
      "    v1 = less 18446744073709551615, v0 : bool\n"
      "    v2 = load t1 : f32\n"
      "    v3 = equal v2, -inf : bool\n"
      "    v4 = fma v2, 1e-45, 0.1 : f32\n"
      "    v5 = cast v4 : f64\n"
      "    v6 = select v3, v5, -0 : f64\n"
      "    v7 = xor v1, 1 : bool\n"
      "    v8 = index : i64\n"
      "    v9 = less v8, 3 : bool\n"
      "    v10 = and v7, v9 : bool\n"
      "    store t2, v10\n"
      "    store t3, v6\n";
  auto p = parse(text);
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(print(*p), text);
  EXPECT_TRUE(p->kernels[0].splits_columns());
  auto again = parse(print(*p));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *p);
}

TEST(LoopText, CommentsAndBlankLines) {
  auto p = parse("# what\n\nloops version 1  # here\nkernel k(t0: out f32)\nouter []\ninner 1\nt0 [1]\npass\nstore t0, 2\n");
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(p->kernels[0].passes[0].steps[0].operands[0].number, 2);
  EXPECT_TRUE(parse("loops version 1\n")->kernels.empty());
}

/// kSoftmax with one line replaced.
std::string with_line(int number, std::string_view line) {
  std::string out;
  std::string_view rest = kSoftmax;
  for (int i = 1; !rest.empty(); ++i) {
    const size_t end = rest.find('\n') + 1;
    out += i == number ? std::string(line) + "\n" : std::string(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return out;
}

TEST(LoopText, Errors) {
  const struct {
    int line;
    std::string_view text, error;
  } kCases[] = {
      {1, "loops version 2", "line 1: version \"2\""},
      {1, "", "line 2: expected \"loops version 1\""},
      {2, "kernel softmax(t0: f33, t1: out f32; n0, n1, n2)", "line 2: expected a dtype, found \"f33\""},
      {2, "kernel softmax(t1: f32; n0)", "line 2: expected t0"},
      {2, "kernel softmax(t0: f32, t1: out f32; n0, n1, n3)", "line 2: expected n2"},
      {2, "kernel 1x(t0: f32, t1: out f32; n0, n1, n2)", "line 21: kernel ?: its name"},
      {3, "  outer [n0", "line 3: expected ], found the end of the line"},
      {3, "  outer [n7]", "extent 0 is n7, but there are 3 size arguments"},
      {3, "  outer [-1]", "an extent is at least 0"},
      {3, "  outer [99999999999999999999]", "line 3: expected a number or a size argument"},
      {5, "  t2 [1]", "line 5: t2 isn't one of the 2 tensors"},
      {5, "  t0 [1]", "t0 has 1 strides, expected 2"},
      {6, "  t1 [n1, 0]", "pass 1, step 3: store t1 is written with stride 0"},
      {8, "    v0 = lod t0 : f32", "line 8: expected an operation, found \"lod\""},
      {8, "    v0 = load t0 : f64", "load t0 loads as f32, not f64"},
      {8, "    r0 = load t0 : f32", "line 8: the result of load must be v<number> here"},
      {8, "    v0 = load t0 : f32 more", "line 8: expected the end of the line, found \"more\""},
      {8, "    v99999 = load t0 : f32", "line 8: expected v<number>"},
      {9, "    r0 = reduce_max v8 : f32", "pass 0, step 1: reduce_max v8 isn't defined"},
      {12, "    v2 = sub v0, r0 : f32", "v0 isn't defined before it in this pass"},
      {12, "    v2 = sub v1, r1 : f32", "r1 isn't defined before it"},
      {12, "    v1 = sub v1, r0 : f32", "v1 is defined twice"},
      {12, "    v2 = sub v1 : f32", "line 12: expected ,"},
      {12, "    v2 = sub v1, x : f32", "line 12: expected a value or a number of f32, found \"x\""},
      {13, "    v3 = exp v2 : f64", "exp has no result of f64"},
      {14, "    store t0, v3", "t0 is read only"},
      {14, "    v9 = store t1, v3", "line 14: store has no result"},
      {17, "    r2 = div 1, v3 : f32", "v3 can't be read in a row section"},
      {17, "    r2 = reduce_sum r1 : f32", "reduce_sum stands in a row section"},
  };
  for (const auto& c : kCases) {
    auto p = parse(with_line(c.line, c.text));
    ASSERT_FALSE(p.ok()) << c.text;
    EXPECT_THAT(p.status().message(), HasSubstr(c.error)) << c.text;
  }
}

TEST(LoopText, Limits) {
  const std::string head = "loops version 1\nkernel k(t0: out f32)\nouter []\ninner 1\nt0 [1]\n";
  std::string passes = head, steps = head + "pass\n", kernels = "loops version 1\n";
  for (size_t i = 0; i <= kMaxPasses; ++i) passes += "pass\n";
  for (size_t i = 0; i <= kMaxSteps; ++i) steps += "store t0, 1\n";
  for (size_t i = 0; i <= kMaxKernels; ++i) kernels += "kernel k(t0: out f32)\nouter []\ninner 1\nt0 [1]\n";
  for (const std::string* text : {&passes, &steps, &kernels}) {
    auto p = parse(*text);
    ASSERT_FALSE(p.ok());
    EXPECT_THAT(p.status().message(), HasSubstr("more than"));
  }
  EXPECT_FALSE(parse(std::string(kMaxText + 1, ' ')).ok());
}

// Bytes changed, dropped and doubled: an error or a program that prints what reads back.
TEST(LoopText, SurvivesDamage) {
  std::mt19937 random(7);
  int good = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text(kSoftmax);
    for (int edits = static_cast<int>(random() % 4) + 1; edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, random() % 9); break;
        case 2: text.insert(at, text.substr(random() % text.size(), random() % 30)); break;
        default: text[at] = "0123456789vrnt,[]()=-:"[random() % 22]; break;
      }
    }
    auto p = parse(text);
    if (!p.ok()) continue;
    ++good;
    auto again = parse(print(*p));
    ASSERT_TRUE(again.ok()) << text << again.status().message();
    EXPECT_EQ(print(*again), print(*p));
  }
  EXPECT_GT(good, 20);
}

TEST(LoopOps, NamesAreUniqueAndFound) {
  for (int i = 0; i <= static_cast<int>(Op::kReduceProd); ++i) {
    const Op op = static_cast<Op>(i);
    ASSERT_NE(find_op(op_info(op).name), nullptr);
    EXPECT_EQ(*find_op(op_info(op).name), op);
    EXPECT_FALSE(op_info(op).doc.empty());
  }
  EXPECT_EQ(op_info(Op::kGeluTanh).name, "gelu_tanh");
  EXPECT_EQ(find_op("none"), nullptr);
}

TEST(LoopOps, StandInTheDocs) {
  std::ifstream file(MSVM_SOURCE_DIR "/docs/loops.md");
  std::stringstream page;
  page << file.rdbuf();
  for (int i = 0; i <= static_cast<int>(Op::kReduceProd); ++i) {
    const OpInfo& info = op_info(static_cast<Op>(i));
    EXPECT_THAT(page.str(), HasSubstr(fmt::format("| `{}` | {} | {} | {} |\n", info.name, info.operands, "FSIBNA"[static_cast<int>(info.types)], info.doc)));
  }
}

}  // namespace
}  // namespace msvm::loops
