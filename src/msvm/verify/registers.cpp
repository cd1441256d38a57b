// Group 2: every register and symbol has one definition that dominates its uses, and every operand is of the right kind.
#include <fmt/format.h>

#include "msvm/verify/context.h"

namespace msvm::verification {
namespace {

using Kinds = unsigned;  // bits by RegKind
constexpr Kinds bit(RegKind k) { return 1u << static_cast<int>(k); }
constexpr Kinds kTensors = bit(RegKind::kTensor), kLists = bit(RegKind::kList), kInts = bit(RegKind::kI64), kReals = bit(RegKind::kF64),
                kBools = bit(RegKind::kBool);

std::string kinds_text(Kinds kinds) {
  std::string s;
  for (RegKind k : {RegKind::kTensor, RegKind::kList, RegKind::kI64, RegKind::kF64, RegKind::kBool})
    if (kinds & bit(k)) s += (s.empty() ? "" : " or ") + std::string(kind_name(k));
  return s;
}

class RegisterCheck {
 public:
  explicit RegisterCheck(Context& c) : c_(c), f_(c.f), count_(static_cast<int32_t>(c.instrs.size())) {}

  void run() {
    definitions();
    bind_symbols();
    solve_inputs();
    c_.phi_operand.resize(c_.instrs.size());
    for (int32_t i = 0; i < count_ && !c_.report.full(); ++i) {
      kinds(i);
      if (c_.is_phi(i)) phi(i);
      uses(i);
    }
    report_early();
  }

 private:
  void definitions() {
    for (int32_t i = 0; i < count_; ++i)
      for (Reg r : c_.at(i).defs) {
        if (c_.def[r] >= 0) {
          c_.error(Rule::kSingleDefinition, i, {fmt::format("R{} is defined twice", r), {}, fmt::format("the first definition, {}", c_.where(c_.def[r])), "use a new register"});
          c_.mark_bad(i);
          continue;
        }
        c_.def[r] = i;
      }
  }

  // --- symbols -----------------------------------------------------------------------------------------------------
  void bind(SymbolId s, int32_t at) {
    c_.tables.symbol_def[s] = at;
    c_.tables.bound.push_back(s);
  }

  bool is_free_symbol(Dim d) const {
    return d.is_symbol() && !c_.dims.symbol_info(d.symbol()).is_register() && c_.tables.symbol_def[d.symbol()] == kUnbound;
  }

  /// Results whose actual sizes are only seen when the instruction ran: a bare new symbol in their type gets its value there.
  static bool may_bind(const Instr& i) {
    return i.op == Opcode::kOpCall || i.op == Opcode::kTensorPhi || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kNarrow);
  }

  // Inputs first: a bare symbol, else a*s + b. Then the results of calls, PHIs and narrowing, dominators first.
  void bind_symbols() {
    for (const Param& p : f_.inputs)
      if (p.type.kind == RegKind::kTensor)
        for (Dim d : p.type.tensor.shape)
          if (is_free_symbol(d)) bind(d.symbol(), kAtEntry);
    for (const Param& p : f_.inputs)
      if (p.type.kind == RegKind::kTensor)
        for (Dim d : p.type.tensor.shape)
          if (Dim s = linear_symbol(d); s.valid() && is_free_symbol(s)) bind(s.symbol(), kAtEntry);
    for (BlockId b : c_.cfg->reverse_post_order())
      for (int32_t i = c_.begin(b); i < c_.end(b); ++i)
        if (may_bind(c_.at(i)))
          for (Reg r : c_.at(i).defs)
            if (c_.kind(r) == RegKind::kTensor)
              for (Dim d : c_.declared(r).shape)
                if (is_free_symbol(d)) bind(d.symbol(), i);
  }

  static Dim linear_symbol(Dim d) {
    const DimNode* n = d.node();
    const bool linear = n && n->op == DimOp::kSum && n->terms.size() == 1 && n->terms[0].factors.size() == 1 && n->terms[0].factors[0].is_symbol();
    return linear ? n->terms[0].factors[0] : Dim();
  }

