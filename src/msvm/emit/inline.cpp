#include "msvm/emit/inline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace msvm {
namespace {

class Inliner {
 public:
  Inliner(FunctionBuilder& fb, const Module& callee, int32_t function) : fb_(fb), callee_(callee), f_(callee.functions[static_cast<size_t>(function)]), function_(function) {}

  Result<std::vector<InlineValue>> run(const std::vector<InlineValue>& arguments) {
    if (arguments.size() != f_.inputs.size())
      return invalid_argument(f_.name + " takes " + std::to_string(f_.inputs.size()) + " inputs, found " + std::to_string(arguments.size()));
    MSVM_RETURN_IF_ERROR(bind_symbols(arguments));
    MSVM_RETURN_IF_ERROR(number_registers(arguments));
    blocks_.resize(f_.blocks.size());
    blocks_[0] = fb_.current();
    for (size_t b = 1; b < blocks_.size(); ++b) blocks_[b] = fb_.new_block();
    MSVM_RETURN_IF_ERROR(check_symbols());
    blocks_[0] = fb_.current();
    for (size_t b = 0; b < f_.blocks.size(); ++b) {
      fb_.set_block(blocks_[b]);
      for (const Instr& i : f_.blocks[b].instrs) MSVM_RETURN_IF_ERROR(append(i));
    }
    return results();
  }

 private:
  // --- types and sizes -----------------------------------------------------------------------------------------------
  Dim symbol(SymbolId id) {
    if (auto it = symbols_.find(id); it != symbols_.end()) return it->second;
    const SymbolInfo& info = callee_.dims->symbol_info(id);
    Dim d;
    if (info.is_register()) {
      d = fb_.dim(regs_[static_cast<size_t>(info.reg)]);
    } else {
      d = fb_.module_builder().fresh_symbol(info.name);
      SymbolInfo& own = fb_.dims().mutable_symbol_info(d.symbol());
      own.min = info.min;
      own.max = info.max;
      own.divisor = info.divisor;
      own.remainder = info.remainder;
    }
    symbols_.emplace(id, d);
    return d;
  }
  Dim dim(Dim d) {
    if (!d.valid()) return d;
    if (d.is_const()) return fb_.dims().constant(d.value());
    return fb_.dims().substitute(d, [this](SymbolId id) { return symbol(id); });
  }
  std::vector<Dim> all_dims(const std::vector<Dim>& list) {
    std::vector<Dim> out;
    out.reserve(list.size());
    for (Dim d : list) out.push_back(dim(d));
    return out;
  }
  RegType type(const RegType& t) {
    RegType out = t;
    out.tensor.shape = all_dims(t.tensor.shape);
    if (t.tensor.filled) out.tensor.filled = FilledExtent{t.tensor.filled->axis, dim(t.tensor.filled->from), dim(t.tensor.filled->to)};
    return out;
  }

  // --- inputs --------------------------------------------------------------------------------------------------------
  std::string name_of(size_t k) const { return f_.name + ": input " + std::to_string(k) + " (" + f_.inputs[k].name + ")"; }

  /// An axis that a bare symbol names gives the symbol its value.
  Status bind_symbols(const std::vector<InlineValue>& arguments) {
    for (size_t k = 0; k < arguments.size(); ++k) {
      const RegType& declared = f_.inputs[k].type;
      const InlineValue& a = arguments[k];
      if (declared.kind == RegKind::kI64) {
        if (!a.dim.valid()) return invalid_argument(name_of(k) + ": expected an integer");
        continue;
      }
      if (a.reg == kNoReg || fb_.type(a.reg).kind != declared.kind) return invalid_argument(name_of(k) + ": expected " + to_string(declared, *callee_.dims));
      if (declared.kind != RegKind::kTensor) continue;
      const TensorType& found = fb_.tensor_type(a.reg);
      if (found.dtype != declared.tensor.dtype || (!found.unknown_rank && !declared.tensor.unknown_rank && found.rank() != declared.tensor.rank()))
        return invalid_argument(name_of(k) + ": expected " + to_string(declared, *callee_.dims) + ", found " + to_string(found, fb_.dims()));
      if (found.unknown_rank || declared.tensor.unknown_rank) continue;
      for (int i = 0; i < found.rank(); ++i) {
        const Dim d = declared.tensor.shape[static_cast<size_t>(i)];
        if (d.is_symbol() && symbols_.emplace(d.symbol(), found.shape[static_cast<size_t>(i)]).second) bound_.push_back(d.symbol());
      }
    }
    return {};
  }

