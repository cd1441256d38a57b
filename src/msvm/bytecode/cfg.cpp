#include "msvm/bytecode/cfg.h"

#include <algorithm>
#include <numeric>

namespace msvm {

void for_each_read(const Module& module, int32_t function, const Instr& instr, const std::function<void(Reg)>& visit) {
  for (Reg r : instr.uses)
    if (r != kNoReg) visit(r);
  for (Dim d : instr.dims) {
    if (!d.valid() || d.is_const()) continue;
    DimContext::for_each_symbol(d, [&](SymbolId s) {
      const SymbolInfo& info = module.dims->symbol_info(s);
      if (info.function == function) visit(info.reg);
    });
  }
}

// --- ControlFlow -------------------------------------------------------------------------------------------------------

ControlFlow::ControlFlow(const Function& f) {
  const size_t n = f.blocks.size();
  successors_.resize(n);
  predecessors_.resize(n);
  std::vector<BlockId> seen_from(n, -1);
  for (size_t b = 0; b < n; ++b) {
    if (f.blocks[b].instrs.empty()) continue;
    const Instr& last = f.blocks[b].instrs.back();
    if (!instr_info(last.op).has(kTerminator)) continue;
    for (BlockId t : last.targets) {
      if (seen_from[t] == static_cast<BlockId>(b)) continue;
      seen_from[t] = static_cast<BlockId>(b);
      successors_[b].push_back(t);
      predecessors_[t].push_back(static_cast<BlockId>(b));
    }
  }
  idom_.assign(n, -1);
  loop_header_.assign(n, -1);
  loop_depth_.assign(n, 0);
  order_index_.assign(n, -1);
  dom_in_.assign(n, -1);
  dom_out_.assign(n, -1);
  preorder_.assign(n, -1);
  preorder_end_.assign(n, -1);
  if (n == 0) return;
  order_blocks();
  find_dominators();
  find_loops();
}

// Depth first, the last successor first: the first one then follows its block directly in reverse post order.
void ControlFlow::order_blocks() {
  struct Frame { BlockId block; size_t next; };
  std::vector<Frame> stack;
  auto enter = [&](BlockId b, int parent) {
    preorder_[b] = static_cast<int>(tree_.size());
    tree_.push_back(b);
    tree_parent_.push_back(parent);
    stack.push_back({b, successors_[b].size()});
  };
  enter(0, -1);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == 0) {
      preorder_end_[top.block] = static_cast<int>(tree_.size());
      order_.push_back(top.block);
      stack.pop_back();
      continue;
    }
    BlockId s = successors_[top.block][--top.next];
    if (preorder_[s] < 0) enter(s, preorder_[top.block]);
  }
  std::reverse(order_.begin(), order_.end());
  for (size_t i = 0; i < order_.size(); ++i) order_index_[order_[i]] = static_cast<int>(i);
}

// Lengauer and Tarjan with simple linking: O(edges * log blocks) for any graph. Works on preorder numbers.
void ControlFlow::find_dominators() {
  const int n = static_cast<int>(tree_.size());
  std::vector<int> semi(n), label(n), ancestor(n, -1), idom(n, -1), bucket(n, -1), next_in_bucket(n, -1), path;
  std::iota(semi.begin(), semi.end(), 0);
  std::iota(label.begin(), label.end(), 0);

  auto eval = [&](int v) {
    if (ancestor[v] < 0) return v;
    path.clear();
    for (int u = v; ancestor[ancestor[u]] >= 0; u = ancestor[u]) path.push_back(u);
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      int a = ancestor[*it];
      if (semi[label[a]] < semi[label[*it]]) label[*it] = label[a];
      ancestor[*it] = ancestor[a];
    }
    return label[v];
  };

  for (int w = n - 1; w > 0; --w) {
    for (BlockId p : predecessors_[tree_[w]])
      if (preorder_[p] >= 0) semi[w] = std::min(semi[w], semi[eval(preorder_[p])]);
    next_in_bucket[w] = bucket[semi[w]];
    bucket[semi[w]] = w;
    const int parent = tree_parent_[w];
    ancestor[w] = parent;
    for (int v = bucket[parent]; v >= 0; v = next_in_bucket[v]) {
      int u = eval(v);
      idom[v] = semi[u] < semi[v] ? u : parent;
    }
    bucket[parent] = -1;
  }
  for (int w = 1; w < n; ++w) {
    if (idom[w] != semi[w]) idom[w] = idom[idom[w]];
    idom_[tree_[w]] = tree_[idom[w]];
  }

  // Intervals of the dominator tree: sizes bottom-up, then positions top-down. A dominator has the smaller preorder number.
  std::vector<int> size(n, 1), next(n);
  for (int w = n - 1; w > 0; --w) size[idom[w]] += size[w];
  dom_in_[0] = 0;
  dom_out_[0] = n;
  next[0] = 1;
  for (int w = 1; w < n; ++w) {
    const int in = next[idom[w]];
    next[idom[w]] += size[w];
    next[w] = in + 1;
    dom_in_[tree_[w]] = in;
    dom_out_[tree_[w]] = in + size[w];
  }
}

