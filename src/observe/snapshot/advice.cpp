#include "observe/snapshot/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>

namespace msvm::observe {
namespace {

constexpr int64_t kEnough = 3;           // runs that make a size, or a bucket, worth code: jit_threshold's default
constexpr double kBetter = 0.2;          // of the runs, that buckets must serve beyond those that exact sizes do

// Beginnings of reasons; see outcomes.def.
constexpr std::pair<const char*, const char*> kMends[] = {
    {"timed out", "raise compile_timeout, or leave it interpreted: it is tried again when something changes"},
    {"compiler crashed", "the region stays interpreted; `msvm report` makes a bundle for a bug report"},
    {"compiler out of memory", "the region stays interpreted; split the function, or give the machine more memory"},
    {"no compiler", "install msvm-cc beside the program, or name it by MSVM_CC"},
    {"refused", "the region stays interpreted; `msvm report` makes a bundle for a bug report"},
    {"nonsense from the compiler", "MSVM_CC names another build's compiler, or the file is damaged: install it again"},
};

int64_t bucket_end(int64_t v) { return v <= 1 ? 1 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(v))); }

int64_t served(const std::map<std::vector<int64_t>, int64_t>& counts) {
  int64_t n = 0;
  for (const auto& [values, runs] : counts)
    if (runs >= kEnough) n += runs;
  return n;
}

}  // namespace

std::string fallback_mend(const std::string& reason) {
  for (const auto& [begin, mend] : kMends)
    if (reason.starts_with(begin)) return mend;
  return "`msvm jit-info` shows what became of the region";
}

std::string bucket_advice(const JitRegionView& r) {
  size_t widest = 0;
  std::vector<std::map<int64_t, int64_t>> sizes(r.symbols.size());  // of each symbol: value -> runs
  for (const JitShapeView& s : r.shapes)
    for (size_t k = 0; k < sizes.size() && k < s.values.size(); ++k) sizes[k][s.values[k]] += s.runs;
  for (size_t k = 1; k < sizes.size(); ++k)
    if (sizes[k].size() > sizes[widest].size()) widest = k;
  if (sizes.empty() || sizes[widest].size() < 2) return {};
  std::map<std::vector<int64_t>, int64_t> exact, bucketed;
  int64_t runs = 0;
  for (const JitShapeView& s : r.shapes) {
    runs += s.runs;
    exact[s.values] += s.runs;
    std::vector<int64_t> rounded = s.values;
    rounded[widest] = bucket_end(rounded[widest]);
    bucketed[rounded] += s.runs;
  }
  const int64_t gain = served(bucketed) - served(exact);
  if (static_cast<double>(gain) < kBetter * static_cast<double>(runs)) return {};
  std::vector<int64_t> ends;
  for (const auto& [value, n] : sizes[widest])
    if (ends.empty() || ends.back() != bucket_end(value)) ends.push_back(bucket_end(value));
  return fmt::format("buckets would help: cache_mode=\"bucket\", bucket_boundaries={{\"{}\": [{}]}} would serve {:.0f} % of the runs seen by code of their own instead of {:.0f} %; cache_mode=\"adaptive\" learns such boundaries",
                     r.symbols[widest], fmt::join(ends, ", "), 100.0 * static_cast<double>(served(bucketed)) / static_cast<double>(runs), 100.0 * static_cast<double>(served(exact)) / static_cast<double>(runs));
}

}  // namespace msvm::observe
