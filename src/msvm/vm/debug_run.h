// One run that a debugger watches: what the loop tells it, and what the view shows of it. Private to the room.
#pragma once
#include <memory>
#include <vector>

#include "msvm/vm/debug_hook.h"
#include "msvm/vm/debug_track.h"
#include "msvm/vm/interpreter.h"

namespace msvm {

struct RunView::Impl {
  Impl(vm::RunContext& x, vm::Frame& f) : context(x), frame(f), track(x.module, f) {}
  vm::RunContext& context;
  vm::Frame& frame;
  vm::RegisterTrack track;
  int32_t instruction = 0;
  const RegionEntry* entry = nullptr;
  Status failed;  // work of a device, seen while somebody looked at its results: the run's failure, not the onlooker's
};

namespace vm {

class DebugRun {
 public:
  /// Of a run that begins, or is suspended.
  DebugRun(RunContext& context, Frame& frame, DebugHook& hook);
  bool watched() const { return watch_ != nullptr; }
  void ended(const Status& s) { watch_->ended(s); }

  // --- for the loop
  bool goes_on(int32_t instr) const { return begin_ <= instr && instr < end_; }  // the step that has begun
  /// Before an instruction's first code. What ran before is told first.
  Status begin(int32_t instr) { return begin(instr, instr + 1); }
  /// Before an edge is taken: its block's PHIs are a step if there are any.
  Status leave(const Edge& edge);
  void moved(const Edge& edge) {
    if (phis_) impl_.track.moved(edge.block, left_by_);
  }
  /// The same before a region's first instruction.
  Status begin_region(int32_t region, int32_t instr);
  Result<bool> interprets(int32_t region);
  void enter(const RegionEntry* entry) { impl_.entry = entry; }
  Status after_region(int32_t region, const RegionEntry* entry, const RegionPlan* plan);
  /// A region in native code failed at an instruction, behind so many of its steps.
  void region_failed(int32_t region, const RegionPlan& plan, size_t steps, int32_t instr);
  void failing(int32_t instr, const Status& s);

 private:
  Status begin(int32_t from, int32_t to);
  Status finish();
  std::shared_ptr<const RegionEntry> serving(int32_t region) const;

  RunView::Impl impl_;
  RunView view_;
  std::unique_ptr<RunWatch> watch_;
  int32_t begin_ = -1, end_ = -1;
  bool phis_ = false;
  int32_t left_by_ = -1;                         // the jump whose edge is taken
  std::vector<int32_t> phis_of_;                 // by block: how many it begins with
  std::shared_ptr<const RegionEntry> serving_;   // the region entered last
};

}  // namespace vm
}  // namespace msvm
