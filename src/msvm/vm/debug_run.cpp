#include "msvm/vm/debug_run.h"

#include <algorithm>
#include <utility>

namespace msvm::vm {

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
  const Function& f = *impl_.frame.function;
  const auto& starts = f.facts->block_start;
  from_ = static_cast<BlockId>(std::upper_bound(starts.begin(), starts.end(), begin_) - starts.begin()) - 1;
  MSVM_RETURN_IF_ERROR(finish());
  int32_t phis = 0;
  for (const Instr& i : f.source->blocks[static_cast<size_t>(edge.block)].instrs) {
    if (!instr_info(i.op).has(kPhi)) break;
    ++phis;
  }
  if (phis == 0) return {};
  const int32_t first = starts[static_cast<size_t>(edge.block)];
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
