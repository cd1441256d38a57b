// Symbols, constants, buffers, and the call at which a run waits.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "msvm/ops/schema.h"
#include "observe/debug/registers.h"

namespace msvm::observe::debug {
namespace {

std::string declared_text(const SymbolInfo& s) {
  std::string text = s.max == INT64_MAX ? fmt::format("at least {}", s.min) : fmt::format("in [{}, {}]", s.min, s.max);
  if (s.divisor > 1) text += fmt::format(", a multiple of {}{}", s.divisor, s.remainder ? fmt::format(" plus {}", s.remainder) : std::string());
  return text;
}

/// Whether this function has anything to do with a named symbol: a type of its registers mentions it.
std::vector<uint8_t> mentioned(const RunView& view) {
  const DimContext& dims = *view.program().module().dims;
  std::vector<uint8_t> seen(dims.num_symbols());
  auto look = [&](const std::vector<Dim>& shape) {
    for (Dim d : shape)
      if (d.valid() && !d.is_const()) DimContext::for_each_symbol(d, [&](SymbolId s) { seen[s] = 1; });
  };
  for (const Register& r : view.code().regs) look(r.type.tensor.shape);
  for (const Param& p : view.code().inputs) look(p.type.tensor.shape);
  for (int32_t k = 0; k < view.instructions(); ++k) look(view.instr(k).dims);
  return seen;
}

std::string source_of(const RunView& view, SymbolId s) {
  const Function& f = view.code();
  for (size_t k = 0; k < f.inputs.size(); ++k)
    for (size_t a = 0; a < f.inputs[k].type.tensor.shape.size(); ++a)
      if (const Dim d = f.inputs[k].type.tensor.shape[a]; d.valid() && d.is_symbol() && d.symbol() == s)
        return fmt::format("input {}{}, axis {}", k, f.inputs[k].name.empty() ? "" : " (" + f.inputs[k].name + ")", a);
  return {};
}

std::string attributes_text(const Attributes& attrs) {
  std::string text;
  for (const auto& [name, value] : attrs) text += (text.empty() ? "" : ", ") + name + ": " + to_string(value);
  return text.empty() ? text : "{" + text + "}";
}

std::string operand_name(const OpSchema* op, bool input, size_t k) {
  if (op) {
    if (input && !op->inputs.empty()) {
      const size_t last = op->inputs.size() - 1;
      if (k <= last && !(op->variadic && k == last)) return std::string(op->inputs[k].name);
      if (op->variadic) return fmt::format("{}[{}]", op->inputs[last].name, k - last);
    }
    if (!input && k < op->outputs.size()) return std::string(op->outputs[k].name);
  }
  return fmt::format("{} {}", input ? "input" : "output", k);
}

}  // namespace

std::vector<SymbolView> symbols_of(const RunView& view) {
  const DimContext& dims = *view.program().module().dims;
  const auto seen = mentioned(view);
  std::vector<SymbolView> out;
  for (SymbolId s = 0; s < seen.size(); ++s) {
    const SymbolInfo& info = dims.symbol_info(s);
    if (!seen[s] || info.is_register()) continue;
    SymbolView& v = out.emplace_back();
    v.name = info.name;
    v.declared = declared_text(info);
    v.from = source_of(view, s);
    if (const auto value = view.symbol(s)) {
      v.bound = true;
      v.value = *value;
    }
  }
  return out;
}

std::vector<ConstantView> constants_of(const RunView& view) {
  const Module& m = view.program().module();
  std::vector<uint8_t> used(m.constants.size());
  for (int32_t k = 0; k < view.instructions(); ++k)
    if (const Instr& i = view.instr(k); i.op == Opcode::kTensorConst) used[static_cast<size_t>(i.imms[0])] = 1;
  std::vector<ConstantView> out;
  for (size_t k = 0; k < used.size(); ++k) {
    if (!used[k]) continue;
    const Constant& c = m.constants[k];
    out.push_back({c.name, to_string(c.type, *m.dims), static_cast<int64_t>(c.bytes)});
  }
  return out;
}

std::vector<BufferView> buffers_of(const RunView& view) {
  std::map<uint64_t, BufferView> found;
  for (size_t k = 0; k < view.code().regs.size(); ++k) {
    const auto r = static_cast<Reg>(k);
    if (view.code().regs[k].type.kind != RegKind::kTensor) continue;
    const RegisterLook look = view.look(r);
    if (look.state == RegisterState::kUnset || look.state == RegisterState::kFreed || look.state == RegisterState::kTaken || look.state == RegisterState::kFused) continue;
    const TensorMeta& m = view.tensor(r);
    if (!m.data) continue;
    BufferView& b = found[reinterpret_cast<uintptr_t>(m.data)];
    b.address = reinterpret_cast<uintptr_t>(m.data);
    const int64_t bytes = m.elements() * dtype_bytes(m.dtype);
    if (b.registers.empty() || (look.root == r && view.look(b.registers[0]).root != b.registers[0])) {
      b.owner = owner_text(view, r);
      if (const Reg from = view.reused_from(r); from != kNoReg) b.reused_from = fmt::format("R{}", from);
    }
    b.bytes = std::max(b.bytes, bytes);
    b.registers.push_back(r);
  }
  std::vector<BufferView> out;
  for (auto& [address, b] : found) out.push_back(std::move(b));
  return out;
}

Result<std::optional<CallView>> call_of(const RegisterReader& reader, const Executable& program) {
  const RunView& view = reader.view;
  MSVM_ASSIGN_OR_RETURN(auto call, view.call());
  if (!call) return std::optional<CallView>();
  const Instr& i = *call->instr;
  const OpSchema* op = nullptr;
  if (const auto& own = view.program().verified().operators(); !own.empty())
    if (auto it = own.find(i.text); it != own.end()) op = it->second.op;
  if (!op) op = find_op(i.text);
  CallView v;
  v.op = i.text;
  v.attributes = attributes_text(i.attrs);
  auto operand = [&](std::string name, Reg r) {
    OperandView o{std::move(name), {}};
    if (r == kNoReg) o.value.state = "absent";
    else o.value = reader.read(r);
    return o;
  };
  for (size_t k = 0; k < i.uses.size(); ++k) v.inputs.push_back(operand(operand_name(op, true, k), i.uses[k]));
  for (size_t k = 0; k < i.outs.size(); ++k) v.outputs.push_back(operand(operand_name(op, false, k), i.outs[k]));
  const DimContext& dims = *view.program().module().dims;
  for (size_t k = 0; k < i.dims.size() && k < call->args.size(); ++k)
    v.arguments.push_back(i.dims[k].is_const() ? fmt::format("{}", call->args[k]) : fmt::format("{} = {}", dims.to_string(i.dims[k]), call->args[k]));
  if (i.debug < view.code().debug.size()) v.origins = view.code().debug[i.debug].origins;
  auto candidates = program.candidates(view);
  if (candidates.ok()) v.candidates = std::move(*candidates);
  else v.note = candidates.status().message();
  if (v.candidates.empty() && v.note.empty()) v.note = "the sizes don't fit the operator: the call will say how";
  return std::optional<CallView>(std::move(v));
}

}  // namespace msvm::observe::debug
