// Instructions: one reader for the operands of each, the counterpart of text_print_instr.cpp.
#include <algorithm>
#include <bit>

#include "msvm/bytecode/file.h"
#include "msvm/bytecode/instr_types.h"
#include "msvm/bytecode/text_items.h"
#include "msvm/bytecode/text_parse.h"

namespace msvm {

Assembler::Def Assembler::def() {
  Def d;
  at_.blanks();
  d.position = at_.position();
  d.reg = reg();
  if (failed_) return d;
  if (at_.peek("\"")) {
    std::string name = expect_name("the register's name");
    auto& reg = f().regs[static_cast<size_t>(d.reg)];
    if (!failed_ && reg.name.empty()) reg.name = std::move(name);
  }
  if (!failed_ && at_.take(":")) d.type = type();
  return d;
}

void Assembler::instruction_line() {
  if (!in_function()) return fail(DiagCode::kSyntax, "an instruction outside a function", "func @name(...)");
  if (++instructions_ > FileLimits::kInstructions) return fail(DiagCode::kLimitExceeded, "too many instructions");
  std::vector<Def> defs;
  read_instruction(defs);
  // One mistake, one error: what was to be defined here isn't missed further down.
  for (const Def& d : defs)
    if (failed_ && static_cast<size_t>(d.reg) < doubtful_.size()) doubtful_[static_cast<size_t>(d.reg)] = true;
}

void Assembler::read_instruction(std::vector<Def>& defs) {
  if (numbered(at_.peek_word(), 'R')) {
    do defs.push_back(def());
    while (!failed_ && defs.size() < FileLimits::kOperands && at_.take(","));
    expect("=");
  }
  if (failed_) return;
  Instr i;
  bool is_raw = at_.take_word("raw");
  at_.blanks();
  size_t start = at_.position();
  const InstrInfo* info = instr_info_from_mnemonic(at_.take_word());
  if (!info)
    return fail_at(start, DiagCode::kSyntax, "unknown instruction", "an instruction such as TENSOR_ALLOC",
                   "docs/instructions.md lists them");
  i.op = info->op;
  syntax_ = instr_syntax(i.op);
  for (const Def& d : defs) i.defs.push_back(d.reg);
  if (!is_raw && i.op != Opcode::kOpCall && defs.size() != static_cast<size_t>(info->defs.min))
    return fail_at(statement_start_, DiagCode::kBadOperands,
                   std::string(info->mnemonic) + (info->defs.min ? " gives one result" : " gives no result"));
  if (!is_raw && i.op == Opcode::kOpCall && !defs.empty())
    return fail_at(statement_start_, DiagCode::kBadOperands, "the results of a call stand behind ->",
                   "OP_CALL Op(R0) -> new R1: type");
  if (is_raw)
    raw(i);
  else
    operands(i, defs);
  if (failed_) return;
  settle_types(i, defs);
  if (failed_) return;
  Instr& placed = append(std::move(i), statement_start_);
  if (at_.at_line_end() && at_.peek(";")) debug_comment(&placed);
}

// Stated types, else computed ones.
void Assembler::settle_types(Instr& i, std::vector<Def>& defs) {
  for (Def& d : defs) {
    if (!d.type && !known_type(d.reg)) {
      d.type = computed_type(module_, f(), i, [&](Reg r) { return known_type(r); });
      if (!d.type &&
          std::any_of(i.uses.begin(), i.uses.end(), [&](Reg r) { return r >= 0 && doubtful_[static_cast<size_t>(r)]; })) {
        doubtful_[static_cast<size_t>(d.reg)] = true;
        continue;
      }
      if (!d.type)
        return fail_at(d.position, DiagCode::kTypeMismatch,
                       "the type of R" + std::to_string(d.reg) + " can't be told from the instruction",
                       "R" + std::to_string(d.reg) + ": type = ...",
                       "state the type, as in  R" + std::to_string(d.reg) +
                           ": f32[N, 64] = " + std::string(instr_info(i.op).mnemonic) + " ...");
    }
    if (d.type) define(d.reg, *d.type);
  }
}

void Assembler::operands(Instr& i, std::vector<Def>& defs) {
  auto one_use = [&] { i.uses.push_back(reg()); };
  auto one_dim = [&] { i.dims.push_back(dim()); };
  auto one_int = [&](const char* what) { i.imms.push_back(expect_int(what)); };
  auto comma = [&] { expect(","); };
  switch (i.op) {
    case Opcode::kTensorCreate:
      return create(i, defs[0]);
    case Opcode::kTensorConst:
      i.imms.push_back(constant_reference());
      return;
    case Opcode::kTensorAlloc:
      spec(i);
      return alloc_tail(i, defs[0]);
    case Opcode::kTensorResize:
      one_use(), comma(), one_int("the axis"), comma(), one_dim();
      return;
    case Opcode::kTensorView:
      return view(i);
    case Opcode::kTensorCopy:
      one_use();
      expect("->");
      i.outs.push_back(reg());
      return;
    case Opcode::kTensorRead:
      one_use(), comma();
      i.dims = dims();
      return;
    case Opcode::kTensorPhi:
    case Opcode::kScalarPhi:
      return phi(i, defs[0]);
    case Opcode::kScalarInput:
      at_.take_word("input");
      one_int("the input's number");
      return;
    case Opcode::kShapePropagate:
      one_use(), comma(), one_int("the axis");
      return;
    case Opcode::kShapeCalc:
      return shape_calc(i);
    case Opcode::kScalarConst:
      return scalar_const(i, defs[0]);
    case Opcode::kScalarCalc:
      return scalar_calc(i);
    case Opcode::kShapeAssert:
      one_use(), comma();
      i.text = expect_string("the message");
      return;
    case Opcode::kOpCall:
      return call(i, defs);
    case Opcode::kListMake:
      expect("[");
      items("]", one_use);
      return;
    case Opcode::kListAppend:
      one_use(), comma(), one_use();
      return;
    case Opcode::kListGet:
      one_use(), comma(), one_dim();
      return;
    case Opcode::kTensorFree:
    case Opcode::kListLength:
      one_use();
      return;
    case Opcode::kJump:
      i.targets.push_back(block());
      return;
    case Opcode::kBranchIf:
      one_use(), comma();
      i.targets.push_back(block());
      comma();
      i.targets.push_back(block());
      return;
    case Opcode::kSwitch:
      return switch_operands(i);
    case Opcode::kReturn:
      return return_operands(i);
    case Opcode::kTrap:
      i.text = expect_string("the message");
      return;
  }
}

// "(axis," as opposed to a size in parentheses.
bool Assembler::spec_follows() {
  size_t start = at_.position();
  bool named = at_.take("(") && at_.take_name() && at_.take(",");
  at_.set_position(start);
  return named;
}

void Assembler::spec(Instr& i) {
  expect("[");
  bool any = false;
  items("]", [&] {
    if (!spec_follows()) {
      i.axis_names.emplace_back();
      i.dims.push_back(dim());
      return;
    }
    any = true;
    expect("(");
    i.axis_names.push_back(expect_name("the axis' name"));
    expect(",");
    i.dims.push_back(dim());
    expect(")");
  });
  if (!any) i.axis_names.clear();
}

void Assembler::create(Instr& i, Def& d) {
  if (at_.take_word("input")) {
    i.sub = static_cast<uint8_t>(CreateKind::kInput);
    i.imms.push_back(expect_int("the input's number"));
    if (!failed_ && at_.take(",")) return spec(i);
    auto k = static_cast<size_t>(i.imms[0]);  // without a spec: as the function declares it
    if (!failed_ && k < f().inputs.size()) i.dims = f().inputs[k].type.tensor.shape;
  } else if (at_.peek("[")) {
    i.sub = static_cast<uint8_t>(CreateKind::kDestination);
    spec(i);
    alloc_tail(i, d);
  } else {
    i.sub = static_cast<uint8_t>(CreateKind::kNarrow);
    i.uses.push_back(reg());
    expect(",");
    spec(i);
  }
}

void Assembler::alloc_tail(Instr& i, Def& d) {
  TensorType t;
  t.shape = i.dims;
  expect(",");
  t.dtype = dtype();
  t.layout = layout();
  while (!failed_ && at_.take(",")) {
    if (i.op == Opcode::kTensorAlloc && at_.take_word("reuse")) {
      i.uses.push_back(reg());
      break;
    }
    t.device = device();
  }
  if (!failed_ && t.rank() > kMaxRank)
    fail(DiagCode::kRank, "a tensor has " + std::to_string(t.rank()) + " axes", "at most " + std::to_string(kMaxRank));
  if (!d.type) d.type = RegType{RegKind::kTensor, std::move(t)};
}

void Assembler::ranges(Instr& i, bool steps) {
  do {
    if (!at_.take_word("axis")) return fail(DiagCode::kSyntax, "an axis is missing", "axis a from i to j");
    i.imms.push_back(expect_int("the axis"));
    if (!failed_ && !at_.take_word("from")) fail(DiagCode::kSyntax, "unexpected text", "from");
    i.dims.push_back(dim());
    if (!failed_ && !at_.take_word("to")) fail(DiagCode::kSyntax, "unexpected text", "to");
    i.dims.push_back(dim());
    if (steps) i.imms.push_back(!failed_ && at_.take_word("step") ? expect_int("the step") : 1);
  } while (!failed_ && steps && at_.take(","));
}

void Assembler::int_list(std::vector<int64_t>& out) {
  expect("[");
  items("]", [&] { out.push_back(expect_int("an element")); });
}

void Assembler::view(Instr& i) {
  at_.blanks();
  size_t start = at_.position();
  auto kind = view_kind_from_name(at_.take_word());
  if (!kind)
    return fail_at(start, DiagCode::kSyntax, "unknown kind of view",
                   "slice, reshape, transpose, broadcast, squeeze, unsqueeze, window or identity");
  i.sub = static_cast<uint8_t>(*kind);
  i.uses.push_back(reg());
  if (*kind == ViewKind::kIdentity) return;
  expect(",");
  switch (*kind) {
    case ViewKind::kSlice:
      return ranges(i, true);
    case ViewKind::kWindow:
      return ranges(i, false);
    case ViewKind::kReshape:
    case ViewKind::kBroadcast:
      i.dims = dims();
      return;
    case ViewKind::kTranspose:
    case ViewKind::kSqueeze:
    case ViewKind::kUnsqueeze:
      return int_list(i.imms);
    case ViewKind::kIdentity:
      return;
  }
}

void Assembler::phi(Instr& i, Def& d) {
  // Sizes or registers: the type says it; without one, whatever can't be a register is a size.
  bool sizes = i.op == Opcode::kScalarPhi && (!d.type || d.type->kind == RegKind::kI64);
  bool all_registers = true, wider = false;
  std::vector<Reg> registers;
  expect("[");
  items("]", [&] {
    i.targets.push_back(block());
    expect(":");
    if (failed_) return;
    auto n = numbered(at_.peek_word(), 'R');
    all_registers = all_registers && n.has_value();
    if (n) {
      size_t start = at_.position();
      registers.push_back(reg());
      const RegType* t = failed_ ? nullptr : known_type(registers.back());
      wider = wider || (t && t->kind != RegKind::kI64);
      if (sizes) at_.set_position(start);
    } else if (!sizes) {
      fail(DiagCode::kSyntax, "a register is missing", "b0: R1");
    }
    if (sizes) i.dims.push_back(dim());
  });
  if (failed_) return;
  if (sizes && !d.type && all_registers && wider) sizes = false;
  if (!sizes) {
    i.uses = std::move(registers);
    i.dims.clear();
  } else if (!d.type) {
    d.type = RegType{RegKind::kI64, {}};
  }
}

void Assembler::shape_calc(Instr& i) {
  at_.blanks();
  size_t start = at_.position();
  auto op = calc_op_from_name(at_.take_word());
  if (!op)
    return fail_at(
        start, DiagCode::kSyntax, "unknown operator of SHAPE_CALC",
        "add, sub, mul, floordiv, ceildiv, mod, min, max, neg, truncdiv, eq, ne, lt, le, gt, ge, and, or, not or select");
  i.sub = static_cast<uint8_t>(*op);
  for (int k = 0; k < calc_op_uses(*op) && !failed_; ++k) {
    if (k) expect(",");
    i.uses.push_back(reg());
  }
  for (int k = 0; k < calc_op_dims(*op) && !failed_; ++k) {
    if (k || calc_op_uses(*op)) expect(",");
    i.dims.push_back(dim());
  }
}

void Assembler::scalar_calc(Instr& i) {
  at_.blanks();
  size_t start = at_.position();
  auto op = scalar_op_from_name(at_.take_word());
  if (!op)
    return fail_at(
        start, DiagCode::kSyntax, "unknown operator of SCALAR_CALC",
        "add, sub, mul, div, min, max, neg, floor, ceil, round, sqrt, from_int, from_bool, to_int, eq, ne, lt, le, gt or ge");
  i.sub = static_cast<uint8_t>(*op);
  for (int k = 0; k < scalar_op_uses(*op) && !failed_; ++k) {
    if (k) expect(",");
    i.uses.push_back(reg());
  }
  for (int k = 0; k < scalar_op_dims(*op) && !failed_; ++k) i.dims.push_back(dim());
  i.imms.push_back(!failed_ && at_.take_word("round_f32") ? 1 : 0);
}

void Assembler::scalar_const(Instr& i, Def& d) {
  std::string_view word = at_.peek_word();
  RegKind kind = RegKind::kI64;
  if (word == "true" || word == "false") {
    i.imms.push_back(at_.take_word() == "true");
    kind = RegKind::kBool;
  } else {
    AttrValue v = number_value();
    if (failed_) return;
    auto* whole = std::get_if<int64_t>(&v);
    bool as_float = !whole || (d.type && d.type->kind == RegKind::kF64);
    i.imms.push_back(as_float ? std::bit_cast<int64_t>(whole ? static_cast<double>(*whole) : std::get<double>(v)) : *whole);
    if (as_float) kind = RegKind::kF64;
  }
  if (!d.type) d.type = RegType{kind, {}};
  if (at_.take_word("captured")) i.text = expect_string("the captured name");
}

void Assembler::reg_list(std::vector<Reg>& out, bool optional) {
  do out.push_back(optional ? optional_reg() : reg());
  while (!failed_ && out.size() < FileLimits::kOperands && at_.take(","));
}

void Assembler::call(Instr& i, std::vector<Def>& defs) {
  i.text = expect_name("the operator's name");
  expect("(");
  if (failed_) return;
  if (!at_.peek(")") && !at_.peek(";")) reg_list(i.uses, true);
  if (!failed_ && at_.take(";")) {
    do i.dims.push_back(dim());
    while (!failed_ && i.dims.size() < FileLimits::kOperands && at_.take(","));
  }
  expect(")");
  if (!failed_ && at_.take("->")) call_outputs(i, defs);
  if (!failed_ && at_.take("{")) i.attrs = attributes();
}

void Assembler::call_outputs(Instr& i, std::vector<Def>& defs) {
  do {
    if (at_.take_word("new")) {
      Def d = def();
      if (!failed_ && !d.type && !known_type(d.reg))
        return fail(DiagCode::kSyntax, "the type of an output that the call allocates is missing", "new R1: type");
      i.defs.push_back(d.reg);
      i.outs.push_back(d.reg);
      defs.push_back(std::move(d));
    } else {
      i.outs.push_back(optional_reg());
    }
  } while (!failed_ && i.outs.size() < FileLimits::kOperands && at_.take(","));
}

void Assembler::switch_operands(Instr& i) {
  i.dims.push_back(dim());
  expect(",");
  expect("[");
  items("]", [&] {
    i.imms.push_back(expect_int("the case"));
    expect(":");
    i.targets.push_back(block());
  });
  expect(",");
  i.targets.push_back(block());
}

void Assembler::return_operands(Instr& i) {
  if (at_.take("(")) {
    if (!at_.peek(";") && !at_.peek(")")) reg_list(i.uses, false);
    if (!failed_ && at_.take(";")) {
      do i.dims.push_back(dim());
      while (!failed_ && i.dims.size() < FileLimits::kOperands && at_.take(","));
    }
    expect(")");
  } else if (!at_.at_line_end()) {
    reg_list(i.uses, false);
  }
}

// Every field by name: what has no readable form.
void Assembler::raw(Instr& i) {
  syntax_ =
      "Rd: type = raw MNEMONIC sub n uses [R] dims [size] imms [n] outs [R] targets [b] text \"...\" names [\"a\"] attrs {a: 1}";
  const InstrInfo& info = instr_info(i.op);
  while (!failed_ && !at_.at_line_end()) {
    at_.blanks();
    size_t start = at_.position();
    std::string_view word = at_.take_word();
    if (word == "sub") {
      int64_t v = expect_int("the second opcode");
      if (!failed_ && (v < 0 || v >= sub_count(info.subs)))
        fail_at(start, DiagCode::kBadOperands, "there is no such second opcode");
      i.sub = static_cast<uint8_t>(v);
    } else if (word == "uses") {
      expect("[");
      items("]", [&] { i.uses.push_back(optional_reg()); });
    } else if (word == "dims") {
      i.dims = dims();
    } else if (word == "imms") {
      int_list(i.imms);
    } else if (word == "outs") {
      expect("[");
      items("]", [&] { i.outs.push_back(optional_reg()); });
    } else if (word == "targets") {
      expect("[");
      items("]", [&] { i.targets.push_back(block()); });
    } else if (word == "text") {
      i.text = expect_string("the text");
    } else if (word == "names") {
      expect("[");
      items("]", [&] { i.axis_names.push_back(expect_string("an axis' name")); });
    } else if (word == "attrs") {
      expect("{");
      i.attrs = attributes();
    } else {
      fail_at(start, DiagCode::kSyntax, "unknown field", "sub, uses, dims, imms, outs, targets, text, names or attrs");
    }
  }
}

}  // namespace msvm
