#include "observe/trace/outliers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "observe/trace/mode.h"

namespace msvm::observe {
namespace {

constexpr size_t kEnough = 8;
constexpr double kTimes = 3, kAtLeastNs = 50'000;

using RunId = std::tuple<TextId, uint32_t, uint32_t>;               // program, thread, run
struct RunHash {
  size_t operator()(const RunId& id) const {
    const auto [program, thread, run] = id;
    return ((static_cast<uint64_t>(program) << 32 | run) ^ static_cast<uint64_t>(thread) << 20) * 0x9E3779B97F4A7C15u >> 7;
  }
};
using Like = std::tuple<int, TextId, int, int, uint64_t>;           // kind, program, function, instruction, sizes

bool timed(EventKind k) { return k == EventKind::kRun || k == EventKind::kCall || k == EventKind::kNative; }

struct Group {
  std::vector<size_t> events;  // by their begin
  double median_ns = 0;
  std::map<TextId, size_t> names;
  TextId usual_name() const {
    return std::max_element(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
  }
};

class Search {
 public:
  explicit Search(const TraceLog& log) : log_(log), events_(log.events()) {
    // The sizes of a run are those of everything in it.
    for (const Event& e : events_)
      if (e.kind != EventKind::kRun && e.run) {
        uint64_t& h = sizes_[run_of(e)];
        h = (h ^ e.detail) * 0x9E3779B97F4A7C15u;
      }
    for (const Event& e : events_)
      if (e.kind == EventKind::kCompile) compilations_.push_back(&e);
    for (size_t k = 0; k < events_.size(); ++k)
      if (timed(events_[k].kind)) {
        Group& g = groups_[like(events_[k])];
        g.events.push_back(k);
        ++g.names[events_[k].name];
      }
    for (auto& [key, g] : groups_) {
      std::vector<double> ns;
      for (size_t k : g.events) ns.push_back(log.nanoseconds(events_[k]));
      std::nth_element(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2), ns.end());
      g.median_ns = ns[ns.size() / 2];
    }
  }

  std::vector<Outlier> find(size_t most) {
    std::vector<Outlier> found;
    for (const auto& [key, g] : groups_)
      for (size_t k : g.events)
        if (slow(k, g)) found.push_back({k, g.median_ns, {}});
    auto lost = [&](const Outlier& o) { return log_.nanoseconds(events_[o.event]) - o.usual_ns; };
    std::sort(found.begin(), found.end(), [&](const Outlier& a, const Outlier& b) { return lost(a) > lost(b); });
    if (found.size() > most) found.resize(most);
    for (Outlier& o : found) o.cause = cause(o);
    return found;
  }

 private:
  static RunId run_of(const Event& e) { return {e.program, e.thread, e.run}; }
  Like like(const Event& e) const {
    const auto sizes = sizes_.find(run_of(e));
    const uint64_t of_run = sizes == sizes_.end() ? 0 : sizes->second;
    return {static_cast<int>(e.kind), e.program, e.function, e.instruction, e.kind == EventKind::kRun ? of_run : e.detail};
  }
  bool slow(size_t k, const Group& g) const {
    const double ns = log_.nanoseconds(events_[k]);
    return g.events.size() >= kEnough && ns > kTimes * g.median_ns && ns > g.median_ns + kAtLeastNs;
  }

  std::string cause(const Outlier& o) const {
    const Event& e = events_[o.event];
    const Group& g = groups_.at(like(e));
    if (e.kind == EventKind::kRun)
      if (std::string inside = of_run(e); !inside.empty()) return inside;
    if (g.events.front() == o.event) return "the first at these shapes: kernels are chosen, weights packed, memory planned";
    if (const TextId usual = g.usual_name(); e.name != usual && e.kind != EventKind::kRun)
      return fmt::format("{} instead of {}", e.name ? log_.text(e.name) : "no kernel", log_.text(usual));
    for (const Event* c : compilations_)
      if (c->begin < e.end && c->end > e.begin) return fmt::format("while {} was compiled, which took a core", log_.text(c->name));
    return "unknown: nothing in the trace explains it; the thread may have waited for a core";
  }

  /// The call that lost most, a wait between calls, or a slower tier than usual.
  std::string of_run(const Event& run) const {
    double worst = kAtLeastNs;
    std::string why;
    auto first = std::lower_bound(events_.begin(), events_.end(), run.begin, [](const Event& e, int64_t t) { return e.begin < t; });
    for (; first != events_.end() && first->begin < run.end; ++first) {
      if (run_of(*first) != run_of(run) || &*first == &run) continue;
      const double ns = log_.nanoseconds(*first);
      const auto index = static_cast<size_t>(first - events_.begin());
      if (first->kind == EventKind::kBetween && ns > worst) {
        worst = ns;
        why = fmt::format("{:.3g} ms before instruction {}: waited for memory, or planned it", ns * 1e-6, first->instruction);
      } else if (timed(first->kind)) {
        const Group& g = groups_.at(like(*first));
        if (!slow(index, g) || ns - g.median_ns <= worst) continue;
        worst = ns - g.median_ns;
        const auto* i = log_.instruction(*first);
        why = fmt::format("instruction {}{}{}: {}", first->instruction, i && !i->op.empty() ? " " + i->op : "", i && !i->place.empty() ? " (" + i->place + ")" : "", cause({index, g.median_ns, {}}));
      }
    }
    if (!why.empty()) return why;
    const Group& g = groups_.at(like(run));
    size_t higher = 0;
    for (size_t k : g.events) higher += events_[k].tier > run.tier;
    if (higher <= g.events.size() / 2) return "";
    for (auto e = first; e != events_.begin();) {
      --e;
      if (e->kind == EventKind::kSlowPath && e->begin < run.end) return fmt::format("{}, not native: {}", mode_name(run.tier), log_.text(e->name));
    }
    return fmt::format("{}: native code for these sizes wasn't there yet", mode_name(run.tier));
  }

  const TraceLog& log_;
  const std::vector<Event>& events_;
  std::vector<const Event*> compilations_;
  std::unordered_map<RunId, uint64_t, RunHash> sizes_;
  std::map<Like, Group> groups_;
};

}  // namespace

std::vector<Outlier> find_outliers(const TraceLog& log, size_t most) { return Search(log).find(most); }

}  // namespace msvm::observe
