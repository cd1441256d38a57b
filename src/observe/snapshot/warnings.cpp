#include "observe/snapshot/warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "observe/snapshot/advice.h"

namespace msvm::observe {
namespace {

// "line 47" of "model.py:47"; the region where the source isn't known.
std::string where(const std::string& place, const std::string& region) {
  const size_t colon = place.rfind(':');
  if (colon != std::string::npos && place.find_first_not_of("0123456789", colon + 1) == std::string::npos && colon + 1 < place.size()) return "at line " + place.substr(colon + 1);
  return "in " + region;
}

void add_fallbacks(const Snapshot& s, const ProgramSnapshot& p, std::vector<Warning>& out) {
  std::set<std::pair<std::string, std::string>> seen;  // the same again is one row, with the time of the newest
  for (auto it = p.jit.slow_path.rbegin(); it != p.jit.slow_path.rend(); ++it) {
    if (!seen.emplace(it->region, it->reason).second) continue;
    out.push_back({time_of(s, p.jit, it->seconds), "fallback", "error", p.name, it->region, it->place,
                   fmt::format("Fallback triggered {}: {}{}", where(it->place, it->region), it->reason, it->instead.empty() ? "" : fmt::format(" ({} instead)", it->instead)), fallback_mend(it->reason)});
  }
}

void add_notes(const std::string& program, const std::vector<Note>& notes, std::vector<Warning>& out) {
  for (const Note& n : notes) {
    switch (n.kind) {
      case Note::Kind::kMissingKernel:
        out.push_back({n.time, "kernel", "warning", program, "", n.place, n.text, kKernelMend});
        break;
      case Note::Kind::kFailedRun:
        if (const size_t at = n.text.find("Kernel not found for op "); at != std::string::npos)
          out.push_back({n.time, "kernel", "error", program, "", n.place, n.text.substr(at, n.text.find('\n', at) - at), kKernelMend});
        break;
      case Note::Kind::kCapabilities:
        out.push_back({n.time, "capability", "info", program, "", n.place, n.text, "every entry is made again, call sites choose anew; `msvm cap` shows the database"});
        break;
    }
  }
}

void add_hit_rate(const ProgramSnapshot& p, std::vector<Warning>& out) {
  if (!p.low_since || p.jit.regions.empty()) return;
  const JitRegionView& worst = *std::max_element(p.jit.regions.begin(), p.jit.regions.end(), [](const auto& a, const auto& b) { return a.runs - a.native < b.runs - b.native; });
  const double rate = static_cast<double>(p.jit.window_native) / static_cast<double>(std::max<int64_t>(1, p.jit.window_runs));
  std::string text = fmt::format("hit rate {:.2f} over the latest {} runs; {} ran interpreted most often", rate, p.jit.window_runs, worst.name);
  if (!worst.open.empty()) text += fmt::format("; open symbols: {}", fmt::join(worst.open, ", "));
  for (const std::string& b : worst.broken) text += "; propagation is broken at " + b;
  std::string mend = p.jit.slow_path.empty() ? "its code isn't ready yet: warm_up() waits for it" : fallback_mend(p.jit.slow_path.back().reason);
  const std::string buckets = bucket_advice(worst);
  mend += buckets.empty() ? "; buckets wouldn't help" : "; " + buckets;
  out.push_back({*p.low_since, "hit_rate", "warning", p.name, worst.name, worst.place, std::move(text), std::move(mend)});
}

}  // namespace

std::vector<Warning> warnings_of(const Snapshot& s) {
  std::vector<Warning> out;
  for (const EngineSnapshot& e : s.engines) {
    add_notes("", e.notes, out);
    if (e.growing_since) {
      const size_t colon = e.memory_hint.rfind(": ");
      out.push_back({*e.growing_since, "memory", "warning", "", "", "", e.memory_hint.substr(0, colon), e.memory_hint.substr(colon + 2)});
    }
  }
  for (const ProgramSnapshot& p : s.programs) {
    add_fallbacks(s, p, out);
    add_notes(p.name, p.notes, out);
    add_hit_rate(p, out);
  }
  std::stable_sort(out.begin(), out.end(), [](const Warning& a, const Warning& b) { return a.time > b.time; });
  return out;
}

}  // namespace msvm::observe
