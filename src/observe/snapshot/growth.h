// Whether memory grows and grows.
#pragma once
#include <deque>
#include <optional>
#include <string>

#include "msvm/device/buffer_pool.h"

namespace msvm::observe {

/// Of one pool. Compares the least that was in use in four windows, one after the other, of 15 s each: what a program needs for a run goes
/// up and down, what is kept only goes up.
class Growth {
 public:
  static constexpr double kWindow = 15;
  static constexpr int64_t kLeast = 1 << 20;  // bytes that matter

  /// `seconds` of any clock, ascending.
  void add(double seconds, const MemoryStats& memory);
  /// What would help; empty while it doesn't grow.
  const std::string& hint() const { return hint_; }
  /// The clock when it began.
  double since() const { return since_; }

 private:
  struct Window {
    double begin = 0;
    MemoryStats least;
  };
  void judge();

  std::deque<Window> windows_;  // the last is being filled
  std::string hint_;
  double since_ = 0;
};

}  // namespace msvm::observe
