#include "msvm/verify/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace msvm::verification {

Memory::Memory(Context& c, Sizes& s) : c_(c), s_(s) {
  const size_t regs = c.f.regs.size(), blocks = c.f.blocks.size();
  state_.resize(regs);
  alive_at_.assign(regs, -1);
  dropped_at_.assign(regs, -1);
  destination_.assign(regs, 0);
  window_index_.assign(regs, -1);
  reuse_.assign(regs, kNoReg);
  mark_.assign(regs, 0);
  place_.assign(regs, 0);
  class_.resize(regs);
  std::iota(class_.begin(), class_.end(), 0);
  foreign_.assign(regs, 0);
  partial_.assign(regs, 0);
  exit_.resize(blocks);
  entry_.resize(blocks);
  entered_.assign(blocks, 0);
  left_.assign(blocks, 0);
  exits_wanted_.assign(blocks, 0);
  moved_.resize(blocks);
}

// --- references --------------------------------------------------------------------------------------------------------

void Memory::define(Reg r, Status status, int32_t fill) {
  if (c_.bad_reg[r]) return;
  state_[r] = {status, fill};
  if (status == Status::kBorrowed) return;
  alive_at_[r] = static_cast<int32_t>(alive_.size());
  alive_.push_back(r);
}

void Memory::drop(Reg r, int32_t at) {
  state_[r] = {};
  dropped_at_[r] = at;
  const int32_t p = alive_at_[r];
  if (p < 0) return;
  alive_at_[alive_.back()] = p;
  alive_[p] = alive_.back();
  alive_.pop_back();
  alive_at_[r] = -1;
}

int32_t Memory::keep(Fill fill) {
  fills_.push_back(std::move(fill));
  return static_cast<int32_t>(fills_.size()) - 1;
}

std::string Memory::gone_text(Reg r) const {
  if (dropped_at_[r] < 0) return c_.origin(r) + ", was dropped on a path that leads here";
  return fmt::format("{}, ended by {} at {}", c_.origin(r), c_.mnemonic(dropped_at_[r]), c_.where(dropped_at_[r]));
}

bool Memory::alive(int32_t at, Reg r) {
  if (c_.bad_reg[r]) return false;
  if (state_[r].status == Status::kGone) {
    c_.error(Rule::kAlive, at, {fmt::format("R{} was freed or moved before", r), {}, gone_text(r),
                                fmt::format("take one more reference before that: R{} = TENSOR_VIEW identity R{}", c_.f.regs.size(), r)});
    return false;
  }
  if (state_[r].status == Status::kStale && c_.at(at).op != Opcode::kTensorFree) {
    c_.error(Rule::kReuseHint, at, {fmt::format("the buffer of R{} was handed on by an in-place hint", r), {}, c_.origin(r), "remove the hint `reuse`"});
    return false;
  }
  return true;
}

bool Memory::owned(int32_t at, Reg r, const char* taker) {
  if (!alive(at, r)) return false;
  if (state_[r].status != Status::kBorrowed) return true;
  c_.error(Rule::kOwned, at, {fmt::format("{} takes an owned reference, R{} is borrowed", taker, r), {}, c_.origin(r),
                              fmt::format("insert before instruction {}:  R{} = TENSOR_VIEW identity R{}", at, c_.f.regs.size(), r),
                              {insert(at, fmt::format("R{} = TENSOR_VIEW identity R{}", c_.f.regs.size(), r)), operand(at, reg_text(r), reg_text(static_cast<Reg>(c_.f.regs.size())))}});
  return false;
}

/// The windows of `r` leave no gap: proved before, or checked now.
bool Memory::complete_by_check(int32_t at, Reg r) {
  const Fill& fill = fills_[state_[r].fill];
  if (fill.axis >= s_.type(r).rank()) {  // reported where its type was wrong
    state_[r].status = Status::kWritten;
    return false;
  }
  const Dim size = s_.type(r).shape[fill.axis];
  const Answer answers[] = {
      fill.parts.size() != 1 ? Answer::kRefuted
                             : s_.settle(at, {CondOp::kEq, fill.parts[0].from, c_.dims.constant(0)}, DiagCode::kFillOrder, [&] { return fmt::format("R{} is written from its start", r); }, Check::kBefore),
      fill.parts.size() != 1 ? Answer::kRefuted
                             : s_.settle(at, {CondOp::kEq, fill.parts[0].to, size}, DiagCode::kFillOrder, [&] { return fmt::format("R{} is written to its end", r); }, Check::kBefore)};
  if (answers[0] != Answer::kRefuted && answers[1] != Answer::kRefuted) {
    state_[r].status = Status::kWritten;
    return true;
  }
  c_.error(Rule::kFillGap, at, {fmt::format("R{} is read, but its windows leave a gap", r), fmt::format("[0, {}) along axis {}", c_.text(size), fill.axis), to_text(c_, fill) + " of " + c_.origin(r)});
  state_[r].status = Status::kWritten;  // once is enough
  return false;
}

