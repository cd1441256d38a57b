// A region in native code: find the entry, have a plan for the sizes, run its steps.
#include "msvm/vm/region_run.h"

#include <algorithm>
#include <tuple>

#include "msvm/base/chaos.h"

namespace msvm::vm {
namespace {

constexpr size_t kPlans = kChaos ? 1 : 16;  // size vectors of a region that a session remembers
constexpr int64_t kFewRows = 16;            // below, rows are split, too
constexpr int64_t kColumns = 4096;          // into pieces of so many
constexpr int64_t kNarrow = 16;             // rows shorter than a vector cost more than the calls' own kernels,
constexpr int64_t kFewElements = 256;       // unless there are few of them

}  // namespace

const std::shared_ptr<const RegionEntry>* find_entry(const RegionSnapshot& snapshot, std::span<const int64_t> values) {
  for (const auto& e : snapshot.entries)
    if (holds(e->box, values)) return &e;
  return nullptr;
}

RegionPlan* RegionRun::known_plan(const RegionSnapshot& snapshot) {
  const uint64_t plan = frame_.plan ? frame_.plan->id : 0;
  const std::byte* arena = frame_.arena ? frame_.arena->data : nullptr;
  auto fits = [&](const RegionPlan& p) { return p.version == snapshot.version && p.plan == plan && p.arena == arena && p.values == state_.values; };
  if (state_.in_place && fits(*state_.in_place)) return state_.in_place;
  for (const auto& p : state_.plans)
    if (p && fits(*p)) return p.get();
  return nullptr;
}

RegionPlan& RegionRun::fresh_plan() {
  std::unique_ptr<RegionPlan>* place = nullptr;
  for (auto& p : state_.plans)
    if (!p || p->version == 0) place = &p;
  if (!place && state_.plans.size() < kPlans) place = &state_.plans.emplace_back();
  if (!place) place = &*std::min_element(state_.plans.begin(), state_.plans.end(), [](const auto& a, const auto& b) { return (a ? a->last_used : 0) < (b ? b->last_used : 0); });
  if (*place == nullptr) *place = std::make_unique<RegionPlan>();
  RegionPlan& p = **place;
  if (state_.in_place == &p) state_.in_place = nullptr;
  p.steps.clear();
  p.sizes.clear();
  p.pool.clear();
  p.views.clear();
  p.frees.clear();
  p.tensors.clear();
  p.scalars.clear();
  p.takes_away = false;
  p.operations = p.bytes = 0;
  return p;
}

int64_t RegionRun::value_of(const RegionSize& size) const {
  auto meta = [&](Reg r) -> const TensorMeta& { return frame_.tensors[static_cast<size_t>(f_.tensor_slot[static_cast<size_t>(r)])].meta; };
  if (size.stride.tensor != kNoReg) {
    const TensorMeta& m = meta(size.stride.tensor);
    const auto a = static_cast<size_t>(size.stride.axis);
    return m.shape[a] == 1 ? 0 : m.strides[a];
  }
  int64_t product = 1;
  for (const RegionSize::Axis& e : size.extents) product *= meta(e.tensor).shape[static_cast<size_t>(e.axis)];
  return product;
}

std::pair<int64_t, int64_t> RegionRun::rows_and_columns(const RegionGroup& group) const {
  int64_t rows = 1;
  for (const RegionSize& s : group.outer) rows *= value_of(s);
  return {rows, value_of(group.inner)};
}

void RegionRun::add_group_sizes(RegionPlan& plan, RegionPlan::Step& step) {
  const RegionGroup& g = info_.spec->groups[static_cast<size_t>(step.group)];
  step.sizes = static_cast<int32_t>(plan.sizes.size());
  for (const RegionSize& s : g.sizes) plan.sizes.push_back(value_of(s));
  std::tie(step.rows, step.columns) = rows_and_columns(g);
  plan.operations += operations_of(g, step);
  for (auto p = g.pointers.begin(); p != g.pointers.end(); ++p) {
    if (std::find(g.pointers.begin(), p, *p) != p) continue;
    const TensorMeta& m = slot(f_.tensor_slot[static_cast<size_t>(*p)]).meta;
    plan.bytes += static_cast<double>(m.elements()) * static_cast<double>(dtype_bytes(m.dtype));
  }
}

// Everything but calls, copies and frees happens now; what it leaves in the slots is kept for the runs that repeat these sizes.
Status RegionRun::make_plan(const RegionSnapshot& snapshot, int32_t& instr) {
  RegionPlan& p = fresh_plan();
  p.values = state_.values;
  p.version = 0;  // until it is whole
  p.plan = frame_.plan ? frame_.plan->id : 0;
  p.arena = frame_.arena ? frame_.arena->data : nullptr;
  const auto* entry = find_entry(snapshot, state_.values);
  p.entry = entry ? entry->get() : nullptr;
  p.repeatable = !info_.strided;
  plan_ = &p;
  if (!p.entry) {
    p.version = snapshot.version;
    return {};
  }
  state_.scalars.clear();
  state_.tensors.clear();
  state_.edges.clear();
  RegionRecord record{p, state_.scalars, state_.tensors, state_.edges};
  Status s = dry_run(x_, frame_, f_.code.data() + info_.begin, record, instr);
  executed_ = record.executed;
  MSVM_RETURN_IF_ERROR(std::move(s));
  // What rows of the group are is known only now: narrow ones stay calls.
  std::vector<uint8_t> declined(info_.spec->groups.size());
  for (size_t g = 0; g < declined.size(); ++g) {
    const auto [rows, columns] = rows_and_columns(info_.spec->groups[g]);
    declined[g] = columns < kNarrow && rows * columns > kFewElements;
  }
  // Of a group only the last call is a step.
  std::erase_if(p.steps, [&](RegionPlan::Step& step) {
    if (step.code->op != Op::kCall) return false;
    step.group = f_.group_of_call[static_cast<size_t>(step.code->a)];
    if (step.group >= 0 && declined[static_cast<size_t>(step.group)]) step.group = -1;
    return step.group >= 0 && f_.calls[static_cast<size_t>(step.code->a)].index != info_.spec->groups[static_cast<size_t>(step.group)].members.back();
  });
  for (RegionPlan::Step& step : p.steps)
    if (step.group >= 0) add_group_sizes(p, step);
  if (p.repeatable) {
    for (Slot t : record.tensors) p.tensors.emplace_back(t, slot(t).meta);
    for (Slot v : record.scalars) p.scalars.emplace_back(v, v_[v]);
    p.version = snapshot.version;
    state_.in_place = &p;
  } else {
    state_.in_place = nullptr;
    for (auto& place : state_.plans)
      if (place.get() == &p) std::swap(place, state_.once);
  }
  return {};
}

// Memory and pointers of a run that repeats a plan.
Status RegionRun::put_in_place() {
  if (state_.in_place != plan_) {
    for (const auto& [t, meta] : plan_->tensors) slot(t).meta = meta;
    for (const auto& [v, value] : plan_->scalars) v_[v] = value;
    state_.in_place = plan_;
  }
  for (const RegionPlan::Pooled& p : plan_->pool)
    if (p.over == kNoSlot || !take_buffer(slot(p.slot), slot(p.over))) MSVM_RETURN_IF_ERROR(allocate(slot(p.slot), MemoryUse::kTensor));
  for (const RegionPlan::View& v : plan_->views) {
    TensorSlot &to = slot(v.to), &from = slot(v.from);
    drop(to);
    to.meta.data = from.meta.data ? from.meta.data + v.offset : nullptr;
    share(to, from);
  }
  return {};
}

void RegionRun::run_group(const RegionPlan::Step& step) {
  const RegionGroup& g = info_.spec->groups[static_cast<size_t>(step.group)];
  const RegionKernelFn kernel = plan_->entry->kernels[static_cast<size_t>(step.group)];
  if (step.rows <= 0 || (step.columns <= 0 && g.splits_columns)) return;  // a reduction of nothing has a value
  void** pointers = frame_.pointers.data();
  for (size_t k = 0; k < g.pointers.size(); ++k) pointers[k] = slot(f_.tensor_slot[static_cast<size_t>(g.pointers[k])]).meta.data;
  const int64_t* sizes = plan_->sizes.data() + step.sizes;
  if (step.rows >= kFewRows || !g.splits_columns) {
    auto rows = [&](int64_t begin, int64_t end) { kernel(pointers, sizes, begin, end, 0, step.columns); };
    x_.dispatcher.split(step.rows, g.ns_per_element * static_cast<double>(std::max<int64_t>(1, step.columns)), rows);
    return;
  }
  const int64_t pieces = (step.columns - 1) / kColumns + 1;
  auto blocks = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      const int64_t row = i / pieces, first = i % pieces, last = std::min(pieces, first + end - i);
      kernel(pointers, sizes, row, row + 1, first * kColumns, std::min(last * kColumns, step.columns));
      i += last - first;
    }
  };
  x_.dispatcher.split(step.rows * pieces, g.ns_per_element * static_cast<double>(std::min(kColumns, step.columns)), blocks);
}

