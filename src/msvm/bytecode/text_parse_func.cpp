// Functions, blocks and registers.
#include <algorithm>

#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text_items.h"
#include "msvm/bytecode/text_parse.h"

namespace msvm {

void Assembler::func_line() {
  finish_function();
  if (module_.functions.size() >= FileLimits::kFunctions) return fail(DiagCode::kLimitExceeded, "too many functions");
  function_ = static_cast<int32_t>(module_.functions.size());
  module_.functions.emplace_back();
  lines_.emplace_back();
  at_.take_word();
  read_symbols_ahead();
  expect("@");
  f().name = expect_name("the function's name");
  expect("(");
  f().inputs = params();
  if (failed_ || !at_.take("->")) return;
  if (at_.take("(")) {
    f().outputs = params();
  } else {
    f().outputs.push_back({"", type()});
  }
}

// Declarations of register symbols stand below the function's line, but must be known before its types are read.
void Assembler::read_symbols_ahead() {
  const size_t signature = at_.position(), start = statement_start_;
  at_.next_line();
  while (at_.peek_word() == "symbol") {
    failed_ = false;
    statement_start_ = at_.position();
    symbol_line();
    if (!failed_ && !at_.at_line_end()) fail(DiagCode::kSyntax, "unexpected text after the statement", "the end of the line");
    at_.next_line();
    resume_ = at_.position();
  }
  at_.set_position(signature);
  statement_start_ = start;
  failed_ = false;
}

// Blocks get the place that their label says.
void Assembler::finish_function() {
  if (!in_function()) return;
  int64_t wanted = 0;
  for (auto& [number, b] : blocks_) {
    if (number != wanted) {
      report(statement_start_, DiagCode::kSyntax, "the blocks of @" + f().name + " aren't numbered without gaps",
             "b" + std::to_string(wanted), "b" + std::to_string(number), "");
      break;
    }
    ++wanted;
    f().blocks.push_back(std::move(b));
    auto& lines = block_lines_[number];
    lines_.back().insert(lines_.back().end(), lines.begin(), lines.end());
  }
  for (auto [position, target] : block_references_)
    if (!blocks_.contains(target))
      report(position, DiagCode::kUnknownName, "there is no block b" + std::to_string(target) + " in @" + f().name,
             "a block of the function", "b" + std::to_string(target), "");
  function_ = -1;
  block_ = -1;
  typed_.clear();
  doubtful_.clear();
  register_symbols_.clear();
  blocks_.clear();
  block_lines_.clear();
  block_references_.clear();
  debug_entries_.clear();
}

void Assembler::label_line(int64_t number) {
  if (!in_function()) return fail_at(statement_start_, DiagCode::kSyntax, "a block outside a function", "func @name(...)");
  if (blocks_.size() >= FileLimits::kBlocks) return fail_at(statement_start_, DiagCode::kLimitExceeded, "too many blocks");
  block_ = number;
  if (!blocks_.try_emplace(number).second)
    fail_at(statement_start_, DiagCode::kMultipleDefinition, "block b" + std::to_string(number) + " occurs twice",
            "a number of its own");
}

Instr& Assembler::append(Instr i, size_t position) {
  if (block_ < 0) block_ = 0;
  auto& b = blocks_[block_].instrs;
  b.push_back(std::move(i));
  size_t line = static_cast<size_t>(std::upper_bound(line_starts_.begin(), line_starts_.end(), position) - line_starts_.begin());
  block_lines_[block_].push_back(static_cast<int32_t>(line));
  return b.back();
}

void Assembler::register_line() {
  if (!in_function()) return fail(DiagCode::kSyntax, "a register outside a function", "func @name(...)");
  at_.take_word();
  Def d = def();
  if (!failed_ && !d.type) fail(DiagCode::kSyntax, "the register's type is missing", "R0: type");
  if (!failed_) define(d.reg, *d.type);
}

void Assembler::mention(Reg r) {
  if (static_cast<size_t>(r) < f().regs.size()) return;
  f().regs.resize(static_cast<size_t>(r) + 1);
  typed_.resize(f().regs.size());
  doubtful_.resize(f().regs.size());
}

// Registers exist up to the highest number that occurs, so a number may not exceed by much what the text can define.
Reg Assembler::reg() {
  if (failed_) return 0;
  at_.blanks();
  size_t start = at_.position();
  auto n = at_.take_numbered('R');
  if (!n) {
    fail(DiagCode::kSyntax, "a register is missing", "a register such as R0");
    return 0;
  }
  if (*n >= static_cast<int64_t>(std::min(FileLimits::kRegisters, 4096 + at_.text().size() / 4))) {
    fail_at(start, DiagCode::kLimitExceeded, "the register's number is too large", "numbers from 0 on, without large gaps");
    return 0;
  }
  mention(static_cast<Reg>(*n));
  return static_cast<Reg>(*n);
}

Reg Assembler::optional_reg() {
  if (!failed_ && at_.take_word("_")) return kNoReg;
  return reg();
}

BlockId Assembler::block() {
  if (failed_) return 0;
  at_.blanks();
  size_t start = at_.position();
  auto n = at_.take_numbered('b');
  if (!n) {
    fail(DiagCode::kSyntax, "a block is missing", "a block such as b1");
    return 0;
  }
  block_references_.emplace_back(start, static_cast<BlockId>(*n));
  return static_cast<BlockId>(*n);
}

const RegType* Assembler::known_type(Reg r) const {
  const Function& f = module_.functions[static_cast<size_t>(function_)];
  return r >= 0 && static_cast<size_t>(r) < typed_.size() && typed_[static_cast<size_t>(r)] ? &f.regs[static_cast<size_t>(r)].type
                                                                                            : nullptr;
}

void Assembler::define(Reg r, const RegType& t) {
  if (typed_[static_cast<size_t>(r)]) return;  // a second definition: verify() says so
  typed_[static_cast<size_t>(r)] = true;
  f().regs[static_cast<size_t>(r)].type = t;
}

}  // namespace msvm
