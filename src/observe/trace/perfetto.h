// A trace for ui.perfetto.dev and other viewers of the Chrome trace format.
#pragma once
#include <cstdio>

#include "observe/trace/trace_log.h"

namespace msvm::observe {

/// JSON with a slice for each event that lasts, on its thread; what happened at one moment is an instant; compilations have a track of
/// their own. Times in microseconds since the log began.
Status write_perfetto(const TraceLog& log, std::FILE* out);

}  // namespace msvm::observe
