// Group 5: a chain that makes a size depend on itself. With one definition that dominates every use there is none, so this
// runs only where something was used too early, and says why.
#include <fmt/format.h>

#include <algorithm>

#include "msvm/verify/context.h"

namespace msvm::verification {
namespace {

/// Tarjan's strongly connected components over registers and the named symbols bound in the function; without recursion.
class CycleSearch {
 public:
  CycleSearch(Context& c) : c_(c), regs_(static_cast<int32_t>(c.f.regs.size())) {
    for (SymbolId s : c.tables.bound) symbol_node_.push_back(s);
    std::sort(symbol_node_.begin(), symbol_node_.end());
    const size_t n = static_cast<size_t>(regs_) + symbol_node_.size();
    component_.assign(n, -1);
    number_.assign(n, -1);
    low_.assign(n, 0);
    for (size_t v = 0; v < n; ++v)
      if (number_[v] < 0) search(static_cast<int32_t>(v));
  }

  int32_t node(Reg r) const { return r; }
  int32_t node(SymbolId s) const {
    auto it = std::lower_bound(symbol_node_.begin(), symbol_node_.end(), s);
    return it != symbol_node_.end() && *it == s ? regs_ + static_cast<int32_t>(it - symbol_node_.begin()) : -1;
  }
  bool same(int32_t a, int32_t b) const { return a >= 0 && b >= 0 && component_[a] == component_[b]; }
  int32_t component(int32_t v) const { return component_[v]; }

  /// The shortest way from `from` back to itself within its component.
  std::vector<int32_t> cycle(int32_t from) {
    parent_.resize(number_.size(), -1);
    std::vector<int32_t> queue{from}, way;
    for (size_t k = 0; k < queue.size() && way.empty(); ++k) {
      for (int32_t w : needs(queue[k])) {
        if (w == from) {
          for (int32_t v = queue[k]; v >= 0; v = parent_[v]) way.push_back(v);
          std::reverse(way.begin(), way.end());
          way.push_back(from);
          break;
        }
        if (component_[w] != component_[from] || parent_[w] >= 0) continue;
        parent_[w] = queue[k];
        queue.push_back(w);
      }
    }
    for (int32_t v : queue) parent_[v] = -1;
    return way;
  }

  std::string describe(int32_t v) const {
    if (v >= regs_) {
      const SymbolId s = symbol_node_[v - regs_];
      return fmt::format("symbol {}", c_.dims.symbol_info(s).name);
    }
    const int32_t d = c_.def[v];
    return d < 0 ? reg_text(v) : fmt::format("R{} ({} at instruction {})", v, c_.mnemonic(d), d);
  }

 private:
  // What a node's value or size is computed from. A PHI's inputs come from before: they close no cycle.
  std::vector<int32_t> needs(int32_t v) const {
    std::vector<int32_t> out;
    auto symbols = [&](Dim d) {
      DimContext::for_each_symbol(d, [&](SymbolId s) {
        const SymbolInfo& info = c_.dims.symbol_info(s);
        const int32_t w = info.is_register() ? info.reg : node(s);
        if (w >= 0 && w != v) out.push_back(w);
        else if (w == v && v < regs_) out.push_back(w);
      });
    };
    int32_t d;
    if (v >= regs_) {
      d = c_.tables.symbol_def[symbol_node_[v - regs_]];
    } else {
      d = c_.def[v];
      if (d >= 0 && c_.kind(v) == RegKind::kTensor && !binds(d))
        for (Dim x : c_.declared(v).shape) symbols(x);
    }
    if (d < 0 || c_.is_phi(d)) return out;
    for (Reg r : c_.at(d).uses)
      if (r != kNoReg) out.push_back(r);
    for (Dim x : c_.at(d).dims) symbols(x);
    return out;
  }

  bool binds(int32_t d) const {
    const Instr& x = c_.at(d);
    return x.op == Opcode::kOpCall || x.op == Opcode::kTensorPhi || (x.op == Opcode::kTensorCreate && create_kind(x) == CreateKind::kNarrow);
  }

  void search(int32_t root) {
    struct Frame {
      int32_t node;
      std::vector<int32_t> next;
      size_t at;
    };
    std::vector<Frame> frames;
    auto enter = [&](int32_t v) {
      number_[v] = low_[v] = count_++;
      stack_.push_back(v);
      frames.push_back({v, needs(v), 0});
    };
    enter(root);
    while (!frames.empty()) {
      Frame& top = frames.back();
      if (top.at < top.next.size()) {
        const int32_t w = top.next[top.at++];
        if (number_[w] < 0) enter(w);
        else if (component_[w] < 0) low_[top.node] = std::min(low_[top.node], number_[w]);
        continue;
      }
      const int32_t v = top.node;
      frames.pop_back();
      if (!frames.empty()) low_[frames.back().node] = std::min(low_[frames.back().node], low_[v]);
      if (low_[v] != number_[v]) continue;
      int32_t w;
      do {
        w = stack_.back();
        stack_.pop_back();
        component_[w] = components_;
      } while (w != v);
      ++components_;
    }
  }

  Context& c_;
  const int32_t regs_;
  std::vector<SymbolId> symbol_node_;
  std::vector<int32_t> component_, number_, low_, stack_, parent_;
  int32_t count_ = 0, components_ = 0;
};

}  // namespace

void explain_cycles(Context& c, std::vector<EarlyUse>& uses) {
  CycleSearch search(c);
  std::vector<int32_t> reported;  // components
  for (EarlyUse& u : uses) {
    if (c.report.full()) return;
    const int32_t used = u.reg != kNoReg ? search.node(u.reg) : search.node(u.symbol);
    if (used < 0 || c.is_phi(u.instruction)) continue;
    bool inside = false;
    for (Reg r : c.at(u.instruction).defs) inside |= search.same(search.node(r), used);
    if (!inside) continue;
    const int32_t component = search.component(used);
    if (std::find(reported.begin(), reported.end(), component) == reported.end()) {
      std::vector<int32_t> way = search.cycle(used);
      if (way.empty()) continue;
      reported.push_back(component);
      std::string chain;
      constexpr size_t kShown = 40;
      for (size_t k = 0; k < way.size(); ++k) {
        if (k == kShown && way.size() > kShown + 2) {
          chain += fmt::format(" -> ... {} more", way.size() - kShown - 1);
          k = way.size() - 2;
          continue;
        }
        chain += (k ? " -> " : "") + search.describe(way[k]);
      }
      c.error(Rule::kNoCycle, u.instruction, {"a size depends on itself", "sizes computed from earlier values; across loop rounds through a PHI", chain,
                                             "carry the value through a TENSOR_PHI or SCALAR_PHI at the head of a loop, or compute it from the inputs"});
    }
    u.explained = true;
  }
}

}  // namespace msvm::verification