bool Memory::read(int32_t at, Reg r) {
  if (!alive(at, r)) return false;
  switch (state_[r].status) {
    case Status::kWritten:
    case Status::kBorrowed: return true;
    case Status::kPartial: return complete_by_check(at, r);
    case Status::kUnwritten:
    case Status::kConflict: {
      const bool some = state_[r].status == Status::kConflict;
      const bool as_view = c_.at(at).op == Opcode::kTensorView;
      c_.error(as_view && !some ? Rule::kUnwrittenView : Rule::kReadWritten, at,
               {some ? fmt::format("R{} is written on some paths only", r) : as_view ? fmt::format("R{} is not written yet: only windows can be taken of it", r) : fmt::format("R{} is read before it was written", r),
                {}, c_.origin(r), "write it first, with OP_CALL or TENSOR_COPY"});
      state_[r].status = Status::kWritten;
      return false;
    }
    case Status::kGone:
    case Status::kStale: break;
  }
  return false;
}

void Memory::consume(int32_t at, Reg r, const char* taker) {
  if (!owned(at, r, taker)) return;
  read(at, r);
  drop(r, at);
}

void Memory::mark_written(int32_t at, Reg r) {
  for (;;) {
    state_[r] = {Status::kWritten, -1};
    if (window_index_[r] < 0) return;
    const Window& w = windows_[window_index_[r]];
    const Reg p = w.parent;
    if (c_.bad_reg[p]) return;
    const Status status = state_[p].status;
    if (status == Status::kGone || status == Status::kStale) {
      c_.error(Rule::kAlive, at, {fmt::format("R{} is a window of R{}, which was freed or moved before", r, p), {}, gone_text(p)});
      return;
    }
    if (status != Status::kUnwritten && status != Status::kPartial) {
      c_.error(Rule::kWriteOnce, at, {fmt::format("R{} is a window of R{}, which is written already", r, p), {}, c_.origin(p)});
      return;
    }
    Fill fill = status == Status::kPartial ? fills_[state_[p].fill] : Fill{w.axis, {}};
    const AddPart added = add_part(s_, fill, w.axis, w.from, w.to);
    if (added != AddPart::kAdded) {
      const bool overlap = added == AddPart::kMayOverlap;
      c_.error(overlap ? Rule::kFillOverlap : Rule::kFillAxis, at,
               {overlap ? fmt::format("window [{}, {}) of R{} isn't certainly disjoint from what is written", c_.text(w.from), c_.text(w.to), p)
                : added == AddPart::kOtherAxis ? fmt::format("R{} is filled along axis {}, this window lies along axis {}", p, fill.axis, w.axis)
                                               : fmt::format("R{} is written in more than {} separate parts", p, kMaxFillParts),
                {}, to_text(c_, fill) + " of " + c_.origin(p)});
      return;
    }
    const bool complete = w.axis < s_.type(p).rank() && is_complete(s_, c_, fill, s_.type(p).shape[w.axis]);
    if (!complete) {
      state_[p] = fill.parts.empty() ? State{Status::kUnwritten, -1} : State{Status::kPartial, keep(std::move(fill))};
      return;
    }
    r = p;
  }
}

void Memory::write(int32_t at, Reg r) {
  if (!alive(at, r)) return;
  switch (state_[r].status) {
    case Status::kUnwritten: return mark_written(at, r);
    case Status::kPartial:
      c_.error(Rule::kFillOverlap, at, {fmt::format("R{} is written as a whole, but windows of it are written", r), {}, to_text(c_, fills_[state_[r].fill]) + " of " + c_.origin(r)});
      return;
    case Status::kWritten:
    case Status::kConflict:
      if (destination_[r]) c_.error(Rule::kWriteOnce, at, {fmt::format("R{} is written already{}", r, state_[r].status == Status::kConflict ? " on some paths" : ""), {}, c_.origin(r), "write into a TENSOR_ALLOC of its own"});
      else c_.error(Rule::kWriteDestination, at, {fmt::format("R{} is no destination", r), "the result of TENSOR_ALLOC, of TENSOR_CREATE with a spec, or a window of one", c_.origin(r)});
      return;
    case Status::kBorrowed:
      c_.error(Rule::kWriteDestination, at, {fmt::format("R{} is an input or a constant: it can't be written", r), "an unwritten destination", c_.origin(r), "write into a TENSOR_ALLOC"});
      return;
    case Status::kGone:
    case Status::kStale: return;
  }
}

