// How one run is stopped: from any thread, or by its host, which it asks from time to time.
#pragma once
#include <atomic>
#include <cstdint>

#include "msvm/base/ticks.h"

namespace msvm {

class RunControl {
 public:
  RunControl() = default;
  virtual ~RunControl() = default;
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;

  /// The run ends with kCancelled at its next call, loop, or chunk of a kernel's work. Any thread.
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// For the thread that runs, wherever it can stop: asks the host where that is due.
  bool should_stop() {
    if (stopped()) return true;
    if (ticks() < next_look_) [[likely]] return false;
    return look();
  }
  /// For threads that work for a run: those that aren't its own don't ask the host.
  bool should_leave() { return this == current() ? should_stop() : stopped(); }

  /// Of the innermost run of this thread; null: it can't be stopped that way.
  static RunControl* current();
  /// Makes a control this thread's current one. Null: that of nothing.
  class Scope {
   public:
    explicit Scope(RunControl* control);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    RunControl* const outer_;
  };

 protected:
  /// Asks the host, and says when to look again; true: stop.
  virtual bool look() {
    next_look_ = INT64_MAX;
    return stopped();
  }
  int64_t next_look_ = INT64_MAX;  // in ticks

 private:
  std::atomic<bool> stopped_{false};
};

}  // namespace msvm
