#include "msvm/base/checked.h"

#include <gtest/gtest.h>

#include <vector>

namespace msvm {
namespace {

TEST(Checked, RoundingMatchesTheDefinition) {
  for (int64_t a = -20; a <= 20; ++a) {
    for (int64_t b = -7; b <= 7; ++b) {
      if (b == 0) {
        EXPECT_FALSE(checked_floordiv(a, b) || checked_ceildiv(a, b) || checked_mod(a, b));
        continue;
      }
      int64_t q = *checked_floordiv(a, b), c = *checked_ceildiv(a, b), m = *checked_mod(a, b);
      EXPECT_EQ(q * b + m, a);
      EXPECT_TRUE(b > 0 ? (0 <= m && m < b) : (b < m && m <= 0));
      EXPECT_EQ(c, -*checked_floordiv(-a, b));
    }
  }
}

TEST(Checked, Extremes) {
  EXPECT_FALSE(checked_add(INT64_MAX, 1));
  EXPECT_FALSE(checked_sub(INT64_MIN, 1));
  EXPECT_FALSE(checked_mul(INT64_MIN, -1));
  EXPECT_FALSE(checked_floordiv(INT64_MIN, -1));
  EXPECT_FALSE(checked_ceildiv(INT64_MIN, -1));
  EXPECT_EQ(checked_mod(INT64_MIN, -1), 0);
  EXPECT_EQ(checked_mul(INT64_MAX, -1), -INT64_MAX);
}

TEST(Checked, ProductOfSizes) {
  auto product = [](std::vector<int64_t> v) { return checked_product(v); };
  EXPECT_EQ(product({}), 1);
  EXPECT_EQ(product({2, 3, 4}), 24);
  EXPECT_EQ(product({2, 0, 4}), 0);
  EXPECT_FALSE(product({2, -1}));
  EXPECT_FALSE(product({INT64_MAX, 2}));
  EXPECT_FALSE(product({INT64_MAX, 2, 0})) << "strides of an empty tensor must not wrap either";
}

}  // namespace
}  // namespace msvm
