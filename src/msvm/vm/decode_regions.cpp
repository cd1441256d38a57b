// Borders of regions, and the slots of what their code works on.
#include <utility>

#include "msvm/vm/decoder.h"

namespace msvm::vm {

void Decoder::mark_regions() {
  for (size_t r = 0; r < regions_.size(); ++r) {
    const RegionSpec& spec = regions_[r];
    const auto index = static_cast<int32_t>(r);
    region_begin_[spec.begin] = index;
    region_end_[spec.end] = index;
    for (size_t g = 0; g < spec.groups.size(); ++g)
      for (int32_t call : spec.groups[g].members) member_of_[call] = {index, static_cast<int32_t>(g)};
    out_.regions.push_back({.spec = &spec});
  }
}

int32_t Decoder::runs_at(int32_t call) const {
  const auto m = member_of_.find(call);
  if (m == member_of_.end()) return call;
  return regions_[static_cast<size_t>(m->second.first)].groups[static_cast<size_t>(m->second.second)].members.back();
}

void Decoder::emit_region_begin(int32_t instr) {
  const auto r = region_begin_.find(instr);
  if (r == region_begin_.end()) return;
  out_.regions[static_cast<size_t>(r->second)].begin = static_cast<int32_t>(out_.code.size());
  emit({.op = Op::kRegion, .a = r->second});
}

void Decoder::emit_region_end(int32_t instr) {
  const auto r = region_end_.find(instr);
  if (r == region_end_.end()) return;
  out_.regions[static_cast<size_t>(r->second)].end = static_cast<int32_t>(out_.code.size());
  emit({.op = Op::kRegionEnd, .a = r->second});
}

namespace {

/// What one instruction does to scalar slots.
template <class Read, class Write>
void visit_scalars(const Function& f, const Code& c, Read&& read, Write&& write) {
  auto read_extra = [&](size_t n) {
    for (size_t k = 0; k < n; ++k) read(f.extra[static_cast<size_t>(c.c) + k]);
  };
  auto moves = [&](int32_t edge) {
    for (const PhiMove& m : f.edges[static_cast<size_t>(edge)].moves)
      if (m.kind == PhiMove::kScalar) {
        read(m.from);
        write(m.to);
      }
  };
  switch (c.op) {
    case Op::kCheck: read(c.b); read(c.c); return;
    case Op::kAssert: read(c.b); return;
    case Op::kAlloc:
    case Op::kSlice:
    case Op::kReshape:
    case Op::kBroadcast: read_extra(c.n); return;
    case Op::kWindow: read_extra(2); return;
    case Op::kPropagate:
    case Op::kListLength: write(c.a); return;
    case Op::kRead:
      read_extra(c.n);
      write(c.a);
      return;
    case Op::kMatch:
      for (const MatchStep& m : f.match_lists[static_cast<size_t>(c.b)]) {
        if (m.bind != kNoSlot) write(m.bind);
        else read(m.equal);
      }
      return;
    case Op::kCall:
      for (Slot s : f.calls[static_cast<size_t>(c.a)].args) read(s);
      return;
    case Op::kEdge: moves(c.a); return;
    case Op::kBranch:
      read(c.b);
      moves(c.a);
      moves(c.c);
      return;
    case Op::kSwitch:
      read(c.b);
      for (size_t k = 0; k < c.n; ++k) moves(f.extra[static_cast<size_t>(c.c) + k]);
      return;
    case Op::kInput: case Op::kConst: case Op::kNarrow: case Op::kFree: case Op::kResize: case Op::kTranspose: case Op::kSqueeze:
    case Op::kUnsqueeze: case Op::kIdentity: case Op::kCopy: case Op::kListMake: case Op::kListAppend: case Op::kListGet:
    case Op::kListIdentity: case Op::kListFree: case Op::kReturn: case Op::kTrap: case Op::kRegion: case Op::kRegionEnd: return;
    default:
      for (Slot s : {c.b, c.c, c.d})
        if (s != kNoSlot) read(s);
      write(c.a);
  }
}

}  // namespace

// Besides its entry symbols a region may read scalars that no type mentions, as the place of a window: they are part of what a plan is for.
void Decoder::find_live_scalars(RegionInfo& r) const {
  std::vector<uint8_t> written(out_.initial_scalars.size()), seen(out_.initial_scalars.size());
  for (int32_t k = r.begin; k < r.end; ++k)
    visit_scalars(out_, out_.code[static_cast<size_t>(k)], [](Slot) {}, [&](Slot s) { written[static_cast<size_t>(s)] = 1; });
  for (const auto& [value, s] : constants_) seen[static_cast<size_t>(s)] = 1;
  for (Slot s : r.symbols) seen[static_cast<size_t>(s)] = 1;
  for (int32_t k = r.begin; k < r.end; ++k)
    visit_scalars(out_, out_.code[static_cast<size_t>(k)], [&](Slot s) {
      if (std::exchange(seen[static_cast<size_t>(s)], 1) || written[static_cast<size_t>(s)]) return;
      r.further.push_back(s);
    }, [](Slot) {});
}

bool Decoder::reads_strided(const RegionInfo& r) const {
  std::unordered_set<Reg> own;
  bool found = false;
  int32_t last = -1;
  for (int32_t k = r.begin + 1; k < r.end; ++k) {
    const int32_t at = out_.code[static_cast<size_t>(k)].instr;
    if (at == last || at < 0) continue;
    last = at;
    const Instr& i = *out_.instrs[static_cast<size_t>(at)];
    for (const auto* list : {&i.uses, &i.outs})
      for (Reg u : *list)
        found |= u != kNoReg && type(u).kind == RegKind::kTensor && (type(u).tensor.strided || type(u).tensor.unknown_rank) && !own.contains(u);
    own.insert(i.defs.begin(), i.defs.end());
  }
  return found;
}

void Decoder::find_region_slots() {
  for (RegionInfo& r : out_.regions) {
    r.usable = r.begin >= 0 && r.end > r.begin;
    for (SymbolId s : r.spec->symbols) {
      const SymbolInfo& info = module_.dims->symbol_info(s);
      r.symbols.push_back(info.is_register() ? static_cast<Slot>(info.reg) : symbol_slot_[s]);
      r.usable = r.usable && r.symbols.back() != kNoSlot && (!info.is_register() || info.function == index_);
    }
    if (r.usable) find_live_scalars(r);
    if (r.usable) r.strided = reads_strided(r);
  }
  if (out_.regions.empty()) return;
  out_.group_of_call.assign(out_.calls.size(), -1);
  out_.grouped.assign(out_.num_tensors, 0);
  for (const RegionInfo& r : out_.regions)
    for (const RegionGroup& g : r.spec->groups)
      for (Reg p : g.pointers) out_.grouped[static_cast<size_t>(out_.tensor_slot[static_cast<size_t>(p)])] = 1;
  for (size_t k = 0; k < out_.calls.size(); ++k)
    if (const auto m = member_of_.find(out_.calls[k].index); m != member_of_.end()) out_.group_of_call[k] = m->second.second;
}

}  // namespace msvm::vm
