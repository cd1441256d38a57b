// Ownership placement: from value form to code in which every reference is dropped or moved exactly once on each path.
#include <algorithm>
#include <numeric>

#include "msvm/bytecode/builder.h"

namespace msvm {
namespace {

bool is_reference(RegKind k) { return k == RegKind::kTensor || k == RegKind::kList; }

/// Operands whose reference the instruction takes over.
bool consumes(Opcode op) {
  return op == Opcode::kReturn || op == Opcode::kTensorResize || op == Opcode::kListMake || op == Opcode::kListAppend;
}

size_t phi_count(const Block& b) {
  size_t n = 0;
  while (n < b.instrs.size() && instr_info(b.instrs[n].op).has(kPhi)) ++n;
  return n;
}

class Bits {
 public:
  explicit Bits(size_t n = 0) : words_((n + 63) / 64) {}
  bool get(Reg r) const { return words_[static_cast<size_t>(r) / 64] >> (r % 64) & 1; }
  void set(Reg r) { words_[static_cast<size_t>(r) / 64] |= uint64_t{1} << (r % 64); }
  void clear(Reg r) { words_[static_cast<size_t>(r) / 64] &= ~(uint64_t{1} << (r % 64)); }
  bool merge(const Bits& o) {
    bool changed = false;
    for (size_t i = 0; i < words_.size(); ++i) {
      uint64_t w = words_[i] | o.words_[i];
      changed |= w != words_[i];
      words_[i] = w;
    }
    return changed;
  }
  void for_each_not_in(const Bits& o, const std::function<void(Reg)>& f) const {
    for (size_t i = 0; i < words_.size(); ++i)
      for (uint64_t w = words_[i] & ~o.words_[i]; w; w &= w - 1) f(static_cast<Reg>(i * 64 + static_cast<size_t>(__builtin_ctzll(w))));
  }

 private:
  std::vector<uint64_t> words_;
};

class Placement {
 public:
  Placement(Module& module, int32_t function) : f_(module.functions[static_cast<size_t>(function)]) {}

  Status run() {
    split_edges();
    find_owned();
    copy_results();
    find_owned();
    solve_liveness();
    share_consumed();
    find_owned();
    solve_liveness();
    place_frees();
    return {};
  }

 private:
  // --- control flow ------------------------------------------------------------------------------------------------
  void find_predecessors() {
    preds_.assign(f_.blocks.size(), {});
    for (size_t b = 0; b < f_.blocks.size(); ++b) {
      auto& list = f_.blocks[b].instrs.back().targets;
      for (BlockId t : list) {
        auto& p = preds_[static_cast<size_t>(t)];
        if (p.empty() || p.back() != static_cast<BlockId>(b)) p.push_back(static_cast<BlockId>(b));
      }
    }
  }

  /// Afterwards a block with several successors only leads to blocks without PHIs and with one predecessor: whatever
  /// must happen on an edge has a block of its own.
  void split_edges() {
    find_predecessors();
    size_t count = f_.blocks.size();
    for (size_t b = 0; b < count; ++b) {
      if (f_.blocks[b].instrs.back().targets.size() < 2) continue;
      std::vector<BlockId> targets = f_.blocks[b].instrs.back().targets;
      for (size_t k = 0; k < targets.size(); ++k) {
        auto t = static_cast<size_t>(targets[k]);
        bool repeated = std::count(targets.begin(), targets.end(), targets[k]) > 1;
        if (preds_[t].size() < 2 && !phi_count(f_.blocks[t]) && !repeated) continue;
        auto fresh = static_cast<BlockId>(f_.blocks.size());
        Instr jump;
        jump.op = Opcode::kJump;
        jump.targets = {targets[k]};
        f_.blocks.emplace_back().instrs.push_back(std::move(jump));
        f_.blocks[b].instrs.back().targets[k] = fresh;
        bool more = std::count(targets.begin() + static_cast<long>(k) + 1, targets.end(), targets[k]) > 0;
        redirect_phis(f_.blocks[t], static_cast<BlockId>(b), fresh, more);
      }
    }
    find_predecessors();
  }

  /// The value that came from `from` comes from `to`; `keep` leaves the old entry for a further edge.
  static void redirect_phis(Block& block, BlockId from, BlockId to, bool keep) {
    for (size_t i = 0; i < phi_count(block); ++i) {
      Instr& phi = block.instrs[i];
      for (size_t k = 0; k < phi.targets.size(); ++k) {
        if (phi.targets[k] != from) continue;
        if (keep) {
          phi.targets.push_back(to);
          if (phi.dims.empty()) phi.uses.push_back(phi.uses[k]);
          else phi.dims.push_back(phi.dims[k]);
        } else {
          phi.targets[k] = to;
        }
        break;
      }
    }
  }

