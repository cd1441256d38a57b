// What a verified module knows: values of registers, entry symbols, run-time checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "msvm/verify/test_modules.h"

namespace msvm {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const VerifiedModule> verified(const std::string& text) {
  AssembleResult a = assemble(text);
  EXPECT_EQ(format_diagnostics(a.errors), "");
  VerifyResult r = verify(std::move(a.module));
  EXPECT_EQ(format_diagnostics(r.errors), "");
  return r.module;
}

std::vector<std::string> checks(const VerifiedModule& m) {
  std::vector<std::string> out;
  for (const RuntimeCheck& c : m.facts(0).checks) out.push_back(std::to_string(c.instruction) + (c.after ? " after: " : ": ") + to_string(c.condition, *m.module().dims));
  return out;
}

std::string value(const VerifiedModule& m, Reg r) { return m.module().dims->to_string(m.facts(0).reg_value[static_cast<size_t>(r)]); }

TEST(Facts, ValuesOfRegisters) {
  auto m = verified(R"(module "m" version 1
symbol H, W
func @f(x: f32[H, 2*W + 1], k: i64, c: bool)
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  R2 = SCALAR_INPUT 2
  R3 = SHAPE_PROPAGATE R0, 0
  R4 = SHAPE_CALC mul R3, 2
  R5 = SHAPE_CALC truncdiv R4, 3
  R6 = SHAPE_CALC truncdiv R1, 3
  R7 = SHAPE_CALC select R2, R4, W
  R8 = SHAPE_CALC select R2, R4, 2*H
  R9 = SCALAR_CONST 5
  R10 = SHAPE_CALC sub R4, R9
  R11 = SHAPE_CALC ge R1, 0
  SHAPE_ASSERT R11, "k"
  R12 = SHAPE_CALC truncdiv R1, 4
  JUMP b1
b1:
  R13: i64 = SCALAR_PHI [b0: R4]
  RETURN
)");
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(value(*m, 3), "H");
  EXPECT_EQ(value(*m, 4), "2*H");
  EXPECT_EQ(value(*m, 5), "floordiv(2*H, 3)");
  EXPECT_EQ(value(*m, 6), "R6");
  EXPECT_EQ(value(*m, 7), "R7");
  EXPECT_EQ(value(*m, 8), "2*H");
  EXPECT_EQ(value(*m, 9), "5");
  EXPECT_EQ(value(*m, 10), "2*H - 5");
  EXPECT_EQ(value(*m, 12), "floordiv(R1, 4)");  // the assertion says so
  EXPECT_EQ(value(*m, 13), "2*H");
  const auto& entry = m->facts(0).entry_symbol;
  auto bound = [&](const char* name) { return entry[*m->module().dims->find_symbol(name)] != 0; };
  EXPECT_TRUE(bound("H"));
  EXPECT_TRUE(bound("W"));  // solved from 2*W + 1
  EXPECT_TRUE(entry[m->facts(0).reg_value[1].symbol()]);
  EXPECT_THAT(checks(*m), ElementsAre());
}

TEST(Facts, UnknownBecomesOneCheck) {
  auto m = verified(R"(module "m" version 1
symbol A, B
func @f(x: f32[A], y: f32[B], i: i64) -> f32[A]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CREATE input 1
  R2 = SCALAR_INPUT 2
  R3 = TENSOR_ALLOC [A], f32, CPU(0)
  TENSOR_COPY R1 -> R3
  R4 = TENSOR_ALLOC [B], f32, CPU(0)
  TENSOR_COPY R0 -> R4
  TENSOR_FREE R4
  R5: f32[R2] = TENSOR_VIEW slice R0, axis 0 from 0 to R2
  TENSOR_FREE R5
  R6 = TENSOR_READ R0, [R2]
  RETURN R3
)");
  ASSERT_NE(m, nullptr);
  // The second copy is proved by the first one's check, the lower bound of the index by the slice's.
  EXPECT_THAT(checks(*m), ElementsAre("4: B == A", "8: 0 <= R2", "8: R2 <= A", "10: R2 < A"));
}

// A filled tensor is read whole after the loop: that it is complete is checked there. The counter only grows.
TEST(Facts, GapIsCheckedBeforeTheRead) {
  auto m = verified(R"(module "m" version 1
symbol N
func @f(x: f32[1], n: f32[N]) -> f32[N]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  JUMP b1
b1:
  R2: i64 = SCALAR_PHI [b0: 0, b2: R5]
  R3: f32[N] filled(0, 0, R2) = TENSOR_PHI [b0: R1, b2: R3]
  R4 = SHAPE_CALC lt R2, N
  BRANCH_IF R4, b2, b3
b2:
  R6: f32[1] strided = TENSOR_VIEW window R3, axis 0 from R2 to R2 + 1
  TENSOR_COPY R0 -> R6
  TENSOR_FREE R6
  R5 = SHAPE_CALC add R2, 1
  JUMP b1
b3:
  RETURN R3
)");
  ASSERT_NE(m, nullptr);
  EXPECT_THAT(checks(*m), ElementsAre("12: R2 == N"));
}

TEST(Facts, FirstLineForLogs) {
  AssembleResult a = assemble("module \"m\" version 1\nfunc @f()\nb0:\n  R0 = TENSOR_ALLOC [-1], f32, CPU(0)\n  TENSOR_FREE R0\n  RETURN\n");
  Status s = to_status(verify(std::move(a.module)).errors);
  EXPECT_EQ(s.code(), StatusCode::kVerification);
  EXPECT_THAT(s.message(), ::testing::StartsWith("BC Verifier: Shape constraint violation at offset 0x0\nError at instruction 0 (TENSOR_ALLOC), offset 0x0, in @f [MSV0401]"));
  EXPECT_TRUE(to_status({}).ok());
}

}  // namespace
}  // namespace msvm
