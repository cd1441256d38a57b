#include "observe/debug/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "observe/debug/breakpoints.h"
#include "observe/debug/evaluate.h"

namespace msvm::observe::debug {
namespace {

std::string value(std::string_view text) {
  auto e = parse(text);
  if (!e.ok()) return e.status().message();
  auto v = evaluate(*e, nullptr);
  return v.ok() ? v->type + " " + v->text : v.status().message();
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(value("1 + 2 * 3"), "i64 7");
  EXPECT_EQ(value("(1 + 2) * 3 - -4"), "i64 13");
  EXPECT_EQ(value("7 // 2 + 7 % 2"), "i64 4");
  EXPECT_EQ(value("-7 // 2"), "i64 -4");
  EXPECT_EQ(value("-7 % 2"), "i64 1");
  EXPECT_EQ(value("7 / 2"), "f64 3.5");
  EXPECT_EQ(value("1.5e2 + 1"), "f64 151");
  EXPECT_EQ(value(".5 * 2"), "f64 1");
  EXPECT_EQ(value("max(1, 5, 3) - min(4, 2)"), "i64 3");
  EXPECT_EQ(value("abs(-3) + int(2.9) + int(-2.9)"), "i64 3");
  EXPECT_EQ(value("len('abc')"), "i64 3");
}

TEST(Expression, Conditions) {
  EXPECT_EQ(value("1 < 2 and not 2 < 1"), "bool true");
  EXPECT_EQ(value("1 == 1.0 || false"), "bool true");
  EXPECT_EQ(value("true && !true"), "bool false");
  EXPECT_EQ(value("\"f32\" == 'f32'"), "bool true");
  EXPECT_EQ(value("1 or 1 / 0"), "bool true");  // what isn't needed isn't looked at
  EXPECT_EQ(value("1 != 1 or 2 >= 3 or 3 > 2"), "bool true");
}

TEST(Expression, ErrorsNameTheColumn) {
  EXPECT_EQ(value("1 +"), "column 4: expected a value, found the end");
  EXPECT_EQ(value("(1 + 2"), "column 7: expected ')', found the end");
  EXPECT_EQ(value("1 2"), "column 3: expected an operator or the end, found '2'");
  EXPECT_EQ(value("1 = 2"), "column 3: '=' can't stand in an expression: == compares");
  EXPECT_EQ(value("1 < 2 < 3"), "column 7: found '<' after a comparison: join two of them with 'and'");
  EXPECT_EQ(value("R3[0"), "column 5: expected ']', found the end");
  EXPECT_EQ(value("'abc"), "column 1: ' has no end: another ' was expected");
  EXPECT_EQ(value("12ab"), "column 3: 'a' after a number: an operator was expected");
  EXPECT_EQ(value("99999999999999999999"), "column 1: 99999999999999999999 is out of the range of i64");
  EXPECT_EQ(value("9223372036854775807 + 1"), "column 21: 9223372036854775807 + 1 leaves 64 bits");
  EXPECT_EQ(value("1 // 0"), "column 3: a division by zero");
  EXPECT_EQ(value(""), "column 1: there is nothing: a value was expected");
  EXPECT_EQ(value("R3 + 1"), "column 1: 'R3' needs a thread that is stopped");
  EXPECT_EQ(value("1 + 'a'"), "column 5: expected a number, found a text");
  EXPECT_THAT(value("foo(1)"), ::testing::HasSubstr("there is no function 'foo'; there are shape, "));
  EXPECT_EQ(value("abs(1, 2)"), "column 1: abs takes one argument, found 2 arguments");
}

TEST(Expression, SizesAreLimited) {
  EXPECT_THAT(value(std::string(5000, '1')), ::testing::HasSubstr("at most 4096"));
  EXPECT_THAT(value(std::string(100, '(') + "1" + std::string(100, ')')), ::testing::HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(value(std::string(100, '-') + "1"), ::testing::HasSubstr("nested more than 64 deep"));
  std::string sum = "1";
  for (int k = 0; k < 100; ++k) sum += "+1";
  EXPECT_THAT(value(sum), ::testing::HasSubstr("more than 64 operators in a row"));
}

TEST(Expression, AnythingIsAValueOrAnError) {
  constexpr std::string_view kPieces[] = {"R0", "R1", "N", "x", "(", ")", "[", "]", ",", ":", ".", "+", "-", "*", "/", "//", "%", "<", "==", "and", "or", "not", "1", "2.5", "'a'", "shape", "max", "sum", " ", "true", "`q", "\"", "9223372036854775807", "-", "\x80", "&&", "!"};
  std::mt19937 random(7);
  int good = 0;
  for (int k = 0; k < 20000; ++k) {
    std::string text;
    for (int n = static_cast<int>(random() % 12); n >= 0; --n) text += kPieces[random() % std::size(kPieces)];
    const std::string v = value(text);
    EXPECT_FALSE(v.empty()) << text;
    good += !v.starts_with("column");
    (void)parse_indices(text);
    (void)parse_hit_condition(text);
    (void)parse_log_template(text + "{" + text + "}");
  }
  EXPECT_GT(good, 50);
}

TEST(Expression, HitConditions) {
  auto held = [](std::string_view text, uint64_t hits) { return parse_hit_condition(text)->holds(hits); };
  EXPECT_TRUE(held("", 1) && held("5", 5) && held(">= 5", 6) && held("%3", 6) && held("< 2", 1) && held("<=2", 2) && held("> 2", 3) && held(" == 4 ", 4));
  EXPECT_FALSE(held("5", 4) || held(">= 5", 4) || held("%3", 5) || held("< 2", 2) || held("<=2", 3) || held("> 2", 2));
  EXPECT_EQ(parse_hit_condition("% 0").status().message(), "hit condition '% 0': expected a count, as 5, >= 5 or % 3");
  EXPECT_FALSE(parse_hit_condition("five").ok());
}

TEST(Expression, SameFile) {
  EXPECT_TRUE(same_file("model.py", "/home/a/model.py") && same_file("./model.py", "model.py") && same_file("/x/b/model.py", "b/model.py"));
  EXPECT_FALSE(same_file("model.py", "/home/a/mymodel.py") || same_file("", "model.py") || same_file("a/model.py", "b/model.py"));
}

}  // namespace
}  // namespace msvm::observe::debug
