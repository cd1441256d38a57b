// How long a request will compile, from what requests of its size took.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace msvm::jit {

class CompileEstimate {
 public:
  /// Seconds: what the requests next in size took, in proportion to the size; a guess until something was learned.
  double seconds(size_t bytes) const {
    const size_t want = size_class(bytes);
    for (size_t distance = 0; distance < kClasses; ++distance) {
      if (want >= distance && learned_[want - distance].seconds > 0) return learned_[want - distance].scaled(bytes);
      if (want + distance < kClasses && learned_[want + distance].seconds > 0) return learned_[want + distance].scaled(bytes);
    }
    return kGuess + kGuessPerByte * static_cast<double>(bytes);
  }
  /// Old habits fade: each new time counts a quarter.
  void learn(size_t bytes, double took) {
    Mean& mean = learned_[size_class(bytes)];
    const double share = mean.seconds > 0 ? 0.25 : 1;
    mean.seconds += share * (std::max(took, kLeast) - mean.seconds);
    mean.bytes += share * (static_cast<double>(bytes) - mean.bytes);
  }

 private:
  static constexpr size_t kClasses = 26;  // powers of two of bytes, up to the largest request
  static constexpr double kLeast = 1e-4, kGuess = 5e-3, kGuessPerByte = 5e-6;
  struct Mean {
    double seconds = 0, bytes = 0;
    double scaled(size_t of) const { return seconds * std::max(static_cast<double>(of), 1.0) / std::max(bytes, 1.0); }
  };
  static size_t size_class(size_t bytes) { return std::min(static_cast<size_t>(std::bit_width(bytes)), kClasses - 1); }
  std::array<Mean, kClasses> learned_{};
};

}  // namespace msvm::jit
