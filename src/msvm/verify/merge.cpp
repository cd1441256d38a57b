// Group 3 where paths meet: the state at the start of a block, at the end of a loop round, and what PHIs move.
#include <fmt/format.h>

#include <algorithm>

#include "msvm/verify/memory.h"

namespace msvm::verification {
namespace {
// References that live across blocks, summed over block ends: a hostile module may not make this quadratic.
constexpr size_t kMaxEntries = size_t{1} << 24;
}  // namespace

void Memory::clear() {
  for (Reg r : alive_) {
    state_[r] = {};
    alive_at_[r] = -1;
  }
  alive_.clear();
}

bool Memory::same_fill(int32_t a, int32_t b) const { return a == b || (a >= 0 && b >= 0 && fills_[a] == fills_[b]); }

Memory::State Memory::meet(State a, State b, BlockId at, Reg r) {
  if (a.status == b.status && same_fill(a.fill, b.fill)) return a;
  if (a.status == Status::kWritten && b.status == Status::kWritten) return {Status::kWritten, -1};
  // One path read it whole after a check, the other didn't look.
  if (a.status == Status::kPartial && b.status == Status::kWritten && same_fill(a.fill, b.fill)) return a;
  if (b.status == Status::kPartial && a.status == Status::kWritten && same_fill(a.fill, b.fill)) return b;
  if (a.status == Status::kStale || b.status == Status::kStale) return {Status::kStale, -1};
  if (a.status == Status::kPartial || b.status == Status::kPartial) {
    auto text = [&](State s) { return s.status == Status::kPartial ? to_text(c_, fills_[s.fill]) : std::string(s.status == Status::kUnwritten ? "nothing is written" : "all is written"); };
    c_.error(Rule::kFillArms, c_.begin(at), {fmt::format("the paths that meet in b{} have written different parts of R{}", at, r), text(a), text(b), "let each path end with the same extent"});
    return {Status::kWritten, -1};
  }
  return {Status::kConflict, -1};
}

void Memory::path_leak(BlockId from, BlockId to, Reg r) {
  const int32_t end = c_.end(from) - 1;
  const bool everywhere = c_.cfg->dominates(c_.block_of[c_.def[r]], to);
  c_.error(Rule::kDropped, end,
           {everywhere ? fmt::format("R{} is dropped on some of the paths that meet in b{}, but not on the one through b{}", r, to, from)
                       : fmt::format("R{} is neither freed nor moved on the way to b{}", r, to),
            {}, c_.origin(r), fmt::format("insert before instruction {}:  TENSOR_FREE R{}", end, r), {free_before(end, r)}});
}

/// What is alive on the edge from `from` to `to`.
bool Memory::moved_on(BlockId to, size_t pred_index, std::vector<Entry>& out, BlockId from) {
  ++round_;
  if (pred_index < moved_[to].size())
    for (Reg r : moved_[to][pred_index]) mark_[r] = round_;
  for (const Entry& e : exit_[from])
    if (mark_[e.reg] != round_) out.push_back(e);
  return true;
}

void Memory::enter(BlockId b) {
  if (disabled_) return;
  clear();
  entered_[b] = 1;
  const auto& preds = c_.cfg->predecessors(b);
  std::vector<Entry> merged, path;
  uint32_t paths = 0;
  BlockId first = -1;
  for (size_t k = 0; k < preds.size(); ++k) {
    const BlockId p = preds[k];
    if (!left_[p]) continue;  // a back edge
    path.clear();
    moved_on(b, k, path, p);
    if (--exits_wanted_[p] == 0) std::vector<Entry>().swap(exit_[p]);
    if (paths++ == 0) {
      merged = path;
      first = p;
      continue;
    }
    ++round_;
    for (size_t i = 0; i < merged.size(); ++i) {
      mark_[merged[i].reg] = round_;
      place_[merged[i].reg] = static_cast<uint32_t>(i);
    }
    for (const Entry& e : path) {
      if (mark_[e.reg] != round_) {
        path_leak(p, b, e.reg);
        continue;
      }
      Entry& m = merged[place_[e.reg]];
      m.state = meet(m.state, e.state, b, e.reg);
      ++m.paths;
    }
  }
  for (const Entry& e : merged) {
    if (e.paths != paths) {
      path_leak(first, b, e.reg);
      continue;
    }
    define(e.reg, e.state.status, e.state.fill);
  }
  if (c_.cfg->loop_header(b) == b)
    for (Reg r : alive_) entry_[b].push_back({r, state_[r], 1});

  for (int32_t i = c_.begin(b); i < c_.end(b) && c_.is_phi(i); ++i) {
    const Instr& x = c_.at(i);
    if (x.op != Opcode::kTensorPhi || c_.bad_instr[i]) continue;
    note_aliases(x);
    const Reg d = x.defs[0];
    const FilledExtent* filled = nullptr;  // lists have no extent
    if (c_.kind(d) == RegKind::kTensor && s_.type(d).filled) filled = &*s_.type(d).filled;
    if (!filled) {
      define(d, Status::kWritten);
      continue;
    }
    destination_[d] = 1;
    if (s_.proved(CondOp::kEq, filled->from, filled->to)) define(d, Status::kUnwritten);
    else define(d, Status::kPartial, keep({filled->axis, {{filled->from, filled->to}}}));
  }
}

void Memory::leave(BlockId b) {
  if (disabled_) return;
  left_[b] = 1;
  uint32_t wanted = 0;
  for (BlockId s : c_.cfg->successors(b)) wanted += !entered_[s];
  exits_wanted_[b] = wanted;
  entries_ += alive_.size();
  if (entries_ > kMaxEntries) {
    c_.function_error(Rule::kStateLimit, {"too many references live across blocks", {}, {}, "free tensors earlier, or split the function"});
    disabled_ = true;
    return;
  }
  exit_[b].reserve(alive_.size());
  for (Reg r : alive_) exit_[b].push_back({r, state_[r], 1});
}

void Memory::edge(BlockId from, BlockId to) {
  if (disabled_) return;
  std::vector<Reg> moved;
  ++round_;
  for (int32_t i = c_.begin(to); i < c_.end(to) && c_.is_phi(i); ++i)
    if (c_.at(i).op == Opcode::kTensorPhi && !c_.bad_instr[i]) phi_operand(i, from, moved);
  const auto& preds = c_.cfg->predecessors(to);
  const auto k = static_cast<size_t>(std::lower_bound(preds.begin(), preds.end(), from) - preds.begin());
  if (!moved.empty()) {
    moved_[to].resize(preds.size());
    moved_[to][k] = std::move(moved);
  }
  if (entered_[to]) close_loop(from, to);
}

void Memory::phi_operand(int32_t i, BlockId from, std::vector<Reg>& moved) {
  const Instr& x = c_.at(i);
  const Reg r = x.uses[c_.operand_from(i, from)];
  if (c_.bad_reg[r]) return;
  const int32_t end = c_.end(from) - 1;
  const std::string identity = fmt::format("insert before instruction {}:  R{} = TENSOR_VIEW identity R{}, and let R{} take it from b{}", end, c_.f.regs.size(), r, x.defs[0], from);
  const Edits take_identity = {insert(end, fmt::format("R{} = TENSOR_VIEW identity R{}", c_.f.regs.size(), r)),
                               operand(i, fmt::format("b{}: R{}", from, r), fmt::format("b{}: R{}", from, c_.f.regs.size()))};
  if (state_[r].status == Status::kBorrowed) {
    c_.error(Rule::kOwned, i, {fmt::format("a PHI takes an owned reference, R{} from b{} is borrowed", r, from), {}, c_.origin(r), identity, take_identity});
    return;
  }
  if (state_[r].status == Status::kGone) {
    c_.error(Rule::kAlive, i, {fmt::format("R{} was freed or moved before the end of b{}", r, from), {}, gone_text(r), "take one more reference with TENSOR_VIEW identity before that"});
    return;
  }
  if (mark_[r] == round_) {
    c_.error(Rule::kOwned, i, {fmt::format("two PHIs take the one reference of R{} from b{}", r, from), {}, c_.origin(r), identity, take_identity});
    return;
  }
  if (c_.kind(r) == RegKind::kTensor) {
    if (c_.declared(x.defs[0]).filled) fill_operand(i, from, r);
    else read(end, r);
  }
  mark_[r] = round_;
  moved.push_back(r);
}

/// A PHI of a filling loop: what comes in is written exactly as far as the type says.
void Memory::fill_operand(int32_t i, BlockId from, Reg r) {
  const Reg d = c_.at(i).defs[0];
  const FilledExtent& extent = *c_.declared(d).filled;
  const Dim want_from = s_.substituted(extent.from), want_to = s_.substituted(extent.to);
  Fill have{extent.axis, {}};
  bool ok = s_.type(r).rank() > extent.axis && want_from.valid() && want_to.valid();
  if (ok && state_[r].status == Status::kPartial) have = fills_[state_[r].fill];
  if (ok && state_[r].status == Status::kWritten) have.parts = {{c_.dims.constant(0), s_.type(r).shape[extent.axis]}};
  if (ok && s_.proved(CondOp::kEq, want_from, want_to)) {
    ok = have.parts.empty() || (have.parts.size() == 1 && s_.proved(CondOp::kEq, have.parts[0].from, have.parts[0].to));
  } else if (ok) {
    ok = have.parts.size() == 1 && have.axis == extent.axis && s_.proved(CondOp::kEq, have.parts[0].from, want_from) && s_.proved(CondOp::kEq, have.parts[0].to, want_to);
  }
  ok = ok && state_[r].status != Status::kConflict && state_[r].status != Status::kStale;
  if (ok) return;
  c_.error(Rule::kFillLoop, i, {fmt::format("what comes from b{} isn't written as far as the type of R{} says", from, d),
                                fmt::format("along axis {} [{}, {})", extent.axis, c_.text(want_from), c_.text(want_to)), to_text(c_, have) + " of " + c_.origin(r)});
}

/// The end of a round finds what its start found.
void Memory::close_loop(BlockId from, BlockId header) {
  std::vector<Entry> path;
  const auto& preds = c_.cfg->predecessors(header);
  moved_on(header, static_cast<size_t>(std::lower_bound(preds.begin(), preds.end(), from) - preds.begin()), path, from);
  if (exits_wanted_[from] == 0 && c_.cfg->successors(from).size() == 1) std::vector<Entry>().swap(exit_[from]);
  entries_ += entry_[header].size();
  if (entries_ > kMaxEntries) return;  // leave() reports it
  const int32_t end = c_.end(from) - 1;
  ++round_;
  for (size_t i = 0; i < path.size(); ++i) {
    mark_[path[i].reg] = round_;
    place_[path[i].reg] = static_cast<uint32_t>(i);
  }
  for (const Entry& e : entry_[header]) {
    if (mark_[e.reg] != round_) {
      c_.error(Rule::kLoopAlive, end, {fmt::format("R{} is freed or moved in the loop of b{}, but its next round needs it", e.reg, header), {}, gone_text(e.reg),
                                       fmt::format("carry it through a TENSOR_PHI of b{}, or drop it after the loop", header)});
      continue;
    }
    mark_[e.reg] = 0;
    const State now = path[place_[e.reg]].state, then = e.state;
    if (now.status == then.status && same_fill(now.fill, then.fill)) continue;
    if (then.status == Status::kPartial && now.status == Status::kWritten && same_fill(now.fill, then.fill)) continue;
    if (then.status == Status::kWritten && now.status == Status::kWritten) continue;
    if (then.status == Status::kConflict) continue;
    if (now.status == Status::kStale)
      c_.error(Rule::kLoopAlive, end, {fmt::format("the buffer of R{} is handed on in each round of the loop of b{}", e.reg, header), {}, c_.origin(e.reg), "remove the hint `reuse`"});
    else if (now.status == Status::kWritten || now.status == Status::kConflict)
      c_.error(Rule::kWriteOnce, end, {fmt::format("R{} is made before the loop of b{}, but written in each round", e.reg, header), {}, c_.origin(e.reg), "allocate it inside the loop, or carry it through a TENSOR_PHI with `filled`"});
    else
      c_.error(Rule::kFillLoop, end, {fmt::format("the loop of b{} fills R{}, which no PHI of it carries", header, e.reg), {}, c_.origin(e.reg), "carry it through a TENSOR_PHI whose type states the written extent: filled(from, to)"});
  }
  for (const Entry& e : path)
    if (mark_[e.reg] == round_) {
      c_.error(Rule::kDropped, end, {fmt::format("R{} is neither freed nor moved at the end of a round of the loop of b{}", e.reg, header), {}, c_.origin(e.reg), fmt::format("insert before instruction {}:  TENSOR_FREE R{}", end, e.reg), {free_before(end, e.reg)}});
    }
}

}  // namespace msvm::verification
