#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "msvm/bytecode/test_files.h"
#include "msvm/bytecode/text.h"

namespace msvm {
namespace {

using testing::HasSubstr;

struct Expected {
  int line, column;
  std::string message;
};

// Lines of a function's body; every wrong one gives one error at its place.
TEST(AssemblerErrors, AllOfAFileWithTheirPlaces) {
  const std::string text = R"(module "m" version 1
symbol N, N
const %c f32[2] = [1]
func @f(x: f32[N, 4]) -> f32[N, 4]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_VIEWS slice R0
  R2 = TENSOR_VIEW slice R0, axis 1 from 0
  R3 = TENSOR_VIEW identity R2
  R4 = TENSOR_ALLOC [N, 4, f32, CPU(0)
  R5 = TENSOR_ALLOC [N, (4 + ], f32, CPU(0)
  R6 = TENSOR_ALLOC [N, 4], f33, CPU(0)
  R7 = TENSOR_CONST %d
  OP_CALL Relu(R0) -> R9 {axis: }
  R8 = LIST_GET R77, 0
  TENSOR_FREE 5
  JUMP b9
  RETURN R0 R1
  nonsense
const %e f32[3] = data(0x00)
const %f f32[1,1,1,1,1,1,1,1,1] = [1]
)";
  const std::vector<Expected> expected = {
      {2, 11, "declared or used before"},
      {3, 20, "1 elements"},
      {7, 8, "unknown instruction"},
      {8, 43, "unexpected text"},
      {10, 28, "overflow"},
      {11, 30, "not a size"},
      {12, 29, "not a dtype"},
      {13, 22, "no constant of this name"},
      {14, 33, "not the value"},
      {15, 3, "can't be told"},
      {16, 15, "register is missing"},
      {17, 8, "no block b9"},
      {18, 13, "after the statement"},
      {19, 3, "not the beginning"},
      {20, 24, "1 bytes"},
      {21, 14, "9 axes"},
  };
  AssembleResult a = assemble(text, "m.msasm");
  for (size_t k = 0; k < std::min(expected.size(), a.errors.size()); ++k) {
    const Diagnostic& d = a.errors[k];
    if (expected[k].line == 10) continue;  // where exactly a missing bracket is noticed doesn't matter
    EXPECT_EQ(d.place.file, "m.msasm");
    EXPECT_EQ(d.place.line, expected[k].line);
    EXPECT_EQ(d.place.column, expected[k].column) << format_diagnostic(d);
    EXPECT_THAT(d.message, HasSubstr(expected[k].message)) << format_diagnostic(d);
    EXPECT_FALSE(d.expected.empty() && d.fix.empty()) << format_diagnostic(d);
  }
  EXPECT_EQ(a.errors.size(), expected.size()) << format_diagnostics(a.errors);
}

TEST(AssemblerErrors, LinesOfInstructions) {
  AssembleResult a = assemble("func @f(i64)\nb1:\n  RETURN\n\nb0:\n\n  R0 = SCALAR_INPUT 0\n  JUMP b1\n");
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  ASSERT_EQ(a.instruction_lines.size(), 1u);
  EXPECT_THAT(a.instruction_lines[0], testing::ElementsAre(7, 8, 3));
}

TEST(AssemblerErrors, Limits) {
  auto one = [](const std::string& text) {
    AssembleResult a = assemble(text);
    return a.errors.empty() ? std::string("accepted") : a.errors[0].message;
  };
  EXPECT_THAT(one("func @f()\n TENSOR_FREE R1000000\n"), HasSubstr("too large"));
  EXPECT_THAT(one("func @f()\n TENSOR_FREE R99999999999999999999\n"), HasSubstr("register is missing"));
  EXPECT_THAT(one("func @f()\nb7:\n RETURN\n"), HasSubstr("without gaps"));
  EXPECT_THAT(one("const %c f32[9223372036854775807, 2] = fill(0)"), HasSubstr("can't have this type"));
  EXPECT_THAT(one("const %c f32[1000000000] = fill(0)"), HasSubstr("16 MiB"));
  EXPECT_THAT(one("const %c f32[1000000000] = data(0x00)"), HasSubstr("1 bytes"));
  EXPECT_THAT(one("const %c f32[4] = data(elided)"), HasSubstr("left out"));
  EXPECT_THAT(one("func @f(f32[" + std::string(100000, '(') + ")\n"), HasSubstr("nested too deeply"));
  EXPECT_THAT(one("func @f(f32[N*99999999999999999999])\n"), HasSubstr("64 bits"));
  EXPECT_THAT(one("symbol N in [3, 2]"), HasSubstr("admits no value"));
  EXPECT_THAT(one("symbol R7"), HasSubstr("reserved"));
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "?\n";
  EXPECT_EQ(assemble(many).errors.size(), 1001u);
}

// Whatever stands in a text, it is read or refused.
TEST(AssemblerErrors, ChangedTextNeverCrashes) {
  std::mt19937 random(2);
  for (const char* name : {"every_instruction.in.msasm", "every_instruction.msasm", "decode_loop.msasm"}) {
    const std::string text = text_of(golden_directory() + "/" + name);
    for (int round = 0; round < 300; ++round) {
      std::string changed = text;
      for (int k = 0; k < 1 + round % 5; ++k) {
        size_t at = random() % changed.size();
        switch (random() % 4) {
          case 0:
            changed[at] = static_cast<char>(random());
            break;
          case 1:
            changed.erase(at, random() % 20);
            break;
          case 2:
            changed.insert(at, 1, "()[]{};:,\"%@_-R0\n"[random() % 17]);
            break;
          case 3:
            changed.insert(at, changed.substr(random() % changed.size(), random() % 40));
            break;
        }
      }
      AssembleResult a = assemble(changed, name);
      for (const Diagnostic& d : a.errors) {
        EXPECT_GT(d.place.line, 0);
        EXPECT_GT(d.place.column, 0);
      }
    }
    for (size_t n = 0; n < text.size(); n += 7) assemble(std::string_view(text).substr(0, n));
  }
}

TEST(Disassembler, Options) {
  AssembleResult a = assemble("const %c f32[64] = fill(1)\nfunc @f()\n RETURN ; model.py:3\n");
  ASSERT_TRUE(a.errors.empty()) << format_diagnostics(a.errors);
  EXPECT_THAT(disassemble(a.module), HasSubstr("; model.py:3\n"));
  EXPECT_THAT(disassemble(a.module, {.debug = false}), testing::Not(HasSubstr("model.py")));
  std::string offsets = disassemble(a.module, {.offsets = true});
  EXPECT_THAT(offsets, HasSubstr("; 0x0 model.py:3\n"));
  AssembleResult again = assemble(offsets);
  ASSERT_TRUE(again.errors.empty());
  EXPECT_EQ(disassemble(again.module), disassemble(a.module));
  std::string elided = disassemble(a.module, {.max_inline_bytes = 16});
  EXPECT_THAT(elided, HasSubstr("data(elided)"));
  EXPECT_EQ(assemble(elided).errors.size(), 1u);
}

}  // namespace
}  // namespace msvm
