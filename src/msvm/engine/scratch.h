// Scratch memory of one session's kernels. Private to the room.
#pragma once
#include <vector>

#include "msvm/device/buffer_pool.h"

namespace msvm {

/// Grows to what the kernels need, is reused, and shrinks when they need far less for long. Used by one thread at a time.
class Scratch {
 public:
  explicit Scratch(BufferPool& pool) : pool_(pool) {}
  /// 64-byte aligned, valid until reset().
  Result<std::byte*> take(int64_t bytes);
  void reset() {
    if (wanted_ > 0) [[unlikely]] settle();
  }

 private:
  void settle();

  BufferPool& pool_;
  std::vector<StorageRef> blocks_;   // the last one is used; others are full
  int64_t used_ = 0, wanted_ = 0;    // of the last block; of all since reset()
  int64_t most_ = 0, calls_ = 0;     // since the last look
};

}  // namespace msvm
