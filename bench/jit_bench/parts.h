// The parts of jit_bench, one per command.
#pragma once
#include <string>
#include <vector>

#include "msvm/engine/engine.h"

namespace msvm::bench {

/// Options of an engine with this build's compiler, without code on disk.
EngineOptions jit_engine(int threads, JitOptions jit = {});

/// What the dispatch of a region costs where its sizes are known.
void measure_hits(int rounds);

/// From the run that asks for code to the entry that serves: once per way in which the code may come about.
struct EntryOptions {
  std::vector<std::string> cases;
  int repeats = 5;
  double frames_per_second = 0;  // while code is made; 0: nothing runs
};
void measure_entries(const EntryOptions& options);

/// Settled latencies of the tiers, runs of all of them in turn.
struct TierOptions {
  std::vector<std::string> cases;
  std::vector<int> threads;
  int rounds = 15;
};
void measure_tiers(const TierOptions& options);

}  // namespace msvm::bench
