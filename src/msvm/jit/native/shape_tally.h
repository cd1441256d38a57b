// How often a region ran with which sizes: the most frequent vectors, counted by the session that runs, read by views.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace msvm::jit {

struct SizeCount {
  std::vector<int64_t> values;
  int64_t runs = 0;
};

/// Space-saving: a vector that finds no place takes that of the least frequent, with its count, so a count may be too high by that of the
/// vector it replaced, and what is frequent stays. One writer, which takes no lock; any number of readers.
class ShapeTally {
 public:
  static constexpr size_t kSlots = 32;

  /// `symbols` of each vector.
  explicit ShapeTally(size_t symbols) : symbols_(symbols), values_(kSlots * symbols) {}
  void count(std::span<const int64_t> values) {
    if (used_.load(std::memory_order_relaxed) && equals(last_, values)) [[likely]] return more(last_);
    look(values);
  }
  /// Adds what is counted to `sum`, vector by vector.
  void add_to(std::vector<SizeCount>& sum) const;

 private:
  bool equals(size_t slot, std::span<const int64_t> values) const {
    for (size_t k = 0; k < symbols_; ++k)
      if (values_[slot * symbols_ + k].load(std::memory_order_relaxed) != values[k]) return false;
    return true;
  }
  void more(size_t slot) { runs_[slot].store(runs_[slot].load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void look(std::span<const int64_t> values);

  const size_t symbols_;
  size_t last_ = 0;                           // slot of the last run; the writer's
  std::atomic<size_t> used_{0};
  std::atomic<uint32_t> versions_[kSlots]{};  // odd: its values are being replaced
  std::atomic<int64_t> runs_[kSlots]{};
  std::vector<std::atomic<int64_t>> values_;
};

/// The `most` frequent, most frequent first.
void keep_most_frequent(std::vector<SizeCount>& counts, size_t most);

}  // namespace msvm::jit