// --- instructions ------------------------------------------------------------------------------------------------------

void Memory::step(int32_t at) {
  if (disabled_) return;
  const Instr& x = c_.at(at);
  if (c_.bad_instr[at]) return;
  note_aliases(x);
  switch (x.op) {
    case Opcode::kTensorCreate: return create(at, x);
    case Opcode::kTensorConst: return define(x.defs[0], Status::kBorrowed);
    case Opcode::kTensorAlloc: return allocate(at, x);
    case Opcode::kTensorFree:
      if (owned(at, x.uses[0], "TENSOR_FREE")) drop(x.uses[0], at);
      return;
    case Opcode::kTensorResize: return resize(at, x);
    case Opcode::kTensorView: return view(at, x);
    case Opcode::kTensorCopy:
      read(at, x.uses[0]);
      if (reuse_[x.outs[0]] != kNoReg) c_.error(Rule::kReuseHint, at, {fmt::format("R{} has an in-place hint, but isn't written by an operator", x.outs[0]), {}, c_.origin(x.outs[0]), "remove the hint `reuse`"});
      return write(at, x.outs[0]);
    case Opcode::kTensorRead:
      read(at, x.uses[0]);
      return;
    case Opcode::kShapePropagate:
      alive(at, x.uses[0]);
      return;
    case Opcode::kOpCall: return call(at, x);
    case Opcode::kListMake:
      for (Reg r : x.uses) consume(at, r, "LIST_MAKE");
      return define(x.defs[0], Status::kWritten);
    case Opcode::kListAppend:
      for (Reg r : x.uses) consume(at, r, "LIST_APPEND");
      return define(x.defs[0], Status::kWritten);
    case Opcode::kListGet:
      alive(at, x.uses[0]);
      return define(x.defs[0], Status::kWritten);
    case Opcode::kListLength:
      alive(at, x.uses[0]);
      return;
    case Opcode::kReturn: return return_values(at, x);
    case Opcode::kTrap:  // a failed run drops everything
      while (!alive_.empty()) drop(alive_.back(), at);
      return;
    case Opcode::kTensorPhi:
    case Opcode::kScalarPhi:
    case Opcode::kScalarInput:
    case Opcode::kShapeCalc:
    case Opcode::kScalarConst:
    case Opcode::kScalarCalc:
    case Opcode::kShapeAssert:
    case Opcode::kJump:
    case Opcode::kBranchIf:
    case Opcode::kSwitch: return;
  }
}

void Memory::create(int32_t at, const Instr& x) {
  switch (create_kind(x)) {
    case CreateKind::kInput: return define(x.defs[0], Status::kBorrowed);
    case CreateKind::kNarrow:
      read(at, x.uses[0]);
      return define(x.defs[0], Status::kWritten);
    case CreateKind::kDestination:
      destination_[x.defs[0]] = 1;
      return define(x.defs[0], Status::kUnwritten);
  }
}

void Memory::allocate(int32_t at, const Instr& x) {
  const Reg d = x.defs[0];
  destination_[d] = 1;
  define(d, Status::kUnwritten);
  if (x.uses.empty() || c_.bad_reg[x.uses[0]]) return;
  const Reg k = x.uses[0];
  const TensorType &a = c_.declared(d), &b = c_.declared(k);
  if (state_[k].status != Status::kWritten || a.dtype != b.dtype || !(a.device == b.device) || a.layout != b.layout || window_index_[k] >= 0)
    c_.error(Rule::kReuseHint, at, {fmt::format("the buffer of R{} can't be reused here", k), "an owned, written tensor of the same dtype, device and layout", c_.origin(k), "remove the hint `reuse`"});
  else
    reuse_[d] = k;
}

void Memory::view(int32_t at, const Instr& x) {
  const Reg r = x.uses[0], d = x.defs[0];
  if (c_.kind(r) == RegKind::kList) {
    alive(at, r);
    return define(d, Status::kWritten);
  }
  if (view_kind(x) == ViewKind::kWindow) {
    destination_[d] = 1;
    if (alive(at, r)) {
      const Status s = state_[r].status;
      if (s == Status::kUnwritten || s == Status::kPartial) {
        window_index_[d] = static_cast<int32_t>(windows_.size());
        windows_.push_back({r, static_cast<int>(x.imms[0]), s_.canonical(x.dims[0]), s_.canonical(x.dims[1])});
        if (reuse_[r] != kNoReg) c_.error(Rule::kReuseHint, at, {fmt::format("R{} has an in-place hint, but is filled by windows", r), {}, c_.origin(r), "remove the hint `reuse`"});
      } else {
        c_.error(Rule::kWindowSource, at, {fmt::format("a window of R{} can't be written: R{} is complete or read-only", r, r), "an unwritten or partly written destination", c_.origin(r), "take a slice to read it"});
      }
    }
    return define(d, Status::kUnwritten);
  }
  if (view_kind(x) == ViewKind::kSlice && !c_.bad_reg[r] && state_[r].status == Status::kPartial) {
    // A part that is written already may be read at once.
    const Fill& fill = fills_[state_[r].fill];
    for (size_t k = 0; k < x.imms.size(); k += 2)
      if (x.imms[k] == fill.axis && covers(s_, fill, fill.axis, s_.canonical(x.dims[k]), s_.canonical(x.dims[k + 1]))) return define(d, Status::kWritten);
  }
  read(at, r);
  define(d, Status::kWritten);
}

