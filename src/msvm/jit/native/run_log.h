// What a session writes down about its runs of regions, for the JIT thread to read. No locks, no calls into the system.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>

#include "msvm/vm/region_code.h"

namespace msvm::jit {

/// Totals of one region as one session counts them: one writer. Or as the program adds them up.
struct RegionTotals {
  std::atomic<int64_t> runs{0}, native{0}, specialised{0};
  std::atomic<int64_t> interpreted_ticks{0}, native_ticks{0};
  static void count(std::atomic<int64_t>& total, int64_t by) { total.store(total.load(std::memory_order_relaxed) + by, std::memory_order_relaxed); }
  void add(const RegionTotals& t) {
    count(runs, t.runs);
    count(native, t.native);
    count(specialised, t.specialised);
    count(interpreted_ticks, t.interpreted_ticks);
    count(native_ticks, t.native_ticks);
  }
};

/// The newest runs of one session in a ring; older ones that nobody read are overwritten. One writer, one reader.
class RunLog {
 public:
  static constexpr size_t kRuns = 128;
  static constexpr size_t kMaxSymbols = 16;  // of regions with more only the totals count

  struct Run {
    int32_t function = 0, region = 0;
    size_t count = 0;
    std::array<int64_t, kMaxSymbols> values;
    int64_t ticks = 0;
    int tier = 0;
  };

  void write(int32_t function, int32_t region, std::span<const int64_t> values, int tier, int64_t ticks);
  /// Calls `visit` with each run since the last call that is still there, oldest first.
  void read(const std::function<void(const Run&)>& visit);
  bool empty() const { return read_.load(std::memory_order_relaxed) == written_.load(std::memory_order_acquire); }

 private:
  struct Slot {
    std::atomic<int64_t> head{0};  // tier, count, function, region
    std::atomic<int64_t> ticks{0};
    std::array<std::atomic<int64_t>, kMaxSymbols> values{};
  };
  std::array<Slot, kRuns> slots_;
  std::atomic<uint64_t> begun_{0}, written_{0}, read_{0};
};

}  // namespace msvm::jit
