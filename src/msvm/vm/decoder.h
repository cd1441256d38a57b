// Decodes one function. Private to the room; decode.h is its door.
//   decode.cpp            slots, instructions
//   decode_sizes.cpp      expressions, and what binds and checks sizes
//   decode_edges.cpp      PHIs
//   decode_plan.cpp       which destinations the memory plan may place
//   decode_in_place.cpp   which of them may take the buffer of an operand
//   decode_regions.cpp    borders of regions
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "msvm/vm/decode.h"

namespace msvm::vm {

class Decoder {
 public:
  Decoder(const VerifiedModule& vm, int32_t index, std::span<const RegionSpec> regions);
  Result<Function> run();

 private:
  // Where code goes: the function's, the one before its first instruction, or the plan's.
  enum class Target : uint8_t { kCode, kEntry, kPlan };
  using Memo = std::unordered_map<uintptr_t, Slot>;  // expression -> slot that has its value

  // --- slots
  void number_slots();
  Slot new_slot(int64_t initial = 0);
  Slot constant_slot(int64_t v);
  Slot symbol_slot(SymbolId s);
  Slot scalar_input_slot(int32_t input);
  Slot tensor(Reg r) const { return out_.tensor_slot[static_cast<size_t>(r)]; }
  Slot list(Reg r) const { return out_.list_slot[static_cast<size_t>(r)]; }
  const RegType& type(Reg r) const { return f_.regs[static_cast<size_t>(r)].type; }
  bool is_list(Reg r) const { return type(r).kind == RegKind::kList; }

  // --- expressions
  Memo& current_memo() { return target_ == Target::kCode && in_entry_block_ ? entry_memo_ : block_memo_; }
  Slot slot_of(Dim d);
  Slot compute(Dim d);
  Slot emit_binary(Op op, Slot a, Slot b);
  std::vector<int32_t> slots_of(const std::vector<Dim>& dims);

  // --- sizes
  void plan_entry();
  void find_binders();
  static bool may_bind(const Instr& i);
  bool binds_here(Reg r, int axis, int32_t at) const;
  bool same_on_all_edges(const Instr& phi, int axis) const;
  void emit_match(std::vector<MatchStep> steps, Reg r, bool even_if_empty);
  void emit_binds(Reg r, int32_t at);
  void emit_size_checks(Reg r, int32_t at);
  void emit_checks(int32_t at, bool after);

  // --- instructions
  void number_instructions();
  void decode_block(BlockId b);
  void decode(BlockId b, const Instr& i);
  void decode_alloc(const Instr& i);
  void decode_view(const Instr& i);
  void decode_calc(const Instr& i);
  void decode_call(const Instr& i);
  Code& emit(Code c);
  int32_t add_extra(const std::vector<int32_t>& list);
  uint16_t count(size_t n);

  // --- edges
  int32_t edge(BlockId from, BlockId to);
  const std::vector<uint32_t>& phi_operands(BlockId from, BlockId to);
  void decode_branch(BlockId from, const Instr& i);
  std::vector<PhiMove> ordered(std::vector<PhiMove> moves);
  Slot temporary(PhiMove::Kind kind);

  // --- the plan
  void find_planned();
  bool known_at_entry(Dim d) const;
  Reg root(Reg r);

  // --- in place
  struct Overwrite {
    Reg from, to;    // `to` may take the buffer of `from`
    int32_t call;    // instruction that reads the one and writes the other
  };
  void find_overwrites();
  bool may_overwrite(const Instr& call, Reg from, Reg to) const;

  // --- regions
  void mark_regions();
  void find_region_slots();
  void find_live_scalars(RegionInfo& r) const;
  bool reads_strided(const RegionInfo& r) const;
  void emit_region_begin(int32_t instr);
  void emit_region_end(int32_t instr);
  /// The instruction at which the group of instruction `call` runs; `call` itself if it is in none.
  int32_t runs_at(int32_t call) const;

  const Module& module_;
  const int32_t index_;
  const msvm::Function& f_;
  const std::span<const RegionSpec> regions_;
  const ControlFlow cfg_;
  Function out_;

  Target target_ = Target::kCode;
  int32_t current_ = -1;                     // instruction
  Memo block_memo_, entry_memo_;             // of this block; of the entry block, which dominates all others
  bool in_entry_block_ = false;
  std::vector<uintptr_t>* log_ = nullptr;    // of expressions computed for one edge
  std::unordered_map<BlockId, std::vector<std::vector<uint32_t>>> phi_operands_;  // by predecessor and PHI
  std::unordered_map<int64_t, Slot> constants_;
  std::unordered_map<int32_t, Slot> scalar_inputs_;
  std::vector<Slot> symbol_slot_;            // by SymbolId
  std::vector<uint8_t> entry_bound_;         // by SymbolId: named, by the sizes of the inputs
  std::vector<int32_t> binder_;              // by SymbolId: instruction, else -1
  std::vector<int32_t> scalar_input_of_;     // by register: input that SCALAR_INPUT gives it, else -1
  std::vector<int64_t> reg_symbol_;          // by register: its SymbolId, else -1
  std::unordered_set<SymbolId> phi_symbols_; // that the PHIs of this block define
  std::vector<uint8_t> is_constant_;         // by register: TENSOR_CONST
  std::vector<int32_t> first_;               // instruction index of each block
  std::vector<int32_t> block_code_;          // code index of each block
  std::vector<Slot> key_slots_;
  Slot temporaries_[3] = {kNoSlot, kNoSlot, kNoSlot};
  std::unordered_map<Reg, int32_t> planned_;
  std::vector<Reg> parent_;
  std::vector<Overwrite> overwrites_;
  std::unordered_map<Reg, Reg> overwritten_;  // `to` -> `from`
  bool too_many_operands_ = false;
  std::unordered_map<int32_t, int32_t> region_begin_, region_end_;  // instruction -> region
  std::unordered_map<int32_t, std::pair<int32_t, int32_t>> member_of_;  // instruction -> region, group
};

}  // namespace msvm::vm
