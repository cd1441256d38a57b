#include "msvm/vm/debug_track.h"

#include <algorithm>

#include "msvm/bytecode/cfg.h"

namespace msvm::vm {

RegisterTrack::RegisterTrack(const Module& module, const Frame& frame)
    : module_(module), frame_(frame), tracks_(frame.function->source->regs.size()), family_(tracks_.size()), ran_at_(frame.function->instrs.size()) {}

Slot RegisterTrack::slot(Reg r) const { return frame_.function->tensor_slot[static_cast<size_t>(r)]; }

/// From the first element to behind the last one.
RegisterTrack::Bytes RegisterTrack::bytes(Reg r) const {
  const TensorMeta& m = tensor(r).meta;
  if (!m.data || m.elements() == 0) return {};
  int64_t last = 0;
  for (size_t a = 0; a < m.rank; ++a) last += (m.shape[a] - 1) * m.strides[a];
  return {m.data, m.data + (last + 1) * dtype_bytes(m.dtype)};
}

void RegisterTrack::step() {
  ++clock_;
  written_.clear();
}

void RegisterTrack::define(Reg r, RegisterState state, Reg root) {
  Track& t = track(r);
  t.look = {.state = state, .instruction = at_, .root = root == kNoReg ? r : root, .changed = clock_};
  t.defined = clock_;
  t.written = state == RegisterState::kLive ? clock_ : 0;
  if (t.look.root != r) {
    auto& family = family_[static_cast<size_t>(t.look.root)];
    if (std::find(family.begin(), family.end(), r) == family.end()) family.push_back(r);
  }
  family_[static_cast<size_t>(r)].clear();
  if (state == RegisterState::kLive) written_.push_back(r);
}

void RegisterTrack::define_like(Reg r, Reg source) {
  const Track from = track(source);
  define(r, from.look.state, from.look.root);
  track(r).look.native = from.look.native;
  track(r).written = from.written;
}

// What lies within has values now, what lies around it has some.
void RegisterTrack::write(Reg r) {
  const Reg root = track(r).look.root == kNoReg ? r : track(r).look.root;
  const Bytes here = bytes(r);
  auto see = [&](Reg other) {
    Track& t = track(other);
    if (t.look.state != RegisterState::kUnwritten && t.look.state != RegisterState::kPartly && other != r) return;
    const Bytes there = bytes(other);
    const bool whole = other == r || (here.begin && here.holds(there));
    if (!whole && !here.overlaps(there)) return;
    t.look.state = whole ? RegisterState::kLive : RegisterState::kPartly;
    t.look.changed = t.written = clock_;
  };
  for (Reg other : family_[static_cast<size_t>(root)]) see(other);
  see(root);
  see(r);
  track(r).look.instruction = at_;
  track(r).look.native = false;
  written_.push_back(r);
}

void RegisterTrack::take(Reg r, Reg by) {
  RegisterLook& l = track(r).look;
  l.state = RegisterState::kTaken;
  l.by = by;
  l.changed = clock_;
}

/// Whoever reads a tensor reads all of it: the verifier has seen to it that it is written by then.
void RegisterTrack::proved_whole(const Instr& i) {
  if (i.op == Opcode::kTensorFree || i.op == Opcode::kTensorResize || i.op == Opcode::kTensorAlloc || (i.op == Opcode::kTensorView && view_kind(i) == ViewKind::kWindow)) return;
  if (i.op != Opcode::kOpCall && i.op != Opcode::kTensorCopy && i.op != Opcode::kTensorRead && i.op != Opcode::kReturn) return;
  for (Reg r : i.uses) {
    if (r == kNoReg) continue;
    if (RegisterLook& l = track(r).look; l.state == RegisterState::kPartly || l.state == RegisterState::kUnwritten) l.state = RegisterState::kLive;
  }
}

void RegisterTrack::ran(int32_t instruction) {
  step();
  at_ = instruction;
  ran_at_[static_cast<size_t>(instruction)] = clock_;
  const Instr& i = *frame_.function->instrs[static_cast<size_t>(instruction)];
  proved_whole(i);
  switch (i.op) {
    case Opcode::kTensorCreate:
      if (create_kind(i) == CreateKind::kInput) define(i.defs[0], RegisterState::kLive, kNoReg);
      else if (create_kind(i) == CreateKind::kNarrow) define_like(i.defs[0], i.uses[0]);
      else define(i.defs[0], RegisterState::kUnwritten, kNoReg);
      return;
    case Opcode::kTensorAlloc: define(i.defs[0], RegisterState::kUnwritten, kNoReg); return;
    case Opcode::kTensorFree:
      track(i.uses[0]).look.state = RegisterState::kFreed;
      track(i.uses[0]).look.changed = clock_;
      return;
    case Opcode::kTensorResize: {
      // Its metadata stay when it is moved away.
      const auto axis = static_cast<size_t>(i.imms[0]);
      const TensorMeta &from = tensor(i.uses[0]).meta, &to = tensor(i.defs[0]).meta;
      const RegisterState state = track(i.uses[0]).look.state;
      define(i.defs[0], state == RegisterState::kLive && to.shape[axis] > from.shape[axis] ? RegisterState::kPartly : state, kNoReg);
      take(i.uses[0], i.defs[0]);
      return;
    }
    case Opcode::kTensorView:
      if (!is_tensor(i.defs[0])) return define(i.defs[0], RegisterState::kLive, kNoReg);
      if (view_kind(i) == ViewKind::kWindow) define(i.defs[0], RegisterState::kUnwritten, track(i.uses[0]).look.root);
      else define_like(i.defs[0], i.uses[0]);
      return;
    case Opcode::kTensorCopy: write(i.outs[0]); return;
    case Opcode::kOpCall:
      for (Reg r : i.outs) {
        if (r == kNoReg) continue;
        if (std::find(i.defs.begin(), i.defs.end(), r) != i.defs.end()) define(r, RegisterState::kLive, kNoReg);
        else write(r);
      }
      return;
    case Opcode::kListMake:
    case Opcode::kListAppend:
      define(i.defs[0], RegisterState::kLive, kNoReg);
      for (Reg r : i.uses)
        if (r != i.defs[0]) take(r, i.defs[0]);
      return;
    default:
      for (Reg r : i.defs) define(r, RegisterState::kLive, kNoReg);
      return;
  }
}

void RegisterTrack::moved(BlockId block, int32_t by) {
  step();
  const Function& f = *frame_.function;
  struct Move {
    Reg to, source;
    Track track;
    int32_t at;
  };
  std::vector<Move> moves;  // of memory
  BlockId from = -1;
  int32_t at = f.facts->block_start[static_cast<size_t>(block)];
  for (const Instr& phi : f.source->blocks[static_cast<size_t>(block)].instrs) {
    if (!instr_info(phi.op).has(kPhi)) break;
    const Reg to = phi.defs[0];
    ran_at_[static_cast<size_t>(at_ = at++)] = clock_;
    if (!is_tensor(to) && f.list_slot[static_cast<size_t>(to)] == kNoSlot) {
      define(to, RegisterState::kLive, kNoReg);
      continue;
    }
    if (from < 0) from = f.block_of(by);
    const auto k = static_cast<size_t>(std::find(phi.targets.begin(), phi.targets.end(), from) - phi.targets.begin());
    const Reg source = k < phi.uses.size() ? phi.uses[k] : kNoReg;
    moves.push_back({to, source, source == kNoReg ? Track() : track(source), at_});
  }
  for (const Move& m : moves)
    if (m.source != kNoReg && m.source != m.to) take(m.source, m.to);
  for (const Move& m : moves) {
    at_ = m.at;
    const bool memory = m.source != kNoReg && is_tensor(m.to);
    define(m.to, memory ? m.track.look.state : RegisterState::kLive, kNoReg);
    if (!memory) continue;
    track(m.to).look.native = m.track.look.native;
    track(m.to).written = m.track.written;
  }
}

void RegisterTrack::ran_native(const RegionInfo& region, const RegionPlan& plan, const RegionState& state, std::span<const RegionPlan::Step> steps, int32_t failed) {
  const Function& f = *frame_.function;
  std::vector<uint8_t> tensors(f.num_tensors), scalars(f.initial_scalars.size()), calls(f.instrs.size());
  if (plan.repeatable) {
    for (const auto& [s, meta] : plan.tensors) tensors[static_cast<size_t>(s)] = 1;
    for (const auto& [s, value] : plan.scalars) scalars[static_cast<size_t>(s)] = 1;
  } else {
    for (Slot s : state.tensors) tensors[static_cast<size_t>(s)] = 1;
    for (Slot s : state.scalars) scalars[static_cast<size_t>(s)] = 1;
  }
  for (const RegionPlan::Step& s : steps) {
    calls[static_cast<size_t>(s.code->instr)] = 1;
    if (s.group < 0) continue;
    for (int32_t member : region.spec->groups[static_cast<size_t>(s.group)].members) calls[static_cast<size_t>(member)] = 1;
  }
  std::vector<std::pair<BlockId, int32_t>> entered;  // block, by which jump
  if (!plan.repeatable)
    for (const auto& [by, to] : state.edges)
      if (to >= 0) entered.emplace_back(to, by);
  std::vector<Reg> all;
  auto enter = [&](BlockId block) {
    const auto edge = std::find_if(entered.begin(), entered.end(), [&](const auto& e) { return e.first == block; });
    if (edge == entered.end()) return;
    moved(block, edge->second);
    all.insert(all.end(), written_.begin(), written_.end());
    entered.erase(edge);
  };
  BlockId block = -1;
  int32_t last = -1;
  for (int32_t k = region.begin + 1; k < region.end; ++k) {
    const int32_t at = f.code[static_cast<size_t>(k)].instr;
    if (at == last || at < 0 || at == failed) continue;
    last = at;
    if (const BlockId now = f.block_of(at); now != block) enter(block = now);
    const Instr& i = *f.instrs[static_cast<size_t>(at)];
    bool done = true;
    if (i.op == Opcode::kOpCall || i.op == Opcode::kTensorCopy) done = calls[static_cast<size_t>(at)];
    else if (!i.defs.empty() && is_tensor(i.defs[0])) done = tensors[static_cast<size_t>(slot(i.defs[0]))];
    else if (!i.defs.empty()) done = f.list_slot[static_cast<size_t>(i.defs[0])] != kNoSlot || scalars[static_cast<size_t>(i.defs[0])];
    else if (i.op == Opcode::kTensorFree && is_tensor(i.uses[0])) done = failed < 0 && std::find(plan.frees.begin(), plan.frees.end(), slot(i.uses[0])) != plan.frees.end();
    if (!done) continue;
    ran(at);
    all.insert(all.end(), written_.begin(), written_.end());
  }
  while (!entered.empty()) enter(entered.front().first);  // the block behind it
  for (const RegionPlan::Step& s : steps) {
    if (s.group < 0) continue;
    const RegionGroup& g = region.spec->groups[static_cast<size_t>(s.group)];
    for (int32_t member : g.members)
      for (Reg r : f.instrs[static_cast<size_t>(member)]->outs) {
        if (r == kNoReg) continue;
        RegisterLook& l = track(r).look;
        const bool stored = std::find(g.pointers.begin(), g.pointers.end(), r) != g.pointers.end();
        if (stored) {
          l.native = true;
        } else {
          l.state = RegisterState::kFused;
          l.instruction = g.members.back();
        }
      }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  written_ = std::move(all);
}

// In the arena, and where a call writes over its operand, memory changes hands without a word: the younger values are there.
RegisterLook RegisterTrack::look(Reg r) const {
  const Track& t = track(r);
  RegisterLook l = t.look;
  if (l.state != RegisterState::kLive || !is_tensor(r)) return l;
  const Bytes here = bytes(r);
  if (!here.begin) return l;
  uint64_t latest = std::max(t.written, t.defined);
  for (size_t k = 0; k < tracks_.size(); ++k) {
    const Track& other = tracks_[k];
    const auto o = static_cast<Reg>(k);
    if (other.written <= latest || o == r || !is_tensor(o) || other.look.root == l.root || other.look.state == RegisterState::kFused) continue;
    if (!bytes(o).overlaps(here)) continue;
    l.state = RegisterState::kTaken;
    l.by = o;
    latest = other.written;
    l.changed = std::max(l.changed, latest);
  }
  return l;
}

Reg RegisterTrack::reused_from(Reg r) const {
  const Track& t = track(r);
  if (!is_tensor(r) || t.look.state == RegisterState::kUnset || t.look.root != r) return kNoReg;
  const Instr& i = *frame_.function->instrs[static_cast<size_t>(t.look.instruction)];
  if (instr_info(i.op).has(kPhi)) return kNoReg;
  const Bytes here = bytes(r);
  Reg found = kNoReg;
  uint64_t latest = 0;
  for (size_t k = 0; here.begin && k < tracks_.size(); ++k) {
    const Track& other = tracks_[k];
    const auto o = static_cast<Reg>(k);
    if (o == r || !is_tensor(o) || other.look.root != o || other.defined >= t.defined || other.defined <= latest || !bytes(o).overlaps(here)) continue;
    if (other.look.state == RegisterState::kTaken && other.look.by == r && i.op != Opcode::kTensorAlloc) continue;  // it was moved, not used again
    found = o;
    latest = other.defined;
  }
  return found;
}

bool RegisterTrack::was_read(Reg r) const {
  const Function& f = *frame_.function;
  const uint64_t since = track(r).defined;
  if (since <= joined_) return true;  // maybe
  for (size_t k = 0; k < ran_at_.size(); ++k) {
    if (ran_at_[k] <= since) continue;
    const Instr& i = *f.instrs[k];
    bool reads = false;
    const auto function = static_cast<int32_t>(f.source - module_.functions.data());
    for_each_read(module_, function, i, [&](Reg x) { reads |= x == r; });
    auto in_type = [&](Reg x) {
      if (x == kNoReg) return;
      for (Dim d : f.source->regs[static_cast<size_t>(x)].type.tensor.shape)
        if (!d.is_const()) DimContext::for_each_symbol(d, [&](SymbolId s) {
          const SymbolInfo& info = module_.dims->symbol_info(s);
          reads |= info.is_register() && info.function == function && info.reg == r;
        });
    };
    for (Reg x : i.defs) in_type(x);
    for (Reg x : i.uses) in_type(x);
    for (Reg x : i.outs) in_type(x);
    if (reads) return true;
  }
  return false;
}

}  // namespace msvm::vm
