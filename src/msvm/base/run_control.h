// How one run is stopped: from any thread, or by its host, which it asks from time to time.
#pragma once
#include <atomic>
#include <cstdint>

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
    if (--polls_ > 0) [[likely]] return false;
    return look_at_clock();
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
  /// look() is called from `first` on, at the first poll after that.
  void look_from(int64_t first) {
    polls_ = 1;
    next_look_ = first;
  }
  /// Asks the host, and gives when to look again, in ticks.
  virtual int64_t look() { return INT64_MAX; }

 private:
  static constexpr int64_t kNever = INT64_MAX / 2;
  static constexpr int64_t kQuick = 1 << 17;  // some 50 us
  static constexpr int64_t kPolls = 8;        // where they come quickly, the clock is read at each eighth

  bool look_at_clock();

  // Of the thread that runs.
  int64_t polls_ = kNever, next_look_ = INT64_MAX, last_ = 0;
  std::atomic<bool> stopped_{false};
};

}  // namespace msvm
