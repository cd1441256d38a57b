// What counting costs: settled programs whose runs are short, and the counting of one run of one region by itself.
#include <fmt/core.h>

#include <algorithm>

#include "msvm/base/latency.h"
#include "msvm/base/ticks.h"
#include "msvm/jit/native/session_observer.h"
#include "msvm/jit/native/shape_tally.h"
#include "small_program.h"
#include "timing.h"

using namespace msvm;

namespace {

EngineOptions options() {
  EngineOptions o{.num_threads = 1, .compiler = MSVM_COMPILER, .eager_compiler = true};
  o.jit.disk_cache = false;
  return o;
}

/// Of one run, in ns: the least of many short rounds, which nothing else on the machine reached into.
double run_ns(bench::Settled& s, int runs) {
  double best = 1e18;
  for (int round = 0; round < 400; ++round) best = std::min(best, s.round_ns(runs));
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
    bench::Settled s = bench::settle(bench::small_network(layers), options(), rows);
    const double ns = run_ns(s, 50);
    fmt::print("{:<28} {:>12.0f} {:>9.2f}%\n", fmt::format("{} layers, {} rows", layers, rows), ns, 100 * counting / ns);
  }
  return 0;
}
