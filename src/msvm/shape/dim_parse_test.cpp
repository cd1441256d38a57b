#include "msvm/shape/dim_parse.h"

#include <gtest/gtest.h>

namespace msvm {
namespace {

class DimParseTest : public testing::Test {
 protected:
  DimParseTest() {
    h = c.symbol(c.add_symbol({.name = "h"}));
    odd = c.symbol(c.add_symbol({.name = "past seq + 1"}));
    r7 = c.symbol(c.add_symbol({.name = "R7", .function = 0, .reg = 7}));
  }
  Dim resolve(std::string_view name) {
    if (name == "R7") return r7;
    auto id = c.find_symbol(name);
    return id ? c.symbol(*id) : Dim();
  }
  DimResolver resolver() {
    return [this](std::string_view name) { return resolve(name); };
  }
  Dim d(std::string_view text) {
    auto r = parse_dim(text, c, resolver());
    EXPECT_TRUE(r.ok()) << text << ": " << r.status().message();
    return r.ok() ? *r : Dim();
  }
  std::string error(std::string_view text) {
    auto r = parse_dim(text, c, resolver());
    return r.ok() ? "" : r.status().message();
  }
  DimContext c;
  Dim h, odd, r7;
};

TEST_F(DimParseTest, NamesAndPrefixes) {
  EXPECT_EQ(d("symbolic:h"), h);
  EXPECT_EQ(d("symbolic:2*h"), c.mul(c.constant(2), h));
  EXPECT_EQ(d(" R7 "), r7);
  EXPECT_EQ(d("\"past seq + 1\""), odd);
  EXPECT_EQ(c.to_string(c.add(odd, h)), "h + \"past seq + 1\"");
}

TEST_F(DimParseTest, Precedence) {
  EXPECT_EQ(d("1 + 2*3"), c.constant(7));
  EXPECT_EQ(d("(1 + 2)*3"), c.constant(9));
  EXPECT_EQ(d("7 - 5//2"), c.constant(5));
  EXPECT_EQ(d("0 - 5//2"), c.constant(-2));
  EXPECT_EQ(d("-5//2"), c.constant(-3)) << "as in Python";
  EXPECT_EQ(d("0 - 5 % 3"), c.constant(-2));
  EXPECT_EQ(d("100//7//2"), c.constant(7));
  EXPECT_EQ(d("1 - -1"), c.constant(2));
  EXPECT_EQ(d("max(1, 2, 3)"), c.constant(3));
  EXPECT_EQ(d("bcast(1, h)"), h);
  EXPECT_EQ(d("-9223372036854775808").value(), INT64_MIN);
  EXPECT_EQ(d("-1 - 9223372036854775807").value(), INT64_MIN);
}

TEST_F(DimParseTest, PrefixStopsWhereTheExpressionEnds) {
  ParsedDim p = parse_dim_prefix("[2*h + 1, 3]", 1, c, resolver());
  EXPECT_TRUE(p.error.empty());
  EXPECT_EQ(p.end, 8u);
  EXPECT_EQ(p.dim, d("2*h + 1"));
  p = parse_dim_prefix("h -> R9", 0, c, resolver());
  EXPECT_EQ(p.end, 1u);
  EXPECT_EQ(p.dim, h);
}

TEST_F(DimParseTest, ErrorsNameTheColumn) {
  EXPECT_EQ(error("2*x"), "column 3: unknown name x");
  EXPECT_EQ(error("h h"), "column 3: unexpected text after the expression");
  EXPECT_EQ(error(""), "column 1: expected a number, a name or (");
  EXPECT_EQ(error("h + "), "column 5: expected a number, a name or (");
  EXPECT_EQ(error("(h"), "column 3: expected )");
  EXPECT_EQ(error("min(h)"), "column 6: expected ,");
  EXPECT_EQ(error("mod(h, 2, 3)"), "column 9: expected )");
  EXPECT_EQ(error("9223372036854775808"), "column 1: the number doesn't fit 64 bits");
  EXPECT_EQ(error("h//0"), "column 2: the expression overflows, divides by zero or is too large");
  EXPECT_EQ(error("\"h"), "column 1: unterminated string");
  EXPECT_NE(error(std::string(5000, '(')), "");
  EXPECT_NE(error(std::string(5000, '-')), "");
}

TEST_F(DimParseTest, RandomTextNeverCrashes) {
  const std::string_view tokens[] = {"h", "R7", "2", "9999999999999", "+", "-", "*", "//", "%", "(", ")", ",", "min(", "mod(", " ", "\"", "symbolic:", "\xff", "->"};
  uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int n = 0; n < 10; ++n) text += tokens[((state = state * 1664525 + 1013904223) >> 16) % std::size(tokens)];
    ParsedDim p = parse_dim_prefix(text, 0, c, resolver());
    ASSERT_LE(p.end, text.size());
    ASSERT_EQ(p.dim.valid(), p.error.empty());
  }
}

}  // namespace
}  // namespace msvm
