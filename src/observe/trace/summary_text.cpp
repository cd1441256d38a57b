// The summary for people, and for programs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "msvm/base/utc_text.h"
#include "observe/trace/mode.h"
#include "observe/trace/summary.h"

namespace msvm::observe {
namespace {

using Json = nlohmann::ordered_json;

std::string ms(double v) { return v < 0.1 ? fmt::format("{:.1f} us", v * 1e3) : fmt::format("{:.2f} ms", v); }
double percent(double part, double all) { return all > 0 ? 100 * part / all : 0; }

std::string speed(const WorkSum& sum, double peak) {
  std::string out = fmt::format("{:8.1f} {:8.1f}", sum.gflops(), sum.gbytes_per_s());
  return out + (peak > 0 && sum.gflops() > 0.05 * peak ? fmt::format(" {:5.0f} %", percent(sum.gflops(), peak)) : "      -");
}

std::string where(const TraceLog& log, const Event& e) {
  const auto* i = log.instruction(e);
  std::string out = e.kind == EventKind::kRun ? fmt::format("run of {}", log.program(e).name) : fmt::format("instruction {} {}", e.instruction, i ? i->op : "");
  if (i && !i->place.empty()) out += fmt::format(" ({})", i->place);
  return out;
}

Json sum_json(const WorkSum& sum) {
  return {{"count", sum.count}, {"ms", sum.ns * 1e-6}, {"bytes", sum.bytes}, {"gflops", sum.gflops()}, {"gbytes_per_s", sum.gbytes_per_s()}};
}

}  // namespace

std::string to_text(const TraceSummary& s, const TraceLog& log, size_t rows) {
  std::string out = fmt::format("{:.3f} s, {} events of {} threads", s.seconds, s.events, s.threads);
  if (s.dropped) out += fmt::format("; {} more were dropped because the reader couldn't keep up", s.dropped);
  out += "\n";
  for (const std::string& d : log.damage()) out += fmt::format("damage {}\n", d);
  for (const ProgramSummary& p : s.programs) {
    out += fmt::format("\nprogram {}: {} runs, {} failed; p50 {}, p90 {}, p99 {}, max {}\n", p.name.empty() ? "without a name" : p.name, p.runs, p.failed, ms(p.p50_ms), ms(p.p90_ms), ms(p.p99_ms), ms(p.max_ms));
    out += fmt::format("  runs interpreted {}, native {}, specialised {}; region runs {}, hit rate {:.1f} %, specialised {:.1f} %\n", p.by_tier[0], p.by_tier[1], p.by_tier[2], p.region_runs,
                       percent(static_cast<double>(p.native_regions), static_cast<double>(p.region_runs)), percent(static_cast<double>(p.specialised_regions), static_cast<double>(p.region_runs)));
    double all = 0;
    for (const auto& r : p.rows) all += r.sum.ns;
    if (p.rows.empty()) continue;
    out += fmt::format("  {:>6} {:>10} {:>8} {:>6}  {:<12} {:<20} {:>8} {:>8} {:>7}  {:<28} {}\n", "share", "time", "runs", "instr", "mode", "operator", "GFLOP/s", "GB/s", "of peak", "kernel or entry", "place");
    for (size_t k = 0; k < std::min(rows, p.rows.size()); ++k) {
      const auto& r = p.rows[k];
      out += fmt::format("  {:5.1f}% {:>10} {:>8} {:>6}  {:<12} {:<20} {}  {:<28} {}\n", percent(r.sum.ns, all), ms(r.sum.ns * 1e-6), r.sum.count, r.instruction, mode_name(r.tier), r.op, speed(r.sum, s.core_gflops), r.name, r.place);
    }
    if (p.rows.size() > rows) out += fmt::format("  … and {} more\n", p.rows.size() - rows);
  }
  std::vector<std::pair<std::string, WorkSum>> kernels(s.kernels.begin(), s.kernels.end());
  std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  if (!kernels.empty()) out += fmt::format("\n{:>10} {:>8}  {:>8} {:>8} {:>7}  kernel{}\n", "time", "calls", "GFLOP/s", "GB/s", "of peak", s.core_gflops > 0 ? fmt::format("   (a core reaches {:.0f} GFLOP/s)", s.core_gflops) : "");
  for (size_t k = 0; k < std::min(rows, kernels.size()); ++k)
    out += fmt::format("{:>10} {:>8}  {}  {}\n", ms(kernels[k].second.ns * 1e-6), kernels[k].second.count, speed(kernels[k].second, s.core_gflops), kernels[k].first);
  if (s.compilations) out += fmt::format("\n{} compilations in {:.1f} ms, the longest {:.1f} ms\n", s.compilations, s.compile_ms, s.longest_compile_ms);
  for (const auto& [name, count] : s.jit) out += fmt::format("{:>6} x {}\n", count, name);
  for (const auto& [reason, count] : s.slow_paths) out += fmt::format("{:>6} x slow path: {}\n", count, reason);
  if (!s.outliers.empty()) out += "\nwhat took much longer than usual:\n";
  for (const Outlier& o : s.outliers) {
    const Event& e = log.events()[o.event];
    out += fmt::format("  at {:.3f} s, {}: {} instead of {}; {}\n", log.seconds(e.begin), where(log, e), ms(log.nanoseconds(e) * 1e-6), ms(o.usual_ns * 1e-6), o.cause);
  }
  return out;
}

std::string to_json(const TraceSummary& s, const TraceLog& log) {
  Json j = {{"seconds", s.seconds}, {"events", s.events}, {"dropped", s.dropped}, {"threads", s.threads}, {"core_gflops", s.core_gflops}, {"damage", log.damage()}};
  j["programs"] = Json::array();
  for (const ProgramSummary& p : s.programs) {
    Json rows = Json::array();
    for (const auto& r : p.rows) {
      Json row = {{"function", r.function}, {"instruction", r.instruction}, {"operator", r.op}, {"place", r.place}, {"mode", mode_name(r.tier)}, {"name", r.name}};
      row.update(sum_json(r.sum));
      rows.push_back(std::move(row));
    }
    j["programs"].push_back({{"name", p.name}, {"runs", p.runs}, {"failed", p.failed}, {"interpreted", p.by_tier[0]}, {"native", p.by_tier[1]}, {"specialised", p.by_tier[2]},
                             {"p50_ms", p.p50_ms}, {"p90_ms", p.p90_ms}, {"p99_ms", p.p99_ms}, {"max_ms", p.max_ms},
                             {"region_runs", p.region_runs}, {"native_region_runs", p.native_regions}, {"specialised_region_runs", p.specialised_regions}, {"instructions", std::move(rows)}});
  }
  j["kernels"] = Json::object();
  for (const auto& [name, sum] : s.kernels) j["kernels"][name] = sum_json(sum);
  j["compilations"] = {{"count", s.compilations}, {"ms", s.compile_ms}, {"longest_ms", s.longest_compile_ms}};
  j["jit"] = s.jit;
  j["slow_paths"] = s.slow_paths;
  j["outliers"] = Json::array();
  for (const Outlier& o : s.outliers) {
    const Event& e = log.events()[o.event];
    j["outliers"].push_back({{"time", utc_text(log.wall_ns(e.begin), 6)}, {"where", where(log, e)}, {"ms", log.nanoseconds(e) * 1e-6}, {"usual_ms", o.usual_ns * 1e-6}, {"cause", o.cause}});
  }
  return j.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace msvm::observe
