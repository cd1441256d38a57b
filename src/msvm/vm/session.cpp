#include "msvm/vm/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "msvm/vm/debug_run.h"
#include "msvm/vm/inputs.h"
#include "msvm/vm/interpreter.h"

namespace msvm {
namespace {

constexpr size_t kPlans = 16;              // size vectors whose plans a session keeps
constexpr int64_t kArenaRoom = 64 << 20;   // at most so much beyond what is needed
constexpr int64_t kArenaSlack = 1 << 20;   // an arena four times too large is given back, beyond this

}  // namespace

struct Session::Impl {
  Impl(std::shared_ptr<const Program> p, Dispatcher& d, Allocator& a, Limits l) : program(std::move(p)), dispatcher(d), allocator(a), limits(l) {
    frames.resize(program->impl().functions.size());
  }

  vm::Frame& frame(int32_t function) {
    auto& f = frames[static_cast<size_t>(function)];
    if (!f) f = make_frame(program->impl().functions[static_cast<size_t>(function)]);
    return *f;
  }
  ~Impl() {
    for (RegionTable* t : joined) t->leave(&hazard);
  }
  /// The function's code with its regions, once there is one.
  const RegionTable* adopt_regions(int32_t function, vm::Frame& frame);
  static std::unique_ptr<vm::Frame> make_frame(const vm::Function& fn);
  Status choose_plan(vm::Frame& frame);
  Status provide_arena(vm::Frame& frame, int64_t bytes);
  bool begin_trace(int32_t function, const vm::Function& code) {
    if (!tracer) tracer.emplace(program->module());
    return tracer->begin_run(function, code.instrs.size());
  }
  Status run(int32_t function, std::span<const Value> inputs, std::vector<Value>& results, RunControl* control);
  Status run_watched(vm::RunContext& context, vm::Frame& frame, Status bound, std::vector<Value>& results);

