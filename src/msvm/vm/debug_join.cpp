// A debugger that comes in the middle of a run: what registers hold then.
#include <algorithm>

#include "msvm/bytecode/cfg.h"
#include "msvm/vm/debug_track.h"

namespace msvm::vm {

/// By register: it is read, and nothing ever writes into it. So it had all its values when it came to be: whoever reads a tensor reads all of it.
std::vector<uint8_t> RegisterTrack::whole_from_the_start() const {
  const auto& instrs = frame_.function->instrs;
  std::vector<uint8_t> read(tracks_.size()), into(tracks_.size());
  auto mark = [](std::vector<uint8_t>& set, Reg r) {
    if (r != kNoReg) set[static_cast<size_t>(r)] = 1;
  };
  for (auto at = instrs.rbegin(); at != instrs.rend(); ++at) {  // a view comes behind what it looks at
    const Instr& i = **at;
    for (Reg r : i.outs) mark(into, r);
    if (i.op == Opcode::kTensorView && is_tensor(i.defs[0]) && (view_kind(i) == ViewKind::kWindow || into[static_cast<size_t>(i.defs[0])])) mark(into, i.uses[0]);
    if (i.op == Opcode::kOpCall || i.op == Opcode::kTensorCopy || i.op == Opcode::kTensorRead || i.op == Opcode::kReturn)
      for (Reg r : i.uses) mark(read, r);
  }
  for (size_t r = 0; r < read.size(); ++r) read[r] = read[r] && !into[r];
  return read;
}

void RegisterTrack::ran_surely(BlockId block, int32_t end, const std::vector<uint8_t>& whole) {
  const Function& f = *frame_.function;
  int32_t at = f.facts->block_start[static_cast<size_t>(block)];
  for (const Instr& i : f.source->blocks[static_cast<size_t>(block)].instrs) {
    if (at >= end) return;
    if (!instr_info(i.op).has(kPhi)) {
      ran(at++);
      continue;
    }
    // Where it came from isn't known: any of them may have lost its list.
    step();
    at_ = at;
    ran_at_[static_cast<size_t>(at++)] = clock_;
    const Reg r = i.defs[0];
    for (Reg source : i.uses)
      if (source != kNoReg && source != r && f.list_slot[static_cast<size_t>(source)] != kNoSlot) track(source).look.state = RegisterState::kUnset;
    define(r, !is_tensor(r) || whole[static_cast<size_t>(r)] ? RegisterState::kLive : RegisterState::kPartly, kNoReg);
  }
}

/// What it may have done to others. Its own registers stay unset, but memory that they lie in may be theirs.
void RegisterTrack::ran_maybe(BlockId block, int32_t begin) {
  const Function& f = *frame_.function;
  int32_t at = f.facts->block_start[static_cast<size_t>(block)];
  step();
  for (const Instr& i : f.source->blocks[static_cast<size_t>(block)].instrs) {
    if (at++ < begin) continue;
    for (Reg r : i.defs) track(r).written = clock_;
    for (Reg r : i.outs) {
      if (r == kNoReg) continue;
      const Reg root = track(r).look.root == kNoReg ? r : track(r).look.root;
      auto see = [&](Reg x) {
        RegisterLook& l = track(x).look;
        if (l.state == RegisterState::kUnwritten) l.state = RegisterState::kPartly;
      };
      see(r);
      see(root);
      for (Reg x : family_[static_cast<size_t>(root)]) see(x);
      track(r).written = clock_;
    }
    for (Reg r : i.uses)
      if (r != kNoReg && f.list_slot[static_cast<size_t>(r)] != kNoSlot && (instr_info(i.op).has(kPhi) || i.op == Opcode::kListMake || i.op == Opcode::kListAppend))
        track(r).look.state = RegisterState::kUnset;
  }
}

// Blocks that dominate this one have run, the last time each in that order. Others lie behind the last of these that the way from them to here may leave out.
void RegisterTrack::join(int32_t next) {
  const Function& f = *frame_.function;
  const ControlFlow flow(*f.source);
  const BlockId here = f.block_of(next);
  std::vector<BlockId> chain;
  for (BlockId b = here; b >= 0; b = flow.immediate_dominator(b)) chain.push_back(b);
  std::reverse(chain.begin(), chain.end());
  const std::vector<uint8_t> whole = whole_from_the_start();
  std::vector<std::vector<BlockId>> behind(chain.size());
  std::vector<uint8_t> seen(f.source->blocks.size()), surely(seen.size());
  for (BlockId b : chain) surely[static_cast<size_t>(b)] = 1;
  for (size_t k = chain.size() - 1; k-- > 0;) {
    std::vector<BlockId> ways{chain[k + 1]};
    while (!ways.empty()) {
      const BlockId b = ways.back();
      ways.pop_back();
      for (BlockId p : flow.predecessors(b)) {
        if (p == chain[k] || !flow.reachable(p) || seen[static_cast<size_t>(p)]) continue;
        seen[static_cast<size_t>(p)] = 1;
        behind[k].push_back(p);
        ways.push_back(p);
      }
    }
  }
  for (size_t k = 0; k < chain.size(); ++k) {
    const bool last = chain[k] == here;
    ran_surely(chain[k], last ? next : INT32_MAX, whole);
    for (BlockId b : behind[k])
      if (b == here) ran_maybe(b, next);
      else if (!surely[static_cast<size_t>(b)]) ran_maybe(b, 0);
  }
  auto unset = [&](Reg r) { track(r).look.state = RegisterState::kUnset; };
  // Native code may have had it in passing.
  for (const RegionInfo& region : f.regions)
    for (const RegionGroup& g : region.spec->groups)
      for (int32_t member : g.members)
        for (Reg r : f.instrs[static_cast<size_t>(member)]->outs) {
          if (r == kNoReg || std::find(g.pointers.begin(), g.pointers.end(), r) != g.pointers.end()) continue;
          unset(r);
          for (Reg view : family_[static_cast<size_t>(r)]) unset(view);
        }
  // Dropped or moved away, wherever that was.
  for (size_t k = 0; k < tracks_.size(); ++k) {
    const auto r = static_cast<Reg>(k);
    const RegisterState state = track(r).look.state;
    if (is_tensor(r) && state != RegisterState::kFreed && state != RegisterState::kTaken && !tensor(r).storage) unset(r);
  }
  step();
  joined_ = clock_;
}

}  // namespace msvm::vm