  // --- ownership ---------------------------------------------------------------------------------------------------
  void find_owned() {
    owned_.assign(f_.regs.size(), 0);
    window_of_.assign(f_.regs.size(), kNoReg);
    for (const Block& b : f_.blocks)
      for (const Instr& i : b.instrs) {
        bool borrowed = i.op == Opcode::kTensorConst || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kInput);
        if (i.op == Opcode::kTensorView && view_kind(i) == ViewKind::kWindow) window_of_[static_cast<size_t>(i.defs[0])] = i.uses[0];
        for (Reg r : i.defs) owned_[static_cast<size_t>(r)] = !borrowed && is_reference(f_.regs[static_cast<size_t>(r)].type.kind);
      }
  }
  bool owned(Reg r) const { return r >= 0 && owned_[static_cast<size_t>(r)]; }
  bool reference(Reg r) const { return r >= 0 && is_reference(f_.regs[static_cast<size_t>(r)].type.kind); }

  // --- results: copies for what doesn't alone own its whole dense storage ---------------------------------------------
  Reg find(Reg r) {
    while (parent_[static_cast<size_t>(r)] != r) r = parent_[static_cast<size_t>(r)] = parent_[static_cast<size_t>(parent_[static_cast<size_t>(r)])];
    return r;
  }
  void unite(Reg a, Reg b) { parent_[static_cast<size_t>(find(a))] = find(b); }

  /// Registers whose storage may be someone else's (by class), and those that may be a view of a part (by register).
  void find_shared_and_partial(std::vector<uint8_t>& shared, std::vector<uint8_t>& partial) {
    const size_t n = f_.regs.size();
    parent_.resize(n);
    std::iota(parent_.begin(), parent_.end(), 0);
    shared.assign(n, 0);
    partial.assign(n, 0);
    std::vector<std::pair<Reg, Reg>> flows;  // a part of the first is a part of the second
    for (const Block& b : f_.blocks)
      for (const Instr& i : b.instrs) {
        if (i.op == Opcode::kTensorConst || i.op == Opcode::kListGet || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kInput))
          shared[static_cast<size_t>(i.defs[0])] = 1;
        const bool passes = i.op == Opcode::kTensorView || i.op == Opcode::kTensorResize || i.op == Opcode::kTensorPhi ||
                            (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kNarrow);
        if (!passes) continue;
        const Reg d = i.defs[0];
        for (Reg u : i.uses) {
          unite(d, u);
          if (i.op != Opcode::kTensorResize) flows.emplace_back(u, d);
        }
        if (i.op == Opcode::kTensorView) {
          const ViewKind k = view_kind(i);
          const bool whole = k == ViewKind::kReshape || k == ViewKind::kSqueeze || k == ViewKind::kUnsqueeze || k == ViewKind::kIdentity;
          partial[static_cast<size_t>(d)] = !whole;
        }
      }
    for (bool changed = true; changed;) {
      changed = false;
      for (auto [from, to] : flows)
        if (partial[static_cast<size_t>(from)] && !partial[static_cast<size_t>(to)]) partial[static_cast<size_t>(to)] = changed = true;
    }
    for (size_t r = 0; r < n; ++r)
      if (shared[r]) shared[static_cast<size_t>(find(static_cast<Reg>(r)))] = 1;
  }

  void copy_results() {
    std::vector<uint8_t> shared, partial;
    find_shared_and_partial(shared, partial);
    for (Block& b : f_.blocks) {
      if (b.instrs.back().op != Opcode::kReturn) continue;
      std::vector<Reg> seen;
      std::vector<Instr> before;
      Instr& ret = b.instrs.back();
      for (Reg& r : ret.uses) {
        if (!reference(r) || f_.regs[static_cast<size_t>(r)].type.kind != RegKind::kTensor) continue;
        Reg c = find(r);
        const TensorType& t = f_.regs[static_cast<size_t>(r)].type.tensor;
        bool twice = std::find(seen.begin(), seen.end(), c) != seen.end();
        seen.push_back(c);
        if (shared[static_cast<size_t>(c)] || partial[static_cast<size_t>(r)] || (t.strided && !t.unknown_rank) || twice) r = copy_before(r, before, ret.debug);
      }
      b.instrs.insert(b.instrs.end() - 1, std::make_move_iterator(before.begin()), std::make_move_iterator(before.end()));
    }
  }