  void solve_inputs() {
    for (size_t k = 0; k < f_.inputs.size(); ++k) {
      if (f_.inputs[k].type.kind != RegKind::kTensor) continue;
      const TensorType& t = f_.inputs[k].type.tensor;
      for (int a = 0; a < t.rank(); ++a)
        DimContext::for_each_symbol(t.shape[a], [&](SymbolId s) {
          if (c_.tables.symbol_def[s] == kAtEntry) return;
          c_.function_error(Rule::kInputSolvable,
                            {fmt::format("no input's sizes give a value to symbol {}", c_.dims.symbol_info(s).name), {},
                             fmt::format("axis {} of input {} \"{}\" is {}", a, k, f_.inputs[k].name, c_.text(t.shape[a])),
                             "use a fresh symbol for that size and state the relation with SHAPE_ASSERT"});
          bind(s, kAtEntry);
        });
    }
  }

  // --- uses --------------------------------------------------------------------------------------------------------
  void early(int32_t i, EarlyUse use) {
    early_.push_back(use);
    c_.mark_bad(i);
  }

  void use_register(int32_t i, Reg r) {
    if (r == kNoReg) return;
    if (c_.def[r] < 0 || !c_.reaches(c_.def[r], i) || (c_.def[r] == i)) early(i, {i, r});
  }

  void use_at_end(int32_t i, BlockId pred, Reg r) {
    if (r == kNoReg) return;
    if (c_.def[r] < 0 || !c_.cfg->dominates(c_.block_of[c_.def[r]], pred)) early(i, {i, r});
  }

  // A symbol in a size or type: `reach` says whether a definition serves here.
  template <class Reach>
  void use_symbols(int32_t i, Dim d, const Reach& reach) {
    const DimNode* n = d.node();
    if (!n || n->symbol_mask == 0) return;
    DimContext::for_each_symbol(d, [&](SymbolId s) {
      if (reach(c_.definition(s))) return;
      const SymbolInfo& info = c_.dims.symbol_info(s);
      early(i, info.is_register() ? EarlyUse{i, info.reg} : EarlyUse{i, kNoReg, s});
    });
  }

  void uses(int32_t i) {
    const Instr& x = c_.at(i);
    if (c_.is_phi(i)) {
      for (size_t k = 0; k < x.uses.size() && k < x.targets.size(); ++k) use_at_end(i, x.targets[k], x.uses[k]);
      for (size_t k = 0; k < x.dims.size() && k < x.targets.size(); ++k)
        use_symbols(i, x.dims[k], [&](int32_t d) { return d == kAtEntry || (d != kUnbound && c_.cfg->dominates(c_.block_of[d], x.targets[k])); });
    } else {
      // What the instruction itself defines doesn't serve its operands, except the symbols of a narrower type.
      const bool own = x.op == Opcode::kTensorCreate && create_kind(x) == CreateKind::kNarrow;
      for (Reg r : x.uses) use_register(i, r);
      for (Reg r : x.outs)
        if (r != kNoReg && c_.def[r] != i) use_register(i, r);
      for (Dim d : x.dims) use_symbols(i, d, [&](int32_t at) { return c_.reaches(at, i) || (own && at == i); });
    }
    for (Reg r : x.defs)
      if (c_.kind(r) == RegKind::kTensor) type_symbols(i, r);
    if (x.op == Opcode::kReturn) output_symbols(i);
  }

  void type_symbols(int32_t i, Reg r) {
    const TensorType& t = c_.declared(r);
    auto reach = [&](int32_t d) { return d == i || c_.reaches(d, i); };
    for (Dim d : t.shape) {
      if (d.is_symbol() && may_bind(c_.at(i)) && !c_.dims.symbol_info(d.symbol()).is_register() && !reach(c_.definition(d.symbol()))) {
        const std::string& name = c_.dims.symbol_info(d.symbol()).name;
        c_.error(Rule::kSymbolTwice, i, {fmt::format("symbol {} is bound here and at {}", name, c_.where(c_.definition(d.symbol()))), {}, c_.origin(r),
                                         fmt::format("use a fresh symbol in the type of R{}", r)});
        c_.mark_bad(i);
        continue;
      }
      use_symbols(i, d, reach);
    }
    if (t.filled && c_.is_phi(i))
      for (Dim d : {t.filled->from, t.filled->to}) use_symbols(i, d, reach);
  }

  // A bare symbol that nothing binds is the anonymous `dynamic` of an output.
  void output_symbols(int32_t i) {
    for (const Param& p : f_.outputs)
      if (p.type.kind == RegKind::kTensor)
        for (Dim d : p.type.tensor.shape)
          if (!is_free_symbol(d)) use_symbols(i, d, [&](int32_t at) { return c_.reaches(at, i); });
  }

