#include "observe/snapshot/history.h"

#include <nlohmann/json.hpp>

#include "observe/snapshot/state_json.h"

namespace msvm::observe {

// The first sample of a process only says where counting begins. A program that is new since the last one began at 0.
void History::add(const Snapshot& s) {
  std::map<uint64_t, Totals> now;
  for (const ProgramSnapshot& p : s.programs) {
    Totals& t = now[p.id];
    t = {p.jit.runs, p.jit.native, p.jit.specialised, p.jit.compiled + p.jit.from_disk, p.jit.failed, {}};
    for (const Latencies& l : p.latency) t.times.add(l);
  }
  if (last_ && s.time > *last_) {
    Totals d;
    for (const auto& [id, t] : now) {
      const Totals& b = before_[id];
      d.region_runs += t.region_runs - b.region_runs;
      d.native += t.native - b.native;
      d.specialised += t.specialised - b.specialised;
      d.compiled += t.compiled - b.compiled;
      d.failed += t.failed - b.failed;
      d.times.add(t.times.since(b.times));
    }
    HistoryPoint& p = points_.emplace_back();
    p.time = s.time;
    if (d.region_runs > 0) {
      p.hit_rate = static_cast<double>(d.native) / static_cast<double>(d.region_runs);
      p.specialised_hit_rate = static_cast<double>(d.specialised) / static_cast<double>(d.region_runs);
    }
    p.runs_per_s = static_cast<double>(d.times.count()) / std::chrono::duration<double>(s.time - *last_).count();
    if (d.times.count() > 0) {
      p.p50 = d.times.percentile(0.5);
      p.p99 = d.times.percentile(0.99);
    }
    for (const EngineSnapshot& e : s.engines) {
      p.in_use += e.memory.in_use;
      p.reserved += e.memory.reserved;
      p.queued += e.queue.queued;
    }
    p.compiled = d.compiled;
    p.fallbacks = d.failed;
    if (points_.size() > kPoints) points_.pop_front();
  }
  before_ = std::move(now);
  last_ = s.time;
}

namespace {

nlohmann::json to_json(const HistoryPoint& p) {
  using Json = nlohmann::json;
  auto maybe = [](const std::optional<double>& v, double unit) { return v ? Json(*v * unit) : Json(); };
  return {{"time", iso_time(p.time)},
          {"hit_rate", maybe(p.hit_rate, 1)},
          {"specialised_hit_rate", maybe(p.specialised_hit_rate, 1)},
          {"runs_per_s", p.runs_per_s},
          {"p50_ms", maybe(p.p50, 1e3)},
          {"p99_ms", maybe(p.p99, 1e3)},
          {"in_use", p.in_use},
          {"reserved", p.reserved},
          {"queued", p.queued},
          {"compiled", p.compiled},
          {"fallbacks", p.fallbacks}};
}

}  // namespace

std::string point_json(const HistoryPoint& point) { return dump(to_json(point)); }

std::string history_json(const std::deque<HistoryPoint>& points) {
  nlohmann::json list = nlohmann::json::array();
  for (const HistoryPoint& p : points) list.push_back(to_json(p));
  return dump({{"step_s", History::kStep}, {"points", list}});
}

}  // namespace msvm::observe
