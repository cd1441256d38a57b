// The last quarter of an hour, second by second. Private to the room.
#pragma once
#include <deque>
#include <map>
#include <optional>

#include "observe/snapshot/snapshot.h"

namespace msvm::observe {

/// What happened between two samples, over all programs; none: nothing ran.
struct HistoryPoint {
  Time time;
  std::optional<double> hit_rate, specialised_hit_rate;
  double runs_per_s = 0;
  std::optional<double> p50, p99;  // s
  int64_t in_use = 0, reserved = 0;  // at its end
  size_t queued = 0;
  int64_t compiled = 0, fallbacks = 0;
};

/// Of one thread.
class History {
 public:
  static constexpr double kStep = 1;  // s
  static constexpr size_t kPoints = 900;

  void add(const Snapshot& s);
  const std::deque<HistoryPoint>& points() const { return points_; }

 private:
  struct Totals {
    int64_t region_runs = 0, native = 0, specialised = 0, compiled = 0, failed = 0;
    Latencies times;
  };
  std::map<uint64_t, Totals> before_;  // by program
  std::optional<Time> last_;
  std::deque<HistoryPoint> points_;
};

std::string point_json(const HistoryPoint& point);
std::string history_json(const std::deque<HistoryPoint>& points);

}  // namespace msvm::observe
