// Work cut into chunks, with scratch memory per thread rather than per chunk.
#pragma once
#include <algorithm>
#include <atomic>

#include "msvm/device/stoppable.h"
#include "msvm/kernels/kernel.h"

namespace msvm {

/// body(begin, end, scratch) over [0, count) in chunks of `grain`; `scratch` is that thread's own `bytes`, 64-byte aligned, with
/// whatever an earlier chunk left there. Chunk borders depend on count and grain only. What it writes is of this run only: chunks are
/// skipped once the run is to stop.
template <class Body>
Status parallel_with_scratch(KernelCall& call, int64_t count, int64_t grain, int64_t bytes, Body&& body) {
  if (count <= 0) return {};
  grain = std::max<int64_t>(1, grain);
  bytes = (bytes + 63) / 64 * 64;
  int64_t slots = std::min<int64_t>(call.workers.threads(), (count - 1) / grain + 1);
  MSVM_ASSIGN_OR_RETURN(std::byte * scratch, call.memory.scratch(std::max<int64_t>(64, slots * bytes)));
  std::atomic<int64_t> next{0};
  RunControl* control = RunControl::current();
  call.workers.parallel_for(slots, 1, [&](int64_t first, int64_t last) {
    for (int64_t slot = first; slot < last; ++slot)
      for (int64_t begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count && !(control && control->should_leave());)
        body(begin, std::min(begin + grain, count), scratch + slot * bytes);
  });
  return {};
}

}  // namespace msvm