  void require(CalcOp op, Dim a, Dim b, const std::string& what) {
    const Dim difference = fb_.dims().sub(a, b);
    const DimRange r = difference.valid() ? fb_.dims().range(difference) : DimRange{};
    if (op == CalcOp::kGe && r.min >= 0) return;
    if (op == CalcOp::kLe && r.max <= 0) return;
    if (op == CalcOp::kEq && r.min == 0 && r.max == 0) return;
    fb_.shape_assert(fb_.compare(op, a, b), what);
  }

  Status check_symbols() {
    DimContext& c = fb_.dims();
    for (SymbolId id : bound_) {
      const SymbolInfo& info = callee_.dims->symbol_info(id);
      const Dim d = symbols_.at(id);
      const std::string what = f_.name + ": the size " + info.name;
      if (info.min > 0) require(CalcOp::kGe, d, c.constant(info.min), what + " is at least " + std::to_string(info.min));
      if (info.max < INT64_MAX) require(CalcOp::kLe, d, c.constant(info.max), what + " is at most " + std::to_string(info.max));
      if (info.divisor > 1) require(CalcOp::kEq, c.mod(d, c.constant(info.divisor)), c.constant(info.remainder), what + " has the remainder " + std::to_string(info.remainder) + " by " + std::to_string(info.divisor));
    }
    return {};
  }

  // --- registers -----------------------------------------------------------------------------------------------------
  /// Those of inputs are the arguments; identity views are what they show.
  Status number_registers(const std::vector<InlineValue>& arguments) {
    regs_.assign(f_.regs.size(), kNoReg);
    std::vector<const Instr*> later;
    for (const Block& b : f_.blocks)
      for (const Instr& i : b.instrs) {
        if (i.op == Opcode::kScalarInput) {
          const InlineValue& a = arguments[static_cast<size_t>(i.imms[0])];
          regs_[static_cast<size_t>(i.defs[0])] = a.reg;
          if (a.dim.valid()) scalars_[i.defs[0]] = a.dim;
        } else if (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kInput) {
          regs_[static_cast<size_t>(i.defs[0])] = arguments[static_cast<size_t>(i.imms[0])].reg;
        }
      }
    // Symbols of i64 inputs are the arguments' sizes.
    for (SymbolId id = 0; id < callee_.dims->num_symbols(); ++id) {
      const SymbolInfo& info = callee_.dims->symbol_info(id);
      if (info.is_register() && info.function == function_)
        if (auto it = scalars_.find(info.reg); it != scalars_.end()) symbols_.emplace(id, it->second);
    }
    // Types may speak of registers that come later: first all registers, then their types.
    std::vector<std::pair<Reg, Reg>> made;
    for (const Block& b : f_.blocks)
      for (const Instr& i : b.instrs) {
        if (i.op == Opcode::kTensorConst || i.op == Opcode::kScalarInput || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kInput)) continue;
        for (Reg r : i.defs) {
          RegType t = f_.regs[static_cast<size_t>(r)].type;
          t.tensor.shape.clear();
          t.tensor.filled.reset();
          regs_[static_cast<size_t>(r)] = fb_.new_reg(t);
          made.emplace_back(r, regs_[static_cast<size_t>(r)]);
        }
      }
    for (auto [from, to] : made) {
      RegType t = type(f_.regs[static_cast<size_t>(from)].type);
      for (Dim d : t.tensor.shape)
        if (!d.valid()) return overflow_error(f_.name + ": the arithmetic of a size overflows for these arguments");
      fb_.function().regs[static_cast<size_t>(to)].type = std::move(t);
      fb_.set_name(to, f_.regs[static_cast<size_t>(from)].name);
    }
    return {};
  }
  Reg reg(Reg r) const { return r == kNoReg ? kNoReg : regs_[static_cast<size_t>(r)]; }

  Reg constant(int64_t id) {
    auto [it, fresh] = constants_.try_emplace(id, -1);
    if (fresh) {
      Constant c = callee_.constants[static_cast<size_t>(id)];
      c.type.shape = all_dims(c.type.shape);
      it->second = fb_.module_builder().add_constant(std::move(c));
    }
    return fb_.constant(it->second);
  }

