// Size expressions become code where they are first needed in a block; results and inputs bind symbols and are compared with
// their declared types.
#include <algorithm>

#include "msvm/vm/decoder.h"

namespace msvm::vm {

// --- expressions -------------------------------------------------------------------------------------------------------

Slot Decoder::symbol_slot(SymbolId s) {
  const SymbolInfo& info = module_.dims->symbol_info(s);
  if (target_ == Target::kPlan && info.is_register()) {  // before the first instruction: what the register will hold
    const auto r = static_cast<size_t>(info.reg);
    if (scalar_input_of_[r] >= 0) return scalar_input_slot(scalar_input_of_[r]);
    return slot_of(out_.facts->reg_value[r]);
  }
  Slot& slot = symbol_slot_[s];
  if (slot == kNoSlot) slot = info.is_register() ? info.reg : new_slot();
  return slot;
}

Slot Decoder::slot_of(Dim d) {
  if (d.is_const()) return constant_slot(d.value());
  if (d.is_symbol()) return symbol_slot(d.symbol());
  if (auto it = block_memo_.find(d.key()); it != block_memo_.end()) return it->second;
  if (target_ == Target::kCode)
    if (auto it = entry_memo_.find(d.key()); it != entry_memo_.end()) return it->second;
  const Slot s = compute(d);
  current_memo()[d.key()] = s;
  if (log_) log_->push_back(d.key());
  return s;
}

Slot Decoder::emit_binary(Op op, Slot a, Slot b) {
  const Slot t = new_slot();
  emit({.op = op, .a = t, .b = a, .c = b});
  return t;
}

Slot Decoder::compute(Dim d) {
  const DimNode& n = *d.node();
  auto binary = [&](Op op) {
    const Slot a = slot_of(n.a), b = slot_of(n.b);
    return emit_binary(op, a, b);
  };
  switch (n.op) {
    case DimOp::kSum: {
      Slot sum = kNoSlot;
      for (const DimTerm& t : n.terms) {
        Slot p = slot_of(t.factors[0]);
        for (size_t i = 1; i < t.factors.size(); ++i) {
          const Slot factor = slot_of(t.factors[i]);
          p = emit_binary(Op::kMul, p, factor);
        }
        if (t.coefficient != 1) p = emit_binary(Op::kMul, p, constant_slot(t.coefficient));
        sum = sum == kNoSlot ? p : emit_binary(Op::kAdd, sum, p);
      }
      return n.constant ? emit_binary(Op::kAdd, sum, constant_slot(n.constant)) : sum;
    }
    case DimOp::kFloorDiv: return binary(Op::kFloorDiv);
    case DimOp::kCeilDiv: return binary(Op::kCeilDiv);
    case DimOp::kMod: return binary(Op::kMod);
    case DimOp::kMin: return binary(Op::kMin);
    case DimOp::kMax: return binary(Op::kMax);
    case DimOp::kBroadcast: return binary(Op::kBroadcastDim);
    case DimOp::kBigConst: return constant_slot(n.constant);
    case DimOp::kSymbol: return symbol_slot(n.symbol);
  }
  return kNoSlot;
}

std::vector<int32_t> Decoder::slots_of(const std::vector<Dim>& dims) {
  std::vector<int32_t> s;
  for (Dim d : dims) s.push_back(slot_of(d));
  return s;
}

// --- entry: sizes of the inputs bind symbols ---------------------------------------------------------------------------

// First bare occurrence, then a*s + b by exact division; everything else is compared.
void Decoder::plan_entry() {
  target_ = Target::kEntry;
  entry_bound_.assign(module_.dims->num_symbols(), 0);
  struct Place {
    int32_t input, axis;
    Dim d;
  };
  auto add = [&](const Place& p, MatchStep step) {
    step.axis = p.axis;
    out_.entry_code_at.push_back(static_cast<int32_t>(out_.entry_code.size()));
    out_.entry_matches.push_back({p.input, step});
  };
  auto bind = [&](const Place& p, SymbolId s, int64_t scale, int64_t offset) {
    entry_bound_[s] = 1;
    add(p, {.bind = symbol_slot(s), .scale = scale, .offset = offset, .symbol = s});
  };
  std::vector<Place> rest, checks;
  for (size_t k = 0; k < f_.inputs.size(); ++k) {
    const RegType& t = f_.inputs[k].type;
    if (t.kind != RegKind::kTensor) continue;
    for (int a = 0; a < t.tensor.rank(); ++a) {
      const Place p{static_cast<int32_t>(k), a, t.tensor.shape[static_cast<size_t>(a)]};
      if (p.d.is_symbol() && !entry_bound_[p.d.symbol()]) bind(p, p.d.symbol(), 1, 0);
      else rest.push_back(p);
    }
  }
  for (const Place& p : rest) {
    const DimNode* n = p.d.node();
    const bool linear = n && n->op == DimOp::kSum && n->terms.size() == 1 && n->terms[0].factors.size() == 1 && n->terms[0].factors[0].is_symbol();
    if (linear && !entry_bound_[n->terms[0].factors[0].symbol()]) bind(p, n->terms[0].factors[0].symbol(), n->terms[0].coefficient, n->constant);
    else checks.push_back(p);
  }
  for (const Place& p : checks) {
    const Slot s = slot_of(p.d);
    add(p, {.equal = s});
  }
  target_ = Target::kCode;
  block_memo_.clear();
}

// --- results bind symbols ----------------------------------------------------------------------------------------------

bool Decoder::may_bind(const Instr& i) {
  return i.op == Opcode::kOpCall || i.op == Opcode::kTensorPhi || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kNarrow);
}

