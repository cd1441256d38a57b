// PHIs become moves on edges. What a PHI takes as an expression is computed before the moves; where a block has several
// successors, only on the way to the one that needs it, since it may fail there.
#include <algorithm>
#include <unordered_map>

#include "msvm/vm/decoder.h"

namespace msvm::vm {

Slot Decoder::temporary(PhiMove::Kind kind) {
  Slot& t = temporaries_[kind];
  if (t != kNoSlot) return t;
  switch (kind) {
    case PhiMove::kScalar: t = new_slot(); break;
    case PhiMove::kTensor:
      t = static_cast<Slot>(out_.num_tensors++);
      out_.tensor_reg.push_back(kNoReg);
      break;
    case PhiMove::kList: t = static_cast<Slot>(out_.num_lists++); break;
  }
  return t;
}

/// The parallel moves as a sequence: a slot is overwritten once nothing reads it any more; rings go through a temporary.
std::vector<PhiMove> Decoder::ordered(std::vector<PhiMove> moves) {
  std::erase_if(moves, [](const PhiMove& m) { return m.from == m.to; });
  auto key = [](PhiMove::Kind kind, Slot s) { return static_cast<int64_t>(kind) << 32 | static_cast<uint32_t>(s); };
  std::unordered_map<int64_t, int32_t> readers;  // of a slot, among the moves that wait
  std::unordered_map<int64_t, size_t> writer;    // of a slot
  for (size_t k = 0; k < moves.size(); ++k) {
    ++readers[key(moves[k].kind, moves[k].from)];
    writer[key(moves[k].kind, moves[k].to)] = k;
  }
  std::vector<PhiMove> out;
  std::vector<uint8_t> done(moves.size());
  std::vector<size_t> ready;
  for (size_t k = 0; k < moves.size(); ++k)
    if (!readers.contains(key(moves[k].kind, moves[k].to))) ready.push_back(k);
  auto drain = [&] {
    while (!ready.empty()) {
      const size_t k = ready.back();
      ready.pop_back();
      done[k] = 1;
      out.push_back(moves[k]);
      const int64_t from = key(moves[k].kind, moves[k].from);
      if (--readers[from] > 0) continue;
      if (auto w = writer.find(from); w != writer.end() && !done[w->second]) ready.push_back(w->second);
    }
  };
  drain();
  for (size_t k = 0; k < moves.size(); ++k) {
    if (done[k]) continue;
    // What is left are rings: every slot has one reader and one writer. Its writer comes first, its reader takes the copy.
    const Slot t = temporary(moves[k].kind);
    const int64_t from = key(moves[k].kind, moves[k].from);
    out.push_back({moves[k].kind, moves[k].from, t});
    moves[k].from = t;
    readers[key(moves[k].kind, t)] = 1;
    ready.push_back(writer[from]);
    drain();
  }
  return out;
}

/// Which operand each PHI of `to` takes when control comes from `from`.
const std::vector<uint32_t>& Decoder::phi_operands(BlockId from, BlockId to) {
  const auto& preds = cfg_.predecessors(to);
  auto [it, fresh] = phi_operands_.try_emplace(to);
  if (fresh) {
    it->second.resize(preds.size());
    for (const Instr& phi : f_.blocks[static_cast<size_t>(to)].instrs) {
      if (!instr_info(phi.op).has(kPhi)) break;
      for (size_t k = 0; k < phi.targets.size(); ++k)
        it->second[static_cast<size_t>(std::lower_bound(preds.begin(), preds.end(), phi.targets[k]) - preds.begin())].push_back(static_cast<uint32_t>(k));
    }
  }
  return it->second[static_cast<size_t>(std::lower_bound(preds.begin(), preds.end(), from) - preds.begin())];
}

int32_t Decoder::edge(BlockId from, BlockId to) {
  Edge e;
  e.block = to;
  e.instructions = static_cast<int32_t>(f_.blocks[static_cast<size_t>(to)].instrs.size());
  e.back = cfg_.is_back_edge(from, to);
  std::vector<PhiMove> moves;
  const std::vector<uint32_t>& positions = phi_operands(from, to);
  for (const Instr& phi : f_.blocks[static_cast<size_t>(to)].instrs) {
    if (!instr_info(phi.op).has(kPhi)) break;
    const size_t k = positions[moves.size()];
    const Reg d = phi.defs[0];
    if (phi.op == Opcode::kScalarPhi) moves.push_back({PhiMove::kScalar, phi.dims.empty() ? phi.uses[k] : slot_of(phi.dims[k]), d});
    else if (is_list(d)) moves.push_back({PhiMove::kList, list(phi.uses[k]), list(d)});
    else moves.push_back({PhiMove::kTensor, tensor(phi.uses[k]), tensor(d)});
  }
  e.moves = ordered(std::move(moves));
  out_.edges.push_back(std::move(e));
  return static_cast<int32_t>(out_.edges.size()) - 1;
}

void Decoder::decode_branch(BlockId from, const Instr& i) {
  const bool branch = i.op == Opcode::kBranchIf;
  const Slot value = branch ? i.uses[0] : slot_of(i.dims[0]);
  const size_t at = out_.code.size();
  emit({.op = branch ? Op::kBranch : Op::kSwitch, .b = value});
  std::unordered_map<BlockId, int32_t> made;
  std::vector<int32_t> edges;
  for (BlockId to : i.targets) {
    auto [it, fresh] = made.try_emplace(to, -1);
    if (fresh) {
      const auto stub = static_cast<int32_t>(out_.code.size());
      std::vector<uintptr_t> computed;
      log_ = &computed;
      const int32_t e = edge(from, to);
      log_ = nullptr;
      it->second = e;
      if (static_cast<int32_t>(out_.code.size()) > stub) {
        emit({.op = Op::kEdge, .a = e});
        it->second = static_cast<int32_t>(out_.edges.size());
        out_.edges.push_back({.target = stub});
        for (uintptr_t key : computed) current_memo().erase(key);  // only the stub has it
      }
    }
    edges.push_back(it->second);
  }
  Code& c = out_.code[at];
  if (branch) {
    c.a = edges[0];
    c.c = edges[1];
  } else {
    c.n = count(edges.size());
    c.c = add_extra(edges);
  }
}

}  // namespace msvm::vm
