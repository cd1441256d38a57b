#include "msvm/events/event_ring.h"

#include <algorithm>

namespace msvm {

std::array<EventRing::Piece, 2> EventRing::waiting() const {
  const uint64_t head = head_.load(std::memory_order_acquire), tail = tail_.load(std::memory_order_relaxed);
  const size_t begin = tail % kCapacity, count = head - tail, first = std::min(count, kCapacity - begin);
  return {Piece{&slots_[begin], first}, Piece{&slots_[0], count - first}};
}

size_t EventRing::take(std::vector<Event>& out) {
  size_t taken = 0;
  for (const Piece& p : waiting()) {
    out.insert(out.end(), p.first, p.first + p.count);
    taken += p.count;
  }
  tail_.store(tail_.load(std::memory_order_relaxed) + taken, std::memory_order_release);
  return taken;
}

}  // namespace msvm
