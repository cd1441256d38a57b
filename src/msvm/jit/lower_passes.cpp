// Walks over the row from a graph. A value that a later walk reads again is computed again if that is cheap, else kept in a destination.
#include <algorithm>
#include <climits>
#include <map>

#include "msvm/jit/lower_group.h"

namespace msvm::jit::lowering {
namespace {

using loops::Op;
using loops::Operand;
using loops::Step;

constexpr int kCheap = 8;  // adds: less than a store and a load from the second cache

class Emitter {
 public:
  Emitter(const GroupGraph& g, std::optional<int64_t> constant_row) : g_(g), nodes_(g.graph.nodes()), constant_row_(constant_row) {
    const size_t n = nodes_.size();
    level_.assign(n, 0), cost_.assign(n, 0), needed_.assign(n, 0), kept_.assign(n, -1), kept_until_.assign(n, INT_MAX), row_number_.assign(n, -1);
    made_.loaded.assign(g.tensors.size(), 0), made_.stored.assign(g.tensors.size(), 0);
  }

  Passes emit() {
    find_levels();
    find_needed();
    find_kept();
    for (int p = 0; p <= count_; ++p) {
      row_section(p);
      if (p < count_) walk(p);
    }
    return std::move(made_);
  }

 private:
  const Node& node(Ref r) const { return g_.graph.at(r); }
  static bool is_node(Ref r) { return r.kind == Ref::kNode; }
  bool is_full(Ref r) const { return is_node(r) && !node(r).row; }
  int level(Ref r) const { return is_node(r) ? level_[static_cast<size_t>(r.node)] : 0; }
  static bool reduces(const Node& n) { return loops::is_reduction(n.op); }

  /// Of full values the walk that computes them first; of row values the section from which on they are seen.
  void find_levels() {
    for (size_t k = 0; k < nodes_.size(); ++k) {
      const Node& n = nodes_[k];
      cost_[k] = step_cost(n.op);
      for (Ref r : n.operands) {
        level_[k] = std::max(level_[k], level(r));
        if (is_full(r)) cost_[k] = std::min(cost_[k] + cost_[static_cast<size_t>(r.node)], 1 << 20);
      }
      if (reduces(n)) ++level_[k];
    }
  }

  void find_needed() {
    for (const Output& o : g_.outputs)
      if (o.stored && is_node(o.value)) needed_[static_cast<size_t>(o.value.node)] = 1;
    for (size_t k = nodes_.size(); k-- > 0;)
      if (needed_[k])
        for (Ref r : nodes_[k].operands)
          if (is_node(r)) needed_[static_cast<size_t>(r.node)] = 1;
    for (size_t k = 0; k < nodes_.size(); ++k)
      if (needed_[k] && reduces(nodes_[k])) count_ = std::max(count_, level_[k]);
    for (const Output& o : g_.outputs)
      if (o.stored && !o.row) count_ = std::max(count_, level(o.value) + 1);
  }

  // --- values kept in memory from one walk to another

  void find_kept() {
    std::vector<int32_t> owner(g_.tensors.size(), -1);
    for (int p = count_ - 1; p > 0; --p) {
      std::vector<uint8_t> seen(nodes_.size(), 0);
      std::vector<int32_t> todo;
      auto want = [&](Ref r) {
        if (is_full(r) && !seen[static_cast<size_t>(r.node)]) seen[static_cast<size_t>(r.node)] = 1, todo.push_back(r.node);
      };
      for (size_t k = 0; k < nodes_.size(); ++k) {
        if (needed_[k] && reduces(nodes_[k]) && level_[k] == p + 1) want(nodes_[k].operands[0]);
        if (kept_[k] >= 0 && level_[k] == p) want({Ref::kNode, static_cast<int32_t>(k)});
      }
      for (const Output& o : g_.outputs)
        if (o.stored && !o.row && level(o.value) == p) want(o.value);
      while (!todo.empty()) {
        const auto k = static_cast<size_t>(todo.back());
        todo.pop_back();
        if (level_[k] < p && (is_kept(k, p) || (cost_[k] > 1 && keep_result(k)) || (cost_[k] > kCheap && keep(k, p, owner)))) continue;
        for (Ref r : nodes_[k].operands) want(r);
      }
    }
  }

