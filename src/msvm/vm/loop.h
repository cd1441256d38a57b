// The loop, a template over what is asked of a run: nothing more, a profile, a trace, both, a debugger with or without them, or the dry run of a region. Private to
// the two files that instantiate it.
#pragma once
#include "msvm/vm/interpreter.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "msvm/base/ticks.h"
#include "msvm/vm/debug_run.h"
#include "msvm/vm/machine.h"
#include "msvm/vm/region_run.h"

namespace msvm::vm {
namespace {

using Clock = std::chrono::steady_clock;

enum class Loop : uint8_t { kPlain, kProfile, kTrace, kProfileAndTrace, kDebug, kDry };

template <Loop kLoop>
class Interpreter : Machine {
  static constexpr bool kDry = kLoop == Loop::kDry, kDebug = kLoop == Loop::kDebug;
  // A debugger's loop looks at run time whether there is a profile or a trace, too.
  static constexpr bool kProfile = kLoop == Loop::kProfile || kLoop == Loop::kProfileAndTrace || kDebug, kTrace = kLoop == Loop::kTrace || kLoop == Loop::kProfileAndTrace || kDebug;

 public:
  Interpreter(RunContext& context, Frame& frame, std::vector<Value>& results) : Machine(context, frame), results_(results) {}
  Interpreter(RunContext& context, Frame& frame, RegionRecord& record, std::vector<Value>& no_results)
      : Machine(context, frame), results_(no_results), record_(&record) {}

  /// Of a dry run.
  Status run_region(const Code* region, int32_t& instr) {
    most_ = INT64_MAX;
    ++frame_.clock;
    Status s = loop(region + 1);
    instr = instr_;
    record_->executed = executed_;
    return s;
  }

  Status run() {
    if (x_.limits.max_instructions) most_ = x_.limits.max_instructions;
    const Code* first = f_.code.data();  // the entry block comes first
    if (x_.suspended.next) [[unlikely]] {
      first = resume();
    } else {
      if (x_.limits.max_time.count()) start_ = Clock::now();
      executed_ = f_.entry_instructions;
    }
    look_up_ = executed_ > most_;
    Status s = loop(first);
    if (suspended_) [[unlikely]] {
      x_.suspended = {suspended_, executed_, start_, profiled_at_, profiled_, profiled_calls_};
      return {};
    }
    if (f_.uses_devices) {
      Status done = x_.dispatcher.finish();
      if (s.ok()) s = std::move(done);
    }
    if (!s.ok()) [[unlikely]] {
      s = with_place(s, x_, frame_, instr_);
      if constexpr (kDebug) x_.debug->failing(instr_, s);
      results_.clear();
      drop_all();
    }
    x_.live_bytes = 0;
    x_.counters.instructions += executed_;
    return s;
  }

