// A chain is a row of blocks that control enters at its first block only and leaves at its last: jumps to blocks with one predecessor,
// and branches whose arms are clean and meet again. Such blocks are neighbours in reverse post-order. Borders cut chains into runs, and
// a run is trimmed to a region.
#include "msvm/jit/regions.h"

#include <algorithm>

#include "msvm/ops/registered.h"

namespace msvm::jit {
namespace {

class Finder {
 public:
  explicit Finder(const FunctionView& v)
      : v_(v), borders_(v.instrs.size(), BorderReason::kNone), from_sizes_(v.f.regs.size(), 0), clean_(v.f.blocks.size(), 0), join_of_(v.f.blocks.size(), -1),
        tried_(v.f.blocks.size(), 0), is_join_(v.f.blocks.size(), 0) {}

  FunctionRegions find() {
    for (BlockId b : v_.cfg.reverse_post_order()) classify_block(b);
    const auto& order = v_.cfg.reverse_post_order();
    for (size_t k = 0; k < order.size();) k = walk_chain(k);
    describe_regions(v_, out_.regions);
    out_.borders = std::move(borders_);
    return std::move(out_);
  }

 private:
  const Instr& terminator(BlockId b) const { return v_.at(v_.end(b) - 1); }
  static bool is_branch(const Instr& i) { return i.op == Opcode::kBranchIf || i.op == Opcode::kSwitch; }

  // --- what may lie in a region

  BorderReason operand(Reg r) const {
    if (r == kNoReg) return BorderReason::kNone;
    if (v_.kind(r) == RegKind::kList) return BorderReason::kList;
    if (v_.kind(r) != RegKind::kTensor) return BorderReason::kNone;
    const TensorType& t = v_.type(r);
    if (t.unknown_rank) return BorderReason::kUnknownRank;
    if (t.dtype == DType::kString) return BorderReason::kString;
    if (!(t.device == Device{})) return BorderReason::kDevice;
    return BorderReason::kNone;
  }

  BorderReason operands(const Instr& i) const {
    for (const auto* list : {&i.defs, &i.uses, &i.outs})
      for (Reg r : *list)
        if (const BorderReason reason = operand(r); reason != BorderReason::kNone) return reason;
    return BorderReason::kNone;
  }

  bool uses_from_sizes(const Instr& i) const {
    return std::all_of(i.uses.begin(), i.uses.end(), [&](Reg r) { return r == kNoReg || v_.kind(r) == RegKind::kTensor || from_sizes_[static_cast<size_t>(r)]; });
  }

  BorderReason reason_of(const Instr& i, bool in_join) const {
    switch (i.op) {
      case Opcode::kTensorRead: return BorderReason::kRead;
      case Opcode::kTensorResize: return BorderReason::kResize;
      case Opcode::kListMake: case Opcode::kListAppend: case Opcode::kListGet: case Opcode::kListLength: return BorderReason::kList;
      case Opcode::kReturn: case Opcode::kTrap: return BorderReason::kReturn;
      default: break;
    }
    if (const BorderReason reason = operands(i); reason != BorderReason::kNone) return reason;
    switch (i.op) {
      case Opcode::kTensorPhi: case Opcode::kScalarPhi: return in_join ? BorderReason::kNone : BorderReason::kMerge;
      case Opcode::kOpCall: {
        const OpSchema* op = find_op(i.text);
        if (!op || as_registered(*op)) return BorderReason::kCustomOperator;
        if (has_effect(*op)) return BorderReason::kEffect;
        return i.defs.empty() ? BorderReason::kNone : BorderReason::kAllocatesOutput;
      }
      case Opcode::kShapeAssert: return uses_from_sizes(i) ? BorderReason::kNone : BorderReason::kValue;
      case Opcode::kShapeCalc: case Opcode::kScalarCalc:
        // An i64 made from data is a new size: only what comes behind it may use it.
        return v_.kind(i.defs[0]) == RegKind::kI64 && !uses_from_sizes(i) ? BorderReason::kValue : BorderReason::kNone;
      default: return BorderReason::kNone;
    }
  }

