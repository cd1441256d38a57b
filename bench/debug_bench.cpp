// What the debugger costs programs that nobody debugs: never attached, attached and detached again, attached with nothing to stop at.
#include <fmt/core.h>

#include <algorithm>

#include "model.h"
#include "msvm/base/ticks.h"
#include "observe/debug/debugger.h"
#include "small_program.h"

using namespace msvm;
using namespace msvm::bench;
using observe::debug::Debugger;

namespace {

constexpr const char* kLoop = R"(
module "loop" version 1
func @main(n: i64) -> (i64)
b0:
  R0 = SCALAR_INPUT 0
  JUMP b1
b1:
  R1: i64 = SCALAR_PHI [b0: 0, b2: R1 + 1]
  R2: i64 = SCALAR_PHI [b0: 0, b2: R3]
  R4 = SHAPE_CALC lt R1, R0
  BRANCH_IF R4, b2, b3
b2:
  R3 = SHAPE_CALC add R2, R1
  JUMP b1
b3:
  RETURN (; R2)
)";

Settled make(const std::string& text, bool native, const std::vector<Value>& scalars) {
  EngineOptions options{.num_threads = 1, .compiler = MSVM_COMPILER, .eager_compiler = true};
  options.jit.disk_cache = false;
  if (!native) options.jit.jit_level = 0;
  return settle(text, options, 1, scalars);
}

struct Nobody final : observe::debug::Listener {
  void stopped(const observe::debug::Stop&) override {}
  void resumed(observe::debug::ThreadId) override {}
};

void row(const char* what, const std::string& text, bool native, const std::vector<Value>& scalars, int runs) {
  constexpr int kRounds = 400;
  Debugger& d = Debugger::process();
  // The least of many short rounds, which nothing else on the machine reached into.
  Settled never = make(text, native, scalars), after = make(text, native, scalars), now = make(text, native, scalars);
  Nobody nobody;
  d.add(after.program, "after");
  if (Status attached = d.attach(&nobody); !attached.ok()) stop(attached);
  for (int k = 0; k < 8; ++k) after.run();
  d.detach();
  d.add(now.program, "now");
  double a = 1e18, b = 1e18, c = 1e18;
  for (int k = 0; k < kRounds; ++k) {  // in turn, so that what the machine does meets all
    a = std::min(a, never.round_ns(runs));
    b = std::min(b, after.round_ns(runs));
  }
  if (Status attached = d.attach(&nobody); !attached.ok()) stop(attached);
  for (int k = 0; k < kRounds / 4; ++k) c = std::min(c, now.round_ns(runs));
  d.detach();
  fmt::print("{:<44} {:>10.0f} {:>10.0f} {:>8.3f} {:>12.0f} {:>8.2f}\n", what, a, b, b / a, c, c / a);
}

}  // namespace

int main() {
  nanoseconds_per_tick();
  fmt::print("{:<44} {:>10} {:>10} {:>8} {:>12} {:>8}\n", "ns a run, least of many", "never", "detached", "ratio", "attached", "ratio");
  row("loop of 1000 rounds, 6 instructions each", kLoop, false, {int64_t{1000}}, 4);
  row("24 calls of 64 elements, interpreted", small_network(8), false, {}, 8);
  row("24 calls of 64 elements, native code", small_network(8), true, {}, 16);
}
