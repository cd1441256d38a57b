// What others ask of a session while it runs: to end, or to have another debug hook. Private to the room.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "msvm/vm/debug_hook.h"

namespace msvm::vm {

class Asked {
 public:
  // --- from any thread
  void cancel() { bits_.fetch_or(kCancel, std::memory_order_relaxed); }
  /// Null: none.
  void set_hook(std::shared_ptr<DebugHook> hook) {
    std::lock_guard lock(mutex_);
    given_.swap(hook);
    bits_.fetch_or(kHook, std::memory_order_relaxed);
  }

  // --- of the thread that runs
  /// What was asked of the run before is forgotten.
  void run_begins() {
    if (bits_.load(std::memory_order_relaxed) == 0) [[likely]] return;
    bits_.fetch_and(static_cast<uint8_t>(~kCancel), std::memory_order_relaxed);
    (void)take_hook();
  }
  bool anything() const { return bits_.load(std::memory_order_relaxed) != 0; }
  bool cancelled() const { return bits_.load(std::memory_order_relaxed) & kCancel; }
  /// As it was when it was taken last.
  DebugHook* hook() const { return taken_.get(); }
  /// Whether it is another one now.
  bool take_hook() {
    std::shared_ptr<DebugHook> now;
    {
      std::lock_guard lock(mutex_);
      bits_.fetch_and(static_cast<uint8_t>(~kHook), std::memory_order_relaxed);
      now = given_;
    }
    taken_.swap(now);
    return taken_ != now;
  }

 private:
  static constexpr uint8_t kCancel = 1, kHook = 2;
  std::atomic<uint8_t> bits_{0};
  std::mutex mutex_;
  std::shared_ptr<DebugHook> given_;  // with the mutex
  std::shared_ptr<DebugHook> taken_;
};

}  // namespace msvm::vm
