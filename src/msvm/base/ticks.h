// A clock for short times that costs a few nanoseconds: the processor's time stamp counter where there is one.
#pragma once
#include <chrono>
#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace msvm {

/// Only differences mean something.
inline int64_t ticks() {
#if defined(__x86_64__)
  return static_cast<int64_t>(__rdtsc());
#else
  return std::chrono::steady_clock::now().time_since_epoch().count();
#endif
}

/// Measured at the first call, which takes a millisecond. Any thread.
double nanoseconds_per_tick();

}  // namespace msvm
