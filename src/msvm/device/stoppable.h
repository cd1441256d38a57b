// Work of a run that may be left half done: only what that run alone will read.
#pragma once
#include "msvm/base/run_control.h"
#include "msvm/device/workers.h"

namespace msvm {

/// parallel_for whose chunks are skipped once this thread's run is to stop. The run then fails, so nobody reads what is missing.
inline void stoppable_for(WorkerPool& workers, int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  RunControl* control = RunControl::current();
  if (!control) return workers.parallel_for(count, grain, body);
  workers.parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    if (!control->should_leave()) body(begin, end);
  });
}

}  // namespace msvm
