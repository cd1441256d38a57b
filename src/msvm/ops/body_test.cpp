#include "msvm/ops/body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>


namespace msvm {
namespace {

using ::testing::HasSubstr;

TEST(Body, PrintsWhatItReads) {
  const std::vector<std::string> text{"Add(y, i3)", "Clip(s0, -0.1, 6)", "Mul(s1, i4)", "LeakyRelu(s2, 1e-05)", "Max(s3, inf)"};
  auto body = parse_body(text, 3, 5, true);
  ASSERT_TRUE(body.ok()) << body.status().message();
  EXPECT_EQ(print_body(*body), text);
  EXPECT_EQ(body->steps[2].operands[0], (BodyOperand{BodyOperand::kStep, 1, 0}));
}

TEST(Body, EveryStepReadsItsOwnText) {
  for (const BodyOpInfo& info : body_ops()) {
    std::string line = std::string(info.name) + "(";
    for (int k = 0; k < info.operands; ++k) line += std::string(k ? ", " : "") + (k < info.operands - info.constants ? "i0" : "0.5");
    const std::vector<std::string> text{line + ")"};
    auto body = parse_body(text, 0, 1, false);
    ASSERT_TRUE(body.ok()) << line;
    EXPECT_EQ(print_body(*body), text);
    EXPECT_LT(info.constants, info.operands);
  }
}

TEST(Body, RefusesWhatItCannotMean) {
  auto refused = [](const char* line, const char* why) {
    auto body = parse_body(std::vector<std::string>{"Neg(i0)", line}, 0, 2, false);
    ASSERT_FALSE(body.ok()) << line;
    EXPECT_THAT(body.status().message(), HasSubstr(why)) << line;
    EXPECT_THAT(body.status().message(), HasSubstr("step 1")) << line;
  };
  refused("Neg", "expected Name(operand, ...)");
  refused("Nag(i0)", "there is no step Nag");
  refused("Neg(y)", "is the value of a product");
  refused("Neg(i2)", "isn't an input of the body");
  refused("Neg(s1)", "isn't an earlier step");
  refused("Neg(s99999)", "nor a step");
  refused("Neg()", "is no operand");
  refused("Neg(i0, i1)", "takes 1 operands");
  refused("Add(i0)", "takes 2 operands, not 1");
  refused("LeakyRelu(i0, i1)", "must be a number");
  refused("Add(i0, 1e)", "is no operand");
  EXPECT_FALSE(parse_body(std::vector<std::string>(65, "Neg(i0)"), 0, 1, false).ok());
}

}  // namespace
}  // namespace msvm
