// Constants of a program in the forms that its kernels want. Private to the room.
#pragma once
#include <map>
#include <mutex>
#include <vector>

#include "msvm/bytecode/module.h"
#include "msvm/device/buffer_pool.h"
#include "msvm/kernels/kernel.h"

namespace msvm {

/// One per program, shared by its sessions; thread-safe. Buffers come from `pool`, are counted there as weights, and stay until the
/// program goes. Module and pool must outlive it.
class PackedWeights {
 public:
  PackedWeights(const Module& module, BufferPool& pool);
  /// See KernelMemory::packed_constant. Only the first caller packs; others that want a buffer meanwhile wait. Pages of the raw constant
  /// that a file backs are given back.
  Result<const std::byte*> get(const TensorMeta& source, const PackedFormat& format, int64_t bytes, FunctionRef<void(std::byte*)> pack);

 private:
  struct Entry {
    TensorMeta source;
    PackedFormat format;
    int64_t bytes;
    StorageRef storage;
  };
  BufferPool& pool_;
  std::map<const std::byte*, size_t> constants_;  // first byte, bytes
  std::mutex mutex_;
  std::multimap<const std::byte*, Entry> entries_;
};

}  // namespace msvm
