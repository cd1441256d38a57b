// A snapshot as Prometheus text, version 0.0.4. Private to the room.
#pragma once
#include <string>

#include "observe/snapshot/process.h"
#include "observe/snapshot/snapshot.h"

namespace msvm::observe {

struct MetricInfo {
  const char *name, *type, *labels, *help;
};
enum class Metric : uint8_t {
#define MSVM_METRIC(id, name, type, labels, help) k##id,
#include "observe/snapshot/metrics.def"
#undef MSVM_METRIC
};
inline constexpr MetricInfo kMetrics[] = {
#define MSVM_METRIC(id, name, type, labels, help) {name, type, labels, help},
#include "observe/snapshot/metrics.def"
#undef MSVM_METRIC
};
constexpr size_t kNumMetrics = sizeof(kMetrics) / sizeof(kMetrics[0]);
/// Upper ends of the buckets of run times, in seconds, ascending; +Inf follows.
inline constexpr double kRunBuckets[] = {1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1, 2, 5, 10};

std::string prometheus_text(const Snapshot& s, const ProcessFacts& process);
/// docs/metrics.md, as the table has it.
std::string metric_docs();

}  // namespace msvm::observe
