// A bounded queue of events with one writer and one reader. Neither waits; what finds no room is counted.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "msvm/events/event.h"

namespace msvm {

class EventRing {
 public:
  static constexpr size_t kCapacity = 1 << 14;
  explicit EventRing(uint32_t thread) : thread_(thread), slots_(std::make_unique<Event[]>(kCapacity)) {}

  // --- the writer
  void push(const Event& e) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) >= kCapacity) [[unlikely]] {
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    Event& slot = slots_[head % kCapacity];
    slot = e;
    slot.thread = thread_;
    head_.store(head + 1, std::memory_order_release);
  }

  // --- the reader
  /// Appends what there is to `out`; how many.
  size_t take(std::vector<Event>& out);
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  // --- anyone, a signal handler included: what the reader has not taken yet, in at most two pieces
  struct Piece {
    const Event* first;
    size_t count;
  };
  std::array<Piece, 2> waiting() const;

 private:
  const uint32_t thread_;
  const std::unique_ptr<Event[]> slots_;
  alignas(64) std::atomic<uint64_t> head_{0};
  std::atomic<uint64_t> dropped_{0};
  alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace msvm
