// The tables of instructions and operators.
#pragma once
#include <string>

namespace msvm::cli {

/// `{"dtypes": …, "instructions": …, "operators": …}`, an entry a line. The editor's copy is vscode/language/tables.json.
std::string tables_json();
std::string tables_text();

}  // namespace msvm::cli