  Reg copy_before(Reg r, std::vector<Instr>& out, uint32_t debug) {
    TensorType t = f_.regs[static_cast<size_t>(r)].type.tensor;
    t.strided = false;
    t.filled.reset();
    Reg d = new_reg(t);
    if (t.unknown_rank) {
      out.push_back({.op = Opcode::kOpCall, .defs = {d}, .uses = {r}, .outs = {d}, .text = "Identity", .debug = debug});
    } else {
      out.push_back({.op = Opcode::kTensorAlloc, .defs = {d}, .dims = t.shape, .debug = debug});
      out.push_back({.op = Opcode::kTensorCopy, .uses = {r}, .outs = {d}, .debug = debug});
    }
    return d;
  }

  Reg new_reg(const TensorType& t) {
    f_.regs.push_back({{RegKind::kTensor, t}, {}});
    parent_.push_back(static_cast<Reg>(parent_.size()));
    return static_cast<Reg>(f_.regs.size()) - 1;
  }

  // --- liveness of references ------------------------------------------------------------------------------------------
  void for_each_touch(const Instr& i, const std::function<void(Reg)>& visit) const {
    if (i.op == Opcode::kTensorAlloc) return;  // the in-place hint isn't a use
    for (Reg r : i.uses)
      if (reference(r)) visit(r);
    for (Reg r : i.outs) {
      if (!reference(r) || std::find(i.defs.begin(), i.defs.end(), r) != i.defs.end()) continue;
      for (; r != kNoReg; r = static_cast<size_t>(r) < window_of_.size() ? window_of_[static_cast<size_t>(r)] : kNoReg) visit(r);  // what a window fills must be there
    }
  }

