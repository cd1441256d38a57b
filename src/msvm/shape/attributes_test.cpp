#include "msvm/shape/attributes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "msvm/shape/quote.h"

namespace msvm {
namespace {

std::optional<AttrValue> read_back(const std::string& text) {
  size_t position = 0;
  auto v = parse_attr_value(text, position);
  return v && position == text.size() ? v : std::nullopt;
}

TEST(Attributes, SortedUniqueTyped) {
  Attributes a{{"strides", std::vector<int64_t>{2, 2}}, {"mode", std::string("nearest")}, {"alpha", 0.5}, {"alpha", 0.25}};
  EXPECT_EQ(a.size(), 3u);
  EXPECT_EQ(a.begin()->name, "alpha");
  EXPECT_EQ(a.get_float("alpha", 1), 0.25);
  EXPECT_EQ(a.get_string("mode", ""), "nearest");
  EXPECT_EQ(a.get_ints("strides").size(), 2u);
  EXPECT_TRUE(a.get_ints("pads").empty());
  EXPECT_EQ(a.get_int("mode", 7), 7) << "another type counts as absent";
  EXPECT_EQ(a.get_dtype("to", DType::kI8), DType::kI8);
  a.erase("mode");
  a.erase("mode");
  EXPECT_FALSE(a.has("mode"));
  EXPECT_TRUE(a == (Attributes{{"alpha", 0.25}, {"strides", std::vector<int64_t>{2, 2}}}));
}

TEST(Attributes, TextOfEachType) {
  EXPECT_EQ(to_string(AttrValue(int64_t{-3})), "-3");
  EXPECT_EQ(to_string(AttrValue(1.0)), "1.0");
  EXPECT_EQ(to_string(AttrValue(-0.0)), "-0.0");
  EXPECT_EQ(to_string(AttrValue(0.1)), "0.1");
  EXPECT_EQ(to_string(AttrValue(1e300)), "1e+300");
  EXPECT_EQ(to_string(AttrValue(-HUGE_VAL)), "-inf");
  EXPECT_EQ(to_string(AttrValue(std::nan(""))), "nan");
  EXPECT_EQ(to_string(AttrValue(std::string("a\"b\n"))), R"("a\"b\n")");
  EXPECT_EQ(to_string(AttrValue(DType::kBF16)), "bf16");
  EXPECT_EQ(to_string(AttrValue(std::vector<int64_t>{1, -2})), "[1, -2]");
  EXPECT_EQ(to_string(AttrValue(std::vector<double>{1, 0.5})), "[1.0, 0.5]");
  EXPECT_EQ(to_string(AttrValue(std::vector<std::string>{"a", "b"})), R"(["a", "b"])");
  EXPECT_EQ(to_string(AttrValue(std::vector<double>{})), "f64[]");
}

TEST(Attributes, EveryValueReadsBack) {
  std::vector<AttrValue> values = {INT64_MIN, INT64_MAX, HUGE_VAL, -HUGE_VAL, 5e-324, 1.7976931348623157e308, std::string(), DType::kString,
                                   std::vector<int64_t>{}, std::vector<double>{}, std::vector<std::string>{}, std::vector<std::string>{"", "]\\", "ü"}};
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    double d = std::bit_cast<double>(random());
    if (!std::isnan(d)) {
      values.emplace_back(d);
      values.emplace_back(std::vector<double>{d, 1});
    }
    std::string s;
    for (int k = 0; k < 6; ++k) s += static_cast<char>(random());
    values.emplace_back(s);
  }
  for (const AttrValue& v : values) {
    auto back = read_back(to_string(v));
    ASSERT_TRUE(back && *back == v) << to_string(v);
    if (const double* d = std::get_if<double>(&v)) {
      ASSERT_EQ(std::signbit(*d), std::signbit(std::get<double>(*back)));
    }
  }
  EXPECT_TRUE(std::isnan(std::get<double>(*read_back("nan"))));
}

TEST(Attributes, MalformedTextIsRefused) {
  for (const char* bad : {"", "x", "[1, 0.5]", "[1", "[1,]", "[,1]", "1.2.3", "--1", "9223372036854775808", "\"a", "\"\\q\"", "[[1]]", "1e999", "[f32]", "0x10"})
    EXPECT_FALSE(read_back(bad)) << bad;
}

TEST(Quote, PlainNames) {
  for (const char* good : {"H", "_x", "a.b_1"}) EXPECT_TRUE(is_plain_name(good)) << good;
  for (const char* bad : {"", "1a", "a b", "a-b", "ü"}) EXPECT_FALSE(is_plain_name(bad)) << bad;
}

}  // namespace
}  // namespace msvm
