// The assembler's inside: one statement per line; an error ends its line, the next line starts afresh.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "msvm/base/file.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/instruction.h"
#include "msvm/bytecode/text.h"
#include "msvm/bytecode/text_cursor.h"

namespace msvm {

class Assembler {
 public:
  /// `elided`: where constants come from that the text leaves out, or null.
  Assembler(std::string_view text, const std::string& file_name, const std::string& directory, const Module* elided = nullptr);
  AssembleResult run();

 private:
  // Errors. The first of a statement counts; from then on everything in it fails.
  bool failed() const { return failed_; }
  void fail(DiagCode code, std::string message, std::string expected = "", std::string fix = "");
  void fail_at(size_t position, DiagCode code, std::string message, std::string expected = "", std::string fix = "");
  void report(size_t position, DiagCode code, std::string message, std::string expected, std::string found, std::string fix);
  void expect(std::string_view mark);
  int64_t expect_int(const char* what);
  std::string expect_string(const char* what);
  std::string expect_name(const char* what);

  // text_parse.cpp: lines and the module's statements.
  void statement();
  void module_line();
  void opset_line();
  void metadata_line();
  void symbol_line();
  void symbol_declaration();
  template <class Item>
  void items(std::string_view close, Item item,
             size_t limit = FileLimits::kOperands);  // separated by commas, possibly over several lines
  void debug_comment(Instr* i);

  // text_parse_types.cpp
  Dim dim();
  std::vector<Dim> dims();  // "[a, b]"
  Dim resolve(std::string_view name);
  Dim fresh_symbol();
  Dim named_symbol(SymbolInfo s);
  Dim register_symbol(Reg r);
  DType dtype();
  Device device();
  Layout layout();
  TensorType tensor_type();
  RegType type();
  std::vector<Param> params();
  AttrValue attribute_value();
  AttrValue number_value();
  Attributes attributes();

  // text_parse_const.cpp
  void const_line();
  void constant_data(Constant& c, size_t size);
  void constant_file(Constant& c, size_t size);
  void constant_elements(Constant& c, size_t size);
  void constant_fill(Constant& c, size_t size);
  void constant_elided(Constant& c);
  const Constant* elided(const Constant& c) const;  // text_elided.cpp
  void set_bytes(Constant& c, const std::vector<std::byte>& bytes);
  int64_t constant_reference();

  // text_parse_func.cpp
  void func_line();
  void read_symbols_ahead();
  void register_line();
  void label_line(int64_t number);
  void finish_function();
  Reg reg();
  Reg optional_reg();  // or `_`
  BlockId block();
  void mention(Reg r);
  const RegType* known_type(Reg r) const;
  void define(Reg r, const RegType& t);
  Instr& append(Instr i, size_t position);
  bool in_function() const { return function_ >= 0; }
  Function& f() { return module_.functions[static_cast<size_t>(function_)]; }

  // text_parse_instr.cpp
  struct Def {
    Reg reg = kNoReg;
    std::optional<RegType> type;
    size_t position = 0;
  };
  void instruction_line();
  void read_instruction(std::vector<Def>& defs);
  Def def();
  void operands(Instr& i, std::vector<Def>& defs);
  void spec(Instr& i);
  bool spec_follows();
  void create(Instr& i, Def& d);
  void alloc_tail(Instr& i, Def& d);
  void view(Instr& i);
  void ranges(Instr& i, bool steps);
  void int_list(std::vector<int64_t>& out);
  void reg_list(std::vector<Reg>& out, bool optional);
  void phi(Instr& i, Def& d);
  void shape_calc(Instr& i);
  void scalar_const(Instr& i, Def& d);
  void scalar_calc(Instr& i);
  void call(Instr& i, std::vector<Def>& defs);
  void call_outputs(Instr& i, std::vector<Def>& defs);
  void switch_operands(Instr& i);
  void return_operands(Instr& i);
  void raw(Instr& i);
  void settle_types(Instr& i, std::vector<Def>& defs);

  TextCursor at_;
  std::string file_name_, directory_;
  const Module* elided_;
  Module module_;
  Diagnostics errors_;
  std::vector<std::vector<int32_t>> lines_;
  std::vector<size_t> line_starts_;
  size_t statement_start_ = 0;
  size_t resume_ = 0;  // lines before this were read ahead
  bool failed_ = false;
  bool opsets_stated_ = false;
  std::string fresh_prefix_;
  size_t fresh_count_ = 0;
  size_t fill_bytes_ = 0, instructions_ = 0;
  std::unordered_map<std::string, Dim> symbols_;           // by name
  std::unordered_map<std::string, int64_t> constant_ids_;  // -1: the name occurs twice
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
  std::string_view syntax_;  // of the instruction being read

  // The function being read.
  int32_t function_ = -1;
  std::vector<bool> typed_, doubtful_;  // by register: its type is known; its definition had an error
  std::unordered_map<Reg, Dim> register_symbols_;
  std::map<int64_t, Block> blocks_;
  std::map<int64_t, std::vector<int32_t>> block_lines_;
  int64_t block_ = -1;
  std::vector<std::pair<size_t, BlockId>> block_references_;
  std::unordered_map<std::string, uint32_t> debug_entries_;
};

}  // namespace msvm
