#include "msvm/vm/decode.h"

#include <fmt/core.h>

#include <algorithm>

#include "msvm/vm/decoder.h"

namespace msvm::vm {

Decoder::Decoder(const VerifiedModule& vm, int32_t index, std::span<const RegionSpec> regions)
    : module_(vm.module()), index_(index), f_(module_.functions[static_cast<size_t>(index)]), regions_(regions), cfg_(f_) {
  out_.source = &f_;
  out_.facts = &vm.facts(index);
}

Result<Function> Decoder::run() {
  number_slots();
  number_instructions();
  mark_regions();
  plan_entry();
  find_binders();
  find_overwrites();
  find_planned();
  block_code_.assign(f_.blocks.size(), -1);
  for (BlockId b : cfg_.reverse_post_order()) decode_block(b);
  if (too_many_operands_) return unsupported(fmt::format("@{}: an instruction has more than {} operands", f_.name, kMaxOperands));
  for (size_t k = 0; k < out_.calls.size(); ++k) out_.calls_by_instr.emplace_back(out_.calls[k].index, static_cast<int32_t>(k));
  std::sort(out_.calls_by_instr.begin(), out_.calls_by_instr.end());
  find_region_slots();
  for (Edge& e : out_.edges)
    if (e.block >= 0) e.target = block_code_[static_cast<size_t>(e.block)];
  out_.symbol_binder.resize(symbol_slot_.size());
  for (size_t s = 0; s < symbol_slot_.size(); ++s) out_.symbol_binder[s] = entry_bound_[s] ? -1 : binder_[s] < 0 ? kNeverBound : binder_[s];
  out_.symbol_slot = std::move(symbol_slot_);
  return std::move(out_);
}

// --- slots -------------------------------------------------------------------------------------------------------------

void Decoder::number_slots() {
  const size_t n = f_.regs.size();
  out_.tensor_slot.assign(n, kNoSlot);
  out_.list_slot.assign(n, kNoSlot);
  for (size_t r = 0; r < n; ++r) {
    const RegType& t = f_.regs[r].type;
    if (t.kind == RegKind::kTensor) {
      out_.tensor_slot[r] = static_cast<Slot>(out_.num_tensors++);
      out_.tensor_reg.push_back(static_cast<Reg>(r));
      out_.uses_devices |= t.tensor.device.kind != DeviceKind::kCpu;
    } else if (t.kind == RegKind::kList) {
      out_.list_slot[r] = static_cast<Slot>(out_.num_lists++);
    }
  }
  out_.initial_scalars.assign(n, 0);
  symbol_slot_.assign(module_.dims->num_symbols(), kNoSlot);
  reg_symbol_.assign(n, -1);
  for (SymbolId s = 0; s < symbol_slot_.size(); ++s)
    if (const SymbolInfo& info = module_.dims->symbol_info(s); info.function == index_) reg_symbol_[static_cast<size_t>(info.reg)] = s;
}

Slot Decoder::new_slot(int64_t initial) {
  out_.initial_scalars.push_back(initial);
  return static_cast<Slot>(out_.initial_scalars.size()) - 1;
}

Slot Decoder::constant_slot(int64_t v) {
  auto [it, fresh] = constants_.try_emplace(v, kNoSlot);
  if (fresh) it->second = new_slot(v);
  return it->second;
}

/// Scalar inputs are put into slots of their own before the run.
Slot Decoder::scalar_input_slot(int32_t input) {
  auto [it, fresh] = scalar_inputs_.try_emplace(input, kNoSlot);
  if (fresh) {
    it->second = new_slot();
    out_.scalar_inputs.push_back({input, it->second});
  }
  return it->second;
}

// --- instructions ------------------------------------------------------------------------------------------------------

void Decoder::number_instructions() {
  scalar_input_of_.assign(f_.regs.size(), -1);
  is_constant_.assign(f_.regs.size(), 0);
  for (const Block& b : f_.blocks) {
    first_.push_back(static_cast<int32_t>(out_.instrs.size()));
    for (const Instr& i : b.instrs) {
      out_.instrs.push_back(&i);
      if (i.op == Opcode::kScalarInput) scalar_input_of_[static_cast<size_t>(i.defs[0])] = static_cast<int32_t>(i.imms[0]);
      if (i.op == Opcode::kTensorConst) is_constant_[static_cast<size_t>(i.defs[0])] = 1;
    }
  }
  out_.entry_instructions = static_cast<int32_t>(f_.blocks[0].instrs.size());
}

Code& Decoder::emit(Code c) {
  c.instr = current_;
  auto& code = target_ == Target::kCode ? out_.code : target_ == Target::kEntry ? out_.entry_code : out_.plan_code;
  code.push_back(c);
  return code.back();
}

uint16_t Decoder::count(size_t n) {
  too_many_operands_ |= n > kMaxOperands;
  return static_cast<uint16_t>(n);
}

int32_t Decoder::add_extra(const std::vector<int32_t>& list) {
  const auto at = static_cast<int32_t>(out_.extra.size());
  out_.extra.insert(out_.extra.end(), list.begin(), list.end());
  return at;
}

void Decoder::decode_block(BlockId b) {
  block_memo_.clear();
  in_entry_block_ = b == 0;
  const auto& instrs = f_.blocks[static_cast<size_t>(b)].instrs;
  const int32_t first = first_[static_cast<size_t>(b)];
  block_code_[static_cast<size_t>(b)] = static_cast<int32_t>(out_.code.size());
  // PHIs were moved on the edge and act together: all symbols that they bind come before the sizes that may use them.
  int32_t phis = 0;
  while (instr_info(instrs[static_cast<size_t>(phis)].op).has(kPhi)) ++phis;
  auto each_tensor_phi = [&](auto&& visit) {
    for (int32_t k = 0; k < phis; ++k) {
      const Instr& phi = instrs[static_cast<size_t>(k)];
      current_ = first + k;
      if (phi.op == Opcode::kTensorPhi && type(phi.defs[0]).kind == RegKind::kTensor) visit(phi.defs[0]);
    }
  };
  phi_symbols_.clear();
  for (int32_t k = 0; k < phis; ++k) {
    const Reg d = instrs[static_cast<size_t>(k)].defs[0];
    if (type(d).kind == RegKind::kTensor)
      for (Dim x : type(d).tensor.shape)
        if (x.is_symbol() && binder_[x.symbol()] == first + k) phi_symbols_.insert(x.symbol());
    if (type(d).kind == RegKind::kI64 && reg_symbol_[static_cast<size_t>(d)] >= 0) phi_symbols_.insert(static_cast<SymbolId>(reg_symbol_[static_cast<size_t>(d)]));
  }
  each_tensor_phi([&](Reg r) { emit_binds(r, current_); });
  each_tensor_phi([&](Reg r) { emit_size_checks(r, current_); });
  for (size_t k = 0; k < instrs.size(); ++k) {
    const Instr& i = instrs[k];
    current_ = first + static_cast<int32_t>(k);
    emit_region_end(current_);
    emit_region_begin(current_);
    emit_checks(current_, false);
    decode(b, i);
    if (!instr_info(i.op).has(kTerminator)) emit_checks(current_, true);
  }
}

void Decoder::decode(BlockId b, const Instr& i) {
  switch (i.op) {
    case Opcode::kTensorCreate:
      switch (create_kind(i)) {
        case CreateKind::kInput: emit({.op = Op::kInput, .a = tensor(i.defs[0]), .b = static_cast<int32_t>(i.imms[0])}); return;
        case CreateKind::kNarrow:
          emit({.op = Op::kNarrow, .a = tensor(i.defs[0]), .b = tensor(i.uses[0])});
          emit_binds(i.defs[0], current_);
          emit_size_checks(i.defs[0], current_);
          return;
        case CreateKind::kDestination: decode_alloc(i); return;
      }
      return;
    case Opcode::kTensorConst: emit({.op = Op::kConst, .a = tensor(i.defs[0]), .b = static_cast<int32_t>(i.imms[0])}); return;
    case Opcode::kTensorAlloc: decode_alloc(i); return;
    case Opcode::kTensorFree:
      if (is_list(i.uses[0])) emit({.op = Op::kListFree, .a = list(i.uses[0])});
      else emit({.op = Op::kFree, .a = tensor(i.uses[0])});
      return;
    case Opcode::kTensorResize: {
      const Slot size = slot_of(i.dims[0]);
      emit({.op = Op::kResize, .a = tensor(i.defs[0]), .b = tensor(i.uses[0]), .c = static_cast<int32_t>(i.imms[0]), .d = size});
      return;
    }
    case Opcode::kTensorView: decode_view(i); return;
    case Opcode::kTensorCopy: emit({.op = Op::kCopy, .a = tensor(i.outs[0]), .b = tensor(i.uses[0])}); return;
    case Opcode::kTensorRead: {
      const auto index = slots_of(i.dims);
      emit({.op = Op::kRead, .n = count(index.size()), .a = i.defs[0], .b = tensor(i.uses[0]), .c = add_extra(index)});
      return;
    }
    case Opcode::kTensorPhi:
    case Opcode::kScalarPhi: return;  // moved on the edges
    case Opcode::kScalarInput: emit({.op = Op::kMove, .a = i.defs[0], .b = scalar_input_slot(static_cast<int32_t>(i.imms[0]))}); return;
    case Opcode::kShapePropagate: emit({.op = Op::kPropagate, .a = i.defs[0], .b = tensor(i.uses[0]), .c = static_cast<int32_t>(i.imms[0])}); return;
    case Opcode::kShapeCalc: decode_calc(i); return;
    case Opcode::kScalarConst: emit({.op = Op::kMove, .a = i.defs[0], .b = constant_slot(i.imms[0])}); return;
    case Opcode::kScalarCalc: {
      const Slot x = i.dims.empty() ? i.uses[0] : slot_of(i.dims[0]);
      emit({.op = static_cast<Op>(static_cast<int>(Op::kFAdd) + i.sub), .flags = static_cast<uint8_t>(!i.imms.empty() && i.imms[0]), .a = i.defs[0], .b = x,
            .c = i.uses.size() > 1 ? i.uses[1] : kNoSlot});
      return;
    }
    case Opcode::kShapeAssert: emit({.op = Op::kAssert, .b = i.uses[0]}); return;
    case Opcode::kOpCall: decode_call(i); return;
    case Opcode::kListMake: {
      std::vector<int32_t> items;
      for (Reg r : i.uses) items.push_back(tensor(r));
      emit({.op = Op::kListMake, .n = count(items.size()), .a = list(i.defs[0]), .c = add_extra(items)});
      return;
    }
    case Opcode::kListAppend: emit({.op = Op::kListAppend, .a = list(i.defs[0]), .b = list(i.uses[0]), .c = tensor(i.uses[1])}); return;
    case Opcode::kListGet: {
      const Slot at = slot_of(i.dims[0]);
      emit({.op = Op::kListGet, .a = tensor(i.defs[0]), .b = list(i.uses[0]), .c = at});
      return;
    }
    case Opcode::kListLength: emit({.op = Op::kListLength, .a = i.defs[0], .b = list(i.uses[0])}); return;
    case Opcode::kJump: {
      const int32_t e = edge(b, i.targets[0]);
      emit({.op = Op::kEdge, .a = e});
      return;
    }
    case Opcode::kBranchIf:
    case Opcode::kSwitch: decode_branch(b, i); return;
    case Opcode::kReturn: {
      const auto sizes = slots_of(i.dims);
      emit({.op = Op::kReturn, .n = count(sizes.size()), .c = add_extra(sizes)});
      return;
    }
    case Opcode::kTrap: emit({.op = Op::kTrap}); return;
  }
}

void Decoder::decode_alloc(const Instr& i) {
  const auto dims = slots_of(i.dims);
  const auto planned = planned_.find(i.defs[0]);
  const auto over = overwritten_.find(i.defs[0]);
  emit({.op = Op::kAlloc, .n = count(dims.size()), .a = tensor(i.defs[0]), .b = over == overwritten_.end() ? kNoSlot : tensor(over->second), .c = add_extra(dims), .d = planned == planned_.end() ? -1 : planned->second});
}

void Decoder::decode_view(const Instr& i) {
  if (is_list(i.uses[0])) {
    emit({.op = Op::kListIdentity, .a = list(i.defs[0]), .b = list(i.uses[0])});
    return;
  }
  static constexpr Op kOps[] = {Op::kSlice, Op::kReshape, Op::kTranspose, Op::kBroadcast, Op::kSqueeze, Op::kUnsqueeze, Op::kWindow, Op::kIdentity};
  std::vector<int32_t> extra = slots_of(i.dims);
  for (int64_t v : i.imms) extra.push_back(view_kind(i) == ViewKind::kSlice ? constant_slot(v) : static_cast<int32_t>(v));
  emit({.op = kOps[i.sub], .n = count(extra.size()), .a = tensor(i.defs[0]), .b = tensor(i.uses[0]), .c = add_extra(extra)});
}

void Decoder::decode_calc(const Instr& i) {
  const CalcOp op = calc_op(i);
  Code c{.op = Op::kMove, .a = i.defs[0]};
  if (op == CalcOp::kSelect) {
    c.op = Op::kSelect;
    c.b = i.uses[0];
    c.c = slot_of(i.dims[0]);
    c.d = slot_of(i.dims[1]);
  } else if (op == CalcOp::kAnd || op == CalcOp::kOr || op == CalcOp::kNot) {
    c.op = op == CalcOp::kAnd ? Op::kAnd : op == CalcOp::kOr ? Op::kOr : Op::kNot;
    c.b = i.uses[0];
    c.c = i.uses.size() > 1 ? i.uses[1] : kNoSlot;
  } else {
    c.op = op <= CalcOp::kTruncDiv ? static_cast<Op>(static_cast<int>(Op::kAdd) + i.sub)
                                   : static_cast<Op>(static_cast<int>(Op::kEq) + (i.sub - static_cast<int>(CalcOp::kEq)));
    c.b = slot_of(i.dims[0]);
    if (i.dims.size() > 1) c.c = slot_of(i.dims[1]);
  }
  emit(c);
}

void Decoder::decode_call(const Instr& i) {
  constexpr size_t kMaxNewOutputs = 64;  // bits of CallSite::new_outputs
  if (i.defs.size() > kMaxNewOutputs) {
    too_many_operands_ = true;
    return;
  }
  CallSite s;
  s.instr = &i;
  s.index = current_;
  for (size_t k = 0; k < i.uses.size(); ++k) {
    const Reg r = i.uses[k];
    if (r == kNoReg) {
      s.inputs.push_back(kNoSlot);
    } else if (is_list(r)) {
      s.has_lists = true;
      s.inputs.push_back(-2 - list(r));
    } else {
      s.inputs.push_back(tensor(r));
      // What follows a list has another number at each run.
      if (k < 64 && !s.has_lists && is_constant_[static_cast<size_t>(r)]) s.const_inputs |= uint64_t{1} << k;
    }
  }
  for (Dim d : i.dims) s.args.push_back(slot_of(d));
  for (size_t k = 0; k < i.outs.size(); ++k) {
    const Reg r = i.outs[k];
    s.outputs.push_back(r == kNoReg ? kNoSlot : tensor(r));
    if (r == kNoReg || std::find(i.defs.begin(), i.defs.end(), r) == i.defs.end()) continue;
    too_many_operands_ |= k >= 64;
    s.new_outputs |= uint64_t{1} << (k & 63);
  }
  out_.calls.push_back(std::move(s));
  emit({.op = Op::kCall, .a = static_cast<int32_t>(out_.calls.size()) - 1});
  for (Reg d : i.defs) emit_binds(d, current_);
  for (Reg d : i.defs) emit_size_checks(d, current_);
}

Result<Function> decode_function(const VerifiedModule& module, int32_t index, std::span<const RegionSpec> regions) {
  return Decoder(module, index, regions).run();
}

}  // namespace msvm::vm
