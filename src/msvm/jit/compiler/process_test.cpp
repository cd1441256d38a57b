// The compiler as a process, and its answers to requests.
#include <gmock/gmock.h>

#include "msvm/jit/compile/compiler_process.h"
#include "msvm/jit/compiler/compile_request.h"
#include "msvm/jit/compiler/compile_testing.h"

namespace msvm::compiler {
namespace {

using ::testing::HasSubstr;

constexpr const char* kProgram = "loops version 1\nkernel k(t0: f32, t1: out f32; n0)\nouter []\ninner n0\nt0 [1]\nt1 [1]\npass\nv0 = load t0 : f32\nv1 = exp v0 : f32\nstore t1, v1\n";

TEST(CompileRequest, AnswersAndRefuses) {
  jit::PhaseReporter phases;
  auto image = compile_request({"avx2 some cpu", "", kProgram}, phases);
  ASSERT_TRUE(image.ok()) << image.status().message();
  EXPECT_TRUE(jit::decode_image(*image).ok());
  EXPECT_THAT(compile_request({"neon", "", kProgram}, phases).status().message(), HasSubstr("\"neon\""));
  EXPECT_THAT(compile_request({"avx2", "", "loops version 1\nkernel k("}, phases).status().message(), HasSubstr("line 2"));
}

TEST(CompileRequest, ThroughTheProcess) {
  jit::CompilerProcess process({.path = MSVM_CC, .memory_limit = 0});
  for (const jit::ImageIsa isa : isas()) {
    process.begin(jit::encode_request({isa == jit::ImageIsa::kAvx512 ? "avx512" : "avx2", "", kProgram}), {.deadline = 30});
    const auto result = process.wait(-1, 60);
    ASSERT_TRUE(result.has_value());
    ASSERT_EQ(result->outcome, jit::Outcome::kCompiled) << result->error;
    EXPECT_GT(result->phases[static_cast<size_t>(jit::Phase::kCodeGen)], 0);
    const auto image = jit::NativeImage::load(*result->image, isa);
    ASSERT_TRUE(image.ok()) << image.status().message();
    std::mt19937 random(1);
    expect_same(loops::parse(kProgram)->kernels[0], (*image)->entry(0), {100}, {0, 1, 0, 100}, random);
  }
  EXPECT_EQ(process.starts(), 1);
  process.begin(jit::encode_request({"avx2", "", "nonsense"}), {.deadline = 30});
  const auto refused = process.wait(-1, 60);
  ASSERT_TRUE(refused.has_value());
  EXPECT_THAT(refused->error, HasSubstr("line 1"));
}

}  // namespace
}  // namespace msvm::compiler
