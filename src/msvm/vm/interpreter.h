// Running one function. Private to the room.
#pragma once
#include <atomic>
#include <chrono>

#include "msvm/vm/decode.h"
#include "msvm/vm/frame.h"
#include "msvm/vm/regions.h"
#include "msvm/vm/tracer.h"

namespace msvm::vm {

class DebugRun;

struct RunContext {
  const Program::Impl& program;
  const Module& module;
  Dispatcher& dispatcher;
  Allocator& allocator;
  const Limits& limits;
  Counters& counters;
  int64_t& live_bytes;             // of the session
  const std::atomic<bool>& cancelled;
  std::span<const Value> inputs;
  const RegionTable* regions = nullptr;   // of the function; null: none
  RegionHazard* hazard = nullptr;
  RegionObserver* observer = nullptr;
  int32_t function = 0;
  RunControl* control = nullptr;          // of this run; null: only the session stops it
  Tracer* tracer = nullptr;               // null: nobody reads the event stream
  const msvm::Program* owner = nullptr;   // of `program`
  DebugRun* debug = nullptr;              // null: no debugger watches
  bool profiling = false;                 // beside that

  bool stopped() const { return cancelled.load(std::memory_order_relaxed) || (control && control->should_stop()); }
};

/// Runs from the first instruction, in the loop that does what is asked for and no more. On success `results` holds the outputs; on failure the Status has the place. Either way no
/// slot owns anything afterwards, and no device works for this run any more.
Status interpret(RunContext& context, Frame& frame, std::vector<Value>& results, bool profile);
/// The one of them that tells RunContext::debug.
Status interpret_watched(RunContext& context, Frame& frame, std::vector<Value>& results);

/// What a dry run of a region found; see RegionPlan.
struct RegionRecord {
  RegionPlan& plan;
  std::vector<Slot>&scalars, &tensors;    // that were set
  int64_t executed = 0;                   // instructions of the blocks entered
};
/// From a kRegion to its kRegionEnd, but for calls, copies and frees, which are noted: what they need is in place. All destinations get
/// memory of their own. `instr`: where it failed.
Status dry_run(RunContext& context, Frame& frame, const Code* region, RegionRecord& record, int32_t& instr);

/// Gives a symbol its value from a size (a*s + b = size), within its declared range and divisor.
Status bind_symbol(const Module& module, const MatchStep& step, int64_t size, int64_t* scalars);

/// One scalar instruction (Op up to kMove).
Status run_scalar(const Code& c, int64_t* v);

/// "Error at instruction 42 (OP_CALL Resize), offset 0x2a, model.py:31: ..." with the operands' metadata.
Status with_place(const Status& s, const Function& f, const Frame& frame, int32_t instr);

}  // namespace msvm::vm
