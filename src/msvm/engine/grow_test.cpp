// Appending in a loop copies as much as there is in the end, not its square.
#include "msvm/engine/optimizer.h"
#include "msvm/engine/program_testing.h"

namespace msvm::testing {
namespace {

TEST(Grow, AppendsCopyWhatThereIs) {
  constexpr std::string_view kRows = R"(module "m" version 1
symbol N, T, K
func @f(x: f32[N, 64], n: i64) -> f32[K, 64]
b0:
  R0 = TENSOR_CREATE input 0
  R1 = SCALAR_INPUT 1
  JUMP b1
b1:
  R2: i64 = SCALAR_PHI [b0: 0, b2: R2 + 1]
  R3: f32[T, 64] = TENSOR_PHI [b0: R6, b2: R5]
  R4 = SHAPE_CALC lt R2, R1
  BRANCH_IF R4, b2, b3
b2:
  R5 = TENSOR_ALLOC [T + N, 64], f32, CPU(0)
  OP_CALL Concat(R3, R0) -> R5 {axis: 0}
  TENSOR_FREE R3
  JUMP b1
b3:
  RETURN R3
)";
  std::string text(kRows);
  text.insert(text.find("  JUMP b1"), "  R6 = TENSOR_VIEW identity R0\n");
  text.replace(text.find("  RETURN R3"), std::string::npos, "  R7 = TENSOR_ALLOC [T, 64], f32, CPU(0)\n  TENSOR_COPY R3 -> R7\n  TENSOR_FREE R3\n  RETURN R7\n");
  auto engine = make_engine();
  constexpr int64_t kSteps = 1000;
  std::string first;
  for (int level : {0, 1}) {
    SCOPED_TRACE(level);
    auto module = verify_and_optimize(verified(text)->module(), {.level = level});
    ASSERT_TRUE(module.ok()) << module.status().message();
    auto program = engine->load(*module);
    ASSERT_TRUE(program.ok());
    const std::vector<Value> in{tensor(*engine, "f32[1, 64] iota"), kSteps};
    auto r = (*program)->run(in);
    ASSERT_TRUE(r.ok()) << r.status().message();
    if (first.empty()) first = to_text(*r);
    EXPECT_EQ(to_text(*r), first);
    const Counters c = (*program)->counters();
    if (level == 0) {
      EXPECT_GE(c.allocations, kSteps);
    } else {
      EXPECT_LT(c.allocations, 30);
      EXPECT_GT(c.copied_bytes, 0);
      EXPECT_LT(c.copied_bytes, 2 * (kSteps + 1) * 64 * 4);
    }
  }
}

}  // namespace
}  // namespace msvm::testing
