// Random expressions: the canonical form must have the value of the expression it came from.
#include <gtest/gtest.h>

#include "msvm/shape/dim_parse.h"
#include "msvm/shape/random_dims.h"

namespace msvm {
namespace {

using testing_support::RandomDims;

TEST(DimProperty, CanonicalFormHasTheSameValue) {
  DimContext c;
  RandomDims random(c, 1);
  int compared = 0, valid = 0;
  for (int round = 0; round < 30000; ++round) {
    bool large = round % 4 == 0;
    auto e = random.expression(1 + random.below(4), large);
    Dim d = random.build(*e);
    if (!d.valid()) continue;
    ++valid;
    for (int i = 0; i < 6; ++i) {
      auto values = random.values(large);
      auto expected = RandomDims::direct(*e, values), actual = RandomDims::evaluate(d, values);
      if (!expected) continue;
      DimRange range = c.range(d);
      DimResidue residue = c.residue(d);
      std::string text = c.to_string(d) + "  under  " + testing::PrintToString(values);
      ASSERT_LE(range.min, *expected) << text;
      ASSERT_GE(range.max, *expected) << text;
      if (residue.modulus == 0) {
        ASSERT_EQ(residue.remainder, *expected) << text;
      } else {
        ASSERT_EQ(residue.remainder, checked_mod(*expected, residue.modulus)) << text << " modulo " << residue.modulus;
      }
      if (!actual) {  // only on overflow inside the canonical form
        ASSERT_TRUE(large) << text;
        continue;
      }
      ASSERT_EQ(*actual, *expected) << text;
      ++compared;
    }
  }
  EXPECT_GT(valid, 15000);
  EXPECT_GT(compared, 50000);
}

TEST(DimProperty, InvalidOnlyForAReason) {
  DimContext c;
  RandomDims random(c, 2);
  for (int round = 0; round < 10000; ++round) {
    auto e = random.expression(2, false);
    if (random.build(*e).valid()) continue;
    for (int i = 0; i < 20; ++i) ASSERT_FALSE(RandomDims::direct(*e, random.values(false)));
  }
}

TEST(DimProperty, TextReadsBackToTheSamePointer) {
  DimContext c;
  RandomDims random(c, 3);
  for (int round = 0; round < 20000; ++round) {
    Dim d = random.build(*random.expression(1 + random.below(4), round % 4 == 0));
    if (!d.valid()) continue;
    std::string text = c.to_string(d);
    auto read = parse_dim(text, c);
    ASSERT_TRUE(read.ok()) << text << ": " << read.status().message();
    ASSERT_EQ(*read, d) << text << "  read as  " << c.to_string(*read);
  }
}

TEST(DimProperty, TextDoesNotDependOnWhatWasBuiltBefore) {
  DimContext c;
  RandomDims random(c, 4);
  std::vector<std::string> texts;
  for (int round = 0; round < 3000; ++round) {
    Dim d = random.build(*random.expression(4, false));
    if (d.valid()) texts.push_back(c.to_string(d));
  }
  DimContext fresh;
  RandomDims same_symbols(fresh, 0);
  std::reverse(texts.begin(), texts.end());
  for (const std::string& text : texts) ASSERT_EQ(fresh.to_string(*parse_dim(text, fresh)), text);
}

TEST(DimProperty, SubstitutionCommutesWithEvaluation) {
  DimContext c;
  RandomDims random(c, 5);
  int compared = 0;
  for (int round = 0; round < 20000; ++round) {
    Dim d = random.build(*random.expression(3, false));
    Dim value = random.build(*random.expression(2, false));
    SymbolId s = static_cast<SymbolId>(random.below(static_cast<int>(c.num_symbols())));
    if (!d.valid() || !value.valid()) continue;
    Dim put = c.substitute(d, [&](SymbolId t) { return t == s ? value : Dim(); });
    if (!put.valid()) continue;
    for (int i = 0; i < 6; ++i) {
      auto values = random.values(false);
      auto v = RandomDims::evaluate(value, values);
      const SymbolInfo& info = c.symbol_info(s);
      DimRange declared = declared_range(info);
      if (!v || *v < declared.min || *v > declared.max || checked_mod(*v - info.remainder, info.divisor) != 0) continue;
      auto replaced = values;
      replaced[s] = *v;
      auto expected = RandomDims::evaluate(d, replaced), actual = RandomDims::evaluate(put, values);
      if (!expected || !actual) continue;
      ASSERT_EQ(*actual, *expected) << c.to_string(d) << " with " << info.name << " = " << c.to_string(value) << " is " << c.to_string(put);
      ++compared;
    }
  }
  EXPECT_GT(compared, 10000);
}

}  // namespace
}  // namespace msvm
