// A trace in numbers: where the time went.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "observe/trace/outliers.h"

namespace msvm::observe {

/// Sums over events of one kind of work.
struct WorkSum {
  int64_t count = 0;
  double ns = 0, work = 0, bytes = 0;
  double gflops() const { return ns > 0 ? work / ns : 0; }        // operations a nanosecond
  double gbytes_per_s() const { return ns > 0 ? bytes / ns : 0; }
};

struct ProgramSummary {
  std::string name;
  int64_t runs = 0, failed = 0;
  int64_t by_tier[3] = {};                  // runs
  double p50_ms = 0, p90_ms = 0, p99_ms = 0, max_ms = 0;
  int64_t region_runs = 0, native_regions = 0, specialised_regions = 0;
  struct Row {
    int32_t function = 0, instruction = 0;
    std::string op, place, name;            // name: the kernel or entry that took most of it
    int tier = 0;
    WorkSum sum;
  };
  std::vector<Row> rows;                    // calls and native steps, the most time first
};

struct TraceSummary {
  double seconds = 0;                       // from the first event to the end of the last
  int64_t events = 0;
  uint64_t dropped = 0;
  size_t threads = 0;
  double core_gflops = 0;
  std::vector<ProgramSummary> programs;     // the most time first
  std::map<std::string, WorkSum> kernels;
  int64_t compilations = 0;
  double compile_ms = 0, longest_compile_ms = 0;
  std::map<std::string, int64_t> jit;       // events of the JIT by name
  std::map<std::string, int64_t> slow_paths;  // by reason
  std::vector<Outlier> outliers;
};

TraceSummary summarize(const TraceLog& log, size_t most_outliers = 10);
/// For people; `rows` of each table at most.
std::string to_text(const TraceSummary& s, const TraceLog& log, size_t rows = 15);
std::string to_json(const TraceSummary& s, const TraceLog& log);

}  // namespace msvm::observe
