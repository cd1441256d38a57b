#include "observe/trace/summary.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "observe/trace/mode.h"

namespace msvm::observe {
namespace {

void add(WorkSum& sum, const TraceLog& log, const Event& e) {
  ++sum.count;
  sum.ns += log.nanoseconds(e);
  sum.work += e.work;
  sum.bytes += static_cast<double>(e.bytes);
}

/// The value below which a share `p` of them lies; sorts.
double percentile(std::vector<double>& values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(p * static_cast<double>(values.size())))];
}

struct Collected {
  ProgramSummary out;
  std::vector<double> run_ms;
  double ns = 0;
  std::map<std::tuple<int32_t, int32_t, int>, std::pair<WorkSum, std::map<TextId, double>>> rows;  // (function, instruction, tier)
};

void finish(Collected& c, const TraceLog& log, const Event& any) {
  ProgramSummary& p = c.out;
  p.p50_ms = percentile(c.run_ms, 0.5);
  p.p90_ms = percentile(c.run_ms, 0.9);
  p.p99_ms = percentile(c.run_ms, 0.99);
  p.max_ms = c.run_ms.empty() ? 0 : c.run_ms.back();
  for (const auto& [key, row] : c.rows) {
    const auto& [function, instruction, tier] = key;
    const auto name = std::max_element(row.second.begin(), row.second.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    Event e = any;
    e.function = static_cast<uint16_t>(function);
    e.instruction = instruction;
    const auto* i = log.instruction(e);
    p.rows.push_back({function, instruction, i ? (i->op.empty() ? i->mnemonic : i->op) : "", i ? i->place : "", std::string(log.text(name->first)), tier, row.first});
  }
  std::sort(p.rows.begin(), p.rows.end(), [](const auto& a, const auto& b) { return a.sum.ns > b.sum.ns; });
}

}  // namespace

TraceSummary summarize(const TraceLog& log, size_t most_outliers) {
  TraceSummary s;
  s.events = static_cast<int64_t>(log.events().size());
  s.dropped = log.dropped();
  s.core_gflops = log.header().core_gflops;
  std::map<std::string, std::pair<Collected, Event>> programs;  // by name: a table is written again in each generation
  // A log has millions of events but few texts: those are looked up once.
  std::unordered_map<TextId, std::pair<Collected, Event>*> by_id;
  std::unordered_map<TextId, WorkSum*> kernels;
  auto collected = [&](const Event& e) {
    auto [it, fresh] = by_id.try_emplace(e.program, nullptr);
    if (fresh) it->second = &programs.try_emplace(log.program(e).name, Collected(), e).first->second;
    return &it->second->first;
  };
  auto kernel = [&](const Event& e) -> WorkSum& {
    const TextId id = e.kind == EventKind::kNative ? UINT32_MAX : e.name;
    auto [it, fresh] = kernels.try_emplace(id, nullptr);
    if (fresh) {
      const std::string name(e.kind == EventKind::kNative ? "native code" : log.text(e.name));
      it->second = &s.kernels[name.empty() ? "copy" : name];
    }
    return *it->second;
  };
  std::set<uint32_t> threads;
  double end = 0;
  for (const Event& e : log.events()) {
    threads.insert(e.thread);
    end = std::max(end, log.seconds(e.end));
    auto* c = e.program ? collected(e) : nullptr;
    switch (e.kind) {
      case EventKind::kRun:
        if (!c) break;
        ++c->out.runs;
        ++c->out.by_tier[e.tier];
        c->out.failed += e.name != 0;
        c->run_ms.push_back(log.nanoseconds(e) * 1e-6);
        c->ns += log.nanoseconds(e);
        break;
      case EventKind::kRegion:
        if (!c) break;
        ++c->out.region_runs;
        c->out.native_regions += e.tier >= 1;
        c->out.specialised_regions += e.tier == 2;
        break;
      case EventKind::kCall:
      case EventKind::kNative:
      case EventKind::kCopy:
      case EventKind::kBetween: {
        if (!c) break;
        auto& [sum, names] = c->rows[{e.function, e.instruction, e.tier}];
        if (e.kind == EventKind::kBetween) break;
        add(sum, log, e);
        names[e.name] += log.nanoseconds(e);
        add(kernel(e), log, e);
        break;
      }
      case EventKind::kCompile:
        ++s.compilations;
        s.compile_ms += log.nanoseconds(e) * 1e-6;
        s.longest_compile_ms = std::max(s.longest_compile_ms, log.nanoseconds(e) * 1e-6);
        break;
      case EventKind::kJit: ++s.jit[std::string(log.text(e.name))]; break;
      case EventKind::kSlowPath: ++s.slow_paths[std::string(log.text(e.name))]; break;
      case EventKind::kNote: break;
    }
  }
  s.threads = threads.size();
  s.seconds = log.events().empty() ? 0 : end - log.seconds(log.events().front().begin);
  std::vector<std::pair<double, ProgramSummary>> sorted;
  for (auto& [name, c] : programs) {
    std::erase_if(c.first.rows, [](const auto& r) { return r.second.first.count == 0; });
    finish(c.first, log, c.second);
    c.first.out.name = name;
    sorted.emplace_back(c.first.ns, std::move(c.first.out));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& p : sorted) s.programs.push_back(std::move(p.second));
  s.outliers = find_outliers(log, most_outliers);
  return s;
}

}  // namespace msvm::observe
