// For this room's tests: a snapshot with something of everything.
#pragma once
#include "msvm/base/ticks.h"
#include "observe/snapshot/snapshot.h"

namespace msvm::observe::testing {

inline Snapshot full_snapshot() {
  Snapshot s;
  s.time = Time(std::chrono::milliseconds(1'000'000'000'123));
  EngineSnapshot& e = s.engines.emplace_back();
  e.device = "CPU(0)";
  e.isa = "avx512";
  e.threads = 2;
  e.peak_gflops = 100;
  e.memory.by_owner[static_cast<int>(MemoryOwner::kWeights)] = 300;
  e.memory.by_owner[static_cast<int>(MemoryOwner::kArena)] = 200;
  e.memory.in_use = 500;
  e.memory.reserved = 1000;
  e.memory.peak = 800;
  e.queue.running = jit::QueueView::Running{"jit_cache_1_N1", 42, jit::Phase::kOptimize, 0.003, 0.012};
  e.queue.next.push_back({"jit_cache_2_N2", jit::Urgency::kWaited, 1.5, 0.02});
  e.queue.queued = 3;
  e.queue.outcomes[static_cast<size_t>(jit::Outcome::kCompiled)] = 10;
  e.queue.outcomes[static_cast<size_t>(jit::Outcome::kTimedOut)] = 2;
  e.queue.phases[static_cast<size_t>(jit::Phase::kCodeGen)].add(0.25);
  e.queue.compiled.add(0.5);

  ProgramSnapshot& p = s.programs.emplace_back();
  p.id = 1;
  p.name = "de\"t\\ect\n";
  p.jit.program = "detect";
  p.jit.owner = 42;
  p.jit.seconds = 100;
  p.jit.runs = 100;
  p.jit.native = 90;
  p.jit.specialised = 30;
  p.jit.window_runs = 10;
  p.jit.window_native = 9;
  p.jit.window_specialised = 5;
  p.jit.failed = 2;
  p.jit.failed_by_reason["timed out"] = 2;
  p.jit.cache_mode = CacheMode::kBucket;
  p.jit.boundaries["S"] = {32, 64};
  p.jit.slow_path.push_back({40, "@main instructions 3 to 9", "timed out", "model.py:47", 0.5, "Optimize", 2001, 2000, "interpreter"});
  p.jit.events.push_back({50, JitEventKind::kPatched, "jit_cache_1_N1 (tier 2)"});
  JitRegionView& r = p.jit.regions.emplace_back();
  r.name = "@main instructions 3 to 9";
  r.place = "model.py:47";
  r.symbols = {"N", "H"};
  r.open = {"N"};
  r.runs = 100;
  r.native = 90;
  r.specialised = 30;
  r.interpreted_ms = 250;
  r.native_ms = 500;
  r.scd = 0.5;
  r.verdict = "low SCD";
  r.shapes.push_back({{1, 480}, 80, 2, "jit_cache_1_N1"});
  r.shapes.push_back({{2, 480}, 20, 0, ""});
  JitEntryView entry{"jit_cache_1_N1", "jit_640x480", "N1_H480", 2, 30, 4096, false, "compiled", 12.5};
  entry.age_seconds = 50;
  entry.last_hit_seconds = 0.25;
  r.entries.push_back(entry);
  JitEntryView idle{"jit_cache_1", "", "", 1, 0, 2048, true, "", 0};
  r.entries.push_back(idle);
  p.counters.runs = 15;
  p.work = {1e9, 2e9, 11};
  LatencyHistogram times;
  const double tick = nanoseconds_per_tick() * 1e-9;
  for (int k = 0; k < 10; ++k) times.record(static_cast<int64_t>(0.003 / tick));
  for (int k = 0; k < 5; ++k) times.record(static_cast<int64_t>(0.05 / tick));
  p.latency[1].add(times);
  p.rates = {10, 30, 50, 1.25};
  return s;
}

}  // namespace msvm::observe::testing
