// Regions run as native code runs them, step by step from a plan, give what the interpreter gives.
#include <thread>

#include "msvm/bytecode/text.h"
#include "msvm/engine/executable.h"
#include "msvm/engine/native_testing.h"
#include "msvm/engine/optimizer.h"
#include "msvm/engine/program_testing.h"
#include "msvm/engine/random_network.h"
#include "msvm/vm/random_program.h"

namespace msvm::testing {
namespace {

TEST(Regions, RandomProgramsAgree) {
  auto engine = make_engine();
  int64_t native = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Module m = RandomProgram(seed).build();
    const std::string text = disassemble(m);
    VerifyResult v = verify(std::move(m));
    ASSERT_TRUE(v.module) << format_diagnostics(v.errors) << text;
    auto plain = Program::create(v.module), served = Program::create(v.module);
    ASSERT_TRUE(plain.ok() && served.ok());
    Devices devices({.num_threads = 1});
    PooledSession a(*plain, devices, {.max_instructions = 200000}), b(*served, devices, {.max_instructions = 200000});
    serve_all_regions(**served);
    for (bool planning : {true, false}) {
      b.session.set_planning(planning);
      for (const char* x : {"f32[3, 4] iota", "f32[0, 4] []", "f32[1, 4] iota", "f32[8, 4] iota", "f32[3, 4] iota"}) {
        std::vector<Value> in{tensor(*engine, x)};
        for (int again = 0; again < 2; ++again) {
          auto expected = a.session.run(0, in), found = b.session.run(0, in);
          ASSERT_EQ(found.ok() ? to_text(*found) : found.status().message(), expected.ok() ? to_text(*expected) : expected.status().message()) << x << "\n" << text;
        }
        auto left = devices.pool.stats();
        EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kInterpreter)], 0);
        EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kResults)], 0);
      }
    }
    EXPECT_EQ(a.session.counters().native_regions, 0);
    native += b.session.counters().native_regions;
  }
  EXPECT_GT(native, 3000);
}

// A loop that writes a row of its tensor in each turn: in place, also where the turn is a region.
TEST(Regions, WhatALoopWritesStaysInPlace) {
  const auto module = verified(R"(
module "rows" version 1
symbol N
func @main(x: f32[N, 4]) -> (y: f32[N, 4])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N, 4], f32, CPU(0)
  OP_CALL msvm.Fill(; N, 4) -> R1 {dtype: f32, value: 0}
  JUMP b1
b1:
  R2: f32[N, 4] = TENSOR_PHI [b0: R1, b2: R6]
  R3: i64 = SCALAR_PHI [b0: 0, b2: R3 + 1]
  R4 = SHAPE_CALC lt R3, N
  BRANCH_IF R4, b2, b3
b2:
  R5: f32[1, 4] strided = TENSOR_VIEW slice R0, axis 0 from R3 to R3 + 1
  R6 = TENSOR_ALLOC [N, 4], f32, CPU(0), reuse R2
  OP_CALL msvm.Assign(R2, R5; R3) -> R6 {axes: [0]}
  TENSOR_FREE R2
  TENSOR_FREE R5
  JUMP b1
b3:
  RETURN R2
)");
  ASSERT_TRUE(module);
  auto program = Program::create(module);
  ASSERT_TRUE(program.ok());
  Devices devices({.num_threads = 1});
  PooledSession s(*program, devices, {});
  serve_all_regions(**program);
  auto engine = make_engine();
  for (int again = 0; again < 2; ++again) {
    auto y = s.session.run(0, std::vector<Value>{tensor(*engine, "f32[6, 4] iota")});
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ(to_text(*y), to_text(tensor(*engine, "f32[6, 4] iota")));
  }
  EXPECT_GE(s.session.counters().native_regions, 12);
  EXPECT_EQ(s.session.counters().in_place, 12);
}

// A native run holds all of a region's tensors at once, the interpreter frees on its way: where only that fits, it runs.
TEST(Regions, TheInterpreterRunsWhereMemoryIsTight) {
  const auto module = verified(R"(
module "tight" version 1
symbol N
func @main(x: f32[N]) -> (y: f32[N])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Add(R0, R0) -> R1
  R2 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Add(R1, R0) -> R2
  TENSOR_FREE R1
  R3 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Add(R2, R0) -> R3
  TENSOR_FREE R2
  R4 = TENSOR_ALLOC [N], f32, CPU(0)
  OP_CALL Add(R3, R0) -> R4
  TENSOR_FREE R3
  RETURN R4
)");
  ASSERT_TRUE(module);
  auto engine = make_engine();
  auto program = Program::create(module);
  ASSERT_TRUE(program.ok());
  serve_all_regions(**program);
  Devices devices({.num_threads = 1});
  PooledSession s(*program, devices, {});
  s.session.set_planning(false);
  const std::vector<Value> small{tensor(*engine, "f32[4] iota")}, large{tensor(*engine, "f32[65536] iota")};
  for (const auto* in : {&small, &large}) {
    s.session.set_limits({});
    auto wanted = s.session.run(0, *in);
    ASSERT_TRUE(wanted.ok());
    const int64_t native = s.session.counters().native_regions;
    s.session.set_limits({.max_bytes = in == &large ? 3 << 18 : 0});
    for (int again = 0; again < 3; ++again) {
      auto found = s.session.run(0, *in);
      ASSERT_TRUE(found.ok()) << found.status().message();
      EXPECT_EQ(to_text(*found), to_text(*wanted));
    }
    EXPECT_EQ(s.session.counters().native_regions, native + (in == &large ? 0 : 3));
  }
  // A size that is new where memory is tight, then one that fits nowhere.
  s.session.set_limits({.max_bytes = 3 << 18});
  ASSERT_TRUE(s.session.run(0, std::vector<Value>{tensor(*engine, "f32[60000] iota")}).ok());
  auto huge = s.session.run(0, std::vector<Value>{tensor(*engine, "f32[600000] iota")});
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.status().message().find("needs 2400000 bytes"), std::string::npos) << huge.status().message();
  ASSERT_TRUE(s.session.run(0, small).ok());
}

}  // namespace
}  // namespace msvm::testing
