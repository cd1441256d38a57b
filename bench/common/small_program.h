// Small programs that have settled, for benches of what a run costs beside its kernels.
#pragma once
#include <string>
#include <vector>

#include "msvm/engine/engine.h"

namespace msvm::bench {

/// `layers` of a product with what follows it: 64 columns, any number of rows.
std::string small_network(int layers);

struct Settled {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Executable> program;
  std::vector<Value> inputs, results;
  void run();
  /// Of one run, in ns, over a round of so many.
  double round_ns(int runs);
};

/// Loaded and run until the JIT has nothing left to do. Without `inputs` its one input is f32[rows, 64].
Settled settle(const std::string& text, const EngineOptions& options, int64_t rows, std::vector<Value> inputs = {});

}  // namespace msvm::bench
