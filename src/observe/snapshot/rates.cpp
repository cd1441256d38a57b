#include "observe/snapshot/rates.h"

namespace msvm::observe {

RateView Rates::look(Clock::time_point now, const LatencyByTier& latency, const WorkDone& work) {
  constexpr std::chrono::milliseconds kWindow{10000}, kStep{500};
  Sample s{now, 0, 0, work};
  for (const Latencies& l : latency) {
    s.runs += l.count();
    s.busy += l.sum();
  }
  while (samples_.size() > 1 && now - samples_[1].time >= kWindow) samples_.pop_front();
  const Sample& then = samples_.front();
  RateView v;
  v.seconds = std::chrono::duration<double>(now - then.time).count();
  if (v.seconds > 0) v.runs_per_s = static_cast<double>(s.runs - then.runs) / v.seconds;
  if (const double busy = s.busy - then.busy; busy > 0) {
    v.gflops = (work.operations - then.work.operations) / busy * 1e-9;
    v.gbytes_per_s = (work.bytes - then.work.bytes) / busy * 1e-9;
  }
  if (now - samples_.back().time >= kStep) samples_.push_back(s);
  return v;
}

}  // namespace msvm::observe
