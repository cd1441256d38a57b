// A budget of seconds per second, with savings.
#pragma once
#include <algorithm>
#include <cmath>

namespace msvm::jit {

/// `rate` is earned each second, up to `burst`. What is spent isn't known beforehand, so it may go into debt. Times are any
/// monotonic seconds.
class TokenBucket {
 public:
  TokenBucket(double rate, double burst) : rate_(rate), burst_(burst), tokens_(burst) {}
  double tokens(double now) {
    if (since_ >= 0) tokens_ = std::min(burst_, tokens_ + (now - since_) * rate_);
    since_ = now;
    return tokens_;
  }
  void spend(double amount, double now) { tokens_ = tokens(now) - amount; }
  /// Seconds until something may be spent; infinite if nothing is earned.
  double wait(double now) {
    const double have = tokens(now);
    if (have > 0) return 0;
    return rate_ > 0 ? -have / rate_ + 1e-3 : INFINITY;
  }

 private:
  double rate_, burst_, tokens_, since_ = -1;
};

}  // namespace msvm::jit
