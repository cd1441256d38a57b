#include "msvm/ops/print_format.h"

#include <gmock/gmock.h>

namespace msvm {
namespace {

std::string shown(std::string_view format, size_t operands) {
  auto pieces = parse_print_format(format, operands);
  if (!pieces.ok()) return "error: " + pieces.status().message();
  std::string text;
  for (const PrintPiece& p : *pieces) {
    text += p.text;
    if (p.operand >= 0) text += "<" + std::to_string(p.operand) + std::string(p.spec) + ">";
  }
  return text;
}

TEST(PrintFormat, Pieces) {
  EXPECT_EQ(shown("", 0), "");
  EXPECT_EQ(shown("a", 0), "a");
  EXPECT_EQ(shown("a {1} b {0:>4}{1!r}", 2), "a <1> b <0:>4><1!r>");
  EXPECT_EQ(shown("{{}}{{0}}{0}", 1), "{}{0}<0>");
  EXPECT_EQ(shown("{0}}}", 1), "<0>}");
}

TEST(PrintFormat, Errors) {
  using ::testing::HasSubstr;
  for (const char* operand : {"{}", "{x}", "{0.a}", "{0[1]}", "{-1}", "{ 0}", "{0 }", "{99999999999}"}) EXPECT_THAT(shown(operand, 1), HasSubstr("an operand that isn't a number at byte 0")) << operand;
  EXPECT_THAT(shown("ab{1}", 1), HasSubstr("operand 1 of 1 at byte 2"));
  EXPECT_THAT(shown("{", 1), HasSubstr("without a closing one"));
  EXPECT_THAT(shown("{0:{0}}", 1), HasSubstr("without a closing one"));
  EXPECT_THAT(shown("}", 1), HasSubstr("without an opening one"));
}

}  // namespace
}  // namespace msvm
