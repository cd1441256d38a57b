// Instructions as text. Each form is readable where the operands are as the table describes them; whatever else a file may
// hold is written field by field (`raw`), so that nothing is lost.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "msvm/bytecode/instr_types.h"
#include "msvm/bytecode/text_print.h"
#include "msvm/bytecode/text_values.h"
#include "msvm/shape/quote.h"

namespace msvm {
namespace {

template <class... Args>
void put(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

std::string int_list(const std::vector<int64_t>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); }

bool in(const Range& r, size_t n) { return n >= static_cast<size_t>(r.min) && n <= static_cast<size_t>(r.max); }

bool fits_table(const Instr& i, const InstrInfo& info) {
  return in(info.defs, i.defs.size()) && in(info.uses, i.uses.size()) && in(info.dims, i.dims.size()) &&
         in(info.imms, i.imms.size()) && in(info.outs, i.outs.size()) && in(info.targets, i.targets.size());
}

// Names that text can tell from no names.
bool printable_names(const Instr& i) {
  if (i.axis_names.empty()) return true;
  if (i.axis_names.size() != i.dims.size()) return false;
  return std::any_of(i.axis_names.begin(), i.axis_names.end(), [](const std::string& n) { return !n.empty(); });
}

}  // namespace

void Disassembler::print_def(Reg r, bool with_type) {
  put(out_, "R{}", r);
  if (r < 0 || static_cast<size_t>(r) >= f_->regs.size()) return;
  const Register& reg = f_->regs[static_cast<size_t>(r)];
  if (!defined_[static_cast<size_t>(r)] && !reg.name.empty()) put(out_, " {}", quoted(reg.name));
  if (with_type) put(out_, ": {}", type(reg.type));
  defined_[static_cast<size_t>(r)] = true;
}

bool Disassembler::has_regs(const Instr& i) const {
  return std::all_of(i.defs.begin(), i.defs.end(), [&](Reg r) { return r >= 0 && static_cast<size_t>(r) < f_->regs.size(); });
}

// Whether the reader of the text can tell the type of the (only) result.
bool Disassembler::states_type(const Instr& i) const {
  const RegType& actual = type_of(i.defs[0]);
  if (i.op == Opcode::kTensorAlloc || (i.op == Opcode::kTensorCreate && create_kind(i) == CreateKind::kDestination)) {
    TensorType t{.dtype = actual.tensor.dtype, .shape = i.dims, .layout = actual.tensor.layout, .device = actual.tensor.device};
    return actual == RegType{RegKind::kTensor, t};
  }
  if (i.op == Opcode::kScalarConst)
    return actual.kind == RegKind::kI64 || actual.kind == RegKind::kF64 || actual.kind == RegKind::kBool;
  auto known = [&](Reg r) -> const RegType* {
    return r >= 0 && static_cast<size_t>(r) < defined_.size() && defined_[static_cast<size_t>(r)] ? &type_of(r) : nullptr;
  };
  auto visible = visible_type(module_, *f_, i, known);
  return visible && *visible == actual;
}

void Disassembler::print_instr(const Instr& i) {
  const InstrInfo* info = instr_info_from_byte(static_cast<uint8_t>(i.op));
  size_t start = out_.size();
  if (info && fits_table(i, *info) && i.sub < sub_count(info->subs) && has_regs(i) && printable_names(i)) {
    std::vector<bool> before;
    for (Reg r : i.defs) before.push_back(defined_[static_cast<size_t>(r)]);
    if (!i.defs.empty() && i.op != Opcode::kOpCall) {
      bool known = states_type(i);
      print_def(i.defs[0], !known);
      out_ += " = ";
    }
    out_ += info->mnemonic;
    if (print_operands(i)) return;
    out_.resize(start);
    for (size_t k = 0; k < i.defs.size(); ++k) defined_[static_cast<size_t>(i.defs[k])] = before[k];
  }
  print_raw(i);
}

bool Disassembler::print_operands(const Instr& i) {
  switch (i.op) {
    case Opcode::kTensorCreate:
      return print_create(i);
    case Opcode::kTensorConst:
      if (i.imms[0] < 0 || static_cast<size_t>(i.imms[0]) >= module_.constants.size()) return false;
      put(out_, " {}", constant_name(static_cast<size_t>(i.imms[0])));
      return true;
    case Opcode::kTensorAlloc:
      return print_alloc(i);
    case Opcode::kTensorResize:
      put(out_, " R{}, {}, {}", i.uses[0], i.imms[0], dim(i.dims[0]));
      return true;
    case Opcode::kTensorView:
      return print_view(i);
    case Opcode::kTensorCopy:
      put(out_, " R{} -> R{}", i.uses[0], i.outs[0]);
      return true;
    case Opcode::kTensorRead:
      put(out_, " R{}, [{}]", i.uses[0], dim_list(i.dims));
      return true;
    case Opcode::kTensorPhi:
    case Opcode::kScalarPhi:
      return print_phi(i);
    case Opcode::kScalarInput:
      put(out_, " {}", i.imms[0]);
      return true;
    case Opcode::kShapePropagate:
      put(out_, " R{}, {}", i.uses[0], i.imms[0]);
      return true;
    case Opcode::kShapeCalc:
      return print_shape_calc(i);
    case Opcode::kScalarConst:
      return print_scalar_const(i);
    case Opcode::kScalarCalc:
      return print_scalar_calc(i);
    case Opcode::kShapeAssert:
      put(out_, " R{}, {}", i.uses[0], quoted(i.text));
      return true;
    case Opcode::kOpCall:
      return print_call(i);
    case Opcode::kListMake:
      put(out_, " [{}]", reg_list(i.uses));
      return true;
    case Opcode::kListGet:
      put(out_, " R{}, {}", i.uses[0], dim(i.dims[0]));
      return true;
    case Opcode::kTensorFree:
    case Opcode::kListAppend:
    case Opcode::kListLength:
      put(out_, " {}", reg_list(i.uses));
      return true;
    case Opcode::kJump:
      put(out_, " b{}", i.targets[0]);
      return true;
    case Opcode::kBranchIf:
      put(out_, " R{}, b{}, b{}", i.uses[0], i.targets[0], i.targets[1]);
      return true;
    case Opcode::kSwitch:
      return print_switch(i);
    case Opcode::kReturn:
      return print_return(i);
    case Opcode::kTrap:
      put(out_, " {}", quoted(i.text));
      return true;
  }
  return false;
}

bool Disassembler::print_spec(const Instr& i) {
  out_ += "[";
  for (size_t k = 0; k < i.dims.size(); ++k) {
    if (k) out_ += ", ";
    if (i.axis_names.empty() || i.axis_names[k].empty())
      out_ += dim(i.dims[k]);
    else
      put(out_, "({}, {})", name_text(i.axis_names[k]), dim(i.dims[k]));
  }
  out_ += "]";
  return true;
}

bool Disassembler::print_create(const Instr& i) {
  switch (create_kind(i)) {
    case CreateKind::kInput:
      if (!i.uses.empty() || i.imms.size() != 1) return false;
      put(out_, " input {}, ", i.imms[0]);
      return print_spec(i);
    case CreateKind::kNarrow:
      if (i.uses.size() != 1 || !i.imms.empty()) return false;
      put(out_, " R{}, ", i.uses[0]);
      return print_spec(i);
    case CreateKind::kDestination:
      return i.uses.empty() && i.imms.empty() && print_alloc(i);
  }
  return false;
}

bool Disassembler::print_alloc(const Instr& i) {
  const RegType& t = type_of(i.defs[0]);
  if (t.kind != RegKind::kTensor) return false;
  out_ += " ";
  print_spec(i);
  put(out_, ", {}{}, {}", dtype_name(t.tensor.dtype), t.tensor.layout == Layout::kNhwc ? "@nhwc" : "", to_string(t.tensor.device));
  if (!i.uses.empty()) put(out_, ", reuse R{}", i.uses[0]);
  return true;
}

// "axis 1 from 0 to h step 2": slices (axis and step) and windows (axis).
bool Disassembler::print_ranges(const Instr& i, size_t imms_per_axis) {
  if (i.imms.empty() || i.imms.size() % imms_per_axis != 0 || i.dims.size() != 2 * (i.imms.size() / imms_per_axis)) return false;
  for (size_t k = 0; 2 * k < i.dims.size(); ++k) {
    put(out_, ", axis {} from {} to {}", i.imms[k * imms_per_axis], dim(i.dims[2 * k]), dim(i.dims[2 * k + 1]));
    if (imms_per_axis == 2 && i.imms[2 * k + 1] != 1) put(out_, " step {}", i.imms[2 * k + 1]);
  }
  return true;
}

bool Disassembler::print_view(const Instr& i) {
  put(out_, " {} R{}", view_kind_name(view_kind(i)), i.uses[0]);
  switch (view_kind(i)) {
    case ViewKind::kSlice:
      return print_ranges(i, 2);
    case ViewKind::kWindow:
      return i.imms.size() == 1 && print_ranges(i, 1);
    case ViewKind::kReshape:
    case ViewKind::kBroadcast:
      put(out_, ", [{}]", dim_list(i.dims));
      return i.imms.empty();
    case ViewKind::kTranspose:
    case ViewKind::kSqueeze:
    case ViewKind::kUnsqueeze:
      out_ += ", " + int_list(i.imms);
      return i.dims.empty();
    case ViewKind::kIdentity:
      return i.dims.empty() && i.imms.empty();
  }
  return false;
}

bool Disassembler::print_phi(const Instr& i) {
  bool sizes = type_of(i.defs[0]).kind == RegKind::kI64;
  if (i.op == Opcode::kTensorPhi && sizes) return false;
  if ((sizes ? i.dims.size() : i.uses.size()) != i.targets.size() || !(sizes ? i.uses.empty() : i.dims.empty())) return false;
  out_ += " [";
  for (size_t k = 0; k < i.targets.size(); ++k)
    put(out_, "{}b{}: {}", k ? ", " : "", i.targets[k], sizes ? dim(i.dims[k]) : "R" + std::to_string(i.uses[k]));
  out_ += "]";
  return true;
}

bool Disassembler::print_shape_calc(const Instr& i) {
  CalcOp op = calc_op(i);
  if (i.uses.size() != static_cast<size_t>(calc_op_uses(op)) || i.dims.size() != static_cast<size_t>(calc_op_dims(op)))
    return false;
  put(out_, " {} {}{}{}", calc_op_name(op), reg_list(i.uses), !i.uses.empty() && !i.dims.empty() ? ", " : "", dim_list(i.dims));
  return true;
}

bool Disassembler::print_scalar_const(const Instr& i) {
  switch (type_of(i.defs[0]).kind) {
    case RegKind::kF64:
      put(out_, " {}", float_text(std::bit_cast<double>(i.imms[0])));
      break;
    case RegKind::kBool:
      if (i.imms[0] != 0 && i.imms[0] != 1) return false;
      put(out_, " {}", i.imms[0] == 1);
      break;
    case RegKind::kI64:
      put(out_, " {}", i.imms[0]);
      break;
    case RegKind::kTensor:
    case RegKind::kList:
      return false;
  }
  if (!i.text.empty()) put(out_, " captured {}", quoted(i.text));
  return true;
}

bool Disassembler::print_scalar_calc(const Instr& i) {
  ScalarOp op = scalar_op(i);
  if (i.uses.size() != static_cast<size_t>(scalar_op_uses(op)) || i.dims.size() != static_cast<size_t>(scalar_op_dims(op)))
    return false;
  if (i.imms[0] != 0 && i.imms[0] != 1) return false;
  put(out_, " {} {}{}{}", scalar_op_name(op), reg_list(i.uses), dim_list(i.dims), i.imms[0] ? " round_f32" : "");
  return true;
}

bool Disassembler::print_call(const Instr& i) {
  if (i.text.empty()) return false;
  std::string outs;
  size_t next = 0;
  std::string before = std::move(out_);
  out_.clear();
  for (size_t k = 0; k < i.outs.size(); ++k) {
    if (k) out_ += ", ";
    if (next < i.defs.size() && i.outs[k] == i.defs[next]) {
      out_ += "new ";
      print_def(i.defs[next++], true);
    } else {
      out_ += i.outs[k] == kNoReg ? "_" : "R" + std::to_string(i.outs[k]);
    }
  }
  outs.swap(out_);
  out_ = std::move(before);
  if (next != i.defs.size()) return false;
  put(out_, " {}({}", name_text(i.text), reg_list(i.uses));
  if (!i.dims.empty()) put(out_, "; {}", dim_list(i.dims));
  out_ += ")";
  if (!i.outs.empty()) out_ += " -> " + outs;
  if (i.attrs.size() > 0) {
    out_ += " {";
    bool first = true;
    for (const Attr& a : i.attrs) {
      put(out_, "{}{}: {}", first ? "" : ", ", name_text(a.name), to_string(a.value));
      first = false;
    }
    out_ += "}";
  }
  return true;
}

bool Disassembler::print_switch(const Instr& i) {
  if (i.imms.size() + 1 != i.targets.size()) return false;
  put(out_, " {}, [", dim(i.dims[0]));
  for (size_t k = 0; k < i.imms.size(); ++k) put(out_, "{}{}: b{}", k ? ", " : "", i.imms[k], i.targets[k]);
  put(out_, "], b{}", i.targets.back());
  return true;
}

bool Disassembler::print_return(const Instr& i) {
  if (i.dims.empty()) {
    out_ += (i.uses.empty() ? "" : " ") + reg_list(i.uses);
  } else {
    put(out_, " ({}; {})", reg_list(i.uses), dim_list(i.dims));
  }
  return true;
}

void Disassembler::print_raw(const Instr& i) {
  for (size_t k = 0; k < i.defs.size(); ++k) {
    if (k) out_ += ", ";
    print_def(i.defs[k], true);
  }
  if (!i.defs.empty()) out_ += " = ";
  const InstrInfo* info = instr_info_from_byte(static_cast<uint8_t>(i.op));
  put(out_, "raw {}", info ? std::string(info->mnemonic) : fmt::format("<opcode {}>", static_cast<int>(i.op)));
  if (i.sub) put(out_, " sub {}", i.sub);
  if (!i.uses.empty()) put(out_, " uses [{}]", reg_list(i.uses));
  if (!i.dims.empty()) put(out_, " dims [{}]", dim_list(i.dims));
  if (!i.imms.empty()) put(out_, " imms {}", int_list(i.imms));
  if (!i.outs.empty()) put(out_, " outs [{}]", reg_list(i.outs));
  if (!i.targets.empty()) {
    out_ += " targets [";
    for (size_t k = 0; k < i.targets.size(); ++k) put(out_, "{}b{}", k ? ", " : "", i.targets[k]);
    out_ += "]";
  }
  if (!i.text.empty()) put(out_, " text {}", quoted(i.text));
  if (!i.axis_names.empty()) {
    out_ += " names [";
    for (size_t k = 0; k < i.axis_names.size(); ++k) out_ += (k ? ", " : "") + quoted(i.axis_names[k]);
    out_ += "]";
  }
  for (const Attr& a : i.attrs)
    put(out_, "{}{}: {}", &a == &*i.attrs.begin() ? " attrs {" : ", ", name_text(a.name), to_string(a.value));
  if (i.attrs.size() > 0) out_ += "}";
}

}  // namespace msvm
