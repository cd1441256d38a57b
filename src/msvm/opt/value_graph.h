// A function taken apart for rewriting: pure values without frees, identities and in-place hints, instructions in lists, readers and
// writers known.
#pragma once
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/bytecode/cfg.h"
#include "msvm/bytecode/module.h"

namespace msvm::opt {

struct Node {
  Instr instr;
  BlockId block = 0;
  int64_t order = 0;                    // ascending within the block
  std::list<Node>::iterator place;
};

class ValueGraph {
 public:
  ValueGraph(Module& module, int32_t function);
  /// Writes the instructions back (without what is dead), places ownership and drops registers that nothing names.
  Status store();

  Module& module() { return module_; }
  DimContext& dims() { return *module_.dims; }
  int32_t index() const { return index_; }
  Function& function() { return module_.functions[static_cast<size_t>(index_)]; }
  std::list<Node>& block(BlockId b) { return blocks_[static_cast<size_t>(b)]; }
  size_t num_blocks() const { return blocks_.size(); }
  const ControlFlow& cfg() const { return cfg_; }

  // --- values
  const RegType& reg_type(Reg r) const { return module_.functions[static_cast<size_t>(index_)].regs[static_cast<size_t>(r)].type; }
  const TensorType& type(Reg r) const { return reg_type(r).tensor; }
  bool is_tensor(Reg r) const { return r != kNoReg && reg_type(r).kind == RegKind::kTensor && !type(r).unknown_rank; }
  void set_type(Reg r, TensorType t) { function().regs[static_cast<size_t>(r)].type.tensor = std::move(t); }
  Reg new_reg(TensorType t, const std::string& name = "");
  Node* def(Reg r) const { return info(r).def; }
  /// The call or copy that writes a destination; null of everything else, of what windows fill, and of what several paths write.
  Node* writer(Reg r) const { return info(r).writers.size() == 1 ? info(r).writers[0] : nullptr; }
  /// Each reading operand once, in any order.
  const std::vector<Node*>& readers(Reg r) const { return info(r).readers; }
  bool single_use(Reg r) const { return info(r).readers.size() == 1; }
  /// A whole destination that one call writes: an ALLOC (or CREATE) without windows or resizes.
  bool plain(Reg r) const;
  /// The OP_CALL that gives `r` as its only output, `r` being plain; null otherwise.
  Node* call_of(Reg r) const;
  Node* call_of(Reg r, std::string_view op) const;
  /// Its only output; kNoReg if it has none or several.
  static Reg output(const Node& n);
  /// The constant that `r` is, null if none.
  const Constant* constant(Reg r) const;
  /// Whether `value`'s definition can be read at `at`.
  bool available(Reg value, const Node& at) const;
  /// Whether every symbol in the sizes of `t` has its value at `at`.
  bool sizes_available(const TensorType& t, const Node& at);
  bool before(const Node& a, const Node& b) const { return a.order < b.order; }  // of one block

  // --- changes; readers and writers stay right
  Node* insert_before(Node& at, Instr i);
  void remove(Node& n);
  /// A call of one output and its destination, which nobody reads any more.
  void remove_call(Node& n);
  /// To before `at`, of the same block. What it reads must be there, what reads it must come later.
  void move_before(Node& n, Node& at);
  void replace_reads(Reg from, Reg to);                 // everywhere
  void replace_read(Node& n, Reg from, Reg to);
  void set_instr(Node& n, Instr i);
  /// A TENSOR_CONST in the entry block for a new constant.
  Reg add_constant(Constant c);
  /// An OP_CALL with one output that replaces the call `n` and everything that was fused into it: before `n`, into a new destination of
  /// `type`; readers of n's output read it. `n` and its destination go. Returns the new call.
  Node* replace_call(Node& n, Instr call, TensorType type);
  /// As before, but gives the new register without replacing anything.
  Reg emit_call(Node& at, Instr call, TensorType type, const std::string& name = "");
  Reg emit_view(Node& at, ViewKind kind, Reg source, std::vector<Dim> dims, std::vector<int64_t> imms, TensorType type);
  /// Debug information that leads to the origins of all these nodes; place and line of the last.
  uint32_t merge_debug(const std::vector<const Node*>& nodes);
  /// In-place hints hold as long as nothing else changes.
  void drop_hints();
  /// Removes what no result, check, control flow or effect needs.
  void remove_dead();

 private:
  struct Info {
    Node* def = nullptr;
    std::vector<Node*> writers;  // more than one: on different paths
    std::vector<Node*> readers;
  };
  const Info& info(Reg r) const { return info_[static_cast<size_t>(r)]; }
  void add_edges(Node& n);
  void drop_edges(Node& n);
  void renumber(BlockId b);
  void number_before(Node& n, const Node& at);
  /// Who gives a named symbol its value: null for the inputs, else the first call, PHI or narrowing with a result of that size.
  std::unordered_map<SymbolId, Node*> symbol_definers();
  void drop_identities();
  void drop_unused_registers();

  Module& module_;
  const int32_t index_;
  const ControlFlow cfg_;
  std::vector<std::list<Node>> blocks_;
  std::vector<Info> info_;
};

/// Visits every node of every block in order; the visitor may remove the node or insert around it.
template <class F>
void for_each_node(ValueGraph& g, F&& f) {
  for (size_t b = 0; b < g.num_blocks(); ++b) {
    auto& list = g.block(static_cast<BlockId>(b));
    for (auto it = list.begin(); it != list.end();) {
      Node& n = *it++;
      f(n);
    }
  }
}

/// Whether the call may become part of another one; attributes can say no.
inline bool may_fuse(const Instr& call) { return !call.attrs.has("precision") && call.attrs.get_int("fusion", 1) != 0; }

inline bool is_call(const Node* n, std::string_view op) { return n && n->instr.op == Opcode::kOpCall && n->instr.text == op; }

}  // namespace msvm::opt