// Innermost loops first; a finished loop is one node (its header) for the loops around it. Of a cycle with several entries
// the block that the depth-first walk met first serves as header.
void ControlFlow::find_loops() {
  const int n = static_cast<int>(tree_.size());
  std::vector<int> collapsed(n), parent_loop(n, -1), visited(n, -1), work;
  std::vector<char> is_header(n, 0);
  std::iota(collapsed.begin(), collapsed.end(), 0);
  auto find = [&](int v) {
    while (collapsed[v] != v) v = collapsed[v] = collapsed[collapsed[v]];
    return v;
  };
  auto is_ancestor = [&](int a, int b) { return a <= b && b < preorder_end_[tree_[a]]; };

  for (int h = n - 1; h >= 0; --h) {
    work.clear();
    auto add = [&](int v) {
      v = find(v);
      if (v != h && visited[v] != h) {
        visited[v] = h;
        work.push_back(v);
      }
    };
    for (BlockId p : predecessors_[tree_[h]]) {
      const int u = preorder_[p];
      if (u < 0 || !is_ancestor(h, u)) continue;
      is_header[h] = 1;
      if (!dominates(tree_[h], p)) reducible_ = false;
      add(u);
    }
    for (size_t i = 0; i < work.size(); ++i) {
      for (BlockId p : predecessors_[tree_[work[i]]])
        if (int u = preorder_[p]; u >= 0) {
          if (is_ancestor(h, find(u))) add(u);
          else reducible_ = false;
        }
    }
    for (int v : work) {
      parent_loop[v] = h;
      collapsed[v] = h;
    }
  }
  for (int v = 0; v < n; ++v) {
    const int outer = parent_loop[v];
    const int depth_outside = outer < 0 ? 0 : loop_depth_[tree_[outer]];
    loop_depth_[tree_[v]] = depth_outside + is_header[v];
    loop_header_[tree_[v]] = is_header[v] ? tree_[v] : outer < 0 ? -1 : tree_[outer];
  }
}

// --- Liveness ----------------------------------------------------------------------------------------------------------

bool Liveness::contains(const List& list, const Starts& starts, BlockId b, Reg r) {
  auto s = blocks(list, starts, r);
  return std::binary_search(s.begin(), s.end(), b);
}

// One register at a time: from each use up to the definition.
Liveness::Liveness(const Module& module, int32_t function, const ControlFlow& cfg) {
  const Function& f = module.functions[function];
  const size_t regs = f.regs.size(), blocks = f.blocks.size();
  std::vector<BlockId> def_block(regs, -1);
  // Uses that a definition earlier in the same block doesn't serve; `at_end` ones are read by PHIs of a successor.
  struct Use { Reg reg; BlockId block; bool at_end; };
  std::vector<Use> uses;
  for (size_t i = 0; i < blocks; ++i) {
    const auto b = static_cast<BlockId>(i);
    for (const Instr& instr : f.blocks[i].instrs) {
      auto use = [&](Reg r) {
        if (def_block[r] != b) uses.push_back({r, b, false});
      };
      if (instr_info(instr.op).has(kPhi)) {
        for (size_t k = 0; k < instr.uses.size() && k < instr.targets.size(); ++k)
          if (instr.uses[k] != kNoReg) uses.push_back({instr.uses[k], instr.targets[k], true});
        for (size_t k = 0; k < instr.dims.size() && k < instr.targets.size(); ++k)
          DimContext::for_each_symbol(instr.dims[k], [&](SymbolId s) {
            const SymbolInfo& info = module.dims->symbol_info(s);
            if (info.function == function) uses.push_back({info.reg, instr.targets[k], true});
          });
      } else {
        for_each_read(module, function, instr, use);
        for (Reg r : instr.outs)
          if (r != kNoReg && std::find(instr.defs.begin(), instr.defs.end(), r) == instr.defs.end()) use(r);
      }
      for (Reg r : instr.defs) def_block[r] = b;
    }
  }
  std::vector<size_t> start(regs + 1, 0);
  for (const Use& u : uses) ++start[u.reg + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<Use> by_reg(uses.size());
  {
    std::vector<size_t> next(start.begin(), start.end() - 1);
    for (const Use& u : uses) by_reg[next[u.reg]++] = u;
  }

  in_start_.assign(regs + 1, 0);
  out_start_.assign(regs + 1, 0);
  std::vector<Reg> seen_in(blocks, -1), seen_out(blocks, -1);
  std::vector<BlockId> work;
  for (size_t i = 0; i < regs; ++i) {
    const auto r = static_cast<Reg>(i);
    auto mark_in = [&](BlockId b) {
      if (seen_in[b] == r) return;
      seen_in[b] = r;
      in_.push_back(b);
      work.push_back(b);
    };
    auto mark_out = [&](BlockId b) {
      if (seen_out[b] == r) return;
      seen_out[b] = r;
      out_.push_back(b);
      if (def_block[r] != b) mark_in(b);
    };
    for (size_t k = start[i]; k < start[i + 1]; ++k) by_reg[k].at_end ? mark_out(by_reg[k].block) : mark_in(by_reg[k].block);
    while (!work.empty()) {
      BlockId b = work.back();
      work.pop_back();
      for (BlockId p : cfg.predecessors(b)) mark_out(p);
    }
    std::sort(in_.begin() + static_cast<ptrdiff_t>(in_start_[i]), in_.end());
    std::sort(out_.begin() + static_cast<ptrdiff_t>(out_start_[i]), out_.end());
    in_start_[i + 1] = in_.size();
    out_start_[i + 1] = out_.size();
  }
}

}  // namespace msvm
