// A picture of the process at one moment, as numbers and text: what JSON, Prometheus text, history and warnings are made from.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "msvm/engine/engine.h"
#include "observe/snapshot/rates.h"

namespace msvm::observe {

using Time = std::chrono::system_clock::time_point;

struct EngineSnapshot {
  int id = 0;
  std::string device;          // "CPU(0)"
  std::string isa;
  int threads = 0;
  double peak_gflops = 0;      // f32, of the capability database, else measured on one core, times threads
  jit::QueueView queue;
  MemoryStats memory;
  std::string memory_hint;     // empty: it doesn't grow
  std::optional<Time> growing_since;
  std::vector<Note> notes;
};

struct ProgramSnapshot {
  uint64_t id = 0;
  int engine = 0;
  std::string name;
  JitView jit;
  Counters counters;
  LatencyByTier latency;
  WorkDone work;
  RateView rates;
  std::vector<Note> notes;
  std::optional<Time> low_since;  // the hit rate of the latest runs is low
};

struct Snapshot {
  Time time;
  std::vector<EngineSnapshot> engines;
  std::vector<ProgramSnapshot> programs;
};

inline constexpr const char* kTierNames[] = {"interpreted", "native", "specialised"};

/// When something happened that a view tells in seconds since its program was loaded.
Time time_of(const Snapshot& s, const JitView& view, double seconds);
/// "2026-11-30T12:34:56.789Z"
std::string iso_time(Time t);

}  // namespace msvm::observe
