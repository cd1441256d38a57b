#include "observe/snapshot/prometheus.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <map>

#include "msvm/base/utf8.h"
#include "observe/snapshot/warnings.h"

namespace msvm::observe {
namespace {

// What isn't UTF-8 becomes U+FFFD: one such name would have the whole text refused.
void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const size_t n = utf8_length(text);
    const char c = text[0];
    if (n == 0) out += "\xEF\xBF\xBD";
    else if (c == '\n') out += "\\n";
    else if (c == '\\' || c == '"') (out += '\\') += c;
    else out += text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
}

/// Samples are added in any order of programs; the text has each metric's together, as the format demands.
class Text {
 public:
  /// Values of the metric's labels, in their order; `more` stands behind them, ready.
  void add(Metric m, std::initializer_list<std::string_view> values, double value, const char* suffix = "", const std::string& more = {}) {
    std::string& out = samples_[static_cast<size_t>(m)];
    out += kMetrics[static_cast<size_t>(m)].name;
    out += suffix;
    std::string_view names = kMetrics[static_cast<size_t>(m)].labels;
    std::string labels;
    for (std::string_view v : values) {
      const size_t end = std::min(names.find(' '), names.size());
      labels += fmt::format("{}{}=\"", labels.empty() ? "" : ",", names.substr(0, end));
      append_escaped(labels, v);
      labels += '"';
      names.remove_prefix(std::min(end + 1, names.size()));
    }
    if (!more.empty()) labels += (labels.empty() ? "" : ",") + more;
    if (!labels.empty()) out += "{" + labels + "}";
    fmt::format_to(std::back_inserter(out), " {}\n", value);
  }

  void add_histogram(Metric m, std::initializer_list<std::string_view> values, const Latencies& l) {
    for (double end : kRunBuckets) add(m, values, static_cast<double>(l.at_most(end)), "_bucket", fmt::format("le=\"{}\"", end));
    add(m, values, static_cast<double>(l.count()), "_bucket", "le=\"+Inf\"");
    add(m, values, l.sum(), "_sum");
    add(m, values, static_cast<double>(l.count()), "_count");
  }

  void add_summary(Metric m, std::initializer_list<std::string_view> values, const jit::TimeTotal& t) {
    add(m, values, t.sum, "_sum");
    add(m, values, static_cast<double>(t.count), "_count");
  }

  std::string text() const {
    std::string out;
    for (size_t m = 0; m < kNumMetrics; ++m) {
      if (samples_[m].empty()) continue;
      out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", kMetrics[m].name, kMetrics[m].help, kMetrics[m].name, kMetrics[m].type);
      out += samples_[m];
    }
    return out;
  }

 private:
  std::array<std::string, kNumMetrics> samples_;
};

void add_engine(Text& t, const EngineSnapshot& e) {
  const std::string id = std::to_string(e.id);
  t.add(Metric::kThreads, {id}, e.threads);
  t.add(Metric::kPeakFlops, {id}, e.peak_gflops * 1e9);
  const MemoryStats& m = e.memory;
  for (int k = 0; k < kNumMemoryOwners; ++k) t.add(Metric::kMemoryInUse, {id, e.device, kMemoryOwnerNames[k]}, static_cast<double>(m.by_owner[k]));
  t.add(Metric::kMemoryReserved, {id, e.device}, static_cast<double>(m.reserved));
  t.add(Metric::kMemoryPeak, {id, e.device}, static_cast<double>(m.peak));
  t.add(Metric::kMemoryFragmentation, {id, e.device}, m.fragmentation());
  t.add(Metric::kAllocations, {id, e.device}, static_cast<double>(m.allocations));
  t.add(Metric::kSystemAllocations, {id, e.device}, static_cast<double>(m.system_allocations));
  const jit::QueueView& q = e.queue;
  t.add(Metric::kQueued, {id}, static_cast<double>(q.queued));
  t.add(Metric::kCompiling, {id}, q.running ? 1 : 0);
  for (size_t k = 0; k < jit::kOutcomes.size(); ++k) t.add(Metric::kOutcomes, {id, jit::kOutcomes[k].text}, static_cast<double>(q.outcomes[k]));
  t.add_summary(Metric::kCompileSeconds, {id}, q.compiled);
  for (size_t k = 0; k < jit::kPhases; ++k) t.add_summary(Metric::kPhaseSeconds, {id, jit::kPhaseNames[k]}, q.phases[k]);
  t.add(Metric::kCompilerCpu, {id}, q.cpu_seconds);
  t.add(Metric::kCompilerBudget, {id}, q.budget);
  t.add(Metric::kCompilerStarts, {id}, q.compiler_starts);
}

void add_region(Text& t, const std::string& program, const JitRegionView& r) {
  const int64_t by_tier[] = {r.runs - r.native, r.native - r.specialised, r.specialised};
  for (size_t tier = 0; tier < std::size(by_tier); ++tier) t.add(Metric::kRegionRuns, {program, r.name, kTierNames[tier]}, static_cast<double>(std::max<int64_t>(0, by_tier[tier])));
  t.add(Metric::kRegionSeconds, {program, r.name, kTierNames[0]}, r.interpreted_ms * 1e-3);
  t.add(Metric::kRegionSeconds, {program, r.name, kTierNames[1]}, r.native_ms * 1e-3);
  if (r.verdict.empty()) return;
  t.add(Metric::kRegionScd, {program, r.name}, r.scd);
  t.add(Metric::kRegionVerdict, {program, r.name, r.verdict}, 1);
}

void add_program(Text& t, const ProgramSnapshot& p) {
  const JitView& v = p.jit;
  t.add(Metric::kRuns, {p.name}, static_cast<double>(p.counters.runs));
  t.add(Metric::kFailedRuns, {p.name}, static_cast<double>(p.counters.failed_runs));
  for (size_t tier = 0; tier < p.latency.size(); ++tier)
    if (p.latency[tier].count()) t.add_histogram(Metric::kRunSeconds, {p.name, kTierNames[tier]}, p.latency[tier]);
  int64_t entries[3] = {};
  for (const JitRegionView& r : v.regions) {
    add_region(t, p.name, r);
    for (const JitEntryView& e : r.entries) ++entries[e.tier];
  }
  if (v.window_runs) {
    t.add(Metric::kHitRatio, {p.name}, static_cast<double>(v.window_native) / static_cast<double>(v.window_runs));
    t.add(Metric::kSpecialisedHitRatio, {p.name}, static_cast<double>(v.window_specialised) / static_cast<double>(v.window_runs));
  }
  t.add(Metric::kInstructions, {p.name}, static_cast<double>(p.counters.instructions));
  t.add(Metric::kCalls, {p.name}, static_cast<double>(p.counters.calls));
  t.add(Metric::kOperations, {p.name}, p.work.operations);
  t.add(Metric::kMovedBytes, {p.name}, p.work.bytes);
  t.add(Metric::kLayoutBytes, {p.name}, static_cast<double>(p.work.layout_bytes));
  t.add(Metric::kProgramAllocations, {p.name}, static_cast<double>(p.counters.allocations));
  t.add(Metric::kPlannedAllocations, {p.name}, static_cast<double>(p.counters.planned_allocations));
  for (size_t tier = 1; tier < 3; ++tier) t.add(Metric::kEntries, {p.name, kTierNames[tier]}, static_cast<double>(entries[tier]));
  t.add(Metric::kCodeBytes, {p.name}, static_cast<double>(v.code_bytes));
  t.add(Metric::kCodeLimit, {p.name}, static_cast<double>(v.cache_bytes));
  t.add(Metric::kCodeCompiled, {p.name}, static_cast<double>(v.compiled));
  t.add(Metric::kCodeFromDisk, {p.name}, static_cast<double>(v.from_disk));
  t.add(Metric::kCodeEvicted, {p.name}, static_cast<double>(v.evicted));
  t.add(Metric::kCodeSeconds, {p.name}, v.compile_ms * 1e-3);
  for (const auto& [reason, n] : v.failed_by_reason) t.add(Metric::kFallbacks, {p.name, reason}, static_cast<double>(n));
}

}  // namespace

