#include "msvm/opt/last_use.h"

namespace msvm::opt {

bool LastUse::is(Reg r, const Node& call) {
  Reg source = r;
  for (;;) {
    const Node* d = g_.def(source);
    if (!d) return false;
    const bool passes_on = (d->instr.op == Opcode::kTensorView && view_kind(d->instr) != ViewKind::kWindow) || (d->instr.op == Opcode::kTensorCreate && create_kind(d->instr) == CreateKind::kNarrow);
    if (!passes_on) break;
    source = d->instr.uses[0];
  }
  const Node& made = *g_.def(source);
  const Opcode op = made.instr.op;
  const bool own = op == Opcode::kTensorAlloc ? g_.writer(source) != nullptr : op == Opcode::kOpCall || (op == Opcode::kTensorPhi && g_.reg_type(source).kind == RegKind::kTensor);
  if (!own || g_.type(source).filled) return false;
  from_ = call.block;
  definition_ = made.block;
  reached_.clear();
  size_t seen = 0;
  return (from_ == definition_ || !reached(from_)) && readers_end(source, call, seen);
}

bool LastUse::readers_end(Reg r, const Node& call, size_t& seen) {
  for (const Node* n : g_.readers(r)) {
    const Instr& i = n->instr;
    if (n == &call) {
      if (++seen > 1) return false;
      continue;
    }
    const bool window = i.op == Opcode::kTensorView && view_kind(i) == ViewKind::kWindow;
    if (window || i.op == Opcode::kTensorResize || i.op == Opcode::kListMake || i.op == Opcode::kListAppend) return false;
    if (i.op == Opcode::kTensorPhi) {
      for (size_t k = 0; k < i.uses.size(); ++k)
        if (i.uses[k] == r && (i.targets[k] == call.block || reached(i.targets[k]))) return false;
      continue;
    }
    if (n->block == call.block ? !g_.before(*n, call) : reached(n->block)) return false;
    const bool view = i.op == Opcode::kTensorView || i.op == Opcode::kTensorCreate;
    if (view && !readers_end(i.defs[0], call, seen)) return false;
  }
  return true;
}

/// Whether the block can follow the call with the value of this round: without passing its definition again.
bool LastUse::reached(BlockId block) {
  if (reached_.empty()) {
    reached_.assign(g_.num_blocks(), 0);
    std::vector<BlockId> work{from_};
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      for (BlockId s : g_.cfg().successors(b)) {
        if (s == definition_ || reached_[static_cast<size_t>(s)]) continue;
        reached_[static_cast<size_t>(s)] = 1;
        work.push_back(s);
      }
    }
  }
  return reached_[static_cast<size_t>(block)] != 0;
}

}  // namespace msvm::opt
