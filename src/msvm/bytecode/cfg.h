// Control flow: predecessors, dominators, loops; and liveness of registers.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "msvm/bytecode/module.h"

namespace msvm {

/// Registers that `instr` reads: uses, and the registers of register symbols in its dims. Not `outs`.
void for_each_read(const Module& module, int32_t function, const Instr& instr, const std::function<void(Reg)>& visit);

/// Near-linear (dominators by Lengauer and Tarjan, loops by union-find), without recursion.
class ControlFlow {
 public:
  /// Targets must be valid block indices (check first). Unreachable blocks have no dominator.
  explicit ControlFlow(const Function& f);
  const std::vector<BlockId>& successors(BlockId b) const { return successors_[b]; }      // each once, in the order of the targets
  const std::vector<BlockId>& predecessors(BlockId b) const { return predecessors_[b]; }  // each once, ascending
  BlockId immediate_dominator(BlockId b) const { return idom_[b]; }                       // -1 of entry and unreachable
  /// Reflexive; false if one of them is unreachable.
  bool dominates(BlockId a, BlockId b) const {
    return dom_in_[a] >= 0 && dom_in_[b] >= dom_in_[a] && dom_out_[b] <= dom_out_[a];
  }
  bool reachable(BlockId b) const { return order_index_[b] >= 0; }
  const std::vector<BlockId>& reverse_post_order() const { return order_; }
  /// Position of a reachable block in reverse_post_order().
  int order_index(BlockId b) const { return order_index_[b]; }
  bool is_back_edge(BlockId from, BlockId to) const { return dominates(to, from); }
  bool in_loop(BlockId b) const { return loop_depth_[b] > 0; }
  int loop_depth(BlockId b) const { return loop_depth_[b]; }
  /// Header of the innermost loop that holds b (b itself if it is one); -1 outside loops.
  BlockId loop_header(BlockId b) const { return loop_header_[b]; }
  /// Every cycle is entered through one block, which dominates it.
  bool reducible() const { return reducible_; }

 private:
  void order_blocks();
  void find_dominators();
  void find_loops();

  std::vector<std::vector<BlockId>> successors_, predecessors_;
  std::vector<BlockId> idom_, order_, loop_header_;
  std::vector<int> order_index_, loop_depth_, dom_in_, dom_out_;
  std::vector<int> preorder_, preorder_end_;   // of the depth-first tree
  std::vector<BlockId> tree_, tree_parent_;    // blocks by preorder; parent as preorder number
  bool reducible_ = true;
};

/// Blocks where registers are live: reads as above, and `outs` (a destination must exist until it is written). Costs time
/// and memory only for registers that live across blocks.
class Liveness {
 public:
  Liveness(const Module& module, int32_t function, const ControlFlow& cfg);
  bool live_in(BlockId b, Reg r) const { return contains(in_, in_start_, b, r); }
  bool live_out(BlockId b, Reg r) const { return contains(out_, out_start_, b, r); }  // PHI uses count as live out of their predecessor
  std::span<const BlockId> live_in_blocks(Reg r) const { return blocks(in_, in_start_, r); }    // ascending
  std::span<const BlockId> live_out_blocks(Reg r) const { return blocks(out_, out_start_, r); }

 private:
  using List = std::vector<BlockId>;
  using Starts = std::vector<size_t>;
  static std::span<const BlockId> blocks(const List& list, const Starts& starts, Reg r) {
    return {list.data() + starts[r], starts[r + 1] - starts[r]};
  }
  static bool contains(const List& list, const Starts& starts, BlockId b, Reg r);

  List in_, out_;            // by register
  Starts in_start_, out_start_;
};

}  // namespace msvm
