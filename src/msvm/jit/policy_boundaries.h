// Boundaries of buckets from sizes and their weights.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace msvm::jit {

/// At most `most` boundaries, ascending, so that the buckets have about the same weight and hold all of `sizes`. They are rounded up to
/// an eighth to a quarter of their size, so that a little more of the same gives the same boundaries. `sizes`: value and weight, in any order; values
/// aren't negative.
std::vector<int64_t> boundaries_of(std::vector<std::pair<int64_t, double>> sizes, size_t most);

}  // namespace msvm::jit
