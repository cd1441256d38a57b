// From one self-contained part of a recording to the next.
#pragma once
#include <chrono>
#include <vector>

#include "msvm/events/event_stream.h"

namespace msvm::observe {

/// Texts are defined anew as soon as a handover begins; the part that ends still takes events for a while, so that runs which name old
/// texts can end. The next part starts with the new texts that came meanwhile.
class Handover {
 public:
  bool begun() const { return generation_ != 0; }
  void begin() {
    generation_ = EventStream::process().begin_generation();
    since_ = Clock::now();
  }
  void note(const std::vector<EventStream::Text>& texts) {
    for (const auto& t : texts)
      if (begun() && t.generation >= generation_) texts_.push_back(t);
  }
  bool ready() const { return begun() && Clock::now() - since_ > std::chrono::milliseconds(200); }
  /// It is over; what the next part starts with.
  std::vector<EventStream::Text> end() {
    generation_ = 0;
    return std::exchange(texts_, {});
  }

 private:
  using Clock = std::chrono::steady_clock;
  uint32_t generation_ = 0;  // 0: not begun
  Clock::time_point since_;
  std::vector<EventStream::Text> texts_;
};

}  // namespace msvm::observe
