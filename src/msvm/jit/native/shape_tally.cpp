#include "msvm/jit/native/shape_tally.h"

#include <algorithm>

namespace msvm::jit {

void ShapeTally::look(std::span<const int64_t> values) {
  const size_t used = used_.load(std::memory_order_relaxed);
  for (size_t s = 0; s < used; ++s)
    if (equals(s, values)) {
      last_ = s;
      return more(s);
    }
  auto fill = [&](size_t s) {
    for (size_t k = 0; k < symbols_; ++k) values_[s * symbols_ + k].store(values[k], std::memory_order_release);
  };
  if (used < kSlots) {
    last_ = used;
    fill(used);
    more(used);
    used_.store(used + 1, std::memory_order_release);
    return;
  }
  last_ = 0;
  for (size_t s = 1; s < kSlots; ++s)
    if (runs_[s].load(std::memory_order_relaxed) < runs_[last_].load(std::memory_order_relaxed)) last_ = s;
  std::atomic<uint32_t>& version = versions_[last_];
  const uint32_t v = version.load(std::memory_order_relaxed);
  version.store(v + 1, std::memory_order_relaxed);
  fill(last_);  // with release: whoever sees a part of it sees that it had begun
  more(last_);
  version.store(v + 2, std::memory_order_release);
}

void ShapeTally::add_to(std::vector<SizeCount>& sum) const {
  const size_t used = used_.load(std::memory_order_acquire);
  for (size_t s = 0; s < used; ++s) {
    const uint32_t version = versions_[s].load(std::memory_order_acquire);
    if (version & 1) continue;
    SizeCount c{std::vector<int64_t>(symbols_), runs_[s].load(std::memory_order_relaxed)};
    for (size_t k = 0; k < symbols_; ++k) c.values[k] = values_[s * symbols_ + k].load(std::memory_order_acquire);
    if (versions_[s].load(std::memory_order_relaxed) != version) continue;  // it was being replaced
    const auto known = std::find_if(sum.begin(), sum.end(), [&](const SizeCount& o) { return o.values == c.values; });
    if (known == sum.end()) sum.push_back(std::move(c));
    else known->runs += c.runs;
  }
}

void keep_most_frequent(std::vector<SizeCount>& counts, size_t most) {
  std::stable_sort(counts.begin(), counts.end(), [](const SizeCount& a, const SizeCount& b) { return a.runs > b.runs; });
  if (counts.size() > most) counts.resize(most);
}

}  // namespace msvm::jit
