// One run of a region in native code. Private to the room.
#pragma once
#include "msvm/vm/machine.h"

namespace msvm::vm {

/// The first that serves these sizes, as the snapshot has it; null: none.
const std::shared_ptr<const RegionEntry>* find_entry(const RegionSnapshot& snapshot, std::span<const int64_t> values);

class RegionRun : Machine {
 public:
  RegionRun(RunContext& context, Frame& frame, int32_t region)
      : Machine(context, frame), region_(region), info_(f_.regions[static_cast<size_t>(region)]), state_(frame.regions[static_cast<size_t>(region)]) {}
  ~RegionRun() {
    if (x_.hazard) x_.hazard->snapshot.store(nullptr, std::memory_order_release);
  }
  RegionRun(const RegionRun&) = delete;
  RegionRun& operator=(const RegionRun&) = delete;

  enum class Outcome : uint8_t { kServed, kInterpret, kFailed };
  /// Calls `before_step` with each step, which stays where it is until the next run. kInterpret: nothing serves these sizes, or what would can't have its
  /// memory; nothing has been done that the interpreter doesn't do again. kFailed: `status` and `instr` say what and where.
  Outcome run(FunctionRef<void(const RegionPlan::Step&)> before_step, Status& status, int32_t& instr);
  const RegionEntry* entry() const { return plan_->entry; }
  const RegionPlan* plan() const { return plan_; }
  bool has_code() const { return has_code_; }     // for some sizes
  int64_t executed() const { return executed_; }  // instructions, as limits count them
  size_t steps_done() const { return steps_done_; }  // of the plan; those of a dry run that failed: none

 private:
  RegionPlan* known_plan(const RegionSnapshot& snapshot);
  RegionPlan& fresh_plan();
  Status make_plan(const RegionSnapshot& snapshot, int32_t& instr);
  void add_group_sizes(RegionPlan& plan, RegionPlan::Step& step);
  int64_t value_of(const RegionSize& size) const;
  std::pair<int64_t, int64_t> rows_and_columns(const RegionGroup& group) const;
  Status put_in_place();
  void run_group(const RegionPlan::Step& step);

  const int32_t region_;
  const RegionInfo& info_;
  RegionState& state_;
  RegionPlan* plan_ = nullptr;
  int64_t executed_ = 0;
  size_t steps_done_ = 0;
  bool has_code_ = false;
};

}  // namespace msvm::vm
