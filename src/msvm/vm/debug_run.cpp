#include "msvm/vm/debug_run.h"

#include <algorithm>
#include <utility>

namespace msvm::vm {

DebugRun::DebugRun(RunContext& context, Frame& frame, DebugHook& hook) : impl_(context, frame), view_(impl_) {
  if (const Code* next = context.suspended.next) {
    // What PHIs have got may still have to be checked: their step has begun.
    const auto [first, phis] = phis_of(impl_.frame.function->block_of(next->instr));
    if (phis_ = next->instr < first + phis; phis_) {
      begin_ = first;
      end_ = first + phis;
    }
    impl_.instruction = phis_ ? first : next->instr;
    impl_.track.join(phis_ ? end_ : next->instr);
  }
  watch_ = hook.begin(view_);
}

/// The first instruction of a block, and how many PHIs it begins with.
std::pair<int32_t, int32_t> DebugRun::phis_of(BlockId block) const {
  const Function& f = *impl_.frame.function;
  const auto& instrs = f.source->blocks[static_cast<size_t>(block)].instrs;
  const auto end = std::find_if(instrs.begin(), instrs.end(), [](const Instr& i) { return !instr_info(i.op).has(kPhi); });
  return {f.facts->block_start[static_cast<size_t>(block)], static_cast<int32_t>(end - instrs.begin())};
}

Status DebugRun::finish() {
  if (!impl_.failed.ok()) return std::exchange(impl_.failed, Status());
  if (begin_ < 0) return {};
  const int32_t done = begin_;
  if (!phis_) impl_.track.ran(done);
  phis_ = false;
  begin_ = end_ = -1;
  return watch_->after(done);
}

Status DebugRun::begin(int32_t from, int32_t to) {
  MSVM_RETURN_IF_ERROR(finish());
  begin_ = from;
  end_ = to;
  impl_.instruction = from;
  return watch_->before(from);
}

Status DebugRun::leave(const Edge& edge) {
  if (edge.block < 0) return {};  // a stub that prepares another edge: still the same instruction
  from_ = impl_.frame.function->block_of(begin_);
  MSVM_RETURN_IF_ERROR(finish());
  const auto [first, phis] = phis_of(edge.block);
  if (phis == 0) return {};
  phis_ = true;
  begin_ = first;
  end_ = first + phis;
  impl_.instruction = first;
  return watch_->before(first);
}

Status DebugRun::after_region(int32_t region, const RegionEntry* entry, const RegionPlan* plan) {
  if (entry) {
    impl_.track.ran_native(impl_.frame.function->regions[static_cast<size_t>(region)], *plan, impl_.frame.regions[static_cast<size_t>(region)]);
    begin_ = end_ = -1;
  }
  Status s = watch_->after_region(region, entry);
  impl_.entry = nullptr;
  return s;
}

void DebugRun::region_failed(int32_t region, const RegionPlan& plan, size_t steps, int32_t instr) {
  impl_.track.ran_native(impl_.frame.function->regions[static_cast<size_t>(region)], plan, impl_.frame.regions[static_cast<size_t>(region)], std::span(plan.steps).first(steps), instr);
  begin_ = end_ = -1;
}

void DebugRun::failing(int32_t instr, const Status& s) {
  if (instr >= 0) impl_.instruction = instr;
  watch_->failing(impl_.instruction, s);
  impl_.entry = nullptr;
}

}  // namespace msvm::vm
