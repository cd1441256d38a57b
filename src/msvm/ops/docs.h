// The reference page of the operators, written from the table.
#pragma once
#include <string>

namespace msvm {

/// docs/operators.md as Markdown.
std::string operator_docs();

}  // namespace msvm
