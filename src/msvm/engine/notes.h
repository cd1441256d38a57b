// The newest notes about an engine or a program. Private to the room.
#pragma once
#include <deque>
#include <mutex>

#include "msvm/engine/engine.h"

namespace msvm {

/// Thread-safe. An equal note that is there already is renewed.
class Notes {
 public:
  void add(Note::Kind kind, std::string text, std::string place = {}) {
    constexpr size_t kMost = 32, kLongest = 2000;
    if (text.size() > kLongest) text.resize(kLongest);
    std::lock_guard lock(mutex_);
    std::erase_if(list_, [&](const Note& n) { return n.kind == kind && n.text == text && n.place == place; });
    list_.push_back({std::chrono::system_clock::now(), kind, std::move(text), std::move(place)});
    if (list_.size() > kMost) list_.pop_front();
  }
  std::vector<Note> all() const {
    std::lock_guard lock(mutex_);
    return {list_.begin(), list_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Note> list_;
};

}  // namespace msvm
