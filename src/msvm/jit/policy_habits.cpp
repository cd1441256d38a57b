#include "msvm/jit/policy_habits.h"

#include <algorithm>
#include <cmath>

namespace msvm::jit {

void MeanTime::add(double sample) {
  constexpr int64_t kLast = 16;       // runs that the mean is about
  constexpr double kInterrupted = 4;  // longer than that many times the mean: the machine did something else
  ++runs;
  if (runs <= 2) ns = sample;
  else ns += (std::min(sample, kInterrupted * ns) - ns) / static_cast<double>(std::min(runs - 1, kLast));
}

Habit& SizeHabits::find(std::span<const int64_t> values) {
  for (Habit& h : habits_)
    if (std::equal(values.begin(), values.end(), h.values.begin(), h.values.end())) return h;
  if (habits_.size() < kMost) {
    habits_.emplace_back();
  } else {
    std::iter_swap(std::min_element(habits_.begin(), habits_.end(), [](const Habit& a, const Habit& b) { return a.weight < b.weight; }), habits_.end() - 1);
    habits_.back() = {};
  }
  habits_.back().values.assign(values.begin(), values.end());
  return habits_.back();
}

void SizeHabits::see(std::span<const int64_t> values, int tier, double ns) {
  // Instead of making all weights smaller the newest are made greater, until the numbers get large.
  constexpr double kLarge = 1e100;
  unit_ *= std::exp2(1 / half_life_);
  if (unit_ > kLarge) {
    for (Habit& h : habits_) h.weight /= unit_;
    total_ /= unit_;
    unit_ = 1;
  }
  Habit& h = find(values);
  h.weight += unit_;
  total_ += unit_;
  if (tier >= 2) {
    h.own.add(ns);
    return;
  }
  if (tier != h.lower_tier) {
    h.lower_tier = tier;
    h.lower = {};
  }
  h.lower.add(ns);
}

void SizeHabits::remember(std::span<const int64_t> values, double runs) {
  find(values).weight += runs * unit_;
  total_ += runs * unit_;
}

double SizeHabits::weight_in(const Box& box) const {
  double w = 0;
  for (const Habit& h : habits_)
    if (box.holds(h.values)) w += h.weight;
  return w / unit_;
}

double SizeHabits::weight_in(const Extent& extent, size_t position) const {
  double w = 0;
  for (const Habit& h : habits_)
    if (extent.holds(h.values[position])) w += h.weight;
  return w / unit_;
}

void SizeHabits::forget_own_times(const Box& box) {
  for (Habit& h : habits_)
    if (box.holds(h.values)) h.own = {};
}

double SizeHabits::memory() const { return half_life_ / std::log(2.0); }

}  // namespace msvm::jit
