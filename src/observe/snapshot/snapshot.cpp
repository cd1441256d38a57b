#include "observe/snapshot/snapshot.h"

#include <fmt/chrono.h>

namespace msvm::observe {

Time time_of(const Snapshot& s, const JitView& view, double seconds) {
  return s.time - std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(std::max(0.0, view.seconds - seconds)));
}

std::string iso_time(Time t) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(ms / 1000)), ms % 1000);
}

}  // namespace msvm::observe
