// What took much longer than it usually does, and what is known about why.
#pragma once
#include <string>
#include <vector>

#include "observe/trace/trace_log.h"

namespace msvm::observe {

struct Outlier {
  size_t event = 0;        // in TraceLog::events()
  double usual_ns = 0;     // median of its like: same instruction, same shapes; of runs: same sizes
  std::string cause;       // "first run at these shapes: …"; "unknown: …" where nothing in the trace explains it
};

/// Runs, calls and native steps that took more than three times the median of their like (eight at least) and 50 us more than it; those
/// that lost the most time first, `most` of them. A run that holds an outlier of its calls has that one as its cause.
std::vector<Outlier> find_outliers(const TraceLog& log, size_t most = 20);

}  // namespace msvm::observe