  void solve_liveness() {
    size_t n = f_.regs.size(), blocks = f_.blocks.size();
    live_in_.assign(blocks, Bits(n));
    live_out_.assign(blocks, Bits(n));
    // PHI uses are live out of their predecessor.
    std::vector<Bits> phi_out(blocks, Bits(n));
    for (const Block& b : f_.blocks)
      for (size_t k = 0; k < phi_count(b); ++k)
        for (size_t j = 0; j < b.instrs[k].uses.size(); ++j)
          if (reference(b.instrs[k].uses[j])) phi_out[static_cast<size_t>(b.instrs[k].targets[j])].set(b.instrs[k].uses[j]);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = blocks; b-- > 0;) {
        live_out_[b].merge(phi_out[b]);
        for (BlockId s : f_.blocks[b].instrs.back().targets) live_out_[b].merge(live_in_[static_cast<size_t>(s)]);
        Bits live = live_out_[b];
        const auto& instrs = f_.blocks[b].instrs;
        size_t phis = phi_count(f_.blocks[b]);
        for (size_t i = instrs.size(); i-- > phis;) {
          for (Reg r : instrs[i].defs) live.clear(r);
          for_each_touch(instrs[i], [&](Reg r) { live.set(r); });
        }
        for (size_t i = 0; i < phis; ++i) live.clear(instrs[i].defs[0]);
        changed |= live_in_[b].merge(live);
      }
    }
  }

  // --- identity views for what is consumed but borrowed or still needed ------------------------------------------------
  Instr identity_of(Reg r, Reg& fresh, uint32_t debug) {
    f_.regs.push_back(f_.regs[static_cast<size_t>(r)]);
    fresh = static_cast<Reg>(f_.regs.size()) - 1;
    return {.op = Opcode::kTensorView, .sub = static_cast<uint8_t>(ViewKind::kIdentity), .defs = {fresh}, .uses = {r}, .debug = debug};
  }

  void share_consumed() {
    size_t blocks = f_.blocks.size();
    for (size_t b = 0; b < blocks; ++b) {
      Bits live = live_out_[b];
      std::vector<Instr> out;  // reversed
      auto& instrs = f_.blocks[b].instrs;
      if (instrs.back().targets.size() == 1) {
        out.push_back(std::move(instrs.back()));
        instrs.pop_back();
        share_phi_inputs(static_cast<BlockId>(b), static_cast<size_t>(out[0].targets[0]), out);
      }
      for (size_t i = instrs.size(); i-- > 0;) {
        Instr instr = std::move(instrs[i]);
        std::vector<Instr> views;
        if (consumes(instr.op)) {
          for (size_t k = 0; k < instr.uses.size(); ++k) {
            Reg r = instr.uses[k];
            if (!reference(r)) continue;
            bool again = std::find(instr.uses.begin() + static_cast<long>(k) + 1, instr.uses.end(), r) != instr.uses.end();
            if (owned(r) && !live.get(r) && !again) continue;
            views.push_back(identity_of(r, instr.uses[k], instr.debug));
            // RESIZE keeps the result's own type; the view has the source's.
          }
        }
        if (!instr_info(instr.op).has(kPhi)) {
          for (Reg d : instr.defs) live.clear(d);
          for_each_touch(instr, [&](Reg r) {
            if (r < static_cast<Reg>(owned_.size())) live.set(r);
          });
          for (const Instr& v : views) live.set(v.uses[0]);
        }
        out.push_back(std::move(instr));
        for (size_t k = views.size(); k-- > 0;) out.push_back(std::move(views[k]));
      }
      std::reverse(out.begin(), out.end());
      instrs = std::move(out);
    }
  }

  void share_phi_inputs(BlockId from, size_t to, std::vector<Instr>& reversed) {
    std::vector<Reg> taken;
    for (size_t k = 0; k < phi_count(f_.blocks[to]); ++k) {
      Instr& phi = f_.blocks[to].instrs[k];
      for (size_t j = 0; j < phi.uses.size(); ++j) {
        Reg r = phi.uses[j];
        if (phi.targets[j] != from || !reference(r)) continue;
        bool repeated = std::find(taken.begin(), taken.end(), r) != taken.end();
        taken.push_back(r);
        if (owned(r) && !live_in_[to].get(r) && !repeated) continue;
        reversed.push_back(identity_of(r, phi.uses[j], phi.debug));
      }
    }
  }

  // --- frees -----------------------------------------------------------------------------------------------------------
  void place_frees() {
    for (size_t b = 0; b < f_.blocks.size(); ++b) {
      Bits live = live_out_[b];
      auto& instrs = f_.blocks[b].instrs;
      size_t phis = phi_count(f_.blocks[b]);
      std::vector<Instr> out;  // reversed
      std::vector<Reg> dead;
      for (size_t i = instrs.size(); i-- > phis;) {
        dead.clear();
        for (Reg d : instrs[i].defs)
          if (owned(d) && !live.get(d)) dead.push_back(d);
        for_each_touch(instrs[i], [&](Reg r) {
          bool moved = consumes(instrs[i].op) && std::find(instrs[i].uses.begin(), instrs[i].uses.end(), r) != instrs[i].uses.end();
          if (owned(r) && !live.get(r) && !moved && std::find(dead.begin(), dead.end(), r) == dead.end()) dead.push_back(r);
        });
        for (Reg d : instrs[i].defs) live.clear(d);
        for_each_touch(instrs[i], [&](Reg r) { live.set(r); });
        std::sort(dead.begin(), dead.end(), std::greater<>());
        for (Reg r : dead) out.push_back(free_of(r, instrs[i].debug));
        out.push_back(std::move(instrs[i]));
      }
      // What dies on the way into this block, and PHIs nobody reads.
      dead.clear();
      for (size_t i = 0; i < phis; ++i)
        if (Reg d = instrs[i].defs[0]; owned(d) && !live.get(d)) dead.push_back(d);
      if (preds_[b].size() == 1 && f_.blocks[static_cast<size_t>(preds_[b][0])].instrs.back().targets.size() > 1)
        live_out_[static_cast<size_t>(preds_[b][0])].for_each_not_in(live_in_[b], [&](Reg r) {
          if (owned(r)) dead.push_back(r);
        });
      std::sort(dead.begin(), dead.end(), std::greater<>());
      for (Reg r : dead) out.push_back(free_of(r, 0));
      for (size_t i = phis; i-- > 0;) out.push_back(std::move(instrs[i]));
      std::reverse(out.begin(), out.end());
      instrs = std::move(out);
    }
  }

  static Instr free_of(Reg r, uint32_t debug) { return {.op = Opcode::kTensorFree, .uses = {r}, .debug = debug}; }

  Function& f_;
  std::vector<std::vector<BlockId>> preds_;
  std::vector<uint8_t> owned_;
  std::vector<Reg> window_of_;  // by register: the tensor of which it is a window
  std::vector<Reg> parent_;
  std::vector<Bits> live_in_, live_out_;
};

}  // namespace

Status place_ownership(Module& module, int32_t function) { return Placement(module, function).run(); }

}  // namespace msvm
