#include "observe/snapshot/history.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "msvm/base/ticks.h"
#include "observe/snapshot/rates.h"
#include "observe/snapshot/sampler.h"

namespace msvm::observe {
namespace {

Snapshot at(int seconds) {
  Snapshot s;
  s.time = Time(std::chrono::seconds(1'000'000'000 + seconds));
  return s;
}

ProgramSnapshot program(uint64_t id, int64_t runs, int64_t native, int64_t specialised, const LatencyHistogram* times = nullptr) {
  ProgramSnapshot p;
  p.id = id;
  p.jit.runs = runs;
  p.jit.native = native;
  p.jit.specialised = specialised;
  if (times) p.latency[2].add(*times);
  return p;
}

TEST(History, PointsAreOfTheirSecond) {
  History h;
  LatencyHistogram times;
  const auto millisecond = static_cast<int64_t>(1e6 / nanoseconds_per_tick());
  for (int k = 0; k < 100; ++k) times.record(1000 * millisecond);
  Snapshot s = at(0);
  s.programs.push_back(program(1, 1000, 0, 0, &times));
  h.add(s);
  EXPECT_TRUE(h.points().empty());

  for (int k = 0; k < 30; ++k) times.record(2 * millisecond);
  s = at(1);
  s.programs.push_back(program(1, 1100, 90, 50, &times));
  s.programs.push_back(program(2, 100, 90, 0));  // new: it began at 0
  s.engines.resize(2);
  s.engines[0].memory.in_use = 5;
  s.engines[1].memory.in_use = 7;
  s.engines[1].queue.queued = 3;
  h.add(s);
  ASSERT_EQ(h.points().size(), 1u);
  const HistoryPoint& p = h.points()[0];
  EXPECT_EQ(p.hit_rate, 0.9);
  EXPECT_EQ(p.specialised_hit_rate, 0.25);
  EXPECT_EQ(p.runs_per_s, 30);
  EXPECT_NEAR(*p.p50, 2e-3, 2e-3 / 16);
  EXPECT_NEAR(*p.p99, 2e-3, 2e-3 / 16);
  EXPECT_EQ(p.in_use, 12);
  EXPECT_EQ(p.queued, 3u);

  // Program 1 is unloaded, nothing runs: what isn't there is null.
  s = at(2);
  s.programs.push_back(program(2, 100, 90, 0));
  h.add(s);
  const auto json = nlohmann::json::parse(history_json(h.points()));
  EXPECT_EQ(json["step_s"], 1);
  ASSERT_EQ(json["points"].size(), 2u);
  EXPECT_EQ(json["points"][0]["time"], "2001-09-09T01:46:41.000Z");
  EXPECT_EQ(json["points"][0]["hit_rate"], 0.9);
  EXPECT_NEAR(json["points"][0]["p50_ms"].get<double>(), 2, 0.125);
  for (const char* key : {"hit_rate", "specialised_hit_rate", "p50_ms", "p99_ms"}) EXPECT_TRUE(json["points"][1][key].is_null()) << key;
  EXPECT_EQ(json["points"][1]["runs_per_s"], 0);
}

TEST(History, KeepsAQuarterOfAnHour) {
  History h;
  for (int k = 0; k < 1000; ++k) h.add(at(k));
  ASSERT_EQ(h.points().size(), History::kPoints);
  EXPECT_EQ(h.points().back().time, at(999).time);
  EXPECT_EQ(h.points().front().time, at(100).time);
}

TEST(Rates, AreOfTheLatestTenSeconds) {
  const Rates::Clock::time_point start{std::chrono::hours(1)};
  auto second = [&](int s) { return start + std::chrono::seconds(s); };
  Rates r(start);
  LatencyHistogram times;
  const auto millisecond = static_cast<int64_t>(1e6 / nanoseconds_per_tick());
  auto look = [&](int s, double operations) {
    LatencyByTier l;
    l[1].add(times);
    return r.look(second(s), l, {operations, operations / 2, 0});
  };
  for (int k = 0; k < 100; ++k) times.record(10 * millisecond);  // 1 s of work
  RateView v = look(4, 5e9);
  EXPECT_EQ(v.seconds, 4);
  EXPECT_EQ(v.runs_per_s, 25);
  EXPECT_NEAR(v.gflops, 5, 0.01);
  EXPECT_NEAR(v.gbytes_per_s, 2.5, 0.01);
  // Nothing more runs: the rate falls, and is 0 when the work lies more than ten seconds back.
  EXPECT_EQ(look(8, 5e9).runs_per_s, 12.5);
  v = look(20, 5e9);
  EXPECT_EQ(v.runs_per_s, 0);
  EXPECT_EQ(v.gflops, 0);
  EXPECT_EQ(v.seconds, 12);
}

TEST(Sampler, RunsWhileSomebodyWatches) {
  std::atomic<int> samples{0};
  Sampler s([&] { ++samples; });
  s.end();  // nobody watches: nothing happens
  s.begin();
  s.begin();
  while (samples == 0) std::this_thread::yield();
  s.end();
  s.end();
  const int then = samples;
  s.begin();  // and anew
  while (samples == then) std::this_thread::yield();
  s.end();
}

}  // namespace
}  // namespace msvm::observe