  /// Whether a bool or f64 follows from i64 registers alone. (Those of a region do by construction.)
  bool follows_from_sizes(const Instr& i, bool in_join) const {
    switch (i.op) {
      case Opcode::kScalarConst: return true;
      case Opcode::kShapeCalc: case Opcode::kScalarCalc: return uses_from_sizes(i);
      case Opcode::kScalarPhi: return in_join && uses_from_sizes(i);
      default: return false;
    }
  }

  void classify_block(BlockId b) {
    const auto& preds = v_.cfg.predecessors(b);
    if (preds.size() > 1) {
      const BlockId d = v_.cfg.immediate_dominator(b);
      if (d >= 0 && !tried_[static_cast<size_t>(d)]) {
        tried_[static_cast<size_t>(d)] = 1;
        if (takes_in_branch(d, b)) {
          join_of_[static_cast<size_t>(d)] = b;
          is_join_[static_cast<size_t>(b)] = 1;
        }
      }
    }
    bool clean = true;
    for (int32_t k = v_.begin(b); k < v_.end(b); ++k) {
      const Instr& i = v_.at(k);
      const BorderReason reason = reason_of(i, is_join_[static_cast<size_t>(b)]);
      borders_[static_cast<size_t>(k)] = reason;
      clean = clean && reason == BorderReason::kNone;
      for (Reg r : i.defs) from_sizes_[static_cast<size_t>(r)] = v_.kind(r) == RegKind::kI64 || follows_from_sizes(i, is_join_[static_cast<size_t>(b)]);
    }
    clean_[static_cast<size_t>(b)] = clean;
  }

  /// Whether every arm of the branch at the end of `d` is clean, has no other entry, and ends with a jump to `join`.
  bool takes_in_branch(BlockId d, BlockId join) const {
    const Instr& branch = terminator(d);
    if (!is_branch(branch) || !uses_from_sizes(branch)) return false;
    for (int32_t k = v_.begin(join); k < v_.end(join) && instr_info(v_.at(k).op).has(kPhi); ++k)
      if (operands(v_.at(k)) != BorderReason::kNone) return false;
    size_t ends = 0;
    for (BlockId arm : v_.cfg.successors(d)) {
      BlockId at = arm;
      while (v_.cfg.predecessors(at).size() == 1 || is_join_[static_cast<size_t>(at)]) {
        if (!clean_[static_cast<size_t>(at)] || v_.cfg.loop_header(at) != v_.cfg.loop_header(d)) return false;
        const Instr& t = terminator(at);
        if (t.op == Opcode::kJump) at = t.targets[0];
        else if (is_branch(t) && join_of_[static_cast<size_t>(at)] >= 0) at = join_of_[static_cast<size_t>(at)];
        else return false;
      }
      if (at != join) return false;
      ++ends;
    }
    return ends == v_.cfg.predecessors(join).size();
  }

  // --- chains and runs

  /// What is kept or cut as a whole: an instruction, or a branch with its arms and the PHIs where they meet.
  struct Unit {
    size_t begin, end;  // in sequence_
    bool destination = false, call = false, frees = false;
  };

  bool is_destination(const Instr& i) const {
    return i.op == Opcode::kTensorAlloc || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kDestination) ||
           (i.op == Opcode::kTensorView && view_kind(i) == ViewKind::kWindow);
  }

  void push(int32_t k) {
    const Instr& i = v_.at(k);
    Unit& u = units_.back();
    sequence_.push_back(k);
    u.end = sequence_.size();
    u.destination |= is_destination(i);
    u.call |= i.op == Opcode::kOpCall;
    u.frees = i.op == Opcode::kTensorFree && u.end - u.begin == 1;
  }

