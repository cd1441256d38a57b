#include "observe/debug/registers.h"

#include <fmt/core.h>

#include <bit>

#include "observe/debug/elements.h"

namespace msvm::observe::debug {
namespace {

std::string kind_text(RegKind kind) { return kind == RegKind::kTensor ? "TensorMeta" : std::string(kind_name(kind)); }

/// Names that the instruction which set the register gave its axes.
const std::vector<std::string>* axis_names(const RunView& view, Reg r) {
  const RegisterLook look = view.look(r);
  if (look.instruction < 0) return nullptr;
  // A destination has its names where it was made, not where it is written.
  const Instr& by = view.instr(look.instruction);
  if (std::find(by.defs.begin(), by.defs.end(), r) != by.defs.end()) return &by.axis_names;
  for (int32_t k = look.instruction; k-- > 0;) {
    const Instr& i = view.instr(k);
    if (std::find(i.defs.begin(), i.defs.end(), r) != i.defs.end()) return &i.axis_names;
  }
  return nullptr;
}

std::vector<DimView> shape_of(const RunView& view, Reg r) {
  const TensorMeta& m = view.tensor(r);
  const TensorType& t = view.code().regs[static_cast<size_t>(r)].type.tensor;
  const DimContext& dims = *view.program().module().dims;
  const auto* names = axis_names(view, r);
  std::vector<DimView> out;
  for (size_t a = 0; a < m.rank; ++a) {
    DimView& d = out.emplace_back();
    d.value = m.shape[a];
    if (!t.unknown_rank && a < t.shape.size() && t.shape[a].valid() && !t.shape[a].is_const()) d.symbol = dims.to_string(t.shape[a]);
    if (names && a < names->size()) d.axis = (*names)[a];
  }
  return out;
}

bool is_fixed(const RunView& view, Reg r, size_t axis) {
  const TensorType& t = view.code().regs[static_cast<size_t>(r)].type.tensor;
  return !t.unknown_rank && axis < t.shape.size() && t.shape[axis].valid() && t.shape[axis].is_const();
}

int64_t span_bytes(const TensorMeta& m) { return m.elements() * dtype_bytes(m.dtype); }

}  // namespace

std::string_view layout_text(Layout layout) { return layout == Layout::kRowMajor ? "row-major" : "nhwc"; }

std::string state_text(const RunView& view, const RegisterLook& look, std::span<const uint32_t> offsets) {
  (void)view;
  switch (look.state) {
    case RegisterState::kUnset: return "unset";
    case RegisterState::kLive: return "live";
    case RegisterState::kUnwritten: return "unwritten";
    case RegisterState::kPartly: return "partly written";
    case RegisterState::kFreed: return "freed";
    case RegisterState::kTaken: return fmt::format("taken by R{}", look.by);
    case RegisterState::kFused:
      return look.instruction >= 0 && static_cast<size_t>(look.instruction) < offsets.size() ? fmt::format("fused into 0x{:x}", offsets[static_cast<size_t>(look.instruction)])
                                                                                             : fmt::format("fused into instruction {}", look.instruction);
  }
  return "?";
}

std::string shape_text(const RunView& view, Reg r) {
  const auto dims = shape_of(view, r);
  std::string text = "[";
  for (size_t a = 0; a < dims.size(); ++a) {
    text += a ? ", " : "";
    if (!is_fixed(view, r, a)) {
      const DimView& d = dims[a];
      // A size that only a register knows has no name that says more.
      const bool unnamed = d.symbol.empty() || (d.symbol[0] == 'R' && d.symbol.size() > 1 && '0' <= d.symbol[1] && d.symbol[1] <= '9');
      text += (!d.axis.empty() ? d.axis : unnamed ? std::string("dynamic") : d.symbol) + "=";
    }
    text += fmt::format("{}", dims[a].value);
  }
  return text + "]";
}

std::string owner_text(const RunView& view, Reg r) {
  const RegisterLook look = view.look(r);
  if (look.root != kNoReg && look.root != r) return fmt::format("view of R{}", look.root);
  int32_t index = -1;
  switch (view.owner(r, index)) {
    case StorageOwner::kArena: return "arena";
    case StorageOwner::kInput: return fmt::format("input {}", index);
    case StorageOwner::kConstant: return "constant " + view.program().module().constants[static_cast<size_t>(index)].name;
    case StorageOwner::kForeign: return "foreign";
    case StorageOwner::kPool:
      for (const Block& b : view.code().blocks) {
        const Instr& last = b.instrs.back();
        if (last.op == Opcode::kReturn && std::find(last.uses.begin(), last.uses.end(), r) != last.uses.end()) return "result";
      }
      return "pool";
    case StorageOwner::kNone: break;
  }
  return {};
}

RegisterView RegisterReader::read(Reg r) const {
  const Register& reg = view.code().regs[static_cast<size_t>(r)];
  const RegisterLook look = view.look(r);
  RegisterView v;
  v.reg = r;
  v.name = reg.name;
  v.kind = kind_text(reg.type.kind);
  v.declared = to_string(reg.type, *view.program().module().dims);
  v.state = state_text(view, look, offsets);
  v.readable = look.readable();
  v.changed = look.changed > since;
  if (look.state == RegisterState::kUnset) return v;
  switch (reg.type.kind) {
    case RegKind::kI64: v.value = fmt::format("{}", view.scalar(r)); break;
    case RegKind::kF64: v.value = real_text(std::bit_cast<double>(view.scalar(r))); break;
    case RegKind::kBool: v.value = view.scalar(r) ? "true" : "false"; break;
    case RegKind::kList: {
      const auto* items = look.readable() ? view.list(r) : nullptr;
      v.value = fmt::format("{}", items ? items->size() : 0);
      break;
    }
    case RegKind::kTensor: {
      const TensorMeta& m = view.tensor(r);
      v.text = shape_text(view, r);
      v.shape = shape_of(view, r);
      v.dtype = dtype_name(m.dtype);
      v.device = to_string(m.device);
      v.layout = layout_text(m.layout);
      v.strides.assign(m.strides.begin(), m.strides.begin() + m.rank);
      v.bytes = span_bytes(m);
      v.is_jit_compiled = look.native;
      if (look.state == RegisterState::kFreed || look.state == RegisterState::kFused) break;  // it has no memory any more, or never had
      v.address = reinterpret_cast<uintptr_t>(m.data);
      v.owner = owner_text(view, r);
      if (const Reg from = view.reused_from(r); from != kNoReg) v.reused_from = fmt::format("R{}", from);
      break;
    }
  }
  if (reg.type.kind == RegKind::kList) v.text = fmt::format("list of {}", v.value);
  else if (reg.type.kind != RegKind::kTensor) v.text = v.value;
  return v;
}

}  // namespace msvm::observe::debug
