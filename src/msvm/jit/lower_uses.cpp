#include "msvm/jit/lower_uses.h"

#include <algorithm>
#include <numeric>

namespace msvm::jit::lowering {
namespace {

bool contains(std::span<const int32_t> members, int32_t i) { return std::binary_search(members.begin(), members.end(), i); }

/// The tensor whose storage the instruction's result shares, or kNoReg.
Reg shared(const Instr& x) {
  if (x.op == Opcode::kTensorView) return x.uses[0];
  if (x.op == Opcode::kTensorCreate && create_kind(x) == CreateKind::kNarrow) return x.uses[0];
  return kNoReg;
}

/// Row-major views whose elements, counted in the order of memory, are those of the source.
bool keeps_order(const FunctionView& v, const Instr& x) {
  if (x.op == Opcode::kTensorCreate) return true;
  if (view_kind(x) == ViewKind::kIdentity) return true;
  if (v.type(x.uses[0]).layout != Layout::kRowMajor || v.type(x.defs[0]).layout != Layout::kRowMajor) return false;
  return view_kind(x) == ViewKind::kReshape || view_kind(x) == ViewKind::kSqueeze || view_kind(x) == ViewKind::kUnsqueeze;
}

/// Whether the instruction looks at elements of its uses, not just at sizes or references.
bool reads_elements(const Instr& x) {
  switch (x.op) {
    case Opcode::kTensorView: case Opcode::kTensorCreate: case Opcode::kTensorAlloc: case Opcode::kTensorFree: case Opcode::kShapePropagate: return false;
    default: return true;
  }
}

}  // namespace

Uses::Uses(const FunctionView& view) : v_(view), root_(view.f.regs.size()), same_(view.f.regs.size()), touches_(view.f.regs.size()) {
  std::iota(root_.begin(), root_.end(), 0);
  std::iota(same_.begin(), same_.end(), 0);
  for (BlockId b : v_.cfg.reverse_post_order())  // sources come before their views
    for (int32_t k = v_.begin(b); k < v_.end(b); ++k) {
      const Instr& x = v_.at(k);
      const Reg source = shared(x);
      if (source == kNoReg || !v_.is_tensor(source)) continue;
      root_[static_cast<size_t>(x.defs[0])] = root(source);
      if (keeps_order(v_, x)) same_[static_cast<size_t>(x.defs[0])] = same_elements(source);
    }
  for (size_t k = 0; k < v_.instrs.size(); ++k) {
    const Instr& x = v_.at(static_cast<int32_t>(k));
    auto touch = [&](Reg r, bool writes) {
      if (v_.is_tensor(r)) touches_[static_cast<size_t>(root(r))].push_back({static_cast<int32_t>(k), writes});
    };
    if (reads_elements(x))
      for (Reg r : x.uses) touch(r, false);
    for (Reg r : x.outs) touch(r, true);
  }
}

bool Uses::read_outside(Reg root, std::span<const int32_t> members) const {
  return std::any_of(touches(root).begin(), touches(root).end(), [&](const Touch& t) { return !t.writes && !contains(members, t.instruction); });
}

int32_t Uses::obstacle(std::span<const int32_t> members) const {
  const int32_t place = members.back();
  int32_t first = -1;
  auto look = [&](Reg r, int32_t from, bool writes) {
    if (r == kNoReg || !v_.is_tensor(r)) return;
    const auto list = touches(root(r));
    for (auto t = std::upper_bound(list.begin(), list.end(), from, [](int32_t i, const Touch& x) { return i < x.instruction; }); t != list.end() && t->instruction < place; ++t)
      if (t->writes == writes && !contains(members, t->instruction)) {
        if (first < 0 || t->instruction < first) first = t->instruction;
        return;
      }
  };
  for (int32_t m : members) {
    for (Reg r : v_.at(m).outs) look(r, m, false);  // whatever else writes there is another window: the verifier proved it
    for (Reg r : v_.at(m).uses) look(r, m, true);
  }
  return first;
}

}  // namespace msvm::jit::lowering
