// Two traces side by side: what became slower, what faster.
#pragma once
#include <string>
#include <vector>

#include "observe/trace/trace_log.h"

namespace msvm::observe {

/// One instruction (or the runs of a function: instruction -1) in both. Programs and functions are matched by name, instructions by number.
struct Comparison {
  std::string program, function, op, place;
  int32_t instruction = -1;
  struct Side {
    int64_t count = 0;
    double median_us = 0, total_ms = 0;
    std::string name;  // the kernel or entry that most of them had
    int tier = 0;      // likewise
  } before, after;
  /// Medians: above 1 where it became slower; 0 where one side has none.
  double ratio() const { return before.median_us > 0 && after.count > 0 ? after.median_us / before.median_us : 0; }
};

/// Those first whose time per run changed most: runs, then instructions.
std::vector<Comparison> compare(const TraceLog& before, const TraceLog& after);
std::string to_text(const std::vector<Comparison>& rows, size_t most);
std::string to_json(const std::vector<Comparison>& rows);

}  // namespace msvm::observe
