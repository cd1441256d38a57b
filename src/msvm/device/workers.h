// The worker pool: spin, then sleep; the caller takes part.
#pragma once
#include <cstdint>
#include <memory>

#include "msvm/base/function_ref.h"

namespace msvm {

/// Many sessions may share one pool. A caller that finds the workers busy runs its whole range alone. A forked child starts
/// afresh with workers of its own.
class WorkerPool {
 public:
  /// `threads` counts the caller; 0 = the machine's cores within the container's CPU quota, or MSVM_NUM_THREADS.
  explicit WorkerPool(int threads = 0);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  int threads() const;
  /// Calls body(begin, end) over [0, count) in chunks of `grain` (last one shorter). Chunk borders depend only on count and
  /// grain, never on the number of threads. Returns when all are done. `body` must not throw or call parallel_for.
  void parallel_for(int64_t count, int64_t grain, FunctionRef<void(int64_t, int64_t)> body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Grain for `count` items of `work_per_item` nanoseconds each: nothing is split below about 10 us of work.
int64_t grain_for(int64_t count, double nanoseconds_per_item);

}  // namespace msvm
