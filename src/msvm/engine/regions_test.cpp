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

}  // namespace
}  // namespace msvm::testing
