// The one door through which programs are made: importer, assembler, Python front end, fuzzer.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/bytecode/module.h"

namespace msvm {

class FunctionBuilder;

/// Builds a module in value form (nobody frees, borrowed values go anywhere); finish() of each function places
/// TENSOR_FREE, identity views and TENSOR_COPY so that the ownership rules hold.
class ModuleBuilder {
 public:
  explicit ModuleBuilder(std::string name = "");
  Module& module() { return module_; }
  DimContext& dims() { return *module_.dims; }
  /// A named symbol; the same name gives the same symbol.
  Dim symbol(const std::string& name);
  Dim symbol(SymbolInfo info);
  /// A fresh symbol whose name starts with `hint` ("k" -> "k0").
  Dim fresh_symbol(const std::string& hint);
  int32_t add_constant(Constant c);
  /// Copies `bytes` into aligned memory of its own.
  int32_t add_constant(const std::string& name, DType dtype, const std::vector<int64_t>& shape, const void* bytes, size_t size);
  /// Valid until finish(); several may be open.
  FunctionBuilder function(const std::string& name);
  Module take() { return std::move(module_); }

  /// How far the module is made: symbols, expressions and constants.
  struct Mark {
    DimContext::Mark dims;
    size_t constants;
    std::unordered_map<std::string, int> fresh_counts;
  };
  Mark mark() { return {dims().mark(), module_.constants.size(), fresh_counts_}; }
  /// Forgets what was made since (but names that registers got): the same calls make the same again. For FunctionBuilder::rollback().
  void rollback(const Mark& mark);

 private:
  Module module_;
  std::unordered_map<std::string, int> fresh_counts_;
};

struct PhiInput {
  BlockId from;
  Reg reg = kNoReg;  // tensor, list, f64, bool
  Dim dim;           // i64
};

/// Appends instructions to the current block. Types of results are computed where the instruction determines them
/// (views), else given. Misuse (wrong kinds, ranks) is reported by verify(), not here.
/// References that type() and tensor_type() return are valid until the next register is made.
class FunctionBuilder {
 public:
  FunctionBuilder(ModuleBuilder& mb, int32_t index);

  int32_t index() const { return index_; }
  ModuleBuilder& module_builder() { return *mb_; }
  DimContext& dims() { return mb_->dims(); }
  Function& function();
  const RegType& type(Reg r) const;
  const TensorType& tensor_type(Reg r) const { return type(r).tensor; }
  /// The i64 register as a size.
  Dim dim(Reg r);

  // Blocks. Block 0 exists and is current at the start.
  BlockId new_block();
  void set_block(BlockId b);
  BlockId current() const { return block_; }
  bool terminated() const;
  void jump(BlockId b);
  void branch_if(Reg cond, BlockId then_block, BlockId else_block);
  void switch_on(Dim value, std::vector<int64_t> cases, std::vector<BlockId> targets);
  void trap(const std::string& message);
  void ret(const std::vector<Reg>& tensors, const std::vector<Dim>& ints = {});

  // Inputs and outputs of the function.
  Reg input(const std::string& name, TensorType type, const std::vector<std::string>& axis_names = {}, bool donated = false);
  Reg scalar_input(const std::string& name, RegKind kind);
  void output(const std::string& name, const RegType& type);

  // Tensors.
  Reg constant(int32_t id);                    // one TENSOR_CONST per id and function, in the entry block
  Reg alloc(TensorType type, const std::vector<std::string>& axis_names = {}, Reg reuse = kNoReg);
  Reg narrow(Reg r, TensorType type);         // TENSOR_CREATE Rs
  Reg copy(Reg r);                             // ALLOC of a dense row-major tensor of r's shape + TENSOR_COPY
  Reg resize(Reg r, int axis, Dim size);
  Reg slice(Reg r, const std::vector<int64_t>& axes, const std::vector<Dim>& from, const std::vector<Dim>& to, const std::vector<int64_t>& steps);
  Reg reshape(Reg r, const std::vector<Dim>& shape);  // copies first if r is strided
  Reg transpose(Reg r, const std::vector<int64_t>& permutation);
  Reg broadcast(Reg r, const std::vector<Dim>& shape);
  Reg squeeze(Reg r, const std::vector<int64_t>& axes);
  Reg unsqueeze(Reg r, const std::vector<int64_t>& axes);
  Reg window(Reg r, int axis, Dim from, Dim to);
  Reg identity(Reg r);
  Reg read(Reg r, const std::vector<Dim>& index);  // i64, f64 or bool by dtype
  void copy_into(Reg source, Reg destination);

  // Scalars.
  Dim propagate(Reg r, int axis);
  Dim calc(CalcOp op, Dim a, Dim b);               // arithmetic: i64 result as a size
  Reg compare(CalcOp op, Dim a, Dim b);            // bool
  Reg logic(CalcOp op, Reg a, Reg b = kNoReg);     // and, or, not
  Dim select(Reg cond, Dim a, Dim b);
  Reg scalar_const(double v);
  Reg scalar_const_bool(bool v);
  Reg scalar_calc(ScalarOp op, Reg a, Reg b = kNoReg, bool round_f32 = false);  // f64 or bool result
  Reg scalar_from_int(Dim a, bool round_f32 = false);
  Dim scalar_to_int(Reg a);
  void shape_assert(Reg cond, const std::string& message);

  // Calls. An entry of `outs` is a destination register; kNoReg an absent output.
  void call(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs, const std::vector<Reg>& outs);
  /// As call, but allocates a destination for each type (nullopt = absent output).
  std::vector<Reg> call_alloc(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs,
                              const std::vector<std::optional<TensorType>>& out_types);
  /// Outputs allocated by the call (`new`); bare new symbols in the types are bound by it.
  std::vector<Reg> call_new(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs,
                            const std::vector<std::optional<TensorType>>& out_types);

  // Lists.
  Reg list_make(DType dtype, const std::vector<Reg>& items);
  Reg list_append(Reg list, Reg item);
  Reg list_get(Reg list, Dim index);
  Dim list_length(Reg list);

  // PHIs: made first (loops), inputs added when known.
  Reg phi(RegType type);
  void add_phi_input(Reg phi, const PhiInput& input);

  // Debug information for the instructions that follow.
  void set_debug(DebugInfo info);
  void set_name(Reg r, const std::string& name);

  Instr& append(Instr i);
  Reg new_reg(RegType type);

  /// How far function and module are made, and the current block. A mark holds while what was there isn't changed but by appending to it.
  struct Mark {
    ModuleBuilder::Mark module;
    size_t regs, inputs, outputs, debug_entries, entry_constants;
    std::vector<size_t> instrs;  // of each block
    BlockId block;
    uint32_t debug;
  };
  Mark mark();
  void rollback(const Mark& mark);

  /// Places frees, identities and copies; checks that every block is terminated.
  Status finish();

 private:
  ModuleBuilder* mb_;
  int32_t index_;
  BlockId block_ = 0;
  uint32_t debug_ = 0;
  std::vector<Instr> entry_constants_;           // put before everything else by finish()
  std::unordered_map<int32_t, Reg> constant_regs_;
  std::unordered_map<Reg, BlockId> phi_block_;
};

/// The ownership placement of finish(), for code in value form made elsewhere (optimiser): frees after last uses, on edges
/// where a value dies, identity views for borrowed or shared values that go into PHI, list, RESIZE or RETURN, copies at
/// RETURN for what isn't a dense tensor that alone owns its storage.
Status place_ownership(Module& module, int32_t function);

}  // namespace msvm
