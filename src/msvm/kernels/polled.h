// Long work in one piece, which ends early where its run is to stop.
#pragma once
#include <algorithm>
#include <bit>
#include <utility>

#include "msvm/base/run_control.h"
#include "msvm/base/status.h"

namespace msvm {

/// Asks the run that work belongs to whether it is to stop, about every million steps: some 10 ms. For one thread; workers are given the
/// control of the thread that runs.
class Poll {
 public:
  /// `every`: fewer for steps that take long.
  explicit Poll(RunControl* control = RunControl::current(), int64_t every = kSteps) : control_(control), every_(every), left_(every) {}
  /// Whether to leave, after so many steps more. What is left half done nobody may read.
  bool stop(int64_t steps = 1) {
    if ((left_ -= steps) > 0) [[likely]] return false;
    return ask();
  }
  bool stopped() const { return stopped_; }

  static constexpr int64_t kSteps = 1 << 20;
  int64_t piece() const { return every_ / 8; }  // what the standard library orders without being asked

 private:
  bool ask() {
    stopped_ = stopped_ || (control_ && control_->should_leave());
    left_ = stopped_ ? 0 : every_;
    return stopped_;
  }

  RunControl* const control_;
  const int64_t every_;
  int64_t left_;
  bool stopped_ = false;
};

inline Status run_cancelled() { return {StatusCode::kCancelled, "the run was cancelled"}; }

/// Cuts [first, last), three elements or more of which none equal another, in two that aren't empty: those of the first come before those of
/// the second. null where the run is to stop.
template <class T, class Less>
T* part_polled(T* first, T* last, const Less& less, Poll& poll) {
  const T &a = *first, &b = first[(last - first) / 2], &c = last[-1];
  const T pivot = less(a, b) ? (less(b, c) ? b : less(a, c) ? c : a) : less(a, c) ? a : less(b, c) ? c : b;
  for (T *low = first, *high = last - 1;; ++low, --high) {
    for (; less(*low, pivot); ++low)
      if (poll.stop()) return nullptr;
    for (; less(pivot, *high); --high)
      if (poll.stop()) return nullptr;
    if (low >= high) return high + 1;
    std::swap(*low, *high);
  }
}

/// std::sort of elements of which none equal another. Where the run is to stop they are left in any order.
template <class T, class Less>
void sort_polled(T* first, T* last, const Less& less, Poll& poll) {
  for (int depth = 2 * std::bit_width(static_cast<uint64_t>(last - first)); last - first > poll.piece() && depth > 0; --depth) {
    T* middle = part_polled(first, last, less, poll);
    if (!middle) return;
    if (middle - first < last - middle) {
      sort_polled(first, middle, less, poll);
      first = middle;
    } else {
      sort_polled(middle, last, less, poll);
      last = middle;
    }
    if (poll.stopped()) return;
  }
  std::sort(first, last, less);
  poll.stop(16 * (last - first));
}

/// std::nth_element, likewise.
template <class T, class Less>
void nth_polled(T* first, T* nth, T* last, const Less& less, Poll& poll) {
  for (int depth = 2 * std::bit_width(static_cast<uint64_t>(last - first)); last - first > poll.piece() && depth > 0; --depth) {
    T* middle = part_polled(first, last, less, poll);
    if (!middle) return;
    (nth < middle ? last : first) = middle;
  }
  if (nth < last) std::nth_element(first, nth, last, less);
  poll.stop(16 * (last - first));
}

}  // namespace msvm
