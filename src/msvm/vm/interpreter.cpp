// The loop, in two instantiations: plain, and with a profile.
#include "msvm/vm/interpreter.h"

#include <fmt/core.h>

#include <algorithm>

#include "msvm/vm/machine.h"

namespace msvm::vm {
namespace {

using Clock = std::chrono::steady_clock;

template <bool kProfile>
class Interpreter : Machine {
 public:
  Interpreter(RunContext& context, Frame& frame, std::vector<Value>& results) : Machine(context, frame), results_(results) {}

  Status run() {
    Status s = loop();
    if (f_.uses_devices) {
      Status done = x_.dispatcher.finish();
      if (s.ok()) s = std::move(done);
    }
    if (!s.ok()) [[unlikely]] {
      s = with_place(s, f_, frame_, instr_);
      results_.clear();
      drop_all();
    }
    x_.live_bytes = 0;
    x_.counters.instructions += executed_;
    return s;
  }

 private:
  Status loop() {
    if (x_.limits.max_time.count()) start_ = Clock::now();
    if (x_.limits.max_instructions) most_ = x_.limits.max_instructions;
    executed_ = f_.entry_instructions;
    look_up_ = executed_ > most_;
    const Code* pc = f_.code.data();  // the entry block comes first
    for (;; ++pc) {
      const Code& c = *pc;
      if constexpr (kProfile) profile(c.instr);
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
          if (Status s = alloc(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kFree: drop(slot(c.a)); break;
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
          if (Status s = x_.dispatcher.copy(slot(c.b).meta, slot(c.a).meta); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kRead:
          if (Status s = read(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kPropagate: v_[c.a] = slot(c.b).meta.shape[static_cast<size_t>(c.c)]; break;
        case Op::kMatch:
          if (Status s = match(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kCall:
          if (Status s = call(c); !s.ok()) [[unlikely]] return fail(c, s);
          look_up_ = look_up_ || x_.limits.max_time.count() || x_.cancelled.load(std::memory_order_relaxed);
          break;
        case Op::kListMake: list_make(c); break;
        case Op::kListAppend: list_append(c); break;
        case Op::kListGet:
          if (Status s = list_get(c); !s.ok()) [[unlikely]] return fail(c, s);
          break;
        case Op::kListLength: v_[c.a] = list_length(c.b); break;
        case Op::kListIdentity: list(c.a).items = list(c.b).items; break;
        case Op::kListFree: drop_list(list(c.a)); break;
        case Op::kEdge: pc = take_edge(c.a); break;
        case Op::kBranch: pc = take_edge(v_[c.b] ? c.a : c.c); break;
        case Op::kSwitch: pc = take_edge(switch_edge(c)); break;
        case Op::kReturn:
          instr_ = c.instr;
          return give_results(c, results_);
        case Op::kTrap: return fail(c, invalid_argument(fmt::format("trap: {}", f_.instrs[static_cast<size_t>(c.instr)]->text)));
        default:
          if (Status s = run_scalar(c, v_); !s.ok()) [[unlikely]] return fail(c, s);
          break;
      }
      if (look_up_) [[unlikely]] {
        look_up_ = false;
        if (Status s = poll(); !s.ok()) return fail(c, s);
      }
    }
  }

  // --- control ---------------------------------------------------------------------------------------------------------
  /// Moves the PHIs; returns the code before the one to go on with.
  const Code* take_edge(int32_t index) {
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
    executed_ += e.instructions;
    look_up_ = e.back || executed_ > most_;
    return f_.code.data() + e.target - 1;
  }

  int32_t switch_edge(const Code& c) const {
    const auto& cases = f_.instrs[static_cast<size_t>(c.instr)]->imms;
    return extra(c)[std::find(cases.begin(), cases.end(), v_[c.b]) - cases.begin()];
  }

  Status poll() const {
    if (x_.cancelled.load(std::memory_order_relaxed)) return {StatusCode::kCancelled, "the run was cancelled"};
    if (executed_ > most_) return resource_limit(fmt::format("the run needs more than {} instructions, the session's limit", most_));
    if (x_.limits.max_time.count() && Clock::now() - start_ > x_.limits.max_time)
      return resource_limit(fmt::format("the run takes longer than {} ms, the session's limit", std::chrono::duration<double, std::milli>(x_.limits.max_time).count()));
    return {};
  }

  Status fail(const Code& c, Status s) {
    instr_ = c.instr;
    return s;
  }

  Status check_failed(const Code& c) const {
    const RuntimeCheck& k = f_.facts->checks[static_cast<size_t>(c.d)];
    return shape_mismatch(fmt::format("{}: {} fails with {} and {}", k.what, msvm::to_string(k.condition, *x_.module.dims), v_[c.b], v_[c.c]));
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
    profiled_at_ = now;
  }

  void note_kernel(InstrProfile& p, int32_t instr) {
    if (f_.instrs[static_cast<size_t>(instr)]->op != Opcode::kOpCall) return;
    const auto it = std::lower_bound(f_.calls_by_instr.begin(), f_.calls_by_instr.end(), std::pair(instr, -1));
    if (it == f_.calls_by_instr.end() || it->first != instr) return;
    const auto& state = frame_.call_states[static_cast<size_t>(it->second)];
    if (!state) return;
    const std::string kernel = x_.dispatcher.last_report(*state).kernel;
    const bool known = (", " + p.kernel + ", ").find(", " + kernel + ", ") != std::string::npos;
    if (!known) p.kernel += (p.kernel.empty() ? "" : ", ") + kernel;
  }

  std::vector<Value>& results_;
  Clock::time_point start_, profiled_at_;
  int64_t executed_ = 0, most_ = INT64_MAX;
  int32_t instr_ = -1, profiled_ = -1;
  bool look_up_ = false;  // whether something may have to stop the run
};

}  // namespace

template <bool kProfile>
Status interpret(RunContext& context, Frame& frame, std::vector<Value>& results) {
  return Interpreter<kProfile>(context, frame, results).run();
}
template Status interpret<false>(RunContext&, Frame&, std::vector<Value>&);
template Status interpret<true>(RunContext&, Frame&, std::vector<Value>&);

}  // namespace msvm::vm
