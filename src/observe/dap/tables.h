// ms.vm.NAME() of the debug console: tables about the programs of the process, running or not. Private to the room.
#pragma once
#include "observe/dap/state.h"

namespace msvm::observe::dap {

/// The name in "ms.vm.jit_info()"; nothing if the text isn't of that form.
std::optional<std::string> table_name(std::string_view expression);

struct ConsoleTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string empty;           // what is shown without rows
  std::string text() const;    // aligned
};
/// The error names those that there are.
Result<ConsoleTable> console_table(State& s, const std::string& name);
/// "ms.vm.jit_info()", what it tells.
const std::vector<std::pair<std::string, std::string>>& console_tables();

/// Source::state() of the process.
Result<Json> process_state(State& s);

}  // namespace msvm::observe::dap
