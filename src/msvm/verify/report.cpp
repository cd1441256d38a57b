#include <fmt/format.h>

#include "msvm/bytecode/file.h"
#include "msvm/verify/context.h"

namespace msvm::verification {
namespace {

struct RuleRow {
  DiagCode code;
  std::string_view name, doc;
};
constexpr RuleRow kRules[] = {
#define MSVM_RULE(id, code, doc) {DiagCode::code, #id, doc},
#include "msvm/verify/rules.def"
#undef MSVM_RULE
};

}  // namespace

DiagCode rule_code(Rule rule) { return kRules[static_cast<size_t>(rule)].code; }
std::string_view rule_name(Rule rule) { return kRules[static_cast<size_t>(rule)].name; }
std::string_view rule_doc(Rule rule) { return kRules[static_cast<size_t>(rule)].doc; }
int rule_count() { return static_cast<int>(std::size(kRules)); }

void Report::add(Rule rule, DiagPlace place, Text text) {
  if (full()) return;
#ifdef MSVM_MUTATED_RULE  // tools/mutate_verifier.py
  if (rule == Rule::MSVM_MUTATED_RULE) return;
#endif
  if (fired_) fired_->push_back(rule);
  if (edits_) edits_->push_back(std::move(text.edits));
  Diagnostic d;
  d.code = rule_code(rule);
  d.place = std::move(place);
  d.message = std::move(text.message);
  d.expected = std::move(text.expected);
  d.found = std::move(text.found);
  d.fix = std::move(text.fix);
  out_.push_back(std::move(d));
}

void Report::need_offsets() {
  if (!may_assign_) return;
  may_assign_ = false;
  // The first instruction of a module is never at the end of the code; the second one's offset tells.
  size_t seen = 0;
  for (const Function& f : module_.functions)
    for (const Block& b : f.blocks)
      for (const Instr& i : b.instrs) {
        if (i.offset != 0) return;
        if (++seen == 2) {
          assign_offsets(module_);
          return;
        }
      }
}

Context::Context(Module& m, int32_t function, ModuleTables& t, Report& r)
    : module(m), dims(*m.dims), index(function), f(m.functions[function]), tables(t), report(r) {
  size_t count = 0;
  for (const Block& b : f.blocks) {
    facts.block_start.push_back(static_cast<int32_t>(count));
    count += b.instrs.size();
  }
  instrs.reserve(count);
  block_of.reserve(count);
  for (size_t b = 0; b < f.blocks.size(); ++b)
    for (const Instr& i : f.blocks[b].instrs) {
      instrs.push_back(&i);
      block_of.push_back(static_cast<BlockId>(b));
    }
  def.assign(f.regs.size(), -1);
  bad_reg.assign(f.regs.size(), 0);
  bad_instr.assign(count, 0);
}

int32_t Context::operand_from(int32_t i, BlockId pred) const {
  const auto& preds = cfg->predecessors(block_of[i]);
  return phi_operand[i][static_cast<size_t>(std::lower_bound(preds.begin(), preds.end(), pred) - preds.begin())];
}

int32_t Context::definition(SymbolId s) const {
  const SymbolInfo& info = dims.symbol_info(s);
  if (info.is_register()) return def[info.reg] < 0 ? kUnbound : def[info.reg];
  return tables.symbol_def[s];
}

bool Context::reaches(int32_t d, int32_t use) const {
  if (d == kAtEntry) return true;
  if (d == kUnbound) return false;
  const BlockId from = block_of[d], to = block_of[use];
  if (from != to) return cfg->dominates(from, to);
  return d < use || (is_phi(d) && is_phi(use));
}

void Context::mark_bad(int32_t i) {
  bad_instr[i] = 1;
  auto mark = [&](const std::vector<Reg>& regs) {
    for (Reg r : regs)
      if (r >= 0 && static_cast<size_t>(r) < bad_reg.size()) bad_reg[r] = 1;
  };
  mark(at(i).defs);
  mark(at(i).uses);
  mark(at(i).outs);
}

void Context::function_error(Rule rule, Text t) {
  DiagPlace p;
  p.function = "@" + f.name;
  report.add(rule, std::move(p), std::move(t));
}

std::string Context::mnemonic(int32_t i) const {
  const Instr& instr = at(i);
  const InstrInfo* info = instr_info_from_byte(static_cast<uint8_t>(instr.op));
  if (!info) return fmt::format("opcode 0x{:02x}", static_cast<unsigned>(instr.op));
  std::string m(info->mnemonic);
  if (instr.op == Opcode::kOpCall && !instr.text.empty()) m += " " + instr.text.substr(0, 100);
  return m;
}

DiagPlace Context::place(int32_t i) const {
  report.need_offsets();
  const Instr& instr = at(i);
  DiagPlace p;
  p.function = "@" + f.name;
  p.instruction = i;
  if (instr.offset != 0 || (index == 0 && i == 0)) p.offset = instr.offset;
  p.mnemonic = mnemonic(i);
  if (instr.debug < f.debug.size()) {
    p.file = f.debug[instr.debug].file;
    p.line = f.debug[instr.debug].line;
    p.column = f.debug[instr.debug].column;
  }
  return p;
}

std::string Context::where(int32_t i) const {
  DiagPlace p = place(i);
  std::string inside;
  if (p.offset >= 0) inside = fmt::format("offset 0x{:x}", p.offset);
  if (!p.file.empty() && p.line > 0) inside += fmt::format("{}{}:{}", inside.empty() ? "" : ", ", p.file, p.line);
  return fmt::format("instruction {}{}", i, inside.empty() ? "" : " (" + inside + ")");
}

std::string Context::origin(Reg r) const {
  std::string s = reg_text(r);
  if (!f.regs[r].name.empty()) s += " \"" + f.regs[r].name + "\"";
  s += ": " + type_text(r);
  if (def[r] >= 0) s += fmt::format(", made by {} at {}", mnemonic(def[r]), where(def[r]));
  return s;
}

std::string Context::text(const std::vector<Dim>& shape) const {
  std::string s = "[";
  for (size_t i = 0; i < shape.size(); ++i) s += (i ? ", " : "") + text(shape[i]);
  return s + "]";
}

}  // namespace msvm::verification