  std::shared_ptr<const Program> program;
  Dispatcher& dispatcher;
  Allocator& allocator;
  Limits limits;
  std::vector<std::unique_ptr<vm::Frame>> frames;  // by function, made at its first run
  Counters counters;
  int64_t live_bytes = 0;
  uint64_t clock = 0;
  std::optional<vm::Tracer> tracer;  // once there was something to trace
  bool profiling = false, planning = true, thorough = false, watched = false;
  vm::Asked asked;
  RegionHazard hazard;
  std::vector<RegionTable*> joined;
  RegionObserver* observer = nullptr;
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
};

std::unique_ptr<vm::Frame> Session::Impl::make_frame(const vm::Function& fn) {
  auto f = std::make_unique<vm::Frame>();
  f->function = &fn;
  f->scalars = fn.initial_scalars;
  f->tensors.resize(fn.num_tensors);
  f->lists.resize(fn.num_lists);
  f->call_states.resize(fn.calls.size());
  f->profile.resize(fn.instrs.size());
  f->plans.reserve(kPlans);
  size_t args = 0;
  for (const vm::CallSite& c : fn.calls) {
    args = std::max(args, c.args.size());
    auto& inputs = f->call_inputs.emplace_back();
    for (vm::Slot s : c.inputs) inputs.push_back(s >= 0 ? &f->tensors[static_cast<size_t>(s)].meta : nullptr);
    auto& outputs = f->call_outputs.emplace_back();
    for (vm::Slot s : c.outputs) outputs.push_back(s >= 0 ? &f->tensors[static_cast<size_t>(s)].meta : nullptr);
  }
  f->args.resize(args);
  return f;
}

const RegionTable* Session::Impl::adopt_regions(int32_t function, vm::Frame& frame) {
  RegionTable* table = program->regions(function);
  if (!table || frame.function == &table->code()) return table;
  const vm::Function& f = table->code();
  frame.function = &f;
  frame.scalars = f.initial_scalars;
  frame.plans.clear();  // lifetimes differ
  frame.plan = nullptr;
  frame.regions = std::vector<vm::RegionState>(f.regions.size());
  frame.fixed_in.assign(f.num_tensors, 0);
  size_t pointers = 0;
  for (const vm::RegionInfo& r : f.regions)
    for (const RegionGroup& g : r.spec->groups) pointers = std::max(pointers, g.pointers.size());
  frame.pointers.resize(pointers);
  table->join(&hazard);
  joined.push_back(table);
  return table;
}

Status Session::Impl::choose_plan(vm::Frame& frame) {
  const vm::Function& f = *frame.function;
  frame.plan = nullptr;
  if (f.planned.empty() || !planning) return {};
  auto matches = [&](const vm::Plan& p) {
    for (size_t i = 0; i < p.key.size(); ++i)
      if (p.key[i] != frame.scalars[static_cast<size_t>(f.plan_key[i])]) return false;
    return true;
  };
  auto it = std::find_if(frame.plans.begin(), frame.plans.end(), matches);
  if (it == frame.plans.end()) {
    if (frame.plans.size() < kPlans) frame.plans.emplace_back();
    it = std::min_element(frame.plans.begin(), frame.plans.end(), [](const auto& a, const auto& b) { return a.last_used < b.last_used; });
    *it = vm::make_plan(f, frame.scalars, thorough);
    it->id = ++clock;
  }
  it->last_used = ++clock;
  MSVM_RETURN_IF_ERROR(provide_arena(frame, it->bytes));
  live_bytes = it->bytes;
  frame.plan = &*it;
  return {};
}

Status Session::Impl::provide_arena(vm::Frame& frame, int64_t bytes) {
  if (limits.max_bytes && bytes > limits.max_bytes)
    return resource_limit(fmt::format("the tensors of this run need {} bytes at once; the session's limit is {}", bytes, limits.max_bytes));
  int64_t most = 0;  // what the sizes seen lately need
  for (const vm::Plan& p : frame.plans) most = std::max(most, p.bytes);
  const int64_t have = frame.arena ? static_cast<int64_t>(frame.arena->bytes) : 0;
  if (bytes <= have && have / 4 <= most + kArenaSlack) return {};
  frame.arena.reset();
  if (bytes == 0) return {};
  // One that grows leaves room: the next size often is larger again, and pages that were touched stay. Untouched ones cost nothing.
  if (bytes > have && have > 0) {
    const int64_t room = std::max(bytes, std::min(2 * have, bytes + kArenaRoom));
    auto roomy = allocator.allocate(Device{}, DType::kU8, room, MemoryUse::kArena);
    if (roomy.ok()) {
      frame.arena = std::move(*roomy);
      return {};
    }
  }
  MSVM_ASSIGN_OR_RETURN(frame.arena, allocator.allocate(Device{}, DType::kU8, bytes, MemoryUse::kArena));
  return {};
}

Status Session::Impl::run(int32_t function, std::span<const Value> inputs, std::vector<Value>& results, RunControl* control) {
  asked.run_begins();
  vm::Frame& f = frame(function);
  const RegionTable* regions = adopt_regions(function, f);
  const bool traced = EventStream::process().on() && begin_trace(function, *f.function);
  ++counters.runs;
  live_bytes = 0;
  Status s = vm::bind_inputs(program->module(), *f.function, inputs, f.scalars.data());
  if (s.ok()) s = choose_plan(f);
  watched = false;
  if (s.ok() || asked.hook()) {
    vm::RunContext context{program->impl(), program->module(), dispatcher, allocator, limits, counters, live_bytes, asked, inputs, regions, &hazard, observer, function, control, traced ? &*tracer : nullptr};
    RunControl::Scope current(control);
    do s = asked.hook() ? run_watched(context, f, std::move(s), results) : vm::interpret(context, f, results, profiling);
    while (context.suspended.next);  // a debugger came or went
  }
  if (traced) tracer->end_run(s);
  counters.failed_runs += !s.ok();
  return s;
}

/// `bound`: whether inputs and memory were in order; if not, the debugger sees that, too.
Status Session::Impl::run_watched(vm::RunContext& context, vm::Frame& frame, Status bound, std::vector<Value>& results) {
  context.owner = program.get();
  vm::DebugRun debug(context, frame, *asked.hook());
  watched = watched || debug.watched();
  if (!debug.watched()) return bound.ok() ? vm::interpret(context, frame, results, profiling) : bound;
  context.debug = &debug;
  context.profiling = profiling;
  if (bound.ok()) bound = vm::interpret_watched(context, frame, results);
  else debug.failing(-1, bound);
  context.debug = nullptr;
  if (context.suspended.next) return {};  // it goes on without a debugger, or with another one
  debug.ended(bound);
  return bound;
}

Session::Session(std::shared_ptr<const Program> program, Dispatcher& dispatcher, Allocator& allocator, Limits limits)
    : impl_(std::make_unique<Impl>(std::move(program), dispatcher, allocator, limits)) {}
Session::~Session() = default;

Status Session::run(int32_t function, std::span<const Value> inputs, std::vector<Value>& results, RunControl* control) {
  Impl& m = *impl_;
  results.clear();
  if (function < 0 || static_cast<size_t>(function) >= m.frames.size())
    return invalid_argument(fmt::format("there is no function {}: the module has {}", function, m.frames.size()));
  if (m.busy.test_and_set(std::memory_order_acquire)) return invalid_argument("the session is running in another thread");
  Status s = m.run(function, inputs, results, control);
  m.busy.clear(std::memory_order_release);
  return s;
}

Result<std::vector<Value>> Session::run(int32_t function, std::span<const Value> inputs) {
  std::vector<Value> results;
  MSVM_RETURN_IF_ERROR(run(function, inputs, results));
  return results;
}

void Session::cancel() { impl_->asked.cancel(); }
void Session::set_profiling(bool on) { impl_->profiling = on; }
void Session::set_planning(bool on) { impl_->planning = on; }
void Session::set_thorough(bool on) { impl_->thorough = on; }
void Session::set_observer(RegionObserver* observer) { impl_->observer = observer; }
void Session::set_debug_hook(std::shared_ptr<DebugHook> hook) { impl_->asked.set_hook(std::move(hook)); }
bool Session::watched() const { return impl_->watched; }
void Session::set_limits(Limits limits) { impl_->limits = limits; }
const std::vector<InstrProfile>& Session::profile(int32_t function) const { return impl_->frame(function).profile; }
void Session::for_each_call(int32_t function, const std::function<void(int32_t, const CallState&)>& visit) const {
  const auto& frame = impl_->frames[static_cast<size_t>(function)];
  if (!frame) return;
  for (size_t k = 0; k < frame->call_states.size(); ++k)
    if (frame->call_states[k]) visit(frame->function->calls[k].index, *frame->call_states[k]);
}
Counters Session::counters() const { return impl_->counters; }

}  // namespace msvm