std::string prometheus_text(const Snapshot& s, const ProcessFacts& process) {
  Text t;
  t.add(Metric::kBuildInfo, {MSVM_VERSION, s.engines.empty() ? std::string(isa_name(cpu_features().isa)) : s.engines.front().isa}, 1);
  t.add(Metric::kStartTime, {}, process.uptime);
  for (const EngineSnapshot& e : s.engines) add_engine(t, e);
  for (const ProgramSnapshot& p : s.programs) add_program(t, p);
  std::map<std::pair<std::string, std::string>, int> warnings;
  for (const Warning& w : warnings_of(s)) ++warnings[{w.kind, w.severity}];
  for (const auto& [key, n] : warnings) t.add(Metric::kWarnings, {key.first, key.second}, n);
  return t.text();
}

std::string metric_docs() {
  std::string out = R"(# Metrics

Made from `src/observe/snapshot/metrics.def`; a test holds this page against it.

A program that a monitor runs in serves these at `/metrics` in Prometheus' text format, version 0.0.4; `ms.vm.metrics()` gives the same text. They are always counted: in the thread
that runs, without a lock or a system call, and are added up when somebody reads. [monitor.md](monitor.md) says how to serve them, [grafana/msvm.json](grafana/msvm.json) is a dashboard,
[alerts/prometheus_rules.yml](alerts/prometheus_rules.yml) are alert rules.

```yaml
scrape_configs:
  - job_name: msvm
    static_configs:
      - targets: ["127.0.0.1:9464"]
```

Times are in seconds, memory in bytes, ratios from 0 to 1. Counters begin at 0 with each engine or program; series of what is unloaded end. `program` is the program's name, with `#2` and so
on behind it where several have it. `tier` is `interpreted`, `native` (code for all sizes) or `specialised` (code for sizes that have settled). Percentiles come from buckets that are at most 6 %
wide in the JSON (`/api/v1/state`), and as wide as `le` says here.

| metric | type | labels | what it says |
| --- | --- | --- | --- |
)";
  for (const MetricInfo& m : kMetrics) {
    std::string labels;
    for (std::string_view rest = m.labels; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      labels += fmt::format("{}`{}`", labels.empty() ? "" : ", ", rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    out += fmt::format("| `{}` | {} | {} | {} |\n", m.name, m.type, labels.empty() ? "–" : labels, m.help);
  }
  out += R"(
## Questions and their answers
| question | query |
| --- | --- |
| hit rate of the last five minutes | `sum by (program) (rate(msvm_region_runs_total{tier!="interpreted"}[5m])) / sum by (program) (rate(msvm_region_runs_total[5m]))` |
| 99th percentile of runs | `histogram_quantile(0.99, sum by (program, le) (rate(msvm_run_duration_seconds_bucket[5m])))` |
| runs a second | `sum by (program) (rate(msvm_run_duration_seconds_count[1m]))` |
| arithmetic a second, while it runs | `sum by (program) (rate(msvm_operations_total[1m])) / sum by (program) (rate(msvm_run_duration_seconds_sum[1m]))` |
| why code isn't made | `sum by (program, reason) (increase(msvm_fallbacks_total[1h]))` |

`msvm_operations_total` compares with a peak; it isn't an exact count: a multiply-add is two, any other operator one for each element, however much work an element is. Work that simulated devices do isn't in it.
)";
  return out;
}

}  // namespace msvm::observe
