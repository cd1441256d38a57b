// Medians of repeated timings.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace msvm::bench {

/// Median nanoseconds of one call of `body` over `rounds`, after one warm-up.
inline double median_ns(int rounds, const std::function<void()>& body) {
  body();
  std::vector<double> ns;
  for (int i = 0; i < rounds; ++i) {
    auto start = std::chrono::steady_clock::now();
    body();
    ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(ns.begin(), ns.begin() + static_cast<long>(ns.size() / 2), ns.end());
  return ns[ns.size() / 2];
}

}  // namespace msvm::bench
