// Where a monitor takes what it shows from. Engines and programs are registered here weakly: nothing lives longer for being watched.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "msvm/base/status.h"
#include "msvm/engine/engine.h"

namespace msvm::observe {

/// What a monitor serves. Thread-safe; each call makes its answer anew, from engine snapshots. No call stops a run.
/// The JSON of each is described in docs/state.md.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::string state() = 0;    // GET /api/v1/state, also each server-sent event
  virtual std::string history() = 0;  // GET /api/v1/history
  /// The last object of history's points, for the events of each second; empty: there is none.
  virtual std::string newest_point() = 0;
  virtual std::string metrics() = 0;  // GET /metrics: Prometheus text 0.0.4
  virtual Result<std::string> disassembly(uint64_t program, int32_t function, int32_t region, std::string_view entry) = 0;
  virtual Result<std::string> bytecode(uint64_t program) = 0;
  /// clear_cache {"program": 1}; trace {"on": true}; load_capability_patch {the patch}; alerts [what state() says under "alerts"].
  /// A body that isn't understood changes nothing.
  virtual Status act(std::string_view action, std::string_view json_body) = 0;
  /// A monitor calls these when it begins and when it ends: history is sampled, once a second, while there is one.
  virtual void monitor_began() {}
  virtual void monitor_ended() {}
};

/// Of this process: all engines and programs that were registered and live.
Source& process_source();

/// Registration, by whoever makes engines and loads programs. Cheap; from any thread. A program's engine is registered with it.
void watch(const std::shared_ptr<Engine>& engine);
void watch(const std::shared_ptr<Executable>& program, std::string name);

/// How the process' trace is turned on and off, and whether it is on; set once by whoever wires it, before monitors begin.
struct TraceControl {
  std::function<Status(bool on)> set;
  std::function<bool()> on;
};
void set_trace_control(TraceControl control);

}  // namespace msvm::observe
