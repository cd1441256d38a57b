// What a debugger may know of a run that waits.
#include <fmt/core.h>

#include <algorithm>

#include "msvm/bytecode/cfg.h"
#include "msvm/vm/debug_run.h"

namespace msvm {

using vm::kNoSlot;
using vm::Slot;

namespace {

const vm::Function& code_of(const RunView::Impl& m) { return *m.frame.function; }
const vm::TensorSlot& slot_of(const RunView::Impl& m, Reg r) { return m.frame.tensors[static_cast<size_t>(code_of(m).tensor_slot[static_cast<size_t>(r)])]; }

}  // namespace

const Program& RunView::program() const { return *impl_.context.owner; }
const Function& RunView::code() const { return *code_of(impl_).source; }
int32_t RunView::function() const { return impl_.context.function; }
int32_t RunView::instruction() const { return impl_.instruction; }
std::span<const Value> RunView::inputs() const { return impl_.context.inputs; }
uint64_t RunView::clock() const { return impl_.track.clock(); }
const Instr& RunView::instr(int32_t index) const { return *code_of(impl_).instrs[static_cast<size_t>(index)]; }
int32_t RunView::instructions() const { return static_cast<int32_t>(code_of(impl_).instrs.size()); }
Dispatcher& RunView::dispatcher() const { return impl_.context.dispatcher; }
const RegionEntry* RunView::entry() const { return impl_.entry; }
bool RunView::should_stop() const { return impl_.context.stopped(); }

// --- registers ---------------------------------------------------------------------------------------------------------

RegisterLook RunView::look(Reg r) const { return impl_.track.look(r); }
const std::vector<Reg>& RunView::written() const { return impl_.track.written(); }
int64_t RunView::scalar(Reg r) const { return impl_.frame.scalars[static_cast<size_t>(r)]; }
const TensorMeta& RunView::tensor(Reg r) const { return slot_of(impl_, r).meta; }

const std::vector<TensorValue>* RunView::list(Reg r) const {
  return impl_.frame.lists[static_cast<size_t>(code_of(impl_).list_slot[static_cast<size_t>(r)])].items.get();
}

StorageOwner RunView::owner(Reg r, int32_t& index) const {
  index = -1;
  const Storage* s = slot_of(impl_, r).storage;
  if (!s) return StorageOwner::kNone;
  if (s == impl_.frame.arena.get()) return StorageOwner::kArena;
  const auto inputs = impl_.context.inputs;
  for (size_t k = 0; k < inputs.size(); ++k)
    if (const auto* t = std::get_if<TensorValue>(&inputs[k]); t && t->storage.get() == s) {
      index = static_cast<int32_t>(k);
      return StorageOwner::kInput;
    }
  const auto& constants = impl_.context.program.constant_storage;
  for (size_t k = 0; k < constants.size(); ++k)
    if (constants[k].get() == s) {
      index = static_cast<int32_t>(k);
      return StorageOwner::kConstant;
    }
  return s->pooled ? StorageOwner::kPool : StorageOwner::kForeign;
}

Reg RunView::reused_from(Reg r) const { return impl_.track.reused_from(r); }

Result<TensorValue> RunView::copy(const TensorMeta& part) const {
  TensorValue out{part, {}};
  out.meta.device = {};
  out.meta.layout = Layout::kRowMajor;
  out.meta.data = nullptr;
  if (!set_dense_strides(out.meta)) return overflow_error("the sizes of the part overflow");
  const int64_t bytes = out.meta.elements() * dtype_bytes(part.dtype);
  if (bytes == 0) return out;
  MSVM_ASSIGN_OR_RETURN(out.storage, impl_.context.allocator.allocate(Device{}, part.dtype, bytes, MemoryUse::kResult));
  out.meta.data = out.storage->data;
  Status copied = impl_.context.dispatcher.copy(part, out.meta);
  if (!copied.ok() && part.device.kind != DeviceKind::kCpu) impl_.failed = copied;
  MSVM_RETURN_IF_ERROR(std::move(copied));
  return out;
}

namespace {

/// Whether the verifier knows nothing of the value but its kind. What it knows of others, such as that a comparison held where its branch was taken, keeps
/// memory safe.
bool is_opaque(const Instr& i, RegKind kind) {
  switch (i.op) {
    case Opcode::kScalarInput:
    case Opcode::kTensorRead: return true;
    case Opcode::kScalarCalc: return kind != RegKind::kI64 || scalar_op(i) == ScalarOp::kToInt;
    case Opcode::kScalarConst: return kind == RegKind::kF64;
    case Opcode::kScalarPhi: return kind == RegKind::kF64;
    default: return false;
  }
}

}  // namespace

Status RunView::set_scalar(Reg r, int64_t bits) {
  const RegKind kind = code().regs[static_cast<size_t>(r)].type.kind;
  if (kind == RegKind::kTensor || kind == RegKind::kList) return invalid_argument(fmt::format("R{} is a {}: only i64, f64 and bool registers can be set", r, kind_name(kind)));
  const RegisterLook l = look(r);
  if (l.state != RegisterState::kLive || l.instruction < 0) return invalid_argument(fmt::format("R{} has no value yet: stop behind the instruction that sets it", r));
  const Instr& by = instr(l.instruction);
  if (!is_opaque(by, kind))
    return invalid_argument(fmt::format("R{} is set by {}, and the program was verified on what that gives: change an input, or what it is computed from", r, instr_info(by.op).mnemonic));
  if (kind != RegKind::kF64 && impl_.track.was_read(r))
    return invalid_argument(fmt::format("R{} was read since it was set, and sizes may rest on it: set it right behind instruction {} ({})", r, l.instruction, instr_info(by.op).mnemonic));
  impl_.frame.scalars[static_cast<size_t>(r)] = bits;
  return {};
}

std::optional<int64_t> RunView::symbol(SymbolId s) const {
  const vm::Function& f = code_of(impl_);
  const SymbolInfo& info = impl_.context.module.dims->symbol_info(s);
  if (info.is_register()) {
    if (info.function != function() || look(static_cast<Reg>(info.reg)).state != RegisterState::kLive) return std::nullopt;
    return scalar(static_cast<Reg>(info.reg));
  }
  if (s >= f.symbol_slot.size() || f.symbol_slot[s] == kNoSlot) return std::nullopt;
  const int32_t binder = f.symbol_binder[s];
  if (binder == vm::kNeverBound || (binder >= 0 && !impl_.track.has_run(binder))) return std::nullopt;
  return impl_.frame.scalars[static_cast<size_t>(f.symbol_slot[s])];
}

// --- calls -------------------------------------------------------------------------------------------------------------

Result<std::optional<RunView::Call>> RunView::call() const {
  const vm::Function& f = code_of(impl_);
  const auto at = std::lower_bound(f.calls_by_instr.begin(), f.calls_by_instr.end(), std::pair(impl_.instruction, -1));
  if (at == f.calls_by_instr.end() || at->first != impl_.instruction) return std::optional<Call>();
  const auto index = static_cast<size_t>(at->second);
  const vm::CallSite& site = f.calls[index];
  vm::Frame& frame = impl_.frame;
  Call c;
  c.instr = site.instr;
  c.new_outputs = site.new_outputs;
  c.const_inputs = site.const_inputs;
  for (Slot s : site.inputs) {
    if (s == kNoSlot) c.inputs.push_back(nullptr);
    else if (s >= 0) c.inputs.push_back(&frame.tensors[static_cast<size_t>(s)].meta);
    else if (const auto& items = frame.lists[static_cast<size_t>(-2 - s)].items)
      for (const TensorValue& t : *items) c.inputs.push_back(&t.meta);
  }
  for (Slot s : site.args) c.args.push_back(frame.scalars[static_cast<size_t>(s)]);
  for (Slot s : site.outputs) c.outputs.push_back(s == kNoSlot ? nullptr : &frame.tensors[static_cast<size_t>(s)].meta);
  auto& state = frame.call_states[index];
  if (!state) {  // as the call itself would
    MSVM_ASSIGN_OR_RETURN(state, impl_.context.dispatcher.prepare(impl_.context.module, code(), *site.instr));
  }
  c.state = state.get();
  return std::optional<Call>(std::move(c));
}

std::optional<CallReport> RunView::report(int32_t instruction) const {
  const vm::Function& f = code_of(impl_);
  const auto at = std::lower_bound(f.calls_by_instr.begin(), f.calls_by_instr.end(), std::pair(instruction, -1));
  if (at == f.calls_by_instr.end() || at->first != instruction) return std::nullopt;
  const auto& state = impl_.frame.call_states[static_cast<size_t>(at->second)];
  if (!state) return std::nullopt;
  return impl_.context.dispatcher.last_report(*state);
}

// --- regions -----------------------------------------------------------------------------------------------------------

std::vector<int32_t> RunView::regions() const {
  const vm::Function& f = code_of(impl_);
  if (f.regions.empty()) return {};
  std::vector<int32_t> out(f.instrs.size(), -1);
  for (size_t r = 0; r < f.regions.size(); ++r)
    for (int32_t k = std::max(0, f.regions[r].begin); k < f.regions[r].end; ++k)
      if (const int32_t at = f.code[static_cast<size_t>(k)].instr; at >= 0) out[static_cast<size_t>(at)] = static_cast<int32_t>(r);
  return out;
}

bool RunView::has_code(int32_t region) const {
  const vm::RunContext& x = impl_.context;
  if (!x.regions || !x.hazard) return false;
  const bool has = !x.regions->enter(static_cast<size_t>(region), *x.hazard)->entries.empty();
  x.hazard->snapshot.store(nullptr, std::memory_order_release);
  return has;
}

}  // namespace msvm
