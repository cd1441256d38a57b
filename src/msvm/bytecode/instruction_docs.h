// The reference page of all instructions, written from the table.
#pragma once
#include <string>

namespace msvm {

/// docs/instructions.md (Markdown); tools/gen_instruction_docs writes it.
std::string instruction_docs();

}  // namespace msvm
