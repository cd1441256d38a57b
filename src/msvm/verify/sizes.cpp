#include "msvm/verify/sizes.h"

#include <fmt/format.h>

namespace msvm::verification {

Sizes::Sizes(Context& c) : c_(c), store_(c.dims) {
  const size_t regs = c.f.regs.size();
  types_.assign(regs, nullptr);
  c.facts.reg_value.assign(regs, Dim());
  reg_symbol_.assign(regs, kNoSymbol);
  for (auto [reg, symbol] : c.tables.register_symbols[c.index]) reg_symbol_[reg] = symbol;
  for (size_t r = 0; r < regs; ++r)
    if (c.f.regs[r].type.kind == RegKind::kTensor) types_[r] = &c.f.regs[r].type.tensor;
}

void Sizes::learn(const DimCondition& fact) {
  constexpr size_t kMaxEqualities = 4096, kMaxOthers = 1024;
  size_t& count = fact.op == CondOp::kEq ? equalities_ : others_;
  if (count >= (fact.op == CondOp::kEq ? kMaxEqualities : kMaxOthers)) return;
  ++count;
  store_.add(fact);
}

void Sizes::rollback(const Mark& m) {
  store_.rollback(m.store);
  equalities_ = m.equalities;
  others_ = m.others;
}

Dim Sizes::canonical(Dim d) {
  const DimNode* n = d.node();
  if (!n || n->symbol_mask == 0) return d;
  if (n->id >= memo_.size()) memo_.resize(n->id + 1 + memo_.size() / 2);
  if (memo_[n->id].valid()) return memo_[n->id];
  Dim v = c_.dims.substitute(d, [&](SymbolId s) {
    const SymbolInfo& info = c_.dims.symbol_info(s);
    return info.is_register() ? value(info.reg) : Dim();
  });
  // What grows beyond the limits of expressions stays as it is written.
  return memo_[n->id] = v.valid() ? v : d;
}

void Sizes::set_type(Reg r) {
  const TensorType& t = c_.declared(r);
  auto same = [&](Dim d) { return canonical(d) == d; };
  bool unchanged = true;
  for (Dim d : t.shape) unchanged &= same(d);
  if (t.filled) unchanged &= same(t.filled->from) && same(t.filled->to);
  if (unchanged) return;
  TensorType& made = made_.emplace_back(t);
  for (Dim& d : made.shape) d = canonical(d);
  if (made.filled) {
    made.filled->from = canonical(made.filled->from);
    made.filled->to = canonical(made.filled->to);
  }
  types_[r] = &made;
}

Dim Sizes::own_symbol(Reg r) {
  if (reg_symbol_[r] == kNoSymbol) reg_symbol_[r] = register_dim(c_.module, c_.index, r).symbol();
  return c_.dims.symbol(reg_symbol_[r]);
}

void Sizes::set_opaque(Reg r) { set_value(r, own_symbol(r)); }

/// Sizes that agree only where one of them is 0, as h and 2*h do: nobody means that.
bool Sizes::agree_only_when_empty(Dim a, Dim b) const {
  if (a.is_const() || b.is_const()) return false;
  const Dim difference = c_.dims.sub(a, b);
  const DimNode* n = difference.node();
  if (!n || n->op == DimOp::kBigConst) return false;
  auto positive_or_zero = [&](Dim d) { return store_.range(d).min >= 0; };
  if (n->op != DimOp::kSum) return positive_or_zero(difference);
  if (n->constant != 0) return false;
  for (const DimTerm& t : n->terms) {
    if ((t.coefficient > 0) != (n->terms[0].coefficient > 0)) return false;
    for (Dim f : t.factors)
      if (!positive_or_zero(f)) return false;
  }
  return true;
}

Answer Sizes::settle_on_edge(const DimCondition& q) {
  Answer a = !q.a.valid() || !q.b.valid() ? Answer::kUnknown : q.op == CondOp::kEq && q.a == q.b ? Answer::kProved : store_.ask(q);
  if (a == Answer::kUnknown && q.op == CondOp::kEq && q.a.valid() && q.b.valid() && agree_only_when_empty(q.a, q.b)) a = Answer::kRefuted;
  // Where the facts contradict each other nothing runs: whatever is checked there is checked in vain.
  if (a == Answer::kRefuted && store_.contradiction()) a = Answer::kUnknown;
  if (a == Answer::kProved) ++c_.facts.proved;
  if (a == Answer::kUnknown) ++c_.facts.planned;
  return a;
}

Answer Sizes::unsettled(int32_t at, const DimCondition& q, DiagCode code, std::string what, Check check) {
  if (!q.a.valid() || !q.b.valid()) {
    c_.error(Rule::kSizeOverflow, at, {what + ": an expression overflows or is too large", {}, {}, "compute the size into a register with SHAPE_CALC"});
    return Answer::kProved;
  }
  if (check != Check::kByMetadata) c_.facts.checks.push_back({at, check == Check::kAfter, q, code, std::move(what)});
  learn(q);
  return Answer::kUnknown;
}

// --- conditions of bools -----------------------------------------------------------------------------------------------

void Sizes::conditions_of(Reg r, bool truth, std::vector<DimCondition>& out) {
  constexpr size_t kLimit = 64;
  std::vector<std::pair<Reg, bool>> work{{r, truth}};
  for (size_t k = 0; k < work.size() && k < kLimit; ++k) {
    auto [reg, wanted] = work[k];
    const int32_t d = c_.def[reg];
    if (d < 0 || c_.bad_instr[d] || c_.at(d).op != Opcode::kShapeCalc) continue;
    const Instr& x = c_.at(d);
    if (calc_op_dims(calc_op(x)) == 2 && calc_op_is_bool(calc_op(x))) {
      const Dim a = canonical(x.dims[0]), b = canonical(x.dims[1]);
      switch (calc_op(x)) {
        case CalcOp::kEq: out.push_back({wanted ? CondOp::kEq : CondOp::kNe, a, b}); break;
        case CalcOp::kNe: out.push_back({wanted ? CondOp::kNe : CondOp::kEq, a, b}); break;
        case CalcOp::kLt: out.push_back(wanted ? DimCondition{CondOp::kLt, a, b} : DimCondition{CondOp::kLe, b, a}); break;
        case CalcOp::kLe: out.push_back(wanted ? DimCondition{CondOp::kLe, a, b} : DimCondition{CondOp::kLt, b, a}); break;
        case CalcOp::kGt: out.push_back(wanted ? DimCondition{CondOp::kLt, b, a} : DimCondition{CondOp::kLe, a, b}); break;
        case CalcOp::kGe: out.push_back(wanted ? DimCondition{CondOp::kLe, b, a} : DimCondition{CondOp::kLt, a, b}); break;
        case CalcOp::kAdd: case CalcOp::kSub: case CalcOp::kMul: case CalcOp::kFloorDiv: case CalcOp::kCeilDiv: case CalcOp::kMod:
        case CalcOp::kMin: case CalcOp::kMax: case CalcOp::kNeg: case CalcOp::kTruncDiv: case CalcOp::kAnd: case CalcOp::kOr:
        case CalcOp::kNot: case CalcOp::kSelect: break;
      }
    } else if (calc_op(x) == CalcOp::kNot) {
      work.push_back({x.uses[0], !wanted});
    } else if (calc_op(x) == (wanted ? CalcOp::kAnd : CalcOp::kOr)) {
      work.push_back({x.uses[0], wanted});
      work.push_back({x.uses[1], wanted});
    }
  }
}

void Sizes::add_conditions_of(Reg r, bool truth) {
  std::vector<DimCondition> list;
  conditions_of(r, truth, list);
  for (const DimCondition& q : list)
    if (q.a.valid() && q.b.valid()) learn(q);
}

// --- substitution ------------------------------------------------------------------------------------------------------

void Sizes::put(SymbolId s, Dim v) {
  if (s >= stamp_.size()) {
    stamp_.resize(c_.dims.num_symbols(), 0);
    put_.resize(c_.dims.num_symbols());
  }
  stamp_[s] = substitution_;
  put_[s] = v;
}

Dim Sizes::substituted(Dim d) {
  const DimNode* n = d.node();
  if (!n || n->symbol_mask == 0) return d;
  return c_.dims.substitute(d, [&](SymbolId s) {
    if (has(s)) return put_[s];
    const SymbolInfo& info = c_.dims.symbol_info(s);
    return info.is_register() ? value(info.reg) : Dim();
  });
}

}  // namespace msvm::verification
