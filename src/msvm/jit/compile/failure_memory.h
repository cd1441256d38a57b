// Which requests failed, so that they aren't tried again until something changed.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "msvm/jit/compile/outcome.h"

namespace msvm::jit {

class FailureMemory {
 public:
  struct Failure {
    uint64_t generation;
    Outcome outcome;
    std::string error;
  };
  void remember(std::string_view request, Failure failure) {
    auto [it, fresh] = failures_.insert_or_assign(std::string(request), std::move(failure));
    if (!fresh) return;
    order_.push_back(&it->first);
    bytes_ += request.size();
    while (order_.size() > kMost || (bytes_ > kMostBytes && order_.size() > 1)) {
      const std::string* oldest = order_.front();
      order_.pop_front();
      bytes_ -= oldest->size();
      failures_.erase(failures_.find(*oldest));
    }
  }
  /// The failure of an equal request at this generation, or null.
  const Failure* find(std::string_view request, uint64_t generation) const {
    auto it = failures_.find(std::string(request));
    return it != failures_.end() && it->second.generation == generation ? &it->second : nullptr;
  }
  size_t size() const { return failures_.size(); }

 private:
  static constexpr size_t kMost = 4096, kMostBytes = 16u << 20;
  std::unordered_map<std::string, Failure> failures_;  // keys don't move
  std::deque<const std::string*> order_;
  size_t bytes_ = 0;
};

}  // namespace msvm::jit