  // --- instructions --------------------------------------------------------------------------------------------------
  Status append(const Instr& i) {
    switch (i.op) {
      case Opcode::kTensorFree:
      case Opcode::kScalarInput: return {};
      case Opcode::kTensorConst: regs_[static_cast<size_t>(i.defs[0])] = constant(i.imms[0]); return {};
      case Opcode::kTensorCreate:
        if (create_kind(i) == CreateKind::kInput) return narrow(i);
        break;
      case Opcode::kReturn: {
        Return r{fb_.current(), {}, all_dims(i.dims)};
        for (Reg u : i.uses) r.regs.push_back(reg(u));
        returns_.push_back(std::move(r));
        return {};
      }
      default: break;
    }
    Instr copy = i;
    if (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kDestination) {
      copy.op = Opcode::kTensorAlloc;
      copy.sub = 0;
    }
    for (Reg& r : copy.defs) r = reg(r);
    for (Reg& r : copy.uses) r = reg(r);
    for (Reg& r : copy.outs) r = reg(r);
    copy.dims = all_dims(i.dims);
    for (Dim d : copy.dims)
      if (!d.valid()) return overflow_error(f_.name + ": the arithmetic of a size overflows for these arguments");
    for (BlockId& b : copy.targets) b = blocks_[static_cast<size_t>(b)];
    fb_.set_debug(f_.debug[i.debug]);
    copy.debug = 0;
    fb_.append(std::move(copy));
    return {};
  }

  Status narrow(const Instr& i) {
    Reg& r = regs_[static_cast<size_t>(i.defs[0])];
    const RegType wanted = type(f_.regs[static_cast<size_t>(i.defs[0])].type);
    TensorType t = wanted.tensor;
    const TensorType& found = fb_.tensor_type(r);
    if (!t.strided && found.strided) r = fb_.copy(r);
    t.layout = fb_.tensor_type(r).layout;
    if (t.shape != fb_.tensor_type(r).shape || t.unknown_rank != fb_.tensor_type(r).unknown_rank) r = fb_.narrow(r, t);
    return {};
  }

  // --- results -------------------------------------------------------------------------------------------------------
  struct Return {
    BlockId from;
    std::vector<Reg> regs;
    std::vector<Dim> dims;
  };

  Result<std::vector<InlineValue>> results() {
    if (returns_.empty()) return unsupported(f_.name + " never returns");
    std::vector<InlineValue> out;
    if (returns_.size() == 1) {
      fb_.set_block(returns_[0].from);
      size_t r = 0, d = 0;
      for (const Param& p : f_.outputs) out.push_back(p.type.kind == RegKind::kI64 ? InlineValue{kNoReg, returns_[0].dims[d++]} : InlineValue{returns_[0].regs[r++], {}});
      return out;
    }
    const BlockId after = fb_.new_block();
    fb_.set_block(after);
    size_t r = 0, d = 0;
    for (const Param& p : f_.outputs) {
      const bool size = p.type.kind == RegKind::kI64;
      const Reg phi = fb_.phi(type(p.type));
      for (const Return& from : returns_) fb_.add_phi_input(phi, size ? PhiInput{from.from, kNoReg, from.dims[d]} : PhiInput{from.from, from.regs[r], {}});
      ++(size ? d : r);
      out.push_back(size ? InlineValue{kNoReg, fb_.dim(phi)} : InlineValue{phi, {}});
    }
    for (const Return& from : returns_) {
      fb_.set_block(from.from);
      fb_.jump(after);
    }
    fb_.set_block(after);
    return out;
  }

  FunctionBuilder& fb_;
  const Module& callee_;
  const Function& f_;
  const int32_t function_;
  std::unordered_map<SymbolId, Dim> symbols_;
  std::vector<SymbolId> bound_;  // by sizes of arguments, in order
  std::unordered_map<Reg, Dim> scalars_;
  std::map<int64_t, int32_t> constants_;
  std::vector<Reg> regs_;
  std::vector<BlockId> blocks_;
  std::vector<Return> returns_;
};

}  // namespace

Result<std::vector<InlineValue>> inline_function(FunctionBuilder& fb, const Module& callee, const std::vector<InlineValue>& arguments, int32_t function) {
  return Inliner(fb, callee, function).run(arguments);
}

}  // namespace msvm
