#include "msvm/engine/devices.h"

#include <fmt/core.h>

#include "msvm/device/machine_memory.h"

namespace msvm {
namespace {

int64_t memory_limit(const EngineOptions& o) { return o.max_memory > 0 ? o.max_memory : machine_memory(); }

CapabilityDb capabilities_of(Device d) {
  CapabilityDb db = default_capability_db();
  db.device = d;
  return db;
}

/// A reference to device memory that goes back through the queue: after everything that was asked for before.
struct QueuedStorage {
  Storage storage;
  StorageRef memory;
  std::shared_ptr<BufferPool> pool;
  std::shared_ptr<DeviceQueue> queue;

  static void release(Storage* s) {
    auto* self = static_cast<QueuedStorage*>(s->owner);
    self->queue->push([memory = std::move(self->memory), pool = std::move(self->pool)]() mutable { memory.reset(); });
    delete self;
  }
};

}  // namespace

SimDevice::SimDevice(Device d, const EngineOptions& o)
    : device(d), pool(std::make_shared<BufferPool>(memory_limit(o))), queue(std::make_shared<DeviceQueue>()), workers(1),
      scheduler(capabilities_of(d), workers, {.fallback = false, .strict = o.strict}) {}

Result<StorageRef> SimDevice::allocate(int64_t bytes, MemoryOwner owner) {
  auto memory = pool->allocate(bytes, owner);
  if (!memory.ok()) return memory.status().with_context(to_string(device) + ": ");
  auto* s = new QueuedStorage;
  s->storage.data = (*memory)->data;
  s->storage.bytes = (*memory)->bytes;
  s->storage.pooled = true;
  s->storage.owner = s;
  s->storage.release = QueuedStorage::release;
  s->memory = std::move(*memory);
  s->pool = pool;
  s->queue = queue;
  return StorageRef::adopt(&s->storage);
}

Devices::Devices(const EngineOptions& o)
    : fallback(o.fallback), pool(memory_limit(o)), workers(o.num_threads), scheduler(default_capability_db(), workers, {.fallback = o.fallback, .strict = o.strict}) {
  for (int i = 0; i < o.simulated_devices; ++i) sims.push_back(std::make_unique<SimDevice>(Device{DeviceKind::kSim, static_cast<uint8_t>(i)}, o));
}

Status Devices::absent(Device d) const {
  std::string names = to_string(Device{});
  for (const auto& s : sims) names += ", " + to_string(s->device);
  return unsupported(fmt::format("there is no device {}: this engine has {}", to_string(d), names));
}

Result<StorageRef> PoolAllocator::allocate(Device device, DType dtype, int64_t bytes, MemoryUse use) {
  const MemoryOwner owner = use == MemoryUse::kResult ? MemoryOwner::kResults : use == MemoryUse::kArena ? MemoryOwner::kArena : MemoryOwner::kInterpreter;
  if (device == Device{}) [[likely]]
    return dtype == DType::kString ? devices_.pool.allocate_strings(bytes / dtype_bytes(dtype), owner) : devices_.pool.allocate(bytes, owner);
  SimDevice* sim = devices_.simulated(device);
  if (!sim) return devices_.absent(device);
  if (dtype == DType::kString) return unsupported(fmt::format("strings live on the host only, not on {}", to_string(device)));
  return sim->allocate(bytes, owner);
}

}  // namespace msvm
