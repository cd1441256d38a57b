// Programs as text: what loads and runs them, as opposed to what turns them into files.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/bytecode/module.h"

namespace msvm {

enum class TextLines : uint8_t {
  kNone,
  kAsDebugInfo,  // instructions without debug information of their own get their line of the text: findings and errors of a run show it
};

/// Instructions without debug information of their own get their line of the text `file`. `lines`: of AssembleResult.
void lines_as_debug_info(Module& module, const std::vector<std::vector<int32_t>>& lines, const std::string& file);

/// All errors of the text are in the Status' message. `name` is shown in them; files that constants refer to lie in its folder.
Result<Module> assemble_module(std::string_view text, const std::string& name, TextLines lines);
Result<Module> read_text_module(const std::string& path, TextLines lines);

}  // namespace msvm
