// Settled latencies of one model at each tier: one engine, a program per tier, their runs in turn, so that what drifts hits them all.
#include "model.h"
#include "parts.h"

namespace msvm::bench {
namespace {

constexpr const char* kNames[] = {"unoptimised", "tier 0", "tier 1", "tier 2"};
constexpr size_t kPrograms = std::size(kNames);
constexpr int kInARow = 3;  // timed runs after one that isn't

struct Tiers {
  std::shared_ptr<Executable> program[kPrograms];
  std::vector<double> seconds[kPrograms];
};

void run(Executable& e, const std::vector<Value>& inputs, std::vector<Value>& results) {
  if (Status s = e.run(inputs, results); !s.ok()) stop(s);
}

/// Until the tiers serve these sizes.
void settle(Engine& engine, Tiers& t, const std::vector<Value>& inputs) {
  std::vector<Value> results;
  for (auto& p : t.program) {
    p->warm_up();
    for (int k = 0; k < 16; ++k) {
      run(*p, inputs, results);
      if (k % 4 == 3) engine.drain_jit();
    }
  }
  auto specialised = [](const JitView& v) { return v.specialised; };
  const int64_t before = specialised(t.program[3]->jit_view());
  run(*t.program[3], inputs, results);
  if (specialised(t.program[3]->jit_view()) == before) fmt::print("  (tier 2 has no code of its own here: {})\n", t.program[3]->jit_view().regions.empty() ? "no regions" : t.program[3]->jit_view().regions[0].state);
}

void measure(const std::string& spec, int threads, int rounds) {
  auto engine = must(Engine::create(jit_engine(threads)));
  const ModelCase c = load_case(spec, *engine);
  JitOptions off, one, two;
  for (JitOptions* o : {&off, &one, &two}) o->disk_cache = false;
  off.jit_level = 0;
  one.jit_level = 1;
  two.scd_threshold = 0;  // the sizes of a table come in blocks
  const auto plain = load_module(c.path, 0);
  Tiers t;
  t.program[0] = must(engine->load(plain, off));
  t.program[1] = must(engine->load(c.module, off));
  t.program[2] = must(engine->load(c.module, one));
  t.program[3] = must(engine->load(c.module, two));
  Progress progress;
  for (size_t k = 0; k < c.feeds.size(); ++k) {
    settle(*engine, t, c.feeds[k]);
    for (auto& s : t.seconds) s.clear();
    std::vector<Value> results;
    for (int r = 0; r < rounds; ++r) {
      progress.show(static_cast<size_t>(r), static_cast<size_t>(rounds), c.name + " " + c.steps[k]);
      for (size_t p = 0; p < kPrograms; ++p) {
        run(*t.program[p], c.feeds[k], results);
        for (int i = 0; i < kInARow; ++i) {
          const double begin = seconds_now();
          run(*t.program[p], c.feeds[k], results);
          t.seconds[p].push_back(seconds_now() - begin);
        }
      }
    }
    progress.clear();
    std::string line = fmt::format("{:<14} {:<34.34} {:>3}", c.name, c.steps[k], threads);
    for (const auto& s : t.seconds) line += fmt::format(" {:>11.3f}", median(s) * 1e3);
    const double base = median(t.seconds[1]);
    fmt::print("{}   {:>6.3f} {:>6.3f} {:>6.3f}\n", line, median(t.seconds[0]) / base, median(t.seconds[2]) / base, median(t.seconds[3]) / base);
  }
  for (size_t p = 2; p < kPrograms; ++p)
    if (t.program[p]->jit_view().native == 0) fmt::print("  ({}: no run was native)\n", kNames[p]);
}

}  // namespace

void measure_tiers(const TierOptions& options) {
  fmt::print("settled latency in ms, medians of {} runs; unoptimised: operator by operator, as imported\n", options.rounds * kInARow);
  std::string head = fmt::format("{:<14} {:<34} {:>3}", "model", "sizes", "thr");
  for (const char* n : kNames) head += fmt::format(" {:>11}", n);
  fmt::print("{}   /tier 0: unoptimised, tier 1, tier 2\n", head);
  for (int threads : options.threads)
    for (const std::string& spec : options.cases) measure(spec, threads, options.rounds);
}

}  // namespace msvm::bench
