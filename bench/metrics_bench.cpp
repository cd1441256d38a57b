// What counting costs: settled programs whose runs are short, and the counting of one run of one region by itself.
#include <fmt/core.h>

#include <cstdlib>

#include "msvm/base/latency.h"
#include "msvm/base/ticks.h"
#include "msvm/bytecode/text.h"
#include "msvm/engine/engine.h"
#include "msvm/jit/native/session_observer.h"
#include "msvm/jit/native/shape_tally.h"
#include "timing.h"

using namespace msvm;

namespace {

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "error: {}\n", why);
  std::exit(1);
}

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

struct Settled {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Executable> program;
  std::vector<Value> inputs, results;

  void run() {
    if (Status s = program->run(inputs, results); !s.ok()) stop(s.message());
  }
};

Settled settle(int layers, int64_t rows) {
  EngineOptions options{.num_threads = 1, .compiler = MSVM_COMPILER, .eager_compiler = true};
  options.jit.disk_cache = false;
  auto engine = Engine::create(options);
  if (!engine.ok()) stop(engine.status().message());
  AssembleResult a = assemble(network(layers));
  if (!a.errors.empty()) stop(to_status(a.errors).message());
  auto program = (*engine)->load(std::move(a.module));
  if (!program.ok()) stop(program.status().message());
  const int64_t shape[] = {rows, 64};
  auto x = (*engine)->allocate(DType::kF32, shape);
  if (!x.ok()) stop(x.status().message());
  std::fill_n(x->meta.as<float>(), rows * 64, 0.5f);
  Settled s{*engine, *program, {*x}, {}};
  for (int k = 0; k < 64; ++k) {
    s.run();
    s.engine->drain_jit();
  }
  if (s.program->counters().native_regions == 0) stop("the program didn't settle in native code");
  return s;
}

/// Of one run, in ns: the least of many short rounds, which nothing else on the machine reached into.
double run_ns(Settled& s, int runs) {
  double best = 1e18;
  for (int round = 0; round < 400; ++round) {
    const int64_t begin = ticks();
    for (int k = 0; k < runs; ++k) s.run();
    best = std::min(best, static_cast<double>(ticks() - begin) * nanoseconds_per_tick() / runs);
  }
  return best;
}

/// What Executable::run() and the observer of one region add.
double counting_ns() {
  struct Observer final : jit::SessionObserver {
    void region_ran(int32_t, int32_t, std::span<const int64_t> values, const RegionEntry*, int64_t, int64_t) override {
      region_ran_in(2);
      tally.count(values);
    }
    jit::ShapeTally tally{1};
  } observer;
  static LatencyHistogram histogram;
  const std::vector<int64_t> values{8};
  constexpr int kCount = 10000;
  double best = 1e18;
  for (int round = 0; round < 200; ++round) {
    const int64_t begin = ticks();
    for (int k = 0; k < kCount; ++k) {
      RegionObserver& o = observer;
      observer.run_begins();
      const int64_t first = ticks();
      o.region_ran(0, 0, values, nullptr, 0, 0);
      histogram.record(ticks() - first);
    }
    best = std::min(best, static_cast<double>(ticks() - begin) * nanoseconds_per_tick() / kCount);
  }
  return best;
}

}  // namespace

int main() {
  nanoseconds_per_tick();
  const double counting = counting_ns();
  fmt::print("counting one run of one region: {:.1f} ns\n\n{:<28} {:>12} {:>10}\n", counting, "settled program", "ns a run", "share");
  const std::pair<int, int64_t> programs[] = {{1, 1}, {1, 16}, {4, 16}, {16, 64}};
  for (const auto& [layers, rows] : programs) {
    Settled s = settle(layers, rows);
    const double ns = run_ns(s, 50);
    fmt::print("{:<28} {:>12.0f} {:>9.2f}%\n", fmt::format("{} layers, {} rows", layers, rows), ns, 100 * counting / ns);
  }
  return 0;
}