  bool is_kept(size_t k, int p) const { return kept_[k] >= 0 && p <= kept_until_[k]; }
  /// Stored anyway.
  bool keep_result(size_t k) {
    for (const Output& o : g_.outputs)
      if (o.stored && !o.row && o.value == Ref{Ref::kNode, static_cast<int32_t>(k)} && exact(o.tensor)) return kept_[k] = o.tensor, true;
    return false;
  }
  /// A place for the value, to be read in walk p.
  bool keep(size_t k, int p, std::vector<int32_t>& owner) {
    const int32_t home = nodes_[k].home;
    if (home < 0 || !exact(home) || (owner[static_cast<size_t>(home)] >= 0 && owner[static_cast<size_t>(home)] != static_cast<int32_t>(k))) return false;
    int until = INT_MAX;
    for (const Output& o : g_.outputs)  // then comes its own value
      if (o.tensor == home && o.stored) until = level(o.value);
    if (until < p) return false;
    owner[static_cast<size_t>(home)] = static_cast<int32_t>(k);
    kept_[k] = home;
    kept_until_[k] = until;
    return true;
  }
  /// Whether the tensor holds values as they are.
  bool exact(int32_t tensor) const { return home_type(tensor) == loops::value_type(home_type(tensor)); }
  DType home_type(int32_t tensor) const { return g_.tensors[static_cast<size_t>(tensor)].dtype; }

  // --- steps

  Operand operand(Ref r) {
    switch (r.kind) {
      case Ref::kNone: return {};
      case Ref::kNumber: return {Operand::kNumber, 0, r.number, r.integer};
      case Ref::kRowExtent: return {Operand::kSize, kRowArgument};
      case Ref::kNode: break;
    }
    const auto k = static_cast<size_t>(r.node);
    if (nodes_[k].row) {
      if (extent_number(nodes_[k])) return {Operand::kNumber, 0, static_cast<double>(*constant_row_), *constant_row_};
      return {Operand::kRow, row_number_[k]};
    }
    return {Operand::kValue, value(k)};
  }
  /// A cast of the row's extent where that is a number.
  bool extent_number(const Node& n) const { return n.op == Op::kCast && n.operands[0].kind == Ref::kRowExtent && constant_row_; }

  /// Full value k in the present walk. Depth-first without recursion: bodies may be long chains.
  int32_t value(size_t wanted) {
    std::vector<size_t> todo{wanted};
    while (!todo.empty()) {
      const size_t k = todo.back();
      if (in_walk_.contains(k)) {
        todo.pop_back();
        continue;
      }
      const Node& n = nodes_[k];
      const bool again = is_kept(k, walk_) && level_[k] < walk_;
      const size_t before = todo.size();
      if (!again)
        for (size_t i = n.operands.size(); i-- > 0;)  // the first one on top
          if (const Ref r = n.operands[i]; is_full(r) && !in_walk_.contains(static_cast<size_t>(r.node))) todo.push_back(static_cast<size_t>(r.node));
      if (todo.size() > before) continue;
      todo.pop_back();
      Step s{n.op, n.type, n.tensor, next_value_++, {}};
      if (again) s.op = Op::kLoad, s.tensor = kept_[k];
      else
        for (size_t i = 0; i < n.operands.size(); ++i) s.operands[i] = operand(n.operands[i]);
      if (s.op == Op::kLoad) made_.loaded[static_cast<size_t>(s.tensor)] = 1;
      push(s, n.members);
      in_walk_[k] = s.result;
    }
    return in_walk_.at(wanted);
  }

