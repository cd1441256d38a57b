#include "observe/snapshot/snapshot.h"

#include "msvm/base/utc_text.h"

namespace msvm::observe {

Time time_of(const Snapshot& s, const JitView& view, double seconds) {
  return s.time - std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(std::max(0.0, view.seconds - seconds)));
}

std::string iso_time(Time t) {
  return utc_text(std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count(), 3);
}

}  // namespace msvm::observe
