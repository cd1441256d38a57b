#include "msvm/jit/policy_boundaries.h"

#include <algorithm>
#include <bit>

namespace msvm::jit {
namespace {

int64_t round_up(int64_t v) {
  if (v < 8) return v;
  const int64_t step = int64_t{1} << (std::bit_width(static_cast<uint64_t>(v)) - 3);
  return v > INT64_MAX - step ? INT64_MAX : (v + step - 1) / step * step;
}

}  // namespace

std::vector<int64_t> boundaries_of(std::vector<std::pair<int64_t, double>> sizes, size_t most) {
  std::sort(sizes.begin(), sizes.end());
  double all = 0, below = 0;
  for (const auto& [value, weight] : sizes) all += weight;
  std::vector<int64_t> out;
  for (size_t k = 0; k < sizes.size(); ++k) {
    below += sizes[k].second;
    const bool last = k + 1 == sizes.size();
    if (!last && below * static_cast<double>(most) < all * static_cast<double>(out.size() + 1)) continue;
    const int64_t b = round_up(sizes[k].first);
    if (out.empty() || b > out.back()) {
      if (out.size() == most) out.back() = b;
      else out.push_back(b);
    }
  }
  return out;
}

}  // namespace msvm::jit