  void report_early() {
    if (early_.empty()) return;
    explain_cycles(c_, early_);
    for (const EarlyUse& u : early_) {
      if (u.explained) continue;
      if (u.reg != kNoReg) {
        const bool known = c_.def[u.reg] >= 0;
        c_.error(Rule::kDominance, u.instruction,
                 {known ? fmt::format("R{} is used where its definition needn't have run", u.reg) : fmt::format("R{} is never defined", u.reg),
                  known ? fmt::format("a definition of R{} on every way here", u.reg) : std::string(), known ? c_.origin(u.reg) : std::string(),
                  known ? (c_.block_of[c_.def[u.reg]] == c_.block_of[u.instruction] ? fmt::format("move instruction {} before instruction {}", c_.def[u.reg], u.instruction)
                                                                                    : std::string("join the values of the paths with a PHI"))
                        : std::string()});
      } else {
        const SymbolInfo& info = c_.dims.symbol_info(u.symbol);
        const int32_t d = c_.definition(u.symbol);
        c_.error(Rule::kSymbolDominance, u.instruction,
                 {d == kUnbound ? fmt::format("symbol {} has no definition in this function", info.name) : fmt::format("symbol {} is used where it needn't have a value", info.name),
                  {}, d == kUnbound ? std::string() : fmt::format("it is bound by {} at {}", c_.mnemonic(d), c_.where(d)),
                  d == kUnbound ? fmt::format("bind {} by the type of an input, of a `new` output or of a PHI", info.name) : std::string()});
      }
    }
  }

  // --- kinds -------------------------------------------------------------------------------------------------------
  void want(int32_t i, Reg r, Kinds kinds, const char* what) {
    if (r == kNoReg || (kinds & bit(c_.kind(r)))) return;
    c_.error(Rule::kOperandKind, i, {fmt::format("{} R{} is of the wrong kind", what, r), kinds_text(kinds), c_.origin(r)});
    c_.mark_bad(i);
  }
  void want_all(int32_t i, const std::vector<Reg>& regs, Kinds kinds, const char* what) {
    for (Reg r : regs) want(i, r, kinds, what);
  }
  void signature(int32_t i, Kinds defs, Kinds uses) {
    want_all(i, c_.at(i).defs, defs, "result");
    want_all(i, c_.at(i).uses, uses, "operand");
  }

  void kinds(int32_t i) {
    const Instr& x = c_.at(i);
    switch (x.op) {
      case Opcode::kTensorCreate:
      case Opcode::kTensorConst:
      case Opcode::kTensorAlloc:
      case Opcode::kTensorResize: return signature(i, kTensors, kTensors);
      case Opcode::kTensorFree: return signature(i, 0, kTensors | kLists);
      case Opcode::kTensorView:
        if (view_kind(x) == ViewKind::kIdentity && c_.kind(x.uses[0]) == RegKind::kList) return signature(i, kLists, kLists);
        return signature(i, kTensors, kTensors);
      case Opcode::kTensorCopy:
        signature(i, 0, kTensors);
        return want_all(i, x.outs, kTensors, "destination");
      case Opcode::kTensorRead: return read(i, x);
      case Opcode::kTensorPhi: {
        signature(i, kTensors | kLists, kTensors | kLists);
        return same_kind(i, x);
      }
      case Opcode::kScalarPhi:
        if (x.dims.empty() && !x.uses.empty()) {
          signature(i, kReals | kBools, kReals | kBools);
          return same_kind(i, x);
        }
        return signature(i, kInts, 0);
      case Opcode::kScalarInput:
        if (c_.kind(x.defs[0]) != f_.inputs[x.imms[0]].type.kind) {
          c_.error(Rule::kScalarInputType, i, {fmt::format("input {} is of another kind than R{}", x.imms[0], x.defs[0]), std::string(kind_name(f_.inputs[x.imms[0]].type.kind)),
                                               std::string(kind_name(c_.kind(x.defs[0])))});
          c_.mark_bad(i);
        }
        return;
      case Opcode::kShapePropagate: return signature(i, kInts, kTensors);
      case Opcode::kShapeCalc: return signature(i, calc_op_is_bool(calc_op(x)) ? kBools : kInts, kBools);
      case Opcode::kScalarConst: return signature(i, kInts | kReals | kBools, 0);
      case Opcode::kScalarCalc:
        return signature(i, scalar_op_is_bool(scalar_op(x)) ? kBools : scalar_op(x) == ScalarOp::kToInt ? kInts : kReals,
                         scalar_op(x) == ScalarOp::kFromBool ? kBools : kReals);
      case Opcode::kShapeAssert:
      case Opcode::kBranchIf: return signature(i, 0, kBools);
      case Opcode::kOpCall:
        signature(i, kTensors, kTensors | kLists);
        return want_all(i, x.outs, kTensors, "output");
      case Opcode::kListMake: return signature(i, kLists, kTensors);
      case Opcode::kListAppend:
        want(i, x.defs[0], kLists, "result");
        want(i, x.uses[0], kLists, "operand");
        return want(i, x.uses[1], kTensors, "operand");
      case Opcode::kListGet: return signature(i, kTensors, kLists);
      case Opcode::kListLength: return signature(i, kInts, kLists);
      case Opcode::kReturn: return results(i, x);
      case Opcode::kJump:
      case Opcode::kSwitch:
      case Opcode::kTrap: return;
    }
  }

