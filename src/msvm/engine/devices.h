// What an engine has: the host, and simulated devices. Private to the room.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "msvm/device/buffer_pool.h"
#include "msvm/device/device_queue.h"
#include "msvm/engine/engine.h"
#include "msvm/sched/scheduler.h"
#include "msvm/vm/interfaces.h"

namespace msvm {

/// Memory, a queue and a capability database of its own. Its memory is only touched by jobs of its queue, so that everything that
/// happens to one buffer happens in the order in which it was asked for; it goes back to the pool that way, too.
struct SimDevice {
  SimDevice(Device d, const EngineOptions& options);
  Result<StorageRef> allocate(int64_t bytes, MemoryOwner owner);

  const Device device;
  std::shared_ptr<BufferPool> pool;
  std::shared_ptr<DeviceQueue> queue;
  WorkerPool workers;   // of the queue's thread
  Scheduler scheduler;
};

struct Devices {
  explicit Devices(const EngineOptions& options);
  /// Null if there is none.
  SimDevice* simulated(Device d) { return d.kind == DeviceKind::kSim && d.index < sims.size() ? sims[d.index].get() : nullptr; }
  bool has(Device d) { return d == Device{} || simulated(d); }
  /// "there is no device sim(1): this engine has CPU(0), sim(0)"
  Status absent(Device d) const;

  const bool fallback;
  BufferPool pool;
  WorkerPool workers;
  Scheduler scheduler;
  std::vector<std::unique_ptr<SimDevice>> sims;
};

/// Tensor memory from the pool of each device.
class PoolAllocator final : public Allocator {
 public:
  explicit PoolAllocator(Devices& devices) : devices_(devices) {}
  Result<StorageRef> allocate(Device device, DType dtype, int64_t bytes, MemoryUse use) override;

 private:
  Devices& devices_;
};

}  // namespace msvm
