// Inside of verify/: what the passes over one function share. A pass reports what it finds and goes on; registers and
// instructions that an earlier pass found wrong are marked bad, and later passes say nothing about them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "msvm/bytecode/cfg.h"
#include "msvm/bytecode/text_edit.h"
#include "msvm/verify/verify.h"

namespace msvm::verification {

enum class Rule : uint8_t {
#define MSVM_RULE(id, code, doc) id,
#include "msvm/verify/rules.def"
#undef MSVM_RULE
};
DiagCode rule_code(Rule rule);
std::string_view rule_name(Rule rule);
std::string_view rule_doc(Rule rule);
int rule_count();

using Edits = std::vector<StatementEdit>;

/// What a diagnostic says beside its place; see Diagnostic. `edits` do what `fix` says, if they can do all of it.
struct Text {
  std::string message, expected = {}, found = {}, fix = {};
  Edits edits = {};
};

/// Collects findings, at most kMaxFindings of a file.
class Report {
 public:
  static constexpr size_t kMaxFindings = 1000;

  /// `fired`, `edits`: of each finding, or null.
  Report(Module& module, Diagnostics& out, std::vector<Rule>* fired, std::vector<Edits>* edits) : module_(module), out_(out), fired_(fired), edits_(edits) {}
  bool full() const { return out_.size() >= kMaxFindings; }
  size_t count() const { return out_.size(); }
  void add(Rule rule, DiagPlace place, Text text);
  /// Offsets may be assigned for the sake of messages once the structure is known to be sound.
  void allow_offsets() { may_assign_ = true; }
  void need_offsets();

 private:
  Module& module_;
  Diagnostics& out_;
  std::vector<Rule>* fired_;
  std::vector<Edits>* edits_;
  bool may_assign_ = false;
};

constexpr int32_t kUnbound = -2;  // a symbol nobody defined
constexpr int32_t kAtEntry = -1;  // defined by the function's inputs

/// Tables over the whole module, shared by its functions.
struct ModuleTables {
  std::vector<int32_t> symbol_def;                              // named symbols: instruction that binds it in the current function
  std::vector<SymbolId> bound;                                  // those to reset afterwards
  std::vector<std::vector<std::pair<Reg, SymbolId>>> register_symbols;  // by function
  std::vector<int32_t> dim_seen;                                // by node id: function (+1) that checked it
  std::map<std::string, RegisteredOperator, std::less<>> operators;  // registered ones that the module calls
};

struct Context {
  Context(Module& m, int32_t function, ModuleTables& t, Report& r);

  Module& module;
  DimContext& dims;
  const int32_t index;
  const Function& f;
  ModuleTables& tables;
  Report& report;

  std::vector<const Instr*> instrs;      // all blocks in order
  std::vector<BlockId> block_of;         // by instruction
  std::vector<int32_t> def;              // by register: defining instruction, or -1
  std::vector<uint8_t> bad_reg, bad_instr;
  std::optional<ControlFlow> cfg;
  std::vector<std::vector<int32_t>> phi_operand;  // by PHI instruction (empty for others): operand of each predecessor, in their order
  FunctionFacts facts;

  int32_t begin(BlockId b) const { return facts.block_start[b]; }
  int32_t end(BlockId b) const { return begin(b) + static_cast<int32_t>(f.blocks[b].instrs.size()); }
  const Instr& at(int32_t i) const { return *instrs[i]; }
  RegKind kind(Reg r) const { return f.regs[r].type.kind; }
  const TensorType& declared(Reg r) const { return f.regs[r].type.tensor; }
  bool is_phi(int32_t i) const { return instr_info(at(i).op).has(kPhi); }
  /// Operand number of PHI instruction `i` for the edge from `pred`.
  int32_t operand_from(int32_t i, BlockId pred) const;
  /// The instruction that defines `s`, kAtEntry or kUnbound.
  int32_t definition(SymbolId s) const;
  /// Whether what instruction `d` (or kAtEntry) defines may be used by instruction `use`; PHIs of a block act together.
  bool reaches(int32_t d, int32_t use) const;

  // Messages.
  void error(Rule rule, int32_t instruction, Text text) { report.add(rule, place(instruction), std::move(text)); }
  void function_error(Rule rule, Text text);
  DiagPlace place(int32_t instruction) const;
  std::string mnemonic(int32_t instruction) const;      // "OP_CALL Conv"
  std::string where(int32_t instruction) const;         // "instruction 58 (offset 0x8e, model.py:40)"
  std::string origin(Reg r) const;                      // "R5 \"x\": f32[N, 3] (OP_CALL Conv at instruction 58 (…))"
  std::string text(Dim d) const { return d.valid() ? dims.to_string(d) : "?"; }
  std::string text(const std::vector<Dim>& shape) const;
  std::string type_text(Reg r) const { return to_string(f.regs[r].type, dims); }
  void mark_bad(int32_t instruction);
};

inline std::string reg_text(Reg r) { return r == kNoReg ? "_" : "R" + std::to_string(r); }

// The passes, in order.
bool check_module(Module& module, ModuleTables& tables, Report& report);  // false: nothing else can be checked
bool check_structure(Context& c);                                        // false: the function can't be checked further
bool check_control_flow(Context& c);
void check_registers(Context& c);
/// Names the cycles among what is used before its definition; true for each use (of register or symbol) that one explains.
struct EarlyUse {
  int32_t instruction;
  Reg reg = kNoReg;       // or
  SymbolId symbol = 0;
  bool explained = false;
};
void explain_cycles(Context& c, std::vector<EarlyUse>& uses);
void check_flow(Context& c);  // shapes, values and memory in one walk over the dominator tree

// What edits are made of.
inline StatementEdit insert(int32_t before, std::string statement) { return {StatementEdit::Kind::kInsert, before, std::move(statement)}; }
inline StatementEdit operand(int32_t instruction, std::string from, std::string to) { return {StatementEdit::Kind::kOperand, instruction, std::move(to), std::move(from)}; }
inline StatementEdit stated_type(int32_t instruction, Reg r, std::string type) { return {StatementEdit::Kind::kType, instruction, std::move(type), reg_text(r)}; }
inline StatementEdit size_of(int32_t instruction, int axis, std::string size) { return {StatementEdit::Kind::kSize, instruction, std::move(size), {}, axis}; }
inline StatementEdit free_before(int32_t instruction, Reg r) { return insert(instruction, "TENSOR_FREE " + reg_text(r)); }
/// Takes a copy of `from` for instruction `at`: a fresh, dense tensor of type `t`, which is register `fresh` from then on.
Edits dense_copy(const Context& c, int32_t at, Reg from, size_t fresh, const TensorType& t);

VerifyResult verify(Module module, std::vector<Rule>* fired, std::vector<Edits>* edits = nullptr);

}  // namespace msvm::verification
