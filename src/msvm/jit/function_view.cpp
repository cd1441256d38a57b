#include "msvm/jit/function_view.h"

#include <fmt/format.h>

namespace msvm::jit {
namespace {

bool binds_symbols(const Instr& i) {
  return i.op == Opcode::kOpCall || i.op == Opcode::kTensorPhi || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kNarrow);
}

}  // namespace

FunctionView::FunctionView(const VerifiedModule& verified, int32_t function)
    : module(verified.module()), f(module.functions[static_cast<size_t>(function)]), facts(verified.facts(function)), index(function), cfg(f), def(f.regs.size(), -1),
      constant(f.regs.size(), 0) {
  for (size_t b = 0; b < f.blocks.size(); ++b)
    for (const Instr& i : f.blocks[b].instrs) {
      for (Reg r : i.defs) def[static_cast<size_t>(r)] = static_cast<int32_t>(instrs.size());
      instrs.push_back(&i);
      block_of.push_back(static_cast<BlockId>(b));
    }
  for (BlockId b : cfg.reverse_post_order())
    for (int32_t k = begin(b); k < end(b); ++k) {
      const Instr& i = at(k);
      if (i.op == Opcode::kTensorConst) constant[static_cast<size_t>(i.defs[0])] = 1;
      if (i.op == Opcode::kTensorView) constant[static_cast<size_t>(i.defs[0])] = constant[static_cast<size_t>(i.uses[0])];
      if (!binds_symbols(i)) continue;
      for (Reg r : i.defs) {
        if (!is_tensor(r)) continue;
        for (Dim d : type(r).shape) {
          if (!d.is_symbol() || register_of(d.symbol()) != kNoReg) continue;
          const SymbolId s = d.symbol();
          if (s < facts.entry_symbol.size() && facts.entry_symbol[s]) continue;
          bound_at.try_emplace(s, k);
        }
      }
    }
}

Reg FunctionView::register_of(SymbolId s) const {
  const SymbolInfo& info = module.dims->symbol_info(s);
  return info.is_register() ? info.reg : kNoReg;
}

Dim FunctionView::value(Dim d) const {
  if (!d.is_symbol()) return d;
  const Reg r = register_of(d.symbol());
  if (r == kNoReg || !facts.reg_value[static_cast<size_t>(r)].valid()) return d;
  return facts.reg_value[static_cast<size_t>(r)];
}

bool FunctionView::opaque(Reg r) const {
  const Dim v = facts.reg_value[static_cast<size_t>(r)];
  return !v.valid() || (v.is_symbol() && register_of(v.symbol()) == r);
}

std::string FunctionView::name(Reg r) const {
  const std::string& n = f.regs[static_cast<size_t>(r)].name;
  if (!n.empty()) return n;
  const int32_t d = definition(r);
  if (d >= 0 && (at(d).op == Opcode::kScalarInput || (at(d).op == Opcode::kTensorCreate && create_kind(at(d)) == CreateKind::kInput))) {
    const std::string& input = f.inputs[static_cast<size_t>(at(d).imms[0])].name;
    if (!input.empty()) return input;
  }
  return fmt::format("R{}", r);
}

std::string FunctionView::place(int32_t i) const {
  const uint32_t d = at(i).debug;
  if (d == 0 || d >= f.debug.size() || f.debug[d].file.empty()) return fmt::format("instruction {}", i);
  return fmt::format("{}:{}", f.debug[d].file, f.debug[d].line);
}

}  // namespace msvm::jit