  void same_kind(int32_t i, const Instr& x) {
    for (Reg r : x.uses)
      if (r != kNoReg && c_.kind(r) != c_.kind(x.defs[0])) return want(i, r, bit(c_.kind(x.defs[0])), "PHI input");
  }

  void read(int32_t i, const Instr& x) {
    want(i, x.uses[0], kTensors, "operand");
    if (c_.bad_instr[i]) return;
    const DType d = c_.declared(x.uses[0]).dtype;
    const RegKind expected = is_float(d) ? RegKind::kF64 : d == DType::kBool ? RegKind::kBool : RegKind::kI64;
    if (d != DType::kString && c_.kind(x.defs[0]) == expected) return;
    c_.error(Rule::kReadDType, i, {d == DType::kString ? std::string("a string can't be read as a scalar") : fmt::format("an element of {} is read as {}", dtype_name(d), kind_name(expected)),
                                   std::string(kind_name(expected)), c_.origin(x.defs[0])});
    c_.mark_bad(i);
  }

  // Outputs in order: i64 ones are dims, all others registers.
  void results(int32_t i, const Instr& x) {
    size_t regs = 0, ints = 0;
    for (const Param& p : f_.outputs) {
      if (p.type.kind == RegKind::kI64) ++ints;
      else if (regs++ < x.uses.size()) want(i, x.uses[regs - 1], bit(p.type.kind), "returned value");
    }
    if (regs == x.uses.size() && ints == x.dims.size()) return;
    c_.error(Rule::kReturnArity, i, {"RETURN gives another number of values than the function has outputs", fmt::format("{} registers and {} i64", regs, ints),
                                     fmt::format("{} registers and {} i64", x.uses.size(), x.dims.size())});
    c_.mark_bad(i);
  }

  // One input for each predecessor, and nothing else; remembers which.
  void phi(int32_t i) {
    const Instr& x = c_.at(i);
    const auto& preds = c_.cfg->predecessors(c_.block_of[i]);
    position_.resize(f_.blocks.size(), -1);
    for (size_t k = 0; k < preds.size(); ++k) position_[preds[k]] = static_cast<int32_t>(k);
    std::vector<int32_t> operand(preds.size(), -1);
    bool ok = x.targets.size() == preds.size() && !preds.empty();
    std::string problem = preds.empty() ? "a PHI stands in a block without predecessors" : "";
    for (size_t k = 0; k < x.targets.size(); ++k) {
      const int32_t p = position_[x.targets[k]];
      if (p < 0 || operand[p] >= 0) {
        ok = false;
        problem = fmt::format("b{} {}", x.targets[k], p < 0 ? "is not a predecessor of this block" : "appears twice");
        continue;
      }
      operand[p] = static_cast<int32_t>(k);
    }
    for (size_t k = 0; k < preds.size(); ++k) {
      position_[preds[k]] = -1;
      if (operand[k] < 0 && problem.empty()) problem = fmt::format("there is no input from b{}", preds[k]);
    }
    if (ok) {
      c_.phi_operand[i] = std::move(operand);
      return;
    }
    c_.error(Rule::kPhiPredecessors, i, {problem, fmt::format("one input from each of {} predecessors", preds.size()), fmt::format("{} inputs", x.targets.size())});
    c_.mark_bad(i);
  }

  Context& c_;
  const Function& f_;
  const int32_t count_;
  std::vector<EarlyUse> early_;
  std::vector<int32_t> position_;
};

}  // namespace

void check_registers(Context& c) { RegisterCheck(c).run(); }

}  // namespace msvm::verification
