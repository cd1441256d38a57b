#include "msvm/events/event_stream.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace msvm {

struct EventStream::Ring {
  explicit Ring(uint32_t thread) : events(thread) {}
  EventRing events;
  std::atomic<bool> left{false};  // its thread has ended
  uint64_t dropped_before = 0;    // when the stream was opened
};

struct EventStream::ThreadRing {
  std::shared_ptr<Ring> ring;
  ~ThreadRing() {
    if (ring) ring->left.store(true, std::memory_order_release);
  }
};

// A child of a fork has no reader, and maybe a lock that nobody will release: it writes nothing until it has a reader of its own.
EventStream::EventStream() {
  pthread_atfork(nullptr, nullptr, [] {
    EventStream& stream = process();
    stream.generation_.store(0, std::memory_order_relaxed);
    new (&stream.mutex_) std::mutex;
  });
}

EventStream& EventStream::process() {
  static EventStream& stream = *new EventStream;  // threads may write until the process ends
  return stream;
}

EventRing& EventStream::ring() {
  thread_local ThreadRing mine;
  if (!mine.ring) {
    mine.ring = std::make_shared<Ring>(static_cast<uint32_t>(syscall(SYS_gettid)));
    std::lock_guard lock(mutex_);
    rings_.push_back(mine.ring);
    for (auto& place : at_)
      if (!place.load(std::memory_order_relaxed)) {
        place.store(&mine.ring->events, std::memory_order_release);
        break;
      }
  }
  return mine.ring->events;
}

TextId EventStream::define(std::string_view text) {
  if (text.empty()) return 0;
  std::lock_guard lock(mutex_);
  if (text_bytes_ + text.size() > kMostTextBytes) {
    ++dropped_;
    return 0;
  }
  text_bytes_ += text.size();
  texts_.push_back({next_text_, last_generation_, std::string(text)});
  if (next_text_ == UINT32_MAX) next_text_ = 0;
  return next_text_++;
}

void EventStream::emit(Event e, std::string_view name, std::string_view detail) {
  if (!on()) return;
  e.name = define(name);
  e.detail = define(detail);
  ring().push(e);
}

void EventStream::open() {
  std::vector<Event> old;
  std::lock_guard lock(mutex_);
  for (auto& r : rings_) {
    r->events.take(old);
    r->dropped_before = r->events.dropped();
    old.clear();
  }
  texts_.clear();
  text_bytes_ = 0;
  dropped_ = 0;
  generation_.store(++last_generation_, std::memory_order_relaxed);
}

void EventStream::close() { generation_.store(0, std::memory_order_relaxed); }

uint32_t EventStream::begin_generation() {
  std::lock_guard lock(mutex_);
  generation_.store(++last_generation_, std::memory_order_relaxed);
  return last_generation_;
}

double EventStream::take(std::vector<Event>& events, std::vector<Text>& texts) {
  std::vector<std::shared_ptr<Ring>> rings;
  {
    std::lock_guard lock(mutex_);
    rings = rings_;
  }
  size_t most = 0;
  for (auto& r : rings) most = std::max(most, r->events.take(events));
  // A text is defined before the event that names it is pushed: these are all.
  std::lock_guard lock(mutex_);
  std::move(texts_.begin(), texts_.end(), std::back_inserter(texts));
  texts_.clear();
  text_bytes_ = 0;
  std::erase_if(rings_, [&](const std::shared_ptr<Ring>& r) {
    if (!r->left.load(std::memory_order_acquire) || r->events.waiting()[0].count) return false;
    for (auto& place : at_)
      if (place.load(std::memory_order_relaxed) == &r->events) place.store(nullptr, std::memory_order_release);
    dropped_ += r->events.dropped() - r->dropped_before;
    return true;
  });
  return static_cast<double>(most) / static_cast<double>(EventRing::kCapacity);
}

uint64_t EventStream::dropped() const {
  std::lock_guard lock(mutex_);
  uint64_t n = dropped_;
  for (const auto& r : rings_) n += r->events.dropped() - r->dropped_before;
  return n;
}

bool EventStream::visit_waiting_texts(FunctionRef<void(const Text&)> visit) const {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  for (const Text& t : texts_) visit(t);
  return true;
}

const EventRing* EventStream::ring_at(size_t k) const { return at_[k].load(std::memory_order_acquire); }

}  // namespace msvm
