// A device's in-order queue: one thread that does what it is given, one job after the other.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

namespace msvm {

/// Thread-safe. Jobs run in the order of push(), each after the one before it has ended. They must not throw, nor wait for this queue.
class DeviceQueue {
 public:
  using Ticket = uint64_t;
  DeviceQueue();
  ~DeviceQueue();  // after all jobs
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  Ticket push(std::function<void()> job);
  /// Returns once that job, and with it every one before, is done.
  void wait(Ticket t);
  /// For everything pushed until now.
  void wait();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace msvm
