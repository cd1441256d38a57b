// One walk over the dominator tree: facts of a block hold in the blocks it dominates, and are dropped when the walk leaves them.
#include <algorithm>
#include <numeric>

#include "msvm/verify/memory.h"

namespace msvm::verification {
namespace {

class Walk {
 public:
  explicit Walk(Context& c) : c_(c), sizes_(c), memory_(c, sizes_), reported_(c.instrs.size(), 0) {}

  void run() {
    // Children in reverse post order: every predecessor of a block but those of back edges is walked before it.
    const auto& order = c_.cfg->reverse_post_order();
    const size_t n = c_.f.blocks.size();
    std::vector<BlockId> last_child(n, -1), next(n, -1);  // lists, the first in order at the front
    for (size_t k = order.size(); k-- > 1;) {
      const BlockId p = c_.cfg->immediate_dominator(order[k]);
      next[order[k]] = last_child[p];
      last_child[p] = order[k];
    }
    struct Frame {
      BlockId child;
      Sizes::Mark mark;
    };
    std::vector<Frame> stack{{last_child[0], sizes_.mark()}};
    block(0);
    while (!stack.empty() && !c_.report.full()) {
      const BlockId b = stack.back().child;
      if (b < 0) {
        sizes_.rollback(stack.back().mark);
        stack.pop_back();
        continue;
      }
      stack.back().child = next[b];
      stack.push_back({last_child[b], sizes_.mark()});
      block(b);
    }
    memory_.finish();
    sort_checks();
  }

 private:
  // By instruction; those of one instruction stay in their order.
  void sort_checks() {
    auto& checks = c_.facts.checks;
    std::vector<size_t> order(checks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return checks[a].instruction != checks[b].instruction ? checks[a].instruction < checks[b].instruction : a < b; });
    std::vector<RuntimeCheck> sorted;
    sorted.reserve(checks.size());
    for (size_t i : order) sorted.push_back(std::move(checks[i]));
    checks = std::move(sorted);
  }

  void block(BlockId b) {
    const auto& preds = c_.cfg->predecessors(b);
    if (preds.size() == 1) branch_facts(preds[0], b);
    int32_t i = c_.begin(b);
    for (; i < c_.end(b) && c_.is_phi(i); ++i) scalar_phi(i);
    for (int32_t k = c_.begin(b); k < i; ++k)
      if (c_.at(k).op == Opcode::kTensorPhi && !c_.bad_instr[k] && c_.kind(c_.at(k).defs[0]) == RegKind::kTensor) sizes_.set_type(c_.at(k).defs[0]);
    memory_.enter(b);
    for (; i < c_.end(b); ++i) {
      if (!c_.bad_instr[i]) check_values(c_, sizes_, i);
      else for (Reg r : c_.at(i).defs) bad_result(r);
      memory_.step(i);
    }
    memory_.leave(b);
    const auto& successors = c_.cfg->successors(b);
    for (BlockId s : successors) {
      const Sizes::Mark mark = sizes_.mark();
      if (successors.size() > 1) branch_facts(b, s);
      check_phi_edge(c_, sizes_, b, s, reported_);
      memory_.edge(b, s);
      sizes_.rollback(mark);
    }
  }

  void bad_result(Reg r) {
    if (c_.def[r] >= 0 && c_.kind(r) == RegKind::kI64 && !sizes_.value(r).valid()) sizes_.set_opaque(r);
  }

  /// One value on all edges is the PHI's; else it stands for itself.
  void scalar_phi(int32_t i) {
    const Instr& x = c_.at(i);
    const Reg d = x.defs[0];
    if (c_.kind(d) != RegKind::kI64) return;
    sizes_.set_opaque(d);
    if (c_.bad_instr[i] || x.op != Opcode::kScalarPhi) return;
    counter_bound(x);
    Dim common;
    for (size_t k = 0; k < x.dims.size(); ++k) {
      const bool back = c_.cfg->is_back_edge(x.targets[k], c_.block_of[i]);
      if (back && !x.dims[k].is_const()) {
        if (x.dims[k] == sizes_.value(d)) continue;
        return;
      }
      const Dim v = sizes_.canonical(x.dims[k]);
      if (common.valid() && v != common) return;
      common = v;
    }
    if (common.valid()) sizes_.set_value(d, common);
  }

  /// A loop counter that starts at constants and only grows is at least the least of them.
  void counter_bound(const Instr& x) {
    const Dim own = sizes_.value(x.defs[0]);
    int64_t least = INT64_MAX;
    bool grows = false;
    for (Dim d : x.dims) {
      if (d.is_const()) {
        least = std::min(least, d.value());
        continue;
      }
      Dim next = d;
      if (d.is_symbol() && d != own && c_.dims.symbol_info(d.symbol()).is_register()) {
        const int32_t at = c_.def[c_.dims.symbol_info(d.symbol()).reg];
        if (at < 0 || c_.bad_instr[at] || c_.at(at).op != Opcode::kShapeCalc || calc_op(c_.at(at)) != CalcOp::kAdd) return;
        next = c_.dims.add(c_.at(at).dims[0], c_.at(at).dims[1]);
      }
      const Dim step = c_.dims.sub(next, own);
      if (!step.is_const() || step.value() < 0) return;
      grows = true;
    }
    if (grows && least != INT64_MAX) sizes_.learn({CondOp::kLe, c_.dims.constant(least), own});
  }

  void branch_facts(BlockId from, BlockId to) {
    const int32_t at = c_.end(from) - 1;
    const Instr& x = c_.at(at);
    if (c_.bad_instr[at]) return;
    if (x.op == Opcode::kBranchIf && x.targets[0] != x.targets[1]) sizes_.add_conditions_of(x.uses[0], x.targets[0] == to);
    constexpr size_t kMaxCases = 64;  // each arm looks through all of them
    if (x.op != Opcode::kSwitch || x.targets.size() > kMaxCases) return;
    // One case leads here, and the default doesn't.
    const auto first = std::find(x.targets.begin(), x.targets.end(), to);
    if (x.targets.back() == to || std::find(first + 1, x.targets.end(), to) != x.targets.end()) return;
    sizes_.learn({CondOp::kEq, sizes_.canonical(x.dims[0]), c_.dims.constant(x.imms[static_cast<size_t>(first - x.targets.begin())])});
  }

  Context& c_;
  Sizes sizes_;
  Memory memory_;
  std::vector<uint8_t> reported_;
};

}  // namespace

void check_flow(Context& c) { Walk(c).run(); }

}  // namespace msvm::verification