 private:
  Status loop(const Code* pc) {
    for (;; ++pc) {
      const Code& c = *pc;
      if constexpr (kDebug) {
        if (!x_.debug->goes_on(c.instr))
          if (Status s = told([&] { return c.op == Op::kRegion ? x_.debug->begin_region(c.a, c.instr) : x_.debug->begin(c.instr); }); !s.ok()) [[unlikely]] return fail(c, s);
      }
      if constexpr (kProfile)
        if (profiles()) profile(c.instr);
      if constexpr (kDry) note(c);
      switch (c.op) {
        case Op::kAdd:
          if (__builtin_add_overflow(v_[c.b], v_[c.c], &v_[c.a])) [[unlikely]] return fail(c, overflow_error("a sum overflows 64 bits"));
          break;
        case Op::kSub:
          if (__builtin_sub_overflow(v_[c.b], v_[c.c], &v_[c.a])) [[unlikely]] return fail(c, overflow_error("a difference overflows 64 bits"));
          break;
        case Op::kMul:
          if (__builtin_mul_overflow(v_[c.b], v_[c.c], &v_[c.a])) [[unlikely]] return fail(c, overflow_error("a product overflows 64 bits"));
          break;
        case Op::kMove: v_[c.a] = v_[c.b]; break;
        case Op::kCheck:
          ++x_.counters.checks;
          if (!holds(static_cast<CondOp>(c.flags), v_[c.b], v_[c.c])) [[unlikely]] return fail(c, check_failed(c));
          break;
        case Op::kAssert:
          if (!v_[c.b]) [[unlikely]] return fail(c, shape_mismatch(fmt::format("assertion failed: {}", f_.instrs[static_cast<size_t>(c.instr)]->text)));
          break;
        case Op::kInput: {
          const auto& in = std::get<TensorValue>(x_.inputs[static_cast<size_t>(c.b)]);
          TensorSlot& t = slot(c.a);
          t.meta = in.meta;
          t.storage = in.storage.get();
          break;
        }
        case Op::kConst: {
          TensorSlot& t = slot(c.a);
          t.meta = x_.program.constants[static_cast<size_t>(c.b)];
          t.storage = x_.program.constant_storage[static_cast<size_t>(c.b)].get();
          break;
        }
        case Op::kNarrow:
          drop(slot(c.a));
          slot(c.a).meta = slot(c.b).meta;
          share(slot(c.a), slot(c.b));
          break;
        case Op::kAlloc:
          if (Status s = alloc(c, !kDry || may_take_early(c)); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kFree:
          if constexpr (!kDry) drop(slot(c.a));
          break;
        case Op::kResize:
          if (Status s = resize(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kSlice:
        case Op::kReshape:
        case Op::kTranspose:
        case Op::kBroadcast:
        case Op::kSqueeze:
        case Op::kUnsqueeze:
        case Op::kWindow:
        case Op::kIdentity:
          if (Status s = view(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kCopy:
          if constexpr (kDry) break;
          if (Status s = watched_copy(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kRead:
          if (Status s = read(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kPropagate: v_[c.a] = slot(c.b).meta.shape[static_cast<size_t>(c.c)]; break;
        case Op::kMatch:
          if (Status s = match(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kCall:
          if constexpr (kDry) break;
          if (Status s = watched_call(c); !s.ok()) [[unlikely]] return fail(c, s);
          look_up_ = look_up_ || x_.limits.max_time.count() || x_.called();
          break;
        case Op::kListMake: list_make(c); break;
        case Op::kListAppend: list_append(c); break;
        case Op::kListGet:
          if (Status s = list_get(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kListLength: v_[c.a] = list_length(c.b); break;
        case Op::kListIdentity: list(c.a).items = list(c.b).items; break;
        case Op::kListFree: drop_list(list(c.a)); break;
        case Op::kEdge:
          if constexpr (kDebug)
            if (Status s = leave(c.a); !s.ok()) [[unlikely]] return fail(c, s);
          pc = take_edge(c.a, c.instr);
          break;
        case Op::kBranch:
          if constexpr (kDebug)
            if (Status s = leave(v_[c.b] ? c.a : c.c); !s.ok()) [[unlikely]] return fail(c, s);
          pc = take_edge(v_[c.b] ? c.a : c.c, c.instr);
          break;
        case Op::kSwitch:
          if constexpr (kDebug)
            if (Status s = leave(switch_edge(c)); !s.ok()) [[unlikely]] return fail(c, s);
          pc = take_edge(switch_edge(c), c.instr);
          break;
        case Op::kReturn:
          instr_ = c.instr;
          return give_results(c, results_);
        case Op::kRegion: {
          if constexpr (kDry) return fail(c, internal_error("a region within a region"));
          const Code* next = pc;
          if (Status s = region(c, next); !s.ok()) [[unlikely]] return s;
          pc = next;
          break;
        }
        case Op::kRegionEnd:
          if constexpr (kDry) return {};
          region_end(c);
          break;
        case Op::kTrap: return fail(c, invalid_argument(fmt::format("trap: {}", f_.instrs[static_cast<size_t>(c.instr)]->text)));
        default:
          if (Status s = run_scalar(c, v_); !s.ok()) [[unlikely]] return fail(c, s);
          break;
      }
      if (look_up_) [[unlikely]] {
        look_up_ = false;
        if (Status s = poll(pc, c); !s.ok()) return fail(c, s);
      }
    }
  }

  bool profiles() const { return kDebug ? x_.profiling : kProfile; }
  bool traces() const { return kDebug ? x_.tracer != nullptr : kTrace; }

  // --- what a debugger is told ---------------------------------------------------------------------------------------------
  /// The time that it waits isn't the run's.
  template <class Tell>
  Status told(Tell&& tell) {
    if (!x_.limits.max_time.count() && !x_.profiling) return tell();
    const auto before = Clock::now();
    Status s = tell();
    const auto waited = Clock::now() - before;
    start_ += waited;
    profiled_at_ += waited;
    return s;
  }

  Status leave(int32_t edge) {
    return told([&] { return x_.debug->leave(f_.edges[static_cast<size_t>(edge)]); });
  }

  // --- what a trace tells ------------------------------------------------------------------------------------------------
  Status watched_call(const Code& c) {
    if constexpr (!kTrace) return call(c);
    if (!traces()) return call(c);
    const int64_t begin = x_.tracer->before(c.instr);
    Status s = call(c);
    if (s.ok()) trace_call(c, begin);
    return s;
  }

  void trace_step(const RegionPlan::Step& step, const RegionInfo& region, const RegionEntry& entry, int64_t begin) {
    if (step.group >= 0) x_.tracer->native(frame_, region.spec->groups[static_cast<size_t>(step.group)], entry, step, begin);
    else if (step.code->op == Op::kCall) trace_call(*step.code, begin);
    else x_.tracer->copy(frame_, *step.code, begin);
  }

  void trace_call(const Code& c, int64_t begin) { x_.tracer->call(frame_, c, x_.dispatcher.last_report(*frame_.call_states[static_cast<size_t>(c.a)]), begin); }

  Status watched_copy(const Code& c) {
    const int64_t begin = traces() ? x_.tracer->before(c.instr) : 0;
    Status s = x_.dispatcher.copy(slot(c.b).meta, slot(c.a).meta);
    if (traces()) x_.tracer->copy(frame_, c, begin);
    return s;
  }

  // --- control ---------------------------------------------------------------------------------------------------------
  /// Moves the PHIs; returns the code before the one to go on with.
  const Code* take_edge(int32_t index, [[maybe_unused]] int32_t instr) {
    const Edge& e = f_.edges[static_cast<size_t>(index)];
    for (const PhiMove& m : e.moves) {
      switch (m.kind) {
        case PhiMove::kScalar: v_[m.to] = v_[m.from]; break;
        case PhiMove::kTensor:
          drop(slot(m.to));
          move(slot(m.to), slot(m.from));
          break;
        case PhiMove::kList: list(m.to).items = std::move(list(m.from).items); break;
      }
    }
    if constexpr (kDebug) x_.debug->moved(e);
    if constexpr (kDry) record_->edges.emplace_back(instr, e.block);
    executed_ += e.instructions;
    look_up_ = e.back || executed_ > most_;
    return f_.code.data() + e.target - 1;
  }

  int32_t switch_edge(const Code& c) const {
    const auto& cases = f_.instrs[static_cast<size_t>(c.instr)]->imms;
    return extra(c)[std::find(cases.begin(), cases.end(), v_[c.b]) - cases.begin()];
  }

  Status poll(const Code* pc, const Code& c) {
    if (x_.asked.anything()) [[unlikely]] {
      if (!kDry && !x_.asked.cancelled() && suspends(pc, c)) return {StatusCode::kCancelled, "it goes on in another loop"};
    }
    if (x_.stopped()) return {StatusCode::kCancelled, "the run was cancelled"};
    if (executed_ > most_) return resource_limit(fmt::format("the run needs more than {} instructions, the session's limit", most_));
    if (x_.limits.max_time.count() && Clock::now() - start_ > x_.limits.max_time)
      return resource_limit(fmt::format("the run takes longer than {} ms, the session's limit", std::chrono::duration<double, std::milli>(x_.limits.max_time).count()));
    return {};
  }

  /// Whether a debugger has come, or gone, and the run is between two instructions; else it asks again soon.
  bool suspends(const Code* pc, const Code& c) {
    if (pc[1].instr < 0 || !between(pc, c)) {
      look_up_ = true;
      return false;
    }
    const bool other = x_.asked.take_hook();
    if (!(kDebug ? other : x_.asked.hook() != nullptr)) return false;
    suspended_ = pc + 1;
    return true;
  }

  /// Whether the instruction of `c`, which has run, is over.
  bool between(const Code* pc, const Code& c) const {
    const auto enters = [&](int32_t edge) {
      const Edge& e = f_.edges[static_cast<size_t>(edge)];
      return e.block >= 0 && f_.code.data() + e.target - 1 == pc;
    };
    switch (c.op) {
      case Op::kEdge: return enters(c.a);
      case Op::kBranch: return enters(c.a) || enters(c.c);
      case Op::kSwitch: return std::any_of(extra(c), extra(c) + c.n, enters);
      default: return pc[1].instr != c.instr;
    }
  }

  const Code* resume() {
    const Suspended s = std::exchange(x_.suspended, {});
    executed_ = s.executed;
    start_ = s.start;
    profiled_at_ = s.profiled_at;
    profiled_ = s.profiled;
    profiled_calls_ = s.profiled_calls;
    return s.next;
  }

  Status fail(const Code& c, Status s) {
    instr_ = c.instr;
    return s;
  }

  Status check_failed(const Code& c) const {
    const RuntimeCheck& k = f_.facts->checks[static_cast<size_t>(c.d)];
    return shape_mismatch(fmt::format("{}: {} fails with {} and {}", k.what, msvm::to_string(k.condition, *x_.module.dims), v_[c.b], v_[c.c]));
  }

  // --- regions ---------------------------------------------------------------------------------------------------------
  /// In native code if an entry serves these sizes: `pc` is then the region's end. Else on, interpreted.
  Status region(const Code& c, const Code*& pc) {
    RegionState& state = frame_.regions[static_cast<size_t>(c.a)];
    const RegionInfo& info = f_.regions[static_cast<size_t>(c.a)];
    state.started = 0;
    if (!info.usable) return {};
    if constexpr (kDebug) {
      bool interpreted = false;
      instr_ = c.instr;
      MSVM_RETURN_IF_ERROR(told([&]() -> Status {
        MSVM_ASSIGN_OR_RETURN(interpreted, x_.debug->interprets(c.a));
        return {};
      }));
      if (interpreted) {
        state.in_place = nullptr;
        return {};
      }
    }
    const int64_t begin = x_.observer || traces() ? ticks() : 0;
    RegionRun run(x_, frame_, c.a);
    const RegionPlan::Step* traced = nullptr;  // goes on
    int64_t step_begin = 0;
    auto before_step = [&](const RegionPlan::Step& step) {
      if constexpr (kDebug) x_.debug->enter(run.entry());
      if constexpr (kProfile)
        if (profiles()) {
          profile(step.code->instr);
          profiled_calls_ = step.group >= 0 ? static_cast<int32_t>(info.spec->groups[static_cast<size_t>(step.group)].members.size()) : 0;
        }
      if constexpr (kTrace)
        if (traces()) {
          if (traced) trace_step(*traced, info, *run.entry(), step_begin);
          step_begin = x_.tracer->before(step.code->instr);
          traced = &step;
        }
    };
    Status s;
    switch (run.run(before_step, s, instr_)) {
      case RegionRun::Outcome::kServed:
        if constexpr (kTrace) if (traces()) {
          if (traced) trace_step(*traced, info, *run.entry(), step_begin);
          x_.tracer->region(frame_, c.a, run.entry(), begin);
        }
        if (x_.observer) x_.observer->region_ran(x_.function, c.a, {state.values.data(), info.symbols.size()}, run.entry(), begin, ticks());
        executed_ += run.executed();
        look_up_ = executed_ > most_ || x_.limits.max_time.count() || x_.asked.anything();
        pc = f_.code.data() + info.end;
        if constexpr (kDebug) return told([&] { return x_.debug->after_region(c.a, run.entry(), run.plan()); });
        return {};
      case RegionRun::Outcome::kInterpret:
        state.in_place = nullptr;
        state.started = begin;
        if constexpr (kDebug)
          if (run.has_code()) return told([&] { return x_.debug->after_region(c.a, nullptr, nullptr); });
        return {};
      case RegionRun::Outcome::kFailed:
        if constexpr (kDebug) x_.debug->region_failed(c.a, *run.plan(), run.steps_done(), instr_);
        break;
    }
    return s;
  }

  void region_end(const Code& c) {
    RegionState& state = frame_.regions[static_cast<size_t>(c.a)];
    if (!state.started) return;
    if (traces()) x_.tracer->region(frame_, c.a, nullptr, state.started);
    if (x_.observer) x_.observer->region_ran(x_.function, c.a, {state.values.data(), f_.regions[static_cast<size_t>(c.a)].symbols.size()}, nullptr, state.started, ticks());
  }

  /// What a dry run leaves for the runs that repeat it.
  void note(const Code& c) {
    RegionPlan& plan = record_->plan;
    auto fixed = [&](Slot s) -> uint64_t& { return frame_.fixed_in[static_cast<size_t>(s)]; };
    if (pending_) note_done();
    switch (c.op) {
      case Op::kInput:
      case Op::kConst:
      case Op::kNarrow:
      case Op::kAlloc:
      case Op::kSlice:
      case Op::kReshape:
      case Op::kTranspose:
      case Op::kBroadcast:
      case Op::kSqueeze:
      case Op::kUnsqueeze:
      case Op::kWindow:
      case Op::kIdentity:
        fixed(c.a) = 0;
        pending_ = &c;
        record_->tensors.push_back(c.a);
        plan.repeatable = plan.repeatable && c.op != Op::kInput;
        break;
      case Op::kFree: plan.frees.push_back(c.a); break;
      case Op::kCall:
      case Op::kCopy: plan.steps.push_back({.code = &c}); break;
      case Op::kMatch:
        for (const MatchStep& m : f_.match_lists[static_cast<size_t>(c.b)])
          if (m.bind != kNoSlot) record_->scalars.push_back(m.bind);
        break;
      case Op::kEdge:
        plan.repeatable = false;
        plan.takes_away = plan.takes_away || takes_away(c.a);
        break;
      case Op::kBranch:
        plan.repeatable = false;
        plan.takes_away = plan.takes_away || takes_away(c.a) || takes_away(c.c);
        break;
      case Op::kSwitch:
        plan.repeatable = false;
        for (size_t k = 0; k < c.n; ++k) plan.takes_away = plan.takes_away || takes_away(extra(c)[k]);
        break;
      case Op::kCheck:
      case Op::kAssert:
      case Op::kRegion:
      case Op::kRegionEnd:
      case Op::kReturn:
      case Op::kTrap: break;
      case Op::kRead:
      case Op::kResize:
      case Op::kListMake:
      case Op::kListAppend:
      case Op::kListGet:
      case Op::kListLength:
      case Op::kListIdentity:
      case Op::kListFree: plan.repeatable = false; break;
      default: record_->scalars.push_back(c.a); break;  // scalars
    }
  }

  /// Whether an edge takes memory away from registers that the region hasn't set itself.
  bool takes_away(int32_t edge) const {
    const auto& moves = f_.edges[static_cast<size_t>(edge)].moves;
    const auto& own = record_->tensors;
    return std::any_of(moves.begin(), moves.end(), [&](const PhiMove& m) {
      return m.kind == PhiMove::kList || (m.kind == PhiMove::kTensor && std::find(own.begin(), own.end(), m.from) == own.end());
    });
  }

  /// A region's destinations have their memory before its first call runs. One may be that of an operand from outside if no kernel of a
  /// group works on either: such kernels run later than the calls that they stand for.
  bool may_take_early(const Code& c) const { return c.b >= 0 && !f_.grouped.empty() && !f_.grouped[static_cast<size_t>(c.a)] && !f_.grouped[static_cast<size_t>(c.b)]; }

  /// Where the destination noted last lies: in the arena, in the pool, or in another tensor.
  void note_done() {
    const Code& c = *pending_;
    pending_ = nullptr;
    auto fixed = [&](Slot s) -> uint64_t& { return frame_.fixed_in[static_cast<size_t>(s)]; };
    if (c.op == Op::kConst || (c.op == Op::kAlloc && !slot(c.a).owned)) {
      fixed(c.a) = frame_.clock;
    } else if (c.op == Op::kAlloc) {
      const bool taken = may_take_early(c) && slot(c.a).storage && slot(c.a).storage == slot(c.b).storage;
      record_->plan.pool.push_back({c.a, taken ? c.b : kNoSlot});
    } else if (fixed(c.b) == frame_.clock) {
      fixed(c.a) = frame_.clock;
    } else {
      record_->plan.views.push_back({c.a, c.b, slot(c.a).meta.data && slot(c.b).meta.data ? slot(c.a).meta.data - slot(c.b).meta.data : 0});
    }
  }

  // --- profile ---------------------------------------------------------------------------------------------------------
  void profile(int32_t instr) {
    const auto now = Clock::now();
    if (profiled_ >= 0) {
      InstrProfile& p = frame_.profile[static_cast<size_t>(profiled_)];
      p.nanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(now - profiled_at_).count();
      if (profiled_ != instr) note_kernel(p, profiled_);
    }
    if (instr >= 0 && instr != profiled_) ++frame_.profile[static_cast<size_t>(instr)].runs;
    profiled_ = instr;
    profiled_calls_ = 0;
    profiled_at_ = now;
  }

  void note_kernel(InstrProfile& p, int32_t instr) {
    if (f_.instrs[static_cast<size_t>(instr)]->op != Opcode::kOpCall) return;
    if (profiled_calls_ > 0) return add_kernel(p, fmt::format("native code of {} calls", profiled_calls_));
    const auto it = std::lower_bound(f_.calls_by_instr.begin(), f_.calls_by_instr.end(), std::pair(instr, -1));
    if (it == f_.calls_by_instr.end() || it->first != instr) return;
    const auto& state = frame_.call_states[static_cast<size_t>(it->second)];
    if (!state) return;
    add_kernel(p, x_.dispatcher.last_report(*state).kernel);
  }

  static void add_kernel(InstrProfile& p, const std::string& kernel) {
    const bool known = (", " + p.kernel + ", ").find(", " + kernel + ", ") != std::string::npos;
    if (!known) p.kernel += (p.kernel.empty() ? "" : ", ") + kernel;
  }

  std::vector<Value>& results_;
  Clock::time_point start_, profiled_at_;
  int64_t executed_ = 0, most_ = INT64_MAX;
  int32_t instr_ = -1, profiled_ = -1, profiled_calls_ = 0;
  bool look_up_ = false;  // whether something may have to stop the run
  const Code* suspended_ = nullptr;
  RegionRecord* record_ = nullptr;
  const Code* pending_ = nullptr;  // a destination that is being made
};

}  // namespace
}  // namespace msvm::vm
