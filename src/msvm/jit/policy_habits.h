// The sizes that a region runs with, and how long it takes with them: what was long ago counts less.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "msvm/jit/box.h"

namespace msvm::jit {

/// A running mean of times; the first one of a kind, which pays for plans and cold caches, is replaced by the second.
struct MeanTime {
  double ns = 0;
  int64_t runs = 0;
  void add(double sample);
};

/// One vector of sizes.
struct Habit {
  std::vector<int64_t> values;
  double weight = 0;       // runs, each halved with every half-life that has passed; in units of SizeHabits::unit()
  int lower_tier = 0;      // that `lower` is about
  MeanTime lower, own;     // without and with code for fewer sizes than all
};

/// Bounded: of more than kMost vectors the lightest is forgotten, its runs still count as runs.
class SizeHabits {
 public:
  static constexpr size_t kMost = 256;
  explicit SizeHabits(double half_life) : half_life_(half_life) {}

  void see(std::span<const int64_t> values, int tier, double ns);
  /// As of another process; `runs` as weight().
  void remember(std::span<const int64_t> values, double runs);
  const std::vector<Habit>& all() const { return habits_; }
  double weight(const Habit& h) const { return h.weight / unit_; }
  double total() const { return total_ / unit_; }
  double weight_in(const Box& box) const;
  double weight_in(const Extent& extent, size_t position) const;
  /// Times with code of their own are about another entry from now on.
  void forget_own_times(const Box& box);
  /// Runs that a habit lasts: the sum of all weights can't become greater.
  double memory() const;

 private:
  Habit& find(std::span<const int64_t> values);

  const double half_life_;
  std::vector<Habit> habits_;
  double unit_ = 1, total_ = 0;
};

}  // namespace msvm::jit
