// Random programs: planned and unplanned runs, and runs again and again, give the same bits; nothing is left behind.
#include "msvm/bytecode/text.h"
#include "msvm/engine/executable.h"
#include "msvm/engine/program_testing.h"
#include "msvm/vm/random_program.h"

namespace msvm::testing {
namespace {

TEST(Random, PlannedAndUnplannedAgree) {
  auto engine = make_engine();
  int results = 0, traps = 0;
  int64_t planned = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Module m = RandomProgram(seed).build();
    const std::string text = disassemble(m);
    VerifyResult v = verify(std::move(m));
    ASSERT_TRUE(v.module) << format_diagnostics(v.errors) << text;
    auto program = Program::create(v.module);
    ASSERT_TRUE(program.ok());
    Devices devices({.num_threads = 1});
    PooledSession session(*program, devices, {.max_instructions = 200000});
    for (const char* x : {"f32[3, 4] iota", "f32[0, 4] []", "f32[1, 4] iota", "f32[8, 4] iota"}) {
      std::vector<Value> in{tensor(*engine, x)};
      std::string first;
      for (bool planning : {false, true, true, false}) {
        session.session.set_planning(planning);
        auto r = session.session.run(0, in);
        const std::string now = r.ok() ? to_text(*r) : r.status().message();
        if (first.empty()) {
          first = now;
          ++(r.ok() ? results : traps);
          ASSERT_TRUE(r.ok() || now.find("trap: no") != std::string::npos) << now << text;
        }
        ASSERT_EQ(now, first) << x << " planning " << planning << "\n" << text;
      }
      auto left = devices.pool.stats();
      EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kInterpreter)], 0);
      EXPECT_EQ(left.by_owner[static_cast<int>(MemoryOwner::kResults)], 0);
    }
    planned += session.session.counters().planned_allocations;
  }
  EXPECT_GT(results, 800);
  EXPECT_GT(traps, 10);
  EXPECT_GT(planned, 1000);
}

}  // namespace
}  // namespace msvm::testing
