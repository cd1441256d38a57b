#include "msvm/bytecode/text_parse.h"

#include <algorithm>
#include <tuple>

#include "msvm/bytecode/dim_table.h"
#include "msvm/bytecode/file.h"
#include "msvm/shape/quote.h"

namespace msvm {
namespace {
constexpr size_t kMaxErrors = 1000;
}

Assembler::Assembler(std::string_view text, const std::string& file_name, const std::string& directory, const Module* elided)
    : at_(text), file_name_(file_name), directory_(directory), elided_(elided) {
  line_starts_.push_back(0);
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') line_starts_.push_back(i + 1);
}

AssembleResult Assembler::run() {
  while (!at_.at_end() && errors_.size() < kMaxErrors) {
    failed_ = false;
    syntax_ = {};
    if (!at_.at_line_end()) {
      statement_start_ = at_.position();
      statement();
    }
    at_.next_line();
    at_.set_position(std::max(at_.position(), resume_));
  }
  failed_ = false;
  finish_function();
  if (!opsets_stated_) module_.opsets = {{"", kOnnxOpset}, {"msvm", kMsvmOpset}};
  if (errors_.size() >= kMaxErrors)
    report(at_.position(), DiagCode::kLimitExceeded, "more than a thousand errors: reading stopped here", "", "", "");
  auto place = [](const Diagnostic& d) { return std::tuple(d.place.line, d.place.column); };
  std::sort(errors_.begin(), errors_.end(), [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  return {std::move(module_), std::move(errors_), std::move(lines_)};
}

// --- errors ------------------------------------------------------------------------------------------------------------

void Assembler::report(size_t position, DiagCode code, std::string message, std::string expected, std::string found,
                       std::string fix) {
  if (errors_.size() > kMaxErrors) return;
  size_t line = static_cast<size_t>(std::upper_bound(line_starts_.begin(), line_starts_.end(), position) - line_starts_.begin());
  Diagnostic d;
  d.code = code;
  d.place.file = file_name_;
  d.place.line = static_cast<int32_t>(line);
  d.place.column = static_cast<int32_t>(position - line_starts_[line - 1]) + 1;
  if (in_function()) d.place.function = "@" + f().name;
  d.message = std::move(message);
  d.expected = std::move(expected);
  d.found = std::move(found);
  d.fix = std::move(fix);
  errors_.push_back(std::move(d));
}

void Assembler::fail_at(size_t position, DiagCode code, std::string message, std::string expected, std::string fix) {
  if (failed_) return;
  failed_ = true;
  size_t back = at_.position();
  at_.set_position(position);
  std::string found = at_.here();
  at_.set_position(back);
  if (fix.empty() && !syntax_.empty()) fix = "write it as:  " + std::string(syntax_);
  report(position, code, std::move(message), std::move(expected), std::move(found), std::move(fix));
}

void Assembler::fail(DiagCode code, std::string message, std::string expected, std::string fix) {
  at_.blanks();
  fail_at(at_.position(), code, std::move(message), std::move(expected), std::move(fix));
}

void Assembler::expect(std::string_view mark) {
  if (!failed_ && !at_.take(mark)) fail(DiagCode::kSyntax, "unexpected text", std::string(mark));
}

int64_t Assembler::expect_int(const char* what) {
  if (failed_) return 0;
  auto v = at_.take_int();
  if (!v) fail(DiagCode::kSyntax, std::string(what) + " is missing or doesn't fit 64 bits", "an integer");
  return v.value_or(0);
}

std::string Assembler::expect_string(const char* what) {
  if (failed_) return {};
  auto v = at_.take_string();
  if (!v) fail(DiagCode::kSyntax, std::string(what) + " is missing or malformed", "a string in double quotes");
  return v.value_or("");
}

std::string Assembler::expect_name(const char* what) {
  if (failed_) return {};
  auto v = at_.take_name();
  if (v && v->size() > FileLimits::kNameBytes) fail(DiagCode::kLimitExceeded, std::string(what) + " has more than 65536 bytes");
  if (!v) fail(DiagCode::kSyntax, std::string(what) + " is missing", "a name, or any text in double quotes");
  return v.value_or("");
}

// --- statements --------------------------------------------------------------------------------------------------------

void Assembler::statement() {
  std::string_view word = at_.peek_word();
  if (auto label = numbered(word, 'b')) {
    at_.take_word();
    if (at_.take(":"))
      label_line(*label);
    else
      fail(DiagCode::kSyntax, "a line starts with a block", ":");
  } else if (word == "module") {
    module_line();
  } else if (word == "producer") {
    at_.take_word();
    module_.producer = expect_string("the producer");
  } else if (word == "opset") {
    opset_line();
  } else if (word == "opt_level") {
    at_.take_word();
    int64_t level = expect_int("the optimisation level");
    if (!failed_ && (level < INT32_MIN || level > INT32_MAX))
      fail(DiagCode::kSyntax, "the optimisation level is out of range", "an integer of 32 bits");
    module_.opt_level = static_cast<int32_t>(level);
  } else if (word == "metadata") {
    metadata_line();
  } else if (word == "symbol") {
    symbol_line();
  } else if (word == "const") {
    const_line();
  } else if (word == "func") {
    func_line();
  } else if (word == "register") {
    register_line();
  } else if (numbered(word, 'R') || word == "raw" || instr_info_from_mnemonic(word)) {
    instruction_line();
  } else {
    std::string fix;
    for (const InstrInfo* info : all_instructions())
      if (!word.empty() &&
          (info->mnemonic.find(word) != std::string_view::npos || word.find(info->mnemonic) != std::string_view::npos))
        fix = "did you mean " + std::string(info->mnemonic) + "?";
    fail(DiagCode::kSyntax, "not the beginning of a statement",
         in_function() ? "an instruction, a block (b1:), func, or the end of the file"
                       : "module, producer, opset, metadata, symbol, const or func",
         fix);
  }
  if (!failed_ && !at_.at_line_end()) fail(DiagCode::kSyntax, "unexpected text after the statement", "the end of the line");
}

void Assembler::module_line() {
  at_.take_word();
  module_.name = expect_string("the module's name");
  if (failed_ || !at_.take_word("version")) return;
  int64_t version = expect_int("the version");
  if (!failed_ && version != kFormatMajor)
    fail_at(statement_start_, DiagCode::kSyntax, "the text has version " + std::to_string(version),
            "version " + std::to_string(kFormatMajor));
}

void Assembler::opset_line() {
  at_.take_word();
  if (!opsets_stated_) module_.opsets.clear();
  opsets_stated_ = true;
  if (at_.take_word("none")) return;
  do {
    OpsetVersion o;
    o.domain = expect_string("the domain of an operator set");
    o.version = expect_int("the version of an operator set");
    if (!failed_) module_.opsets.push_back(std::move(o));
  } while (!failed_ && at_.take(","));
}

void Assembler::metadata_line() {
  at_.take_word();
  std::string key = expect_string("the key");
  expect("=");
  std::string value = expect_string("the value");
  if (failed_) return;
  if (!module_.metadata.emplace(key, std::move(value)).second)
    fail_at(statement_start_, DiagCode::kMultipleDefinition, "metadata " + quoted(key) + " is stated twice");
}

void Assembler::symbol_line() {
  at_.take_word();
  do symbol_declaration();
  while (!failed_ && at_.take(","));
}

void Assembler::symbol_declaration() {
  at_.blanks();
  size_t start = at_.position();
  bool bare = !at_.peek("\"");
  SymbolInfo s;
  s.name = expect_name("the symbol's name");
  if (failed_) return;
  auto number = bare ? numbered(s.name, 'R') : std::nullopt;
  if (number && in_function()) {
    if (*number >= static_cast<int64_t>(FileLimits::kRegisters))
      return fail_at(start, DiagCode::kLimitExceeded, "register number is too large");
    s.function = function_;
    s.reg = static_cast<int32_t>(*number);
    s.min = INT64_MIN;
  } else if (is_reserved_symbol_name(s.name)) {
    return fail_at(start, DiagCode::kSyntax, "the name " + s.name + " is reserved", "another name");
  }
  bool known = s.is_register() ? register_symbols_.contains(s.reg) : symbols_.contains(s.name);
  if (known)
    return fail_at(start, DiagCode::kMultipleDefinition, "symbol " + s.name + " was declared or used before",
                   "its declaration before its first use");
  if (at_.take_word("in")) {
    expect("[");
    if (at_.take("*"))
      s.min = INT64_MIN;
    else
      s.min = expect_int("the least value");
    expect(",");
    if (!at_.take("*")) s.max = expect_int("the greatest value");
    expect("]");
  }
  if (!failed_ && at_.take_word("multiple_of")) s.divisor = expect_int("the divisor");
  if (!failed_ && at_.take_word("plus")) s.remainder = expect_int("the remainder");
  if (failed_) return;
  if (s.min > s.max || s.divisor < 1 || s.remainder < 0 || s.remainder >= s.divisor)
    return fail_at(start, DiagCode::kSyntax, "symbol " + s.name + " admits no value",
                   "least <= greatest, divisor >= 1, 0 <= remainder < divisor");
  if (module_.dims->num_symbols() >= FileLimits::kSymbols) return fail_at(start, DiagCode::kLimitExceeded, "too many symbols");
  Reg r = s.reg;
  if (!s.is_register()) {
    named_symbol(std::move(s));
  } else {
    register_symbols_.emplace(r, module_.dims->symbol(module_.dims->add_symbol(std::move(s))));
    mention(r);
  }
}

// "; model.py:12:3 from "conv1", "bn1"", perhaps after an offset. Anything else is an ordinary comment.
void Assembler::debug_comment(Instr* i) {
  TextCursor c(at_.rest_of_line());
  if (!c.take(";")) return;
  if (c.take("0x")) {
    while (!c.at_end() && std::string_view("0123456789abcdef").find(c.text()[c.position()]) != std::string_view::npos)
      c.set_position(c.position() + 1);
  }
  DebugInfo d;
  bool place = false;
  c.blanks();
  std::string_view rest = c.rest_of_line();
  if (c.peek("\"")) {
    auto file = c.take_string();
    if (!file) return;
    d.file = std::move(*file);
    place = true;
  } else if (!rest.starts_with("from ")) {
    size_t end = rest.find_first_of(" \t\":;\r");
    if (end == 0 || end == std::string_view::npos || rest[end] != ':') return;
    d.file = rest.substr(0, end);
    c.set_position(c.position() + end);
    place = true;
  }
  auto number = [&](int32_t& out) {
    bool digits = !c.at_end() && c.text()[c.position()] >= '0' && c.text()[c.position()] <= '9';
    auto v = digits ? c.take_int() : std::nullopt;
    if (!v || *v > INT32_MAX) return false;
    out = static_cast<int32_t>(*v);
    return true;
  };
  if (place) {
    if (!c.take(":") || !number(d.line)) return;
    if (c.take(":") && !number(d.column)) return;
  }
  if (c.take_word("from")) {
    do {
      auto origin = c.take_string();
      if (!origin) return;
      d.origins.push_back(std::move(*origin));
    } while (c.take(","));
  }
  c.blanks();
  if (!c.at_end() || d == DebugInfo{}) return;

  std::string key = d.file + '\0' + std::to_string(d.line) + ':' + std::to_string(d.column);
  for (const std::string& o : d.origins) key += '\0' + o;
  auto [entry, fresh] = debug_entries_.try_emplace(std::move(key), static_cast<uint32_t>(f().debug.size()));
  if (fresh) f().debug.push_back(std::move(d));
  i->debug = entry->second;
}

AssembleResult assemble(std::string_view text, const std::string& file_name, const std::string& directory) {
  return Assembler(text, file_name, directory).run();
}

}  // namespace msvm