void Memory::resize(int32_t at, const Instr& x) {
  const Reg r = x.uses[0], d = x.defs[0];
  const int axis = static_cast<int>(x.imms[0]);
  const TensorType& t = s_.type(r);
  if (!owned(at, r, "TENSOR_RESIZE") || t.unknown_rank || axis >= t.rank()) return define(d, Status::kWritten);
  const State old = state_[r];
  const Dim size = s_.canonical(x.dims[0]), before = t.shape[axis];
  State now{Status::kWritten, -1};
  destination_[d] = 1;
  if (old.status == Status::kConflict || (old.status != Status::kWritten && window_index_[r] >= 0)) {
    read(at, r);
  } else if (old.status == Status::kUnwritten) {
    now.status = Status::kUnwritten;
  } else if (old.status == Status::kWritten) {
    if (!s_.proved(CondOp::kLe, size, before)) {
      const Dim written = s_.proved(CondOp::kLe, before, size) ? before : c_.dims.min(before, size);
      const bool none = s_.proved(CondOp::kEq, written, c_.dims.constant(0));
      now = none ? State{Status::kUnwritten, -1} : State{Status::kPartial, keep({axis, {{c_.dims.constant(0), written}}})};
    }
  } else if (old.status == Status::kPartial) {
    const Fill fill = fills_[old.fill];
    if (fill.axis != axis) {
      c_.error(Rule::kFillAxis, at, {fmt::format("R{} is filled along axis {}, but resized along axis {}", r, fill.axis, axis), {}, to_text(c_, fill)});
    } else {
      now = {Status::kPartial, keep(fill)};
      for (const Fill::Part& p : fill.parts)
        if (s_.settle(at, {CondOp::kLe, p.to, size}, DiagCode::kFillOrder, "RESIZE keeps what is written", Check::kBefore) == Answer::kRefuted)
          c_.error(Rule::kFillGap, at, {fmt::format("RESIZE cuts off a part of R{} that is written", r), {}, to_text(c_, fill)});
      if (is_complete(s_, c_, fill, size)) now = {Status::kWritten, -1};
    }
  }
  drop(r, at);
  define(d, now.status, now.fill);
}

void Memory::call(int32_t at, const Instr& x) {
  for (Reg r : x.uses) {
    if (r == kNoReg) continue;
    if (c_.kind(r) == RegKind::kList) alive(at, r);
    else read(at, r);
  }
  for (Reg r : x.outs) {
    if (r == kNoReg || c_.def[r] == at) continue;
    const Reg k = reuse_[r];
    write(at, r);
    if (k == kNoReg || c_.bad_reg[k]) continue;
    const OpSchema* op = find_op(x.text);
    bool allowed = false;
    for (size_t i = 0; i < x.uses.size() && i < 32; ++i) allowed |= x.uses[i] == k && op && (op->in_place >> i & 1);
    if (!allowed)
      c_.error(Rule::kReuseHint, at, {fmt::format("{} can't write R{} over R{}", x.text, r, k), "an operand that the operator may overwrite", c_.origin(k), fmt::format("remove the hint from R{}", r)});
    else if (state_[k].status == Status::kWritten)
      state_[k].status = Status::kStale;
  }
  for (Reg r : x.defs) define(r, Status::kWritten);
}

void Memory::return_values(int32_t at, const Instr& x) {
  for (Reg r : x.uses) {
    if (c_.kind(r) != RegKind::kTensor || !alive(at, r)) continue;
    read(at, r);
    returned_.push_back({at, r});
    if (state_[r].status != Status::kBorrowed) drop(r, at);
  }
  std::vector<Reg> left = alive_;
  std::sort(left.begin(), left.end());
  for (Reg r : left) {
    c_.error(Rule::kDropped, at, {fmt::format("R{} is neither freed nor moved on the way to RETURN", r), {}, c_.origin(r), fmt::format("insert before instruction {}:  TENSOR_FREE R{}", at, r), {free_before(at, r)}});
    drop(r, at);
  }
}

}  // namespace msvm::verification
