#include "msvm/jit/native/run_log.h"

#include <algorithm>

namespace msvm::jit {
namespace {

constexpr int64_t pack(int32_t function, int32_t region, size_t count, int tier) {
  return static_cast<int64_t>(function) << 40 | static_cast<int64_t>(region) << 16 | static_cast<int64_t>(count) << 8 | tier;
}

}  // namespace

// Stored with release: whoever sees a part of this run sees that it has begun.
void RunLog::write(int32_t function, int32_t region, std::span<const int64_t> values, int tier, int64_t ticks) {
  const uint64_t n = begun_.load(std::memory_order_relaxed);
  begun_.store(n + 1, std::memory_order_relaxed);
  Slot& s = slots_[n % kRuns];
  const size_t count = std::min(values.size(), kMaxSymbols);
  s.head.store(pack(function, region, values.size() > kMaxSymbols ? 0xff : count, tier), std::memory_order_release);
  s.ticks.store(ticks, std::memory_order_release);
  for (size_t i = 0; i < count; ++i) s.values[i].store(values[i], std::memory_order_release);
  written_.store(n + 1, std::memory_order_release);
}

void RunLog::read(const std::function<void(const Run&)>& visit) {
  const uint64_t end = written_.load(std::memory_order_acquire);
  uint64_t n = read_.load(std::memory_order_relaxed);
  if (end - n > kRuns) n = end - kRuns;
  for (; n < end; ++n) {
    const Slot& s = slots_[n % kRuns];
    Run run;
    const int64_t head = s.head.load(std::memory_order_acquire);
    run.ticks = s.ticks.load(std::memory_order_acquire);
    for (size_t i = 0; i < kMaxSymbols; ++i) run.values[i] = s.values[i].load(std::memory_order_acquire);
    if (begun_.load(std::memory_order_relaxed) > n + kRuns) continue;  // it was being overwritten
    run.function = static_cast<int32_t>(head >> 40);
    run.region = static_cast<int32_t>(head >> 16 & 0xffffff);
    run.count = static_cast<size_t>(head >> 8 & 0xff);
    run.tier = static_cast<int>(head & 0xff);
    if (run.count <= kMaxSymbols) visit(run);
  }
  read_.store(end, std::memory_order_relaxed);
}

}  // namespace msvm::jit
