// The reference page of all instructions, written from the table, and what it is made of.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "msvm/bytecode/instruction.h"

namespace msvm {

/// docs/instructions.md (Markdown); tools/gen_instruction_docs writes it.
std::string instruction_docs();

/// "results: 1; registers read: 0 to 1; sizes: 0 or more": fields that the instruction has; "none".
std::string operands_text(const InstrInfo& i);
/// "ends a block, may fail at run time"; may be empty.
std::string flags_text(const InstrInfo& i);
/// What the operands of a kind mean: "immediates: the permutation; …"; may be empty.
std::string_view sub_doc(SubTable t, uint8_t sub);
/// The forms in which the instruction is written.
std::vector<std::string_view> instr_syntaxes(Opcode op);

}  // namespace msvm
