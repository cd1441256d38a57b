// What a program does per second, lately.
#pragma once
#include <chrono>
#include <deque>

#include "msvm/engine/engine.h"

namespace msvm::observe {

struct RateView {
  double seconds = 0;              // that it is about
  double runs_per_s = 0;           // of wall time
  // While it runs: by the time that its runs took.
  double gflops = 0, gbytes_per_s = 0;
};

/// Of one program. Looks back ten seconds, further where nobody looked for longer.
class Rates {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Rates(Clock::time_point loaded) : samples_{{loaded, 0, 0, {}}} {}
  RateView look(Clock::time_point now, const LatencyByTier& latency, const WorkDone& work);

 private:
  struct Sample {
    Clock::time_point time;
    int64_t runs = 0;
    double busy = 0;  // s
    WorkDone work;
  };
  std::deque<Sample> samples_;  // ascending, at least one
};

}  // namespace msvm::observe
