#include "msvm/base/ticks.h"

namespace msvm {
namespace {

double measure() {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const int64_t first = ticks();
  auto now = begin;
  while (now - begin < std::chrono::milliseconds(1)) now = Clock::now();
  const int64_t passed = ticks() - first;
  return passed > 0 ? static_cast<double>(std::chrono::nanoseconds(now - begin).count()) / static_cast<double>(passed) : 1;
}

}  // namespace

double nanoseconds_per_tick() {
  static const double value = measure();
  return value;
}

}  // namespace msvm
