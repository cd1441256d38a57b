// One pool of tensor memory per device: size classes, 64-byte alignment, statistics by owner.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "msvm/base/status.h"
#include "msvm/base/storage.h"

namespace msvm {

enum class MemoryOwner : uint8_t { kInterpreter, kArena, kScratch, kWeights, kResults };
constexpr int kNumMemoryOwners = 5;
inline constexpr const char* kMemoryOwnerNames[kNumMemoryOwners] = {"interpreter", "arena", "scratch", "weights", "results"};

struct MemoryStats {
  int64_t in_use = 0, reserved = 0, peak = 0;   // bytes
  int64_t by_owner[kNumMemoryOwners] = {};
  int64_t allocations = 0, system_allocations = 0;  // since start: requests, and those that had to ask the system
  double fragmentation() const { return reserved ? 1.0 - static_cast<double>(in_use) / static_cast<double>(reserved) : 0.0; }
};

/// Thread-safe. Freed blocks are kept in size classes and given back to the system as high-water marks decay.
/// Fresh and reused memory never shows another run's data to a program: kernels write what is read (verified).
class BufferPool {
 public:
  /// `limit` in bytes (in use), 0 = none.
  explicit BufferPool(int64_t limit = 0);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  /// At least `bytes` (0 gives a null block), or kResourceLimit naming bytes needed, in use and the limit.
  Result<StorageRef> allocate(int64_t bytes, MemoryOwner owner);
  /// Array of `count` empty std::string.
  Result<StorageRef> allocate_strings(int64_t count, MemoryOwner owner);
  MemoryStats stats() const;
  void set_limit(int64_t bytes);
  void trim();  // gives cached blocks back

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // outlives the pool while blocks are out
};

}  // namespace msvm
