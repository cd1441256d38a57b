// Running one function. Private to the room.
#pragma once
#include <atomic>
#include <chrono>

#include "msvm/vm/asked.h"
#include "msvm/vm/decode.h"
#include "msvm/vm/frame.h"
#include "msvm/vm/regions.h"
#include "msvm/vm/tracer.h"

namespace msvm::vm {

class DebugRun;

/// Where a run left its loop to go on in another one, because a debugger came or went: between two instructions.
struct Suspended {
  const Code* next = nullptr;  // null: it didn't
  int64_t executed = 0;
  std::chrono::steady_clock::time_point start, profiled_at;
  int32_t profiled = -1, profiled_calls = 0;
};

struct RunContext {
  const Program::Impl& program;
  const Module& module;
  Dispatcher& dispatcher;
  Allocator& allocator;
  const Limits& limits;
  Counters& counters;
  int64_t& live_bytes;             // of the session
  Asked& asked;
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
  Suspended suspended;

  bool stopped() const { return asked.cancelled() || (control && control->should_stop()); }
  /// Whether the run must look what is asked of it.
  bool called() const { return asked.anything() || (control && control->should_stop()); }
};

/// Runs from the first instruction, or goes on from RunContext::suspended, in the loop that does what is asked for and no more. On success `results` holds the outputs; on failure the
/// Status has the place. Either way no slot owns anything afterwards, and no device works for this run any more. Not so where `suspended` says that the run isn't over.
Status interpret(RunContext& context, Frame& frame, std::vector<Value>& results, bool profile);
/// The one of them that tells RunContext::debug.
Status interpret_watched(RunContext& context, Frame& frame, std::vector<Value>& results);

/// What a dry run of a region found; see RegionPlan.
struct RegionRecord {
  RegionPlan& plan;
  std::vector<Slot>&scalars, &tensors;    // that were set
  std::vector<std::pair<int32_t, BlockId>>& edges;  // that were taken: by what, to where
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
Status with_place(const Status& s, const RunContext& context, const Frame& frame, int32_t instr);

}  // namespace msvm::vm