  /// The chain that begins with block number `k` of the order; gives the number of the block behind it.
  size_t walk_chain(size_t k) {
    const auto& order = v_.cfg.reverse_post_order();
    int32_t from = v_.begin(order[k]);
    for (;;) {
      const BlockId b = order[k];
      const int32_t last = v_.end(b) - 1;
      for (int32_t i = from; i < last; ++i) {
        if (borders_[static_cast<size_t>(i)] != BorderReason::kNone) {
          close_run();
          continue;
        }
        units_.push_back({sequence_.size(), sequence_.size()});
        push(i);
      }
      ++k;
      const Instr& t = v_.at(last);
      if (t.op == Opcode::kJump && k < order.size() && order[k] == t.targets[0] && v_.cfg.predecessors(t.targets[0]).size() == 1) {
        units_.push_back({sequence_.size(), sequence_.size()});
        push(last);
        from = v_.begin(order[k]);
        continue;
      }
      const BlockId join = is_branch(t) ? join_of_[static_cast<size_t>(b)] : -1;
      if (join < 0) {
        if (borders_[static_cast<size_t>(last)] == BorderReason::kNone) borders_[static_cast<size_t>(last)] = BorderReason::kBranch;
        close_run();
        return k;
      }
      units_.push_back({sequence_.size(), sequence_.size()});
      push(last);
      for (; order[k] != join; ++k)
        for (int32_t i = v_.begin(order[k]); i < v_.end(order[k]); ++i) push(i);
      for (from = v_.begin(join); instr_info(v_.at(from).op).has(kPhi); ++from) push(from);
    }
  }

  void close_run() {
    auto first = std::find_if(units_.begin(), units_.end(), [](const Unit& u) { return u.destination; });
    auto last = std::find_if(units_.rbegin(), std::make_reverse_iterator(first), [](const Unit& u) { return u.call; });
    if (last.base() != first) {
      auto end = last.base();
      while (end != units_.end() && end->frees) ++end;
      add_region(first->begin, std::prev(end)->end);
    }
    units_.clear();
    sequence_.clear();
  }

  void add_region(size_t begin, size_t end) {
    Region r;
    r.function = v_.index;
    for (size_t k = begin; k < end; ++k) {
      const int32_t i = sequence_[k];
      const BlockId b = v_.block_of[static_cast<size_t>(i)];
      if (r.segments.empty() || r.segments.back().block != b || r.segments.back().end != i) r.segments.push_back({b, i, i});
      r.segments.back().end = i + 1;
      r.calls += v_.at(i).op == Opcode::kOpCall;
    }
    r.loop_depth = v_.cfg.loop_depth(r.segments.front().block);
    out_.regions.push_back(std::move(r));
  }

  const FunctionView& v_;
  FunctionRegions out_;
  std::vector<BorderReason> borders_;
  std::vector<uint8_t> from_sizes_;  // by register
  std::vector<uint8_t> clean_;       // by block: no border in it
  std::vector<BlockId> join_of_;     // by block: where the arms of its branch meet, if regions take the branch in
  std::vector<uint8_t> tried_, is_join_;
  std::vector<int32_t> sequence_;    // instructions since the last border
  std::vector<Unit> units_;
};

}  // namespace

FunctionRegions find_regions(const FunctionView& view) { return Finder(view).find(); }

// A region that ends with a branch taken in whole ends where its arms meet.
int32_t exit_of(const FunctionView& view, const Region& region) {
  const Instr& last = view.at(region.last());
  if (last.op != Opcode::kJump) return region.last() + 1;
  int32_t at = view.begin(last.targets[0]);
  while (instr_info(view.at(at).op).has(kPhi)) ++at;
  return at;
}

std::string_view border_reason_text(BorderReason reason) {
  switch (reason) {
    case BorderReason::kNone: return "";
    case BorderReason::kAllocatesOutput: return "the call allocates its output";
    case BorderReason::kRead: return "an element is read";
    case BorderReason::kResize: return "a tensor is resized";
    case BorderReason::kList: return "a list";
    case BorderReason::kString: return "strings";
    case BorderReason::kUnknownRank: return "a tensor of unknown rank";
    case BorderReason::kDevice: return "a tensor of another device";
    case BorderReason::kCustomOperator: return "an operator that the host registered";
    case BorderReason::kEffect: return "the host sees it";
    case BorderReason::kMerge: return "paths meet, or a loop begins";
    case BorderReason::kValue: return "a size or condition comes from data";
    case BorderReason::kBranch: return "a branch or loop";
    case BorderReason::kReturn: return "the end of the function";
  }
  return "";
}

}  // namespace msvm::jit
