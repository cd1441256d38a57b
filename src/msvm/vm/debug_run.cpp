#include "msvm/vm/debug_run.h"

#include <algorithm>
#include <utility>

#include "msvm/vm/region_run.h"

namespace msvm::vm {

DebugRun::DebugRun(RunContext& context, Frame& frame, DebugHook& hook) : impl_(context, frame), view_(impl_) {
  const Function& f = *frame.function;
  for (const Block& b : f.source->blocks) {
    const auto end = std::find_if(b.instrs.begin(), b.instrs.end(), [](const Instr& i) { return !instr_info(i.op).has(kPhi); });
    phis_of_.push_back(static_cast<int32_t>(end - b.instrs.begin()));
  }
  if (const Code* next = context.suspended.next) {
    // What PHIs have got may still have to be checked: their step has begun.
    const auto block = static_cast<size_t>(f.block_of(next->instr));
    const int32_t first = f.facts->block_start[block];
    if (phis_ = next->instr < first + phis_of_[block]; phis_) {
      begin_ = first;
      end_ = first + phis_of_[block];
    }
    impl_.instruction = phis_ ? first : next->instr;
    impl_.track.join(phis_ ? end_ : next->instr);
  }
  watch_ = hook.begin(view_);
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
  left_by_ = begin_;
  const auto block = static_cast<size_t>(edge.block);
  const int32_t phis = phis_of_[block];
  if (phis == 0) return finish();
  const int32_t first = impl_.frame.function->facts->block_start[block];
  MSVM_RETURN_IF_ERROR(begin(first, first + phis));
  phis_ = true;
  return {};
}

/// The native code for its sizes.
std::shared_ptr<const RegionEntry> DebugRun::serving(int32_t region) const {
  const RunContext& x = impl_.context;
  const RegionInfo& info = impl_.frame.function->regions[static_cast<size_t>(region)];
  if (!info.usable || !x.regions || !x.hazard) return nullptr;
  std::vector<int64_t> values;
  for (Slot s : info.symbols) values.push_back(impl_.frame.scalars[static_cast<size_t>(s)]);
  const auto* entry = find_entry(*x.regions->enter(static_cast<size_t>(region), *x.hazard), values);
  std::shared_ptr<const RegionEntry> found = entry ? *entry : nullptr;
  x.hazard->snapshot.store(nullptr, std::memory_order_release);
  return found;
}

Status DebugRun::begin_region(int32_t region, int32_t instr) {
  MSVM_RETURN_IF_ERROR(finish());
  serving_ = serving(region);
  impl_.entry = serving_.get();
  return begin(instr);
}

Result<bool> DebugRun::interprets(int32_t region) {
  auto r = watch_->interprets(region);
  if (!r.ok() || *r) impl_.entry = nullptr;
  return r;
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
  impl_.entry = serving_.get();  // the one that ran goes when nobody runs it any more
}

void DebugRun::failing(int32_t instr, const Status& s) {
  if (instr >= 0) impl_.instruction = instr;
  watch_->failing(impl_.instruction, s);
  impl_.entry = nullptr;
}

}  // namespace msvm::vm
