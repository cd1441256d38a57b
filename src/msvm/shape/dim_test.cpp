#include "msvm/shape/dim.h"

#include <gtest/gtest.h>

#include "msvm/shape/dim_parse.h"

namespace msvm {
namespace {

class DimTest : public testing::Test {
 protected:
  DimTest() {
    for (const char* name : {"N", "H", "W", "a", "b"}) c.add_symbol({.name = name});
    c.add_symbol({.name = "H32", .min = 32, .max = 4096, .divisor = 32});
    c.add_symbol({.name = "odd", .min = 1, .divisor = 4, .remainder = 3});
    c.add_symbol({.name = "S", .min = 2, .max = 100});
    c.add_symbol({.name = "P", .min = 1});
    c.add_symbol({.name = "any", .min = INT64_MIN});
  }
  Dim d(std::string_view text) {
    auto r = parse_dim(text, c);
    EXPECT_TRUE(r.ok()) << text << ": " << r.status().message();
    return r.ok() ? *r : Dim();
  }
  std::string canonical(std::string_view text) { return c.to_string(d(text)); }
  DimContext c;
};

#define EXPECT_SAME(x, y) EXPECT_EQ(d(x), d(y)) << canonical(x) << "  against  " << canonical(y)

TEST_F(DimTest, WhatWasMadeSinceAMarkIsForgotten) {
  const Dim kept = d("N + 2*H");
  const DimContext::Mark mark = c.mark();
  for (int64_t divisor : {4, 1}) {  // a symbol of the same number and name, of which other things are declared
    const Dim q = c.symbol(c.add_symbol({.name = "q", .min = 4, .max = 64, .divisor = divisor}));
    const Dim quarter = c.floordiv(q, c.constant(4));
    EXPECT_EQ(c.mul(quarter, c.constant(4)) == q, divisor == 4);
    EXPECT_EQ(c.to_string(c.add(kept, q)), "N + 2*H + q");
    c.rollback(mark);
    EXPECT_EQ(c.num_symbols(), mark.symbols);
    EXPECT_FALSE(c.find_symbol("q"));
  }
  EXPECT_EQ(d("N + 2*H"), kept);
}

TEST_F(DimTest, EqualPolynomialsAreEqualPointers) {
  EXPECT_SAME("H + W", "W + H");
  EXPECT_SAME("2*(H + W) - W", "2*H + W");
  EXPECT_SAME("(H + W)*(H - W)", "H*H - W*W");
  EXPECT_SAME("(H + 1)*(W + 1)", "H*W + H + W + 1");
  EXPECT_SAME("H - H", "0");
  EXPECT_SAME("N*(H*W)", "W*(N*H)");
  EXPECT_SAME("H*floordiv(W, 2)", "floordiv(W, 2)*H");
  EXPECT_NE(d("H*W"), d("H + W"));
}

TEST_F(DimTest, TextIsReadable) {
  EXPECT_EQ(canonical("2*H + ceildiv(W, 2) - 1"), "2*H + ceildiv(W, 2) - 1");
  EXPECT_EQ(canonical("-1 - H"), "-H - 1");
  EXPECT_EQ(canonical("3 - 2*H*W"), "-2*H*W + 3");
  EXPECT_EQ(canonical("max(min(3, W, H), 1)"), "max(min(H, W, 3), 1)");
  EXPECT_EQ(canonical("(H - 1)//2 + 1"), "ceildiv(H, 2)") << "a convolution with stride 2 and padding that keeps the size";
  EXPECT_EQ(canonical("bcast(W, H)"), "bcast(H, W)");
}

TEST_F(DimTest, ConstantsOfAnyWidth) {
  for (int64_t v : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN, int64_t{1} << 62, -(int64_t{1} << 62) - 1}) {
    EXPECT_TRUE(c.constant(v).is_const(v));
    EXPECT_EQ(c.constant(v), c.constant(v));
    EXPECT_EQ(d(std::to_string(v)), c.constant(v));
  }
}

TEST_F(DimTest, OverflowIsInvalidAndStaysSo) {
  EXPECT_FALSE(c.add(c.constant(INT64_MAX), c.constant(1)).valid());
  EXPECT_FALSE(c.mul(d("4611686018427387904*H"), c.constant(4)).valid());
  EXPECT_FALSE(c.neg(c.constant(INT64_MIN)).valid());
  EXPECT_FALSE(c.floordiv(d("H"), c.constant(0)).valid());
  EXPECT_FALSE(c.floordiv(c.constant(INT64_MIN), c.constant(-1)).valid());
  EXPECT_FALSE(c.add(Dim(), d("H")).valid());
  EXPECT_FALSE(c.max(d("H"), Dim()).valid());
  EXPECT_FALSE(c.substitute(d("H*W"), [&](SymbolId) { return c.constant(INT64_MAX); }).valid());
}

TEST_F(DimTest, LimitsOnTermsAndSize) {
  DimContext many;
  Dim sum = many.constant(0);
  std::vector<Dim> symbols;
  for (int i = 0; i < 65; ++i) symbols.push_back(many.symbol(many.add_symbol({.name = "s" + std::to_string(i)})));
  for (int i = 0; i < 64; ++i) sum = many.add(sum, symbols[static_cast<size_t>(i)]);
  EXPECT_TRUE(sum.valid());
  EXPECT_FALSE(many.add(sum, symbols[64]).valid());
  EXPECT_FALSE(many.mul(sum, sum).valid());

  Dim nested = symbols[0];  // its tree doubles each time
  int levels = 0;
  for (; nested.valid(); ++levels) nested = many.max(many.floordiv(nested, symbols[1]), many.floordiv(nested, symbols[2]));
  EXPECT_LT(levels, 12);
  Dim power = symbols[0];
  for (levels = 0; power.valid(); ++levels) power = many.mul(power, power);
  EXPECT_EQ(levels, 6);
}

TEST_F(DimTest, DivisionByConstants) {
  EXPECT_SAME("H//1", "H");
  EXPECT_SAME("(6*H)//3", "2*H");
  EXPECT_SAME("(4*H + 5)//4", "H + 1");
  EXPECT_SAME("(4*H + 2*W + 3)//2", "2*H + W + 1");
  EXPECT_SAME("(3*H)//6", "H//2");
  EXPECT_SAME("(H//2)//3", "H//6");
  EXPECT_SAME("((H + 1)//2 + 1)//2", "ceildiv(H, 4)");
  EXPECT_SAME("H//(-2)", "(-H)//2");
  EXPECT_SAME("ceildiv(H, 2)", "(H + 1)//2");
  EXPECT_SAME("(2*H) % 2", "0");
  EXPECT_SAME("(7*H + 9) % 4", "(3*H + 1) % 4");
  EXPECT_SAME("(H % 12) % 4", "H % 4");
  EXPECT_SAME("(6*H + 3) % 4", "2*((3*H + 1) % 2) + 1");
  EXPECT_SAME("S//200", "0");
  EXPECT_SAME("S % 128", "S");
}

TEST_F(DimTest, KnownDivisors) {
  EXPECT_SAME("H32 % 32", "0");
  EXPECT_SAME("H32 % 8", "0");
  EXPECT_SAME("(H32 + 5) % 16", "5");
  EXPECT_SAME("odd % 4", "3");
  EXPECT_SAME("odd % 2", "1");
  EXPECT_SAME("2*(H32//2)", "H32");
  EXPECT_SAME("ceildiv(H32, 2)", "H32//2");
  EXPECT_SAME("4*(H32//8)", "H32//2");
  EXPECT_SAME("H32//16 + H32//16", "H32//8");
  EXPECT_SAME("(H32 + 8*W)//8", "H32//8 + W");
  EXPECT_SAME("(N*H32*W)//32", "N*W*(H32//32)");
  EXPECT_SAME("(odd - 3)//4*4", "odd - 3");
  // a U-Net: four times down with stride 2, four times up
  Dim down = d("H32");
  for (int i = 0; i < 4; ++i) down = c.add(c.floordiv(c.add(down, c.constant(2 - 3)), c.constant(2)), c.constant(1));
  EXPECT_EQ(c.mul(down, c.constant(16)), d("H32"));
}

TEST_F(DimTest, DivisionBySymbols) {
  EXPECT_SAME("(N*H*W)//(H*W)", "N");
  EXPECT_SAME("(N*(H + 1)*(W + 1))//(N*W + N)", "H + 1");
  EXPECT_SAME("(N*12*H)//(N*4)", "3*H");
  EXPECT_SAME("(N*H)//(2*N)", "H//2");
  EXPECT_SAME("(a*b + a + 3)//a", "b + 1 + 3//a");
  EXPECT_SAME("(a*b + 3) % a", "3 % a");
  EXPECT_SAME("(N*H) % (2*N)", "N*(H % 2)");
  EXPECT_SAME("H//(-W)", "(-H)//W");
  EXPECT_SAME("(H//P)//P", "H//(P*P)");
  EXPECT_SAME("1//(P + 1)", "0");
}

TEST_F(DimTest, MinMaxByRanges) {
  EXPECT_SAME("min(H, H + 1)", "H");
  EXPECT_SAME("max(H, H - W)", "H");
  EXPECT_SAME("min(S, 100)", "S");
  EXPECT_SAME("max(S, 1)", "S");
  EXPECT_SAME("max(0, H)", "H");
  EXPECT_SAME("min(min(H, 5), min(W, 3))", "min(W, H, 3)");
  EXPECT_SAME("max(any, 0, any)", "max(0, any)");
}

TEST_F(DimTest, Broadcast) {
  EXPECT_SAME("bcast(H, 1)", "H");
  EXPECT_SAME("bcast(H, H)", "H");
  EXPECT_SAME("bcast(H, 3)", "3");
  EXPECT_SAME("bcast(H, 0)", "0");
  EXPECT_SAME("bcast(S, H)", "S");
  EXPECT_SAME("bcast(bcast(H, W), N)", "bcast(N, bcast(W, H))");
  EXPECT_FALSE(c.broadcast(c.constant(2), c.constant(3)).valid());
}

TEST_F(DimTest, Ranges) {
  auto range = [&](std::string_view text) {
    DimRange r = c.range(d(text));
    return std::pair(r.min, r.max);
  };
  using P = std::pair<int64_t, int64_t>;
  EXPECT_EQ(range("S"), P(2, 100));
  EXPECT_EQ(range("H32"), P(32, 4096));
  EXPECT_EQ(range("2*S - 1"), P(3, 199));
  EXPECT_EQ(range("-S"), P(-100, -2));
  EXPECT_EQ(range("H - W"), P(INT64_MIN, INT64_MAX));
  EXPECT_EQ(range("H % 7"), P(0, 6));
  EXPECT_EQ(range("S//3"), P(0, 33));
  EXPECT_EQ(range("S//P"), P(0, 100));
  EXPECT_EQ(range("min(S, H)"), P(0, 100));
  EXPECT_EQ(range("any*any"), P(0, INT64_MAX));
  EXPECT_EQ(range("H + 9223372036854775807").second, INT64_MAX);
}

TEST_F(DimTest, SymbolsAreFoundByNameAndOrderedAsDeclared) {
  EXPECT_EQ(c.find_symbol("H"), SymbolId{1});
  EXPECT_FALSE(c.find_symbol("nope"));
  SymbolId r9 = c.add_symbol({.name = "R9", .function = 0, .reg = 9});
  SymbolId r3 = c.add_symbol({.name = "R3", .function = 0, .reg = 3});
  EXPECT_FALSE(c.find_symbol("R9")) << "a register is not a named symbol";
  EXPECT_EQ(c.to_string(c.add(c.symbol(r9), c.add(c.symbol(r3), d("W")))), "W + R3 + R9") << "by number, not by age";
  EXPECT_FALSE(c.symbol(12345).valid());
}

TEST_F(DimTest, VisitsEverySymbol) {
  std::vector<SymbolId> seen;
  DimContext::for_each_symbol(d("N*H + floordiv(W, a)"), [&](SymbolId s) { seen.push_back(s); });
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<SymbolId>{0, 1, 2, 3}));
}

TEST_F(DimTest, SubstitutionSimplifies) {
  auto put = [&](std::string_view text, std::string_view name, std::string_view value) {
    return c.substitute(d(text), [&](SymbolId s) { return c.symbol_info(s).name == name ? d(value) : Dim(); });
  };
  EXPECT_EQ(put("2*H + W//2", "W", "4*N"), d("2*H + 2*N"));
  EXPECT_EQ(put("bcast(H, W)", "W", "1"), d("H"));
  EXPECT_EQ(put("H*W", "N", "7"), d("H*W"));
  EXPECT_FALSE(put("H//W", "W", "0").valid());
}

}  // namespace
}  // namespace msvm
