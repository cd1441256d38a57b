// Executable::explain: one call site, several shapes, several kernels.
#include <algorithm>
#include <set>

#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

constexpr const char* kConv = R"(
module "conv" version 1
symbol N, H, W
const %w f32[32, 3, 3, 3] = fill(0.125)
func @main(x: f32[N, 3, H, W]) -> f32[N, 32, H, W]
b0:
  R0 "x" = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
  R2 = TENSOR_ALLOC [N, 32, H, W], f32, CPU(0)
  OP_CALL Conv(R0, R1) -> R2 {pads: [1, 1, 1, 1]}  ; m.onnx:1 from "conv_1"
  RETURN R2
)";

const KernelVerdict& chosen(const CallExplanation::Choice& c) {
  auto at = std::find_if(c.kernels.begin(), c.kernels.end(), [](const KernelVerdict& k) { return k.chosen; });
  EXPECT_NE(at, c.kernels.end());
  return *at;
}

TEST(Explain, EachShapeWithItsKernelAndTheLosers) {
  auto engine = make_engine();
  auto program = load(*engine, kConv);
  EXPECT_TRUE(program->explain().empty());
  for (const char* x : {"f32[1, 3, 2, 2] iota", "f32[2, 3, 48, 48] iota", "f32[1, 3, 2, 2] iota"}) ASSERT_TRUE(program->run(std::vector<Value>{tensor(*engine, x)}).ok());
  const auto calls = program->explain();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].op, "Conv");
  EXPECT_EQ(calls[0].origins, std::vector<std::string>{"conv_1"});
  EXPECT_EQ(calls[0].instruction, 3);
  ASSERT_EQ(calls[0].choices.size(), 2u);
  EXPECT_EQ(calls[0].choices[0].inputs, (std::vector<std::string>{"f32[2, 3, 48, 48]", "f32[32, 3, 3, 3]"}));  // the last use of the other is later
  EXPECT_EQ(calls[0].choices[1].inputs[0], "f32[1, 3, 2, 2]");
  for (const auto& c : calls[0].choices) {
    EXPECT_EQ(std::count_if(c.kernels.begin(), c.kernels.end(), [](const KernelVerdict& k) { return k.chosen; }), 1);
    for (const KernelVerdict& k : c.kernels) EXPECT_TRUE(!k.reason.empty() || k.cost_ns >= chosen(c).cost_ns) << k.kernel;
    EXPECT_TRUE(std::any_of(c.kernels.begin(), c.kernels.end(), [](const KernelVerdict& k) { return k.kernel == "ref_conv"; }));
  }
  EXPECT_TRUE(program->explain(1).empty());
}

// Small images are cheapest in the reference kernel or a direct one, large ones in a tuned one: the same call site takes both, and the
// profile names both.
TEST(Explain, OneConvolutionTakesDifferentKernels) {
  auto engine = make_engine();
  if (engine->capability_db()->hardware.isa == Isa::kScalar) GTEST_SKIP() << "one kernel without vectors";
  auto program = load(*engine, kConv);
  program->set_profiling(true);
  for (const char* x : {"f32[1, 3, 1, 1] iota", "f32[1, 3, 224, 224] iota", "f32[4, 3, 256, 256] iota"}) ASSERT_TRUE(program->run(std::vector<Value>{tensor(*engine, x)}).ok());
  std::set<std::string> names;
  const auto calls = program->explain();
  for (const auto& c : calls[0].choices) names.insert(chosen(c).kernel);
  EXPECT_GE(names.size(), 2u);
  const std::string profile = program->profile()[3].kernel;
  for (const std::string& n : names) EXPECT_NE(profile.find(n), std::string::npos) << profile;
}

}  // namespace
}  // namespace msvm::testing
