#include "observe/snapshot/growth.h"

#include <fmt/format.h>

namespace msvm::observe {
namespace {

constexpr size_t kWindows = 4;
constexpr double kShare = 0.05;  // of what was in use, at least

std::string mebibytes(int64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

// What helps depends on who holds what has come.
std::string mend(MemoryOwner owner) {
  switch (owner) {
    case MemoryOwner::kInterpreter:
    case MemoryOwner::kArena: return "mem_optimize=True makes plans that need less";
    case MemoryOwner::kScratch: return "sizes grow from run to run; mem_optimize=True leaves more room for them";
    case MemoryOwner::kWeights: return "programs are loaded and kept; drop those that aren't used any more, mem_optimize=True lowers what each needs";
    case MemoryOwner::kResults: return "results of runs are kept; copy out what is needed and drop them, mem_optimize=True lowers what runs need beside them";
  }
  return "";
}

}  // namespace

void Growth::add(double seconds, const MemoryStats& memory) {
  if (windows_.empty() || seconds - windows_.back().begin >= kWindow) {
    // A gap: what lies before it says nothing about a steady growth.
    if (!windows_.empty() && seconds - windows_.back().begin >= 2 * kWindow) windows_.clear();
    windows_.push_back({seconds, memory});
    if (windows_.size() > kWindows + 1) windows_.pop_front();
    judge();
  } else if (memory.in_use < windows_.back().least.in_use) {
    windows_.back().least = memory;
  }
}

void Growth::judge() {
  hint_.clear();
  if (windows_.size() <= kWindows) return;
  for (size_t k = 1; k < kWindows; ++k)
    if (windows_[k].least.in_use <= windows_[k - 1].least.in_use) return;
  const MemoryStats &first = windows_.front().least, &last = windows_[kWindows - 1].least;
  const int64_t grown = last.in_use - first.in_use;
  if (grown < kLeast || static_cast<double>(grown) < kShare * static_cast<double>(first.in_use)) return;
  int most = 0;
  for (int k = 1; k < kNumMemoryOwners; ++k)
    if (last.by_owner[k] - first.by_owner[k] > last.by_owner[most] - first.by_owner[most]) most = k;
  since_ = windows_.front().begin;
  hint_ = fmt::format("memory in use grows steadily, from {} to {} in {:.0f} s, most of it by {}: {}", mebibytes(first.in_use), mebibytes(last.in_use),
                      windows_.back().begin - windows_.front().begin, kMemoryOwnerNames[most], mend(static_cast<MemoryOwner>(most)));
}

}  // namespace msvm::observe
