// The event stream of the process: threads that run programs write, one reader takes. Off until a reader asks for it.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/function_ref.h"
#include "msvm/events/event_ring.h"

namespace msvm {

/// Texts are defined per generation: whoever remembers a TextId forgets it when generation() has changed. So a reader that begins a new
/// generation gets every text again that later events name, and may forget the old ones.
class EventStream {
 public:
  static EventStream& process();

  // --- threads that write
  /// 0: nobody reads, write nothing. Relaxed: a thread may see a change one run late.
  uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }
  bool on() const { return generation() != 0; }
  /// The calling thread's ring, made at its first use and kept until the thread ends.
  EventRing& ring();
  /// A new id. Takes a lock: for what is seen for the first time.
  TextId define(std::string_view text);
  /// Of events that are rare and may come from any thread: defines `name` and `detail` (if not empty) and pushes.
  void emit(Event e, std::string_view name = {}, std::string_view detail = {});

  // --- the reader; one at a time
  struct Text {
    TextId id;
    uint32_t generation;
    std::string text;
  };
  /// From now on events are written. Drops what was left from before.
  void open();
  /// Nothing is written any more, but for what threads are about to push.
  void close();
  /// Texts are defined anew from here on; the new generation.
  uint32_t begin_generation();
  /// Appends events, and then every text that they name which wasn't taken before. How full the fullest ring was, 0 to 1.
  double take(std::vector<Event>& events, std::vector<Text>& texts);
  /// Events and texts that found no room, since open().
  uint64_t dropped() const;
  static constexpr size_t kMostRings = 1024;
  /// For a signal handler: rings are never moved; null where there is none. k < kMostRings.
  const EventRing* ring_at(size_t k) const;
  /// The same of texts that were not taken yet. False: a thread, maybe the one that was interrupted, is just defining one.
  bool visit_waiting_texts(FunctionRef<void(const Text&)> visit) const;

 private:
  EventStream();
  struct Ring;
  struct ThreadRing;
  static constexpr size_t kMostTextBytes = 64u << 20;

  std::atomic<uint32_t> generation_{0};
  uint32_t last_generation_ = 0;
  mutable std::mutex mutex_;  // of what follows
  std::vector<std::shared_ptr<Ring>> rings_;
  std::atomic<const EventRing*> at_[kMostRings] = {};
  std::vector<Text> texts_;
  size_t text_bytes_ = 0;
  uint64_t dropped_ = 0;
  TextId next_text_ = 1;
};

}  // namespace msvm