/// Which instruction's result type gives each further named symbol its value: dominators come first in this order.
void Decoder::find_binders() {
  binder_.assign(module_.dims->num_symbols(), -1);
  std::vector<uint8_t> bound = entry_bound_;
  for (BlockId b : cfg_.reverse_post_order()) {
    int32_t at = first_[static_cast<size_t>(b)];
    for (const Instr& i : f_.blocks[static_cast<size_t>(b)].instrs) {
      if (may_bind(i))
        for (Reg d : i.defs) {
          if (type(d).kind != RegKind::kTensor) continue;
          for (Dim x : type(d).tensor.shape)
            if (x.is_symbol() && !module_.dims->symbol_info(x.symbol()).is_register() && !bound[x.symbol()]) {
              bound[x.symbol()] = 1;
              binder_[x.symbol()] = at;
            }
        }
      ++at;
    }
  }
}

/// Whether that size of result `r` of instruction `at` gives its symbol the value: the first one of all results.
bool Decoder::binds_here(Reg r, int axis, int32_t at) const {
  const Dim d = type(r).tensor.shape[static_cast<size_t>(axis)];
  if (!d.is_symbol() || binder_[d.symbol()] != at) return false;
  for (Reg o : out_.instrs[static_cast<size_t>(at)]->defs) {
    if (type(o).kind != RegKind::kTensor) continue;
    const auto& shape = type(o).tensor.shape;
    const auto it = std::find(shape.begin(), shape.end(), d);
    if (it != shape.end()) return o == r && it - shape.begin() == axis;
  }
  return false;
}

void Decoder::emit_match(std::vector<MatchStep> steps, Reg r, bool even_if_empty) {
  if (steps.empty() && !even_if_empty) return;
  out_.match_lists.push_back(std::move(steps));
  emit({.op = Op::kMatch, .a = tensor(r), .b = static_cast<int32_t>(out_.match_lists.size()) - 1});
}

/// Checks the rank, where only the run knows it, and binds.
void Decoder::emit_binds(Reg r, int32_t at) {
  const TensorType& t = type(r).tensor;
  const bool is_phi = out_.instrs[static_cast<size_t>(at)]->op == Opcode::kTensorPhi;
  std::vector<MatchStep> steps;
  for (int a = 0; a < t.rank(); ++a)
    if (binds_here(r, a, at)) {
      const SymbolId s = t.shape[static_cast<size_t>(a)].symbol();
      steps.push_back({.axis = a, .bind = symbol_slot(s), .symbol = s});
    }
  emit_match(std::move(steps), r, !is_phi);
}

/// The size stands alike in the types of all inputs, and the block's PHIs don't change what it means.
bool Decoder::same_on_all_edges(const Instr& phi, int axis) const {
  const Dim d = type(phi.defs[0]).tensor.shape[static_cast<size_t>(axis)];
  for (Reg r : phi.uses)
    if (type(r).tensor.rank() <= axis || !(type(r).tensor.shape[static_cast<size_t>(axis)] == d)) return false;
  bool same = true;
  if (!d.is_const()) DimContext::for_each_symbol(d, [&](SymbolId s) { same = same && phi_symbols_.count(s) == 0; });
  return same;
}

/// Everything that isn't bound here.
void Decoder::emit_size_checks(Reg r, int32_t at) {
  const TensorType& t = type(r).tensor;
  const Instr& i = *out_.instrs[static_cast<size_t>(at)];
  std::vector<MatchStep> steps;
  for (int a = 0; a < t.rank(); ++a)
    if (!binds_here(r, a, at) && !(i.op == Opcode::kTensorPhi && same_on_all_edges(i, a))) {
      const Slot s = slot_of(t.shape[static_cast<size_t>(a)]);
      steps.push_back({.axis = a, .equal = s});
    }
  emit_match(std::move(steps), r, false);
}

/// Conditions that the verifier couldn't prove.
void Decoder::emit_checks(int32_t at, bool after) {
  const auto& checks = out_.facts->checks;
  auto it = std::lower_bound(checks.begin(), checks.end(), at, [](const RuntimeCheck& c, int32_t i) { return c.instruction < i; });
  for (; it != checks.end() && it->instruction == at; ++it) {
    if (it->after != after) continue;
    const Slot a = slot_of(it->condition.a), b = slot_of(it->condition.b);
    emit({.op = Op::kCheck, .flags = static_cast<uint8_t>(it->condition.op), .b = a, .c = b, .d = static_cast<int32_t>(it - checks.begin())});
  }
}

}  // namespace msvm::vm
