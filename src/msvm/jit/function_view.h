// One function of a verified module with the tables that the analyses of this room share.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "msvm/bytecode/cfg.h"
#include "msvm/verify/verify.h"

namespace msvm::jit {

/// Refers to the module, which must outlive it. Never changes; takes no part in growing the module's DimContext.
struct FunctionView {
  FunctionView(const VerifiedModule& verified, int32_t function);

  const Module& module;
  const Function& f;
  const FunctionFacts& facts;
  const int32_t index;
  const ControlFlow cfg;
  std::vector<const Instr*> instrs;                // all blocks in order
  std::vector<BlockId> block_of;                   // by instruction
  std::vector<int32_t> def;                        // by register: the defining instruction, or -1
  std::vector<uint8_t> constant;                   // by register: a constant of the module, or a view of one
  std::unordered_map<SymbolId, int32_t> bound_at;  // named symbols that a call, PHI or narrowing binds: the instruction

  const DimContext& dims() const { return *module.dims; }
  const Instr& at(int32_t i) const { return *instrs[static_cast<size_t>(i)]; }
  int32_t begin(BlockId b) const { return facts.block_start[static_cast<size_t>(b)]; }
  int32_t end(BlockId b) const { return begin(b) + static_cast<int32_t>(f.blocks[static_cast<size_t>(b)].instrs.size()); }
  RegKind kind(Reg r) const { return f.regs[static_cast<size_t>(r)].type.kind; }
  const TensorType& type(Reg r) const { return f.regs[static_cast<size_t>(r)].type.tensor; }
  bool is_tensor(Reg r) const { return r != kNoReg && kind(r) == RegKind::kTensor; }
  int32_t definition(Reg r) const { return def[static_cast<size_t>(r)]; }
  /// The register whose value symbol `s` is; kNoReg of named symbols.
  Reg register_of(SymbolId s) const;
  /// `d` if it isn't just a register, else that register's value in terms of other symbols (or itself where nothing is known).
  Dim value(Dim d) const;
  /// Whether nothing is known of the value of i64 register `r` but that it is itself.
  bool opaque(Reg r) const;
  /// The BRANCH_IF or SWITCH whose arms meet in block `b`.
  const Instr& branch_before(BlockId b) const { return f.blocks[static_cast<size_t>(cfg.immediate_dominator(b))].instrs.back(); }

  std::string name(Reg r) const;            // of the source; "R7" if it has none
  std::string place(int32_t i) const;       // "model.py:14", or "instruction 7" where the source isn't known
};

}  // namespace msvm::jit
