// One session's work on one simulated device: an ordered stream of jobs. Private to the room.
#pragma once
#include <functional>

#include "msvm/engine/devices.h"
#include "msvm/engine/scratch.h"

namespace msvm {

class SimStream {
 public:
  explicit SimStream(SimDevice& device) : device_(device), scratch_(*device.pool) {}
  ~SimStream() { device_.queue->wait(); }

  /// Does it later, unless something before it fails. `what` goes before its message.
  void push(std::string what, std::function<Status()> job);
  /// Until everything is done: the first failure since the last wait.
  Status wait();
  /// push() and wait().
  Status run(std::string what, std::function<Status()> job);

  /// Grows with each wait: what was pushed in an earlier epoch is done.
  uint64_t epoch() const { return epoch_; }
  SimDevice& device() { return device_; }
  Scratch& scratch() { return scratch_; }  // of the queue's thread

 private:
  SimDevice& device_;
  Scratch scratch_;
  uint64_t epoch_ = 1;
  Status failed_;  // of the queue's thread while jobs are out
};

}  // namespace msvm
