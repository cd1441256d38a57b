// `.msasm`: the text form. assemble(disassemble(m)) writes the identical file. docs/assembly.md describes it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/diagnostic.h"
#include "msvm/bytecode/module.h"

namespace msvm {

struct DisassembleOptions {
  bool offsets = false;                // "; 0x2a" after each instruction
  bool debug = true;                   // "; model.py:12" (read back as debug information)
  size_t max_inline_bytes = SIZE_MAX;  // larger constants print as `data(elided)`; such text can't be assembled
};
/// Every module that can be written can be printed and read back, whether it makes sense or not. Expressions nested more than
/// 64 deep are printed, but not read.
std::string disassemble(const Module& module, const DisassembleOptions& options = {});

struct AssembleResult {
  Module module;
  Diagnostics errors;  // with line and column; all of a file (the first thousand), not just the first. Empty = success
  /// [function][instruction, counted over blocks in order]: its line, so that findings of the verifier can be shown there.
  std::vector<std::vector<int32_t>> instruction_lines;
};
/// Checks the text, not the program: what can be written down but makes no sense is verify()'s matter.
/// `directory`: where `data("file", offset, size)` constants are looked up; paths can't leave it. Empty: there
/// are none.
AssembleResult assemble(std::string_view text, const std::string& file_name = "", const std::string& directory = "");

/// How an instruction is written: "Rd: type = TENSOR_RESIZE Rs, axis, size".
std::string_view instr_syntax(Opcode op);

}  // namespace msvm
