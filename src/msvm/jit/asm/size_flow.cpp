#include "msvm/jit/asm/size_flow.h"

#include <algorithm>
#include <deque>
#include <map>

namespace msvm::jit {
namespace {

/// What a register or a word of the stack may hold. Later kinds win where paths meet or operands do.
struct Value {
  enum Kind : uint8_t { kData, kSize, kPointer, kSizes, kPointers } kind = kData;  // the last two: the arguments themselves
  SizeSet sizes;  // of kSize
  bool operator==(const Value&) const = default;
  void join(const Value& other) {
    kind = std::max(kind, other.kind);
    sizes = kind == kSize ? sizes | other.sizes : SizeSet();
  }
};

using State = std::vector<Value>;  // registers, flags, words of the stack
constexpr size_t kFlags = kGprs, kFirstSlot = kGprs + 1;

class Follower {
 public:
  Follower(std::span<const MachineInstruction> code, const CodeFlow& flow) : code_(code), flow_(flow) {
    for (const MachineInstruction& x : code)
      if (x.memory && x.memory->on_stack()) slots_.try_emplace({x.memory->base, x.memory->displacement}, kFirstSlot + slots_.size());
  }

  SizeFlow run() {
    SizeFlow out{std::vector<SizeSet>(code_.size()), std::vector<SizeSet>(code_.size())};
    if (flow_.blocks.empty()) return out;
    const std::vector<State> begin = states();
    for (size_t b = 0; b < flow_.blocks.size(); ++b) {
      if (begin[b].empty()) continue;  // nothing leads there
      State s = begin[b];
      for (size_t i = flow_.blocks[b].begin; i < flow_.blocks[b].end; ++i) {
        out.moved[i] = moved(code_[i], s);
        if (code_[i].flow == MachineInstruction::Flow::kBranch) out.tested[i] = s[kFlags].sizes;
        step(code_[i], s);
      }
    }
    return out;
  }

 private:
  State arguments() const {
    State s(kFirstSlot + slots_.size());
    s[kRdi].kind = Value::kPointers;
    s[kRsi].kind = Value::kSizes;
    for (const Gpr bound : {kRdx, kRcx, kR8, kR9}) s[bound].kind = Value::kSize;  // of no size argument
    return s;
  }

  /// At the beginning of each block, until nothing changes: values only grow.
  std::vector<State> states() const {
    std::vector<State> begin(flow_.blocks.size());
    std::deque<size_t> todo{0};
    begin[0] = arguments();
    while (!todo.empty()) {
      const size_t b = todo.front();
      todo.pop_front();
      State s = begin[b];
      for (size_t i = flow_.blocks[b].begin; i < flow_.blocks[b].end; ++i) step(code_[i], s);
      for (const int32_t next : flow_.blocks[b].next)
        if (next >= 0 && merge(begin[static_cast<size_t>(next)], s)) todo.push_back(static_cast<size_t>(next));
    }
    return begin;
  }
  static bool merge(State& into, const State& from) {
    if (into.empty()) return into = from, true;
    bool changed = false;
    for (size_t k = 0; k < into.size(); ++k) {
      const Value before = into[k];
      into[k].join(from[k]);
      changed |= !(into[k] == before);
    }
    return changed;
  }

  Value loaded(const MemoryOperand& m, const State& s) const {
    if (m.on_stack()) return m.bytes <= 8 ? s[slots_.at({m.base, m.displacement})] : Value{};
    if (m.base == kNoGpr) return {};
    Value v;
    if (s[static_cast<size_t>(m.base)].kind == Value::kPointers) v.kind = Value::kPointer;
    if (s[static_cast<size_t>(m.base)].kind == Value::kSizes) {
      v.kind = Value::kSize;
      const int64_t k = m.displacement / 8;
      if (m.index == kNoGpr && k >= 0 && k < static_cast<int64_t>(v.sizes.size())) v.sizes.set(static_cast<size_t>(k));
    }
    return v;
  }

  /// What the instruction makes of what it reads.
  Value result(const MachineInstruction& x, const State& s) const {
    Value v;
    if (x.clears) return v;
    for (size_t r = 0; r < kGprs; ++r)
      if (x.reads >> r & 1) v.join(s[r]);
    if (x.takes_flags) v.join(s[kFlags]);
    if (!x.memory) return v;
    if (x.address) {
      for (const int8_t r : {x.memory->base, x.memory->index})
        if (r != kNoGpr) v.join(s[static_cast<size_t>(r)]);
    } else if (x.memory->read) {
      v.join(loaded(*x.memory, s));
    }
    return v;
  }

  void step(const MachineInstruction& x, State& s) const {
    const Value v = result(x, s);
    for (size_t r = 0; r < kGprs; ++r)
      if (x.writes >> r & 1 && r != kRsp) s[r] = v;
    if (x.sets_flags) s[kFlags] = v;
    if (x.memory && x.memory->written && x.memory->on_stack()) s[slots_.at({x.memory->base, x.memory->displacement})] = x.memory->bytes <= 8 ? v : Value{};
  }

  SizeSet moved(const MachineInstruction& x, const State& s) const {
    if (!x.memory || x.address || x.nop) return {};
    SizeSet sizes;
    if (x.memory->read) sizes |= loaded(*x.memory, s).sizes;
    if (x.memory->written && x.memory->on_stack()) sizes |= result(x, s).sizes;
    return sizes;
  }

  std::span<const MachineInstruction> code_;
  const CodeFlow& flow_;
  std::map<std::pair<int8_t, int64_t>, size_t> slots_;  // of the stack, into State
};

}  // namespace

SizeFlow size_flow_of(std::span<const MachineInstruction> code, const CodeFlow& flow) { return Follower(code, flow).run(); }

}  // namespace msvm::jit
