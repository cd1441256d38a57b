// Which destinations the memory plan may place: of sizes known before the first instruction, outside loops, and never reaching a PHI,
// RETURN, a list or RESIZE, also through views.
#include <algorithm>

#include "msvm/vm/decoder.h"

namespace msvm::vm {

Reg Decoder::root(Reg r) {
  auto up = [&](Reg x) -> Reg& { return parent_[static_cast<size_t>(x)]; };
  while (up(r) != r) r = up(r) = up(up(r));
  return r;
}

bool Decoder::known_at_entry(Dim d) const {
  bool known = d.valid();
  if (!known || d.is_const()) return known;
  DimContext::for_each_symbol(d, [&](SymbolId s) {
    const SymbolInfo& info = module_.dims->symbol_info(s);
    if (!info.is_register()) {
      known = known && entry_bound_[s];
      return;
    }
    if (scalar_input_of_[static_cast<size_t>(info.reg)] >= 0) return;
    const Dim value = out_.facts->reg_value[static_cast<size_t>(info.reg)];
    known = known && value.valid() && value != d && !(value.is_symbol() && value.symbol() == s) && known_at_entry(value);
  });
  return known;
}

void Decoder::find_planned() {
  const size_t n = f_.regs.size();
  parent_.resize(n);
  for (size_t r = 0; r < n; ++r) parent_[r] = static_cast<Reg>(r);
  std::vector<uint8_t> escapes(n);
  for (const Block& b : f_.blocks)
    for (const Instr& i : b.instrs) {
      const bool alias = i.op == Opcode::kTensorView || i.op == Opcode::kTensorCreate;
      const bool escape = i.op == Opcode::kReturn || i.op == Opcode::kTensorPhi || i.op == Opcode::kTensorResize || i.op == Opcode::kListMake ||
                          i.op == Opcode::kListAppend;
      for (Reg u : i.uses) {
        if (alias) parent_[static_cast<size_t>(root(i.defs[0]))] = root(u);
        if (escape && u != kNoReg) escapes[static_cast<size_t>(u)] = 1;
      }
    }
  for (size_t r = 0; r < n; ++r)
    if (escapes[r]) escapes[static_cast<size_t>(root(static_cast<Reg>(r)))] = 1;

  // Positions in reverse post-order grow along every path outside loops, so that [ALLOC, last mention] covers each life.
  // What a call of a group mentions lives until the group runs.
  std::vector<int32_t> last(n, -1);
  std::vector<int32_t> in_group(n, -1);          // the last place of a group that mentions it
  std::vector<const Instr*> reader(n, nullptr);  // the last one that isn't a FREE
  std::vector<std::pair<Reg, int32_t>> allocs;
  int32_t at = 0;
  for (BlockId b : cfg_.reverse_post_order()) {
    int32_t number = first_[static_cast<size_t>(b)];
    for (const Instr& i : f_.blocks[static_cast<size_t>(b)].instrs) {
      const int32_t later = runs_at(number) - number;
      for (const auto* list : {&i.uses, &i.outs})
        for (Reg u : *list) {
          if (u == kNoReg) continue;
          const auto r = static_cast<size_t>(root(u));
          last[r] = std::max(last[r], at + later);
          if (i.op != Opcode::kTensorFree) reader[r] = &i;
          if (member_of_.contains(number)) in_group[r] = std::max(in_group[r], at + later);
        }
      const bool destination = i.op == Opcode::kTensorAlloc || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kDestination);
      if (destination && !cfg_.in_loop(b)) allocs.emplace_back(i.defs[0], at);
      ++at;
      ++number;
    }
  }

  // A tensor can be written over where the call is the last to look at it or a view of it, and sees it by one name.
  std::unordered_map<Reg, Reg> over;
  for (auto o = overwrites_.rbegin(); o != overwrites_.rend(); ++o) {
    const Instr& call = *out_.instrs[static_cast<size_t>(o->call)];
    // Calls of a group run later than they stand, and read in an order of their own.
    if (member_of_.contains(o->call) || in_group[static_cast<size_t>(root(o->from))] >= 0 || in_group[static_cast<size_t>(root(o->to))] >= 0) continue;
    const Reg from = root(o->from), to = root(o->to);
    const TensorType &a = type(o->from).tensor, &b = type(o->to).tensor;
    if (reader[static_cast<size_t>(from)] != &call || a.strided || a.unknown_rank || a.shape != b.shape) continue;
    if (std::count_if(call.uses.begin(), call.uses.end(), [&](Reg u) { return u != kNoReg && root(u) == from; }) != 1) continue;
    if (escapes[static_cast<size_t>(to)]) escapes[static_cast<size_t>(from)] = 1;  // else it couldn't become that one
    over.emplace(o->to, from);
  }

  target_ = Target::kPlan;
  std::unordered_map<Reg, int32_t> planned_by_root;
  for (auto [r, begin] : allocs) {
    const TensorType& t = type(r).tensor;
    if (escapes[static_cast<size_t>(root(r))] || t.dtype == DType::kString || t.device.kind != DeviceKind::kCpu) continue;
    if (!std::all_of(t.shape.begin(), t.shape.end(), [&](Dim d) { return known_at_entry(d); })) continue;
    planned_[r] = static_cast<int32_t>(out_.planned.size());
    planned_by_root[root(r)] = planned_[r];
    int32_t place = -1;
    if (auto o = over.find(r); o != over.end())
      if (auto p = planned_by_root.find(o->second); p != planned_by_root.end()) place = p->second;
    out_.planned.push_back({slots_of(t.shape), dtype_bytes(t.dtype), begin, std::max(begin, last[static_cast<size_t>(root(r))]), place});
  }
  target_ = Target::kCode;
  block_memo_.clear();
  // Everything that planned sizes can depend on: symbols bound by inputs, and scalar inputs.
  if (out_.planned.empty()) return;
  for (SymbolId s = 0; s < entry_bound_.size(); ++s)
    if (entry_bound_[s]) out_.plan_key.push_back(symbol_slot_[s]);
  for (const auto& [input, slot] : scalar_inputs_) out_.plan_key.push_back(slot);
}

}  // namespace msvm::vm
