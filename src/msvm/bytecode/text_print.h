// The disassembler's inside. Everything it writes, text_parse reads.
#pragma once
#include <string>
#include <vector>

#include "msvm/bytecode/dim_table.h"
#include "msvm/bytecode/module.h"
#include "msvm/bytecode/text.h"

namespace msvm {

class Disassembler {
 public:
  Disassembler(const Module& module, const DisassembleOptions& options);
  std::string run();

 private:
  void print_header();
  void print_symbol_info(const SymbolInfo& s);
  void print_symbols();
  void print_constant(size_t index);
  void print_function(size_t index);
  void print_signature(const Function& f);
  void print_params(const std::vector<Param>& params);
  void print_undefined_registers();
  void print_register_symbols(size_t function);
  void print_comment(const Instr& i, size_t line_start);

  // Instructions: text_print_instr.cpp.
  void print_instr(const Instr& i);
  void print_def(Reg r, bool with_type);
  bool states_type(const Instr& i) const;
  bool print_operands(const Instr& i);  // false: the operands have no readable form
  bool print_create(const Instr& i);
  bool print_alloc(const Instr& i);
  bool print_view(const Instr& i);
  bool print_ranges(const Instr& i, size_t imms_per_axis);
  bool print_phi(const Instr& i);
  bool print_shape_calc(const Instr& i);
  bool print_scalar_const(const Instr& i);
  bool print_scalar_calc(const Instr& i);
  bool print_call(const Instr& i);
  bool print_switch(const Instr& i);
  bool print_return(const Instr& i);
  bool print_spec(const Instr& i);
  void print_raw(const Instr& i);

  std::string dim(Dim d) const { return dims_.context().to_string(dims_.canonical(d)); }
  std::string dim_list(const std::vector<Dim>& list, size_t from = 0) const;
  std::string reg_list(const std::vector<Reg>& list) const;
  std::string tensor_type(const TensorType& t) const;
  std::string type(const RegType& t) const;
  std::string constant_name(size_t index) const;
  const RegType& type_of(Reg r) const { return f_->regs[static_cast<size_t>(r)].type; }
  bool has_regs(const Instr& i) const;

  const Module& module_;
  DisassembleOptions options_;
  DimTable dims_;
  std::string out_;
  std::vector<bool> unique_constant_;  // its name alone finds it
  SymbolId next_register_symbol_ = 0;
  const Function* f_ = nullptr;
  std::vector<bool> defined_;  // of f_, in the text so far
};

/// `name`, or in quotes if it isn't a plain name.
std::string name_text(std::string_view name);

}  // namespace msvm