  void push(const Step& s, uint64_t members) {
    steps_->push_back(s);
    made_.members.push_back(members);
  }

  void store(int32_t tensor, Ref r, uint64_t members) {
    made_.stored[static_cast<size_t>(tensor)] = 1;
    Step s{Op::kStore, home_type(tensor), tensor, -1, {}};
    s.operands[0] = operand(r);
    push(s, members);
  }
  uint64_t member_of(const Output& o) const { return uint64_t{1} << (static_cast<size_t>(&o - g_.outputs.data()) % 64); }

  void walk(int p) {
    loops::Pass pass;
    steps_ = &pass.steps;
    walk_ = p;
    in_walk_.clear();
    struct Stored {
      int32_t tensor;
      Ref value;
      uint64_t members;
    };
    std::vector<Stored> stores;
    for (size_t k = 0; k < nodes_.size(); ++k) {
      const Node& n = nodes_[k];
      if (needed_[k] && reduces(n) && level_[k] == p + 1) {
        const Operand of = operand(n.operands[0]);
        row_number_[k] = next_row_++;
        push({n.op, n.type, -1, row_number_[k], {of, {}, {}}}, n.members);
      }
      if (kept_[k] >= 0 && level_[k] == p && !is_output(k)) stores.push_back({kept_[k], Ref{Ref::kNode, static_cast<int32_t>(k)}, n.members});
    }
    for (const Output& o : g_.outputs)
      if (o.stored && !o.row && level(o.value) == p) stores.push_back({o.tensor, o.value, member_of(o)});
    for (const Stored& s : stores)
      if (is_full(s.value)) value(static_cast<size_t>(s.value.node));  // everything is loaded before something is stored
    for (const Stored& s : stores) store(s.tensor, s.value, s.members);
    if (!pass.steps.empty()) made_.passes.push_back(std::move(pass));
  }
  bool is_output(size_t k) const {
    return std::any_of(g_.outputs.begin(), g_.outputs.end(), [&](const Output& o) { return o.stored && !o.row && o.tensor == kept_[k] && o.value == Ref{Ref::kNode, static_cast<int32_t>(k)}; });
  }

  void row_section(int p) {
    loops::Pass pass;
    pass.row = true;
    steps_ = &pass.steps;
    for (size_t k = 0; k < nodes_.size(); ++k) {
      const Node& n = nodes_[k];
      if (!needed_[k] || !n.row || reduces(n) || level_[k] != p || extent_number(n)) continue;
      Step s{n.op, n.type, n.tensor, -1, {}};
      for (size_t i = 0; i < n.operands.size(); ++i) s.operands[i] = operand(n.operands[i]);
      s.result = row_number_[k] = next_row_++;
      if (n.op == Op::kLoad) made_.loaded[static_cast<size_t>(n.tensor)] = 1;
      push(s, n.members);
    }
    for (const Output& o : g_.outputs)
      if (o.stored && o.row && level(o.value) == p) store(o.tensor, o.value, member_of(o));
    if (!pass.steps.empty()) made_.passes.push_back(std::move(pass));
  }

  const GroupGraph& g_;
  const std::vector<Node>& nodes_;
  const std::optional<int64_t> constant_row_;
  std::vector<int> level_, cost_;      // by node
  std::vector<uint8_t> needed_;
  std::vector<int32_t> kept_;          // by node: the tensor that holds it for later walks, -1
  std::vector<int> kept_until_;        // the last walk that finds it there
  std::vector<int32_t> row_number_;
  int count_ = 0;                      // walks
  int walk_ = 0;
  std::map<size_t, int32_t> in_walk_;  // by node: its value in this walk
  std::vector<Step>* steps_ = nullptr;
  int32_t next_value_ = 0, next_row_ = 0;
  Passes made_;
};

}  // namespace

Passes emit_passes(const GroupGraph& g, std::optional<int64_t> constant_row) { return Emitter(g, constant_row).emit(); }

}  // namespace msvm::jit::lowering