RegionRun::Outcome RegionRun::run(FunctionRef<void(const RegionPlan::Step&)> before_step, Status& status, int32_t& instr) {
  const size_t n = info_.symbols.size();
  state_.values.resize(n + info_.further.size());
  for (size_t i = 0; i < n; ++i) state_.values[i] = v_[info_.symbols[i]];
  for (size_t i = 0; i < info_.further.size(); ++i) state_.values[n + i] = v_[info_.further[i]];
  const RegionSnapshot& snapshot = *x_.regions->enter(static_cast<size_t>(region_), *x_.hazard);
  if (snapshot.entries.empty()) return Outcome::kInterpret;
  has_code_ = true;
  plan_ = known_plan(snapshot);
  if (plan_ && plan_->entry) {
    if (!put_in_place().ok()) {  // the interpreter, which frees on its way, may do with less
      for (const RegionPlan::Pooled& p : plan_->pool) drop(slot(p.slot));
      for (const RegionPlan::View& v : plan_->views) drop(slot(v.to));
      return Outcome::kInterpret;
    }
  } else if (!plan_) {
    if (Status s = make_plan(snapshot, instr); !s.ok()) {
      // Where all is still there the interpreter can begin again, and says what is wrong in its own order.
      if (!plan_->takes_away) {
        for (Slot t : state_.tensors) drop(slot(t));
        return Outcome::kInterpret;
      }
      status = std::move(s);
      return Outcome::kFailed;
    }
  }
  plan_->last_used = ++frame_.clock;
  if (!plan_->entry) return Outcome::kInterpret;
  for (const RegionPlan::Step& step : plan_->steps) {
    instr = step.code->instr;
    before_step(step);
    if (step.group >= 0) {
      run_group(step);
    } else {
      status = step.code->op == Op::kCall ? call(*step.code) : x_.dispatcher.copy(slot(step.code->b).meta, slot(step.code->a).meta);
      if (!status.ok()) return Outcome::kFailed;
    }
    ++steps_done_;
    if (x_.stopped()) {
      status = {StatusCode::kCancelled, "the run was cancelled"};
      return Outcome::kFailed;
    }
  }
  for (Slot t : plan_->frees) drop(slot(t));
  ++x_.counters.native_regions;
  x_.counters.native_operations += plan_->operations;
  x_.counters.native_bytes += plan_->bytes;
  return Outcome::kServed;
}

}  // namespace msvm::vm
