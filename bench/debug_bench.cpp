// What the debugger costs programs that nobody debugs: never attached, attached and detached again, attached with nothing to stop at.
#include <fmt/core.h>

#include <cstdlib>

#include "msvm/base/ticks.h"
#include "msvm/bytecode/text.h"
#include "msvm/engine/engine.h"
#include "observe/debug/debugger.h"

using namespace msvm;
using observe::debug::Debugger;

namespace {

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "error: {}\n", why);
  std::exit(1);
}

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

/// `layers` of a product with what follows it: 64 columns, any number of rows.
std::string network(int layers) {
  std::string text = R"(
module "small" version 1
symbol N
const %w f32[64, 64] = fill(0.01)
func @main(x: f32[N, 64]) -> (y: f32[N, 64])
b0:
  R0 = TENSOR_CREATE input 0
  R1 = TENSOR_CONST %w
)";
  int last = 0, next = 2;
  for (int k = 0; k < layers; ++k) {
    for (const char* op : {"MatMul(R{}, R1)", "Relu(R{})", "Tanh(R{})"}) {
      text += fmt::format("  R{} = TENSOR_ALLOC [N, 64], f32, CPU(0)\n  OP_CALL {} -> R{}\n", next, fmt::format(fmt::runtime(op), last), next);
      if (last) text += fmt::format("  TENSOR_FREE R{}\n", last);
      last = next++;
    }
  }
  return text + fmt::format("  RETURN R{}\n", last);
}

struct Subject {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Executable> program;
  std::vector<Value> inputs, results;
  void run() {
    if (Status s = program->run(inputs, results); !s.ok()) stop(s.message());
  }
};

Subject make(const std::string& text, bool native, const std::vector<Value>& scalars) {
  EngineOptions options{.num_threads = 1, .compiler = MSVM_COMPILER, .eager_compiler = true};
  options.jit.disk_cache = false;
  if (!native) options.jit.jit_level = 0;
  auto engine = Engine::create(options);
  if (!engine.ok()) stop(engine.status().message());
  AssembleResult a = assemble(text);
  if (!a.errors.empty()) stop(to_status(a.errors).message());
  auto program = (*engine)->load(std::move(a.module));
  if (!program.ok()) stop(program.status().message());
  Subject s{*engine, *program, scalars, {}};
  if (scalars.empty()) {
    const int64_t shape[] = {1, 64};
    auto x = (*engine)->allocate(DType::kF32, shape);
    if (!x.ok()) stop(x.status().message());
    std::fill_n(x->meta.as<float>(), 64, 0.5f);
    s.inputs = {*x};
  }
  for (int k = 0; k < 64; ++k) {
    s.run();
    s.engine->drain_jit();
  }
  if (native && s.program->counters().native_regions == 0) stop("the program didn't settle in native code");
  return s;
}

/// Of one run: the least of many short rounds, which nothing else on the machine reached into.
double round_ns(Subject& s, int runs) {
  const int64_t begin = ticks();
  for (int k = 0; k < runs; ++k) s.run();
  return static_cast<double>(ticks() - begin) * nanoseconds_per_tick() / runs;
}

struct Nobody final : observe::debug::Listener {
  void stopped(const observe::debug::Stop&) override {}
  void resumed(observe::debug::ThreadId) override {}
};

void row(const char* what, const std::string& text, bool native, const std::vector<Value>& scalars, int runs) {
  constexpr int kRounds = 400;
  Debugger& d = Debugger::process();
  Subject never = make(text, native, scalars), after = make(text, native, scalars), now = make(text, native, scalars);
  Nobody nobody;
  d.add(after.program, "after");
  if (!d.attach(&nobody).ok()) stop("a debugger is attached");
  for (int k = 0; k < 8; ++k) after.run();
  d.detach();
  d.add(now.program, "now");
  double a = 1e18, b = 1e18, c = 1e18;
  for (int k = 0; k < kRounds; ++k) {  // in turn, so that what the machine does meets all
    a = std::min(a, round_ns(never, runs));
    b = std::min(b, round_ns(after, runs));
  }
  if (!d.attach(&nobody).ok()) stop("a debugger is attached");
  for (int k = 0; k < kRounds / 4; ++k) c = std::min(c, round_ns(now, runs));
  d.detach();
  fmt::print("{:<44} {:>10.0f} {:>10.0f} {:>8.3f} {:>12.0f} {:>8.2f}\n", what, a, b, b / a, c, c / a);
}

}  // namespace

int main() {
  nanoseconds_per_tick();
  fmt::print("{:<44} {:>10} {:>10} {:>8} {:>12} {:>8}\n", "ns a run, least of many", "never", "detached", "ratio", "attached", "ratio");
  row("loop of 1000 rounds, 6 instructions each", kLoop, false, {int64_t{1000}}, 4);
  row("24 calls of 64 elements, interpreted", network(8), false, {}, 8);
  row("24 calls of 64 elements, native code", network(8), true, {}, 16);
}
