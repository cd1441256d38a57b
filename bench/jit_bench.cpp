// Native code: what a hit costs, how soon an entry is there, what the tiers bring.
//
//   jit_bench hit
//   jit_bench entry resnet50@x=1x3x224x224
//   jit_bench tiers --threads 1 2 'resnet50@x=1x3x224x224;x=4x3x224x224'
#include <CLI/CLI.hpp>

#include "jit_bench/parts.h"

using namespace msvm;

namespace msvm::bench {

EngineOptions jit_engine(int threads, JitOptions jit) {
  EngineOptions o;
  o.num_threads = threads;
  o.jit = std::move(jit);
  o.jit.disk_cache = false;
#ifdef MSVM_COMPILER
  o.compiler = MSVM_COMPILER;
#endif
  return o;
}

}  // namespace msvm::bench

int main(int argc, char** argv) {
  CLI::App app("Measures native code.");
  app.require_subcommand(1);
  int rounds = 2001;
  auto* hit = app.add_subcommand("hit", "ns for the dispatch of a region whose sizes repeat");
  hit->add_option("--rounds", rounds, "pairs of runs that are compared")->check(CLI::Range(3, 1000000));
  bench::EntryOptions entries;
  auto* entry = app.add_subcommand("entry", "ms from the run that asks for code to the entry that serves, by phase: cold, warm, from disk");
  entry->add_option("model", entries.cases, "MODEL@NAME=SIZES,...;... (bench/README.md)")->required();
  entry->add_option("--repeats", entries.repeats)->check(CLI::Range(1, 1000));
  entry->add_option("--fps", entries.frames_per_second, "frames a second that run while tier 1 is made; 0: none, and both tiers; 1000: without a pause")->check(CLI::Range(0.0, 1000.0));
  bench::TierOptions tiers{{}, {1, 2}, 15};
  auto* tier = app.add_subcommand("tiers", "settled latency: unoptimised, tier 0, 1 and 2, runs in turn");
  tier->add_option("model", tiers.cases, "MODEL@NAME=SIZES,...;... (bench/README.md)")->required();
  tier->add_option("--threads", tiers.threads)->check(CLI::Range(1, 1024));
  tier->add_option("--rounds", tiers.rounds)->check(CLI::Range(1, 100000));
  CLI11_PARSE(app, argc, argv);
  if (*hit) bench::measure_hits(rounds);
  if (*entry) bench::measure_entries(entries);
  if (*tier) bench::measure_tiers(tiers);
}
