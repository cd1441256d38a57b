// Group 3, RETURN: a result is a dense tensor that alone owns its whole storage. Everything else was dropped by then, so it is
// enough that its storage can't be an input's, a constant's or a list element's, and that no other result may share it.
#include <fmt/format.h>

#include <algorithm>

#include "msvm/verify/memory.h"

namespace msvm::verification {

Reg Memory::find(Reg r) {
  while (class_[r] != r) r = class_[r] = class_[class_[r]];
  return r;
}

void Memory::note_aliases(const Instr& x) {
  auto join = [&](Reg a, Reg b) { class_[find(a)] = find(b); };
  switch (x.op) {
    case Opcode::kTensorCreate:
      if (create_kind(x) == CreateKind::kInput) foreign_[x.defs[0]] = 1;
      if (create_kind(x) == CreateKind::kNarrow) {
        join(x.defs[0], x.uses[0]);
        partial_[x.defs[0]] = partial_[x.uses[0]];
      }
      return;
    case Opcode::kTensorConst:
    case Opcode::kListGet: foreign_[x.defs[0]] = 1; return;
    case Opcode::kTensorResize: return join(x.defs[0], x.uses[0]);
    case Opcode::kTensorView: {
      join(x.defs[0], x.uses[0]);
      const ViewKind k = view_kind(x);
      const bool whole = k == ViewKind::kIdentity || k == ViewKind::kReshape || k == ViewKind::kSqueeze || k == ViewKind::kUnsqueeze;
      partial_[x.defs[0]] = !whole || partial_[x.uses[0]];
      return;
    }
    case Opcode::kTensorPhi:
      for (Reg r : x.uses) {
        join(x.defs[0], r);
        phi_uses_.push_back({r, x.defs[0]});
      }
      return;
    case Opcode::kTensorAlloc: case Opcode::kTensorFree: case Opcode::kTensorCopy: case Opcode::kTensorRead: case Opcode::kScalarPhi:
    case Opcode::kScalarInput: case Opcode::kShapePropagate: case Opcode::kShapeCalc: case Opcode::kScalarConst: case Opcode::kScalarCalc:
    case Opcode::kShapeAssert: case Opcode::kOpCall: case Opcode::kListMake: case Opcode::kListAppend: case Opcode::kListLength:
    case Opcode::kJump: case Opcode::kBranchIf: case Opcode::kSwitch: case Opcode::kReturn: case Opcode::kTrap: return;
  }
}

namespace {
bool borrows(const Instr& x) { return x.op == Opcode::kTensorConst || (x.op == Opcode::kTensorCreate && create_kind(x) == CreateKind::kInput); }
}  // namespace

void Memory::finish() {
  if (disabled_ || returned_.empty()) return;
  // Views of a part reach RETURN through PHIs, and through what is made of them afterwards.
  std::vector<Reg> work;
  std::vector<std::vector<Reg>> flows(phi_uses_.empty() ? 0 : c_.f.regs.size());
  if (!phi_uses_.empty()) {
    for (auto [from, to] : phi_uses_) flows[from].push_back(to);
    for (const Instr* x : c_.instrs)
      if ((x->op == Opcode::kTensorView || (x->op == Opcode::kTensorCreate && create_kind(*x) == CreateKind::kNarrow)) && !x->uses.empty() && !x->defs.empty())
        flows[x->uses[0]].push_back(x->defs[0]);
    for (size_t r = 0; r < partial_.size(); ++r)
      if (partial_[r]) work.push_back(static_cast<Reg>(r));
    while (!work.empty()) {
      const Reg r = work.back();
      work.pop_back();
      for (Reg to : flows[r])
        if (!partial_[to]) {
          partial_[to] = 1;
          work.push_back(to);
        }
    }
  }
  for (size_t r = 0; r < foreign_.size(); ++r)
    if (foreign_[r]) foreign_[find(static_cast<Reg>(r))] = 1;
  ++round_;
  int32_t current = -1;
  for (auto [at, r] : returned_) {
    if (at != current) ++round_;
    current = at;
    const Reg root = find(r);
    const TensorType& t = c_.declared(r);
    const char* problem = foreign_[root] ? "may share storage with an input, a constant or a list"
                          : partial_[r] ? "may be a view of a part"
                          : t.strided && !t.unknown_rank ? "isn't certainly dense"
                          : mark_[root] == round_ ? "may share storage with another result"
                                                  : nullptr;
    mark_[root] = round_;
    if (!problem) continue;
    const size_t fresh = c_.f.regs.size();
    TensorType copy = t;
    copy.strided = false;
    copy.filled.reset();
    Edits edits;
    if (!t.unknown_rank) {
      edits = dense_copy(c_, at, r, fresh, copy);
      // What RETURN no longer takes is dropped; what it takes twice still goes once.
      const auto& uses = c_.at(at).uses;
      if (!borrows(c_.at(c_.def[r])) && std::count(uses.begin(), uses.end(), r) == 1) edits.push_back(free_before(at, r));
    }
    c_.error(Rule::kReturnWhole, at, {fmt::format("R{} can't be returned: it {}", r, problem), "a dense tensor that alone owns its whole storage", c_.origin(r),
                                      t.unknown_rank ? fmt::format("insert before instruction {}:  OP_CALL Identity(R{}) -> new R{}: {}, and return that", at, r, fresh, to_string(copy, c_.dims))
                                                     : fmt::format("insert before instruction {}:  R{} = TENSOR_ALLOC {}  and  TENSOR_COPY R{} -> R{}, and return that", at, fresh, to_string(copy, c_.dims), r, fresh),
                                      std::move(edits)});
  }
}

}  // namespace msvm::verification
