#include "msvm/bytecode/text_edit.h"

#include <gmock/gmock.h>

#include "msvm/bytecode/text.h"

namespace msvm {
namespace {

using Kind = StatementEdit::Kind;

constexpr std::string_view kText = R"(module "m" version 1
func @f(x: f32[N, M]) -> (f32[N, M], i64)
b0:
  R0 "a = [b" = TENSOR_CREATE input 0, [
    (batch, N), ; a comment, with ] and "
    (width, M)]            ; model.py:3
  R1: f32[N, M] strided = TENSOR_VIEW slice R0, axis 1 from 0 to M
	R2 = TENSOR_ALLOC [(batch, N), (width, min(M, 2*(N + M)))], f32, CPU(0) ; model.py:4
  OP_CALL Resize(R1; N, M) -> R2 {mode: "R1; ]"}
  OP_CALL msvm.X(R10, R1) -> new R3 "y": f32[N, M], _ {axes: [1, 2]}
  R4: f32[*] = TENSOR_PHI [b0: R1, b1:R1, b10: R1]
  RETURN (R2; N)
)";
const std::vector<int32_t> kLines = {4, 7, 8, 9, 10, 11, 12};

std::string statement(int32_t k) {
  const StatementTexts texts(kText, kLines);
  const auto p = texts.place(k);
  if (!p) return "none";
  const std::vector<TextEdit> marks = {{{p->line, p->column, p->line, p->column}, "\1"}, {{p->end_line, p->end_column, p->end_line, p->end_column}, "\2"}};
  const std::string marked = with_edits(kText, marks);
  const size_t from = marked.find('\1') + 1;
  return marked.substr(from, marked.find('\2') - from);
}

/// The lines that the edits change.
std::string changed(const std::vector<StatementEdit>& changes) {
  const StatementTexts texts(kText, kLines);
  const auto edits = texts.edits(changes);
  if (!edits) return "none";
  const std::string now = with_edits(kText, *edits);
  std::vector<std::string> before, after;
  auto split = [](std::string_view s, std::vector<std::string>& out) {
    for (size_t from = 0, to = 0; (to = s.find('\n', from)) != std::string_view::npos; from = to + 1) out.emplace_back(s.substr(from, to - from));
  };
  split(kText, before);
  split(now, after);
  std::string out;
  for (const std::string& line : after)
    if (std::find(before.begin(), before.end(), line) == before.end()) out += line + "|";
  return out;
}

TEST(StatementTexts, FindStatements) {
  EXPECT_EQ(statement(0), "R0 \"a = [b\" = TENSOR_CREATE input 0, [\n    (batch, N), ; a comment, with ] and \"\n    (width, M)]");
  EXPECT_EQ(statement(2), "R2 = TENSOR_ALLOC [(batch, N), (width, min(M, 2*(N + M)))], f32, CPU(0)");
  EXPECT_EQ(statement(3), "OP_CALL Resize(R1; N, M) -> R2 {mode: \"R1; ]\"}");
  EXPECT_EQ(statement(6), "RETURN (R2; N)");
  EXPECT_EQ(statement(7), "none");
  EXPECT_EQ(statement(-1), "none");
}

TEST(StatementTexts, InsertWithTheIndentOfTheLine) {
  EXPECT_EQ(changed({{Kind::kInsert, 2, "R5 = SHAPE_PROPAGATE R0, 1"}, {Kind::kInsert, 2, "R6 = SHAPE_CALC mul R5, 2"}}), "\tR5 = SHAPE_PROPAGATE R0, 1|\tR6 = SHAPE_CALC mul R5, 2|");
  EXPECT_EQ(changed({{Kind::kInsert, 0, "TRAP \"x\""}}), "  TRAP \"x\"|");
}

TEST(StatementTexts, Operands) {
  EXPECT_EQ(changed({{Kind::kOperand, 3, "R7", "R1"}}), "  OP_CALL Resize(R7; N, M) -> R2 {mode: \"R1; ]\"}|");
  EXPECT_EQ(changed({{Kind::kOperand, 4, "R7", "R1"}}), "  OP_CALL msvm.X(R10, R7) -> new R3 \"y\": f32[N, M], _ {axes: [1, 2]}|");
  EXPECT_EQ(changed({{Kind::kOperand, 5, "b1: R7", "b1: R1"}}), "  R4: f32[*] = TENSOR_PHI [b0: R1, b1: R7, b10: R1]|");
  EXPECT_EQ(changed({{Kind::kOperand, 1, "R7", "R1"}}), "none");
}

TEST(StatementTexts, Sizes) {
  EXPECT_EQ(changed({{Kind::kSize, 2, "R7", "", 1}}), "\tR2 = TENSOR_ALLOC [(batch, N), (width, R7)], f32, CPU(0) ; model.py:4|");
  EXPECT_EQ(changed({{Kind::kSize, 2, "4", "", 0}, {Kind::kSize, 2, "2*M", "", 1}}), "\tR2 = TENSOR_ALLOC [(batch, 4), (width, 2*M)], f32, CPU(0) ; model.py:4|");
  EXPECT_EQ(changed({{Kind::kSize, 2, "[N, M, 1]"}}), "\tR2 = TENSOR_ALLOC [N, M, 1], f32, CPU(0) ; model.py:4|");
  EXPECT_EQ(changed({{Kind::kSize, 0, "7", "", 1}}), "    (width, 7)]            ; model.py:3|");
  EXPECT_EQ(changed({{Kind::kSize, 2, "7", "", 2}}), "none");
  EXPECT_EQ(changed({{Kind::kSize, 6, "7", "", 0}}), "none");
}

TEST(StatementTexts, Types) {
  EXPECT_EQ(changed({{Kind::kType, 1, "f16[N]", "R1"}}), "  R1: f16[N] = TENSOR_VIEW slice R0, axis 1 from 0 to M|");
  EXPECT_EQ(changed({{Kind::kType, 0, "f16[N]", "R0"}}), "  R0 \"a = [b\": f16[N] = TENSOR_CREATE input 0, [|");
  EXPECT_EQ(changed({{Kind::kType, 4, "f16[N]", "R3"}}), "  OP_CALL msvm.X(R10, R1) -> new R3 \"y\": f16[N], _ {axes: [1, 2]}|");
}

TEST(StatementTexts, NothingWhereOneFindsNoPlace) {
  EXPECT_EQ(changed({{Kind::kInsert, 2, "X"}, {Kind::kOperand, 3, "R7", "R99"}}), "none");
  EXPECT_EQ(changed({{Kind::kSize, 2, "[N]"}, {Kind::kSize, 2, "4", "", 0}}), "none");
}

TEST(StatementTexts, HostileTexts) {
  for (std::string_view text : {"", "\n", "  \"", "  R0 = [[[[", "  )))", "  \"\\", "R0 = X [(,)]", ";", "R0: ", "[;\n,"}) {
    const std::vector<int32_t> lines = {1, 2, 0, -5, 1 << 30};
    const StatementTexts texts(text, lines);
    for (int32_t k = 0; k < 5; ++k)
      for (Kind kind : {Kind::kInsert, Kind::kOperand, Kind::kSize, Kind::kType})
        for (int axis : {-1, 0, 3}) {
          const StatementEdit change{kind, k, "T", "R0", axis};
          if (const auto edits = texts.edits(std::span(&change, 1))) {
            EXPECT_NE(with_edits(text, *edits), text);
          }
        }
  }
}

}  // namespace
}  // namespace msvm
