#include "msvm/bytecode/instruction_docs.h"

#include <fmt/format.h>

#include <iterator>

#include "msvm/bytecode/instruction.h"
#include "msvm/bytecode/text.h"

namespace msvm {
namespace {

std::string range_text(const Range& r) {
  if (r.min == r.max) return std::to_string(r.min);
  if (r.max == kMany) return std::to_string(r.min) + " or more";
  return fmt::format("{} to {}", r.min, r.max);
}

}  // namespace

std::string operands_text(const InstrInfo& i) {
  std::string out;
  auto part = [&](const Range& r, const char* what) {
    if (r.max == 0) return;
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", what, range_text(r));
  };
  part(i.defs, "results");
  part(i.uses, "registers read");
  part(i.dims, "sizes");
  part(i.imms, "immediates");
  part(i.outs, "destinations");
  part(i.targets, "blocks");
  auto word = [&](const char* what) { out += (out.empty() ? "" : "; ") + std::string(what); };
  switch (i.text) {
    case TextKind::kNone:
      break;
    case TextKind::kOperator:
      word("an operator's name");
      break;
    case TextKind::kMessage:
      word("a message");
      break;
    case TextKind::kName:
      word("a name, possibly empty");
      break;
  }
  if (i.attrs) word("attributes");
  if (i.names) word("axis names");
  return out.empty() ? "none" : out;
}

std::string flags_text(const InstrInfo& i) {
  std::string out;
  auto part = [&](uint32_t flag, const char* what) {
    if (i.has(flag)) out += (out.empty() ? "" : ", ") + std::string(what);
  };
  part(kTerminator, "ends a block");
  part(kEntryOnly, "entry block only");
  part(kPhi, "at the start of a block");
  part(kSideEffect, "is never removed or moved");
  part(kMayFail, "may fail at run time");
  return out;
}

namespace {

// What the operands of a kind mean.
std::string_view view_doc(ViewKind k) {
  switch (k) {
    case ViewKind::kSlice:
      return "immediates axis, step, axis, step, …; sizes from, to, from, to, …; 0 ≤ from ≤ to ≤ size, step > 0; the new size is "
             "ceildiv(to - from, step)";
    case ViewKind::kReshape:
      return "sizes: the new shape, with the same number of elements; of a dense tensor";
    case ViewKind::kTranspose:
      return "immediates: the permutation; axis i of the result is axis p[i] of the source";
    case ViewKind::kBroadcast:
      return "sizes: the new shape, aligned at the right";
    case ViewKind::kSqueeze:
      return "immediates: the axes of size 1 that go";
    case ViewKind::kUnsqueeze:
      return "immediates: the axes of the result that come, ascending";
    case ViewKind::kWindow:
      return "immediate: the axis; sizes from, to: a destination within an unwritten or resized tensor";
    case ViewKind::kIdentity:
      return "a further reference";
  }
  return "";
}

std::string_view calc_doc(CalcOp op) {
  if (op == CalcOp::kSelect) return "one bool register and two sizes: the first if it is true";
  if (op == CalcOp::kAnd || op == CalcOp::kOr) return "two bool registers, gives bool";
  if (op == CalcOp::kNot) return "one bool register, gives bool";
  if (calc_op_is_bool(op)) return "two sizes, gives bool";
  if (op == CalcOp::kFloorDiv) return "two sizes; rounds towards minus infinity";
  if (op == CalcOp::kCeilDiv) return "two sizes; rounds towards plus infinity";
  if (op == CalcOp::kTruncDiv) return "two sizes; rounds towards zero";
  if (op == CalcOp::kMod) return "two sizes; has the sign of the second";
  return op == CalcOp::kNeg ? "one size" : "two sizes";
}

std::string_view scalar_doc(ScalarOp op) {
  if (op == ScalarOp::kFromInt) return "one size, gives f64";
  if (op == ScalarOp::kFromBool) return "one bool register, gives f64";
  if (op == ScalarOp::kToInt) return "one f64 register, gives i64; rounds towards zero";
  if (op == ScalarOp::kRound) return "one f64 register; halves go to the even neighbour";
  if (scalar_op_is_bool(op)) return "two f64 registers, gives bool";
  return scalar_op_uses(op) == 1 ? "one f64 register" : "two f64 registers";
}

std::string_view create_doc(CreateKind k) {
  switch (k) {
    case CreateKind::kInput:
      return "immediate: the number of the input; sizes: its shape";
    case CreateKind::kNarrow:
      return "one register; sizes: its shape, checked";
    case CreateKind::kDestination:
      return "sizes: the shape";
  }
  return "";
}

}  // namespace

std::string_view sub_doc(SubTable t, uint8_t sub) {
  switch (t) {
    case SubTable::kNoSubs:
      return "";
    case SubTable::kCreateSubs:
      return create_doc(static_cast<CreateKind>(sub));
    case SubTable::kViewSubs:
      return view_doc(static_cast<ViewKind>(sub));
    case SubTable::kCalcSubs:
      return calc_doc(static_cast<CalcOp>(sub));
    case SubTable::kScalarSubs:
      return scalar_doc(static_cast<ScalarOp>(sub));
  }
  return "";
}

std::vector<std::string_view> instr_syntaxes(Opcode op) {
  std::vector<std::string_view> out;
  const std::string_view syntax = instr_syntax(op);
  for (size_t from = 0; from < syntax.size();) {
    const size_t to = std::min(syntax.find("  |  ", from), syntax.size());
    out.push_back(syntax.substr(from, to - from));
    from = to + 5;
  }
  return out;
}

namespace {

void append_subs(std::string& out, SubTable t) {
  out += "\n| second opcode | kind | operands |\n| --- | --- | --- |\n";
  for (int s = 0; s < sub_count(t); ++s) {
    auto sub = static_cast<uint8_t>(s);
    fmt::format_to(std::back_inserter(out), "| {} | `{}` | {} |\n", s, sub_name(t, sub), sub_doc(t, sub));
  }
}

}  // namespace

std::string instruction_docs() {
  std::string out =
      "# Instructions\n\n"
      "Written by `tools/gen_instruction_docs` from `src/msvm/bytecode/instructions.def`; don't edit it here.\n\n"
      "An instruction has *results* (registers that it defines), *registers* that it reads, *sizes* (dimension expressions), "
      "*immediates*\n"
      "(integers), *destinations* (tensors that it writes) and *blocks*. [assembly.md](assembly.md) describes the text form,\n"
      "[format.md](format.md) the bytes.\n\n"
      "| opcode | mnemonic | equation |\n| --- | --- | --- |\n";
  auto escaped = [](std::string_view s) {
    std::string e;
    for (char c : s) e += c == '|' ? std::string("\\|") : std::string(1, c);
    return e;
  };
  for (const InstrInfo* i : all_instructions()) {
    std::string anchor(i->mnemonic);
    for (char& c : anchor) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    fmt::format_to(std::back_inserter(out), "| 0x{:02x} | [`{}`](#{}) | `{}` |\n", static_cast<int>(i->op), i->mnemonic, anchor,
                   escaped(i->equation));
  }
  for (const InstrInfo* i : all_instructions()) {
    fmt::format_to(std::back_inserter(out), "\n## {}\n\n{}\n\n- **equation:** `{}`\n", i->mnemonic, i->doc, i->equation);
    bool first = true;
    for (std::string_view syntax : instr_syntaxes(i->op)) {
      fmt::format_to(std::back_inserter(out), "- **{}:** `{}`\n", first ? "text" : "or", syntax);
      first = false;
    }
    fmt::format_to(std::back_inserter(out), "- **operands:** {}\n", operands_text(*i));
    if (std::string flags = flags_text(*i); !flags.empty()) fmt::format_to(std::back_inserter(out), "- {}\n", flags);
    if (i->subs != SubTable::kNoSubs) append_subs(out, i->subs);
  }
  return out;
}

}  // namespace msvm
