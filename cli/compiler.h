// The compiler process by hand: loop programs to text that people read.
#pragma once
#include <string>
#include <string_view>

#include "msvm/base/status.h"

namespace msvm::cli {

enum class CompilerText { kIr, kAssembly };

/// What msvm-cc prints for the text of a loop program. `compiler` and `isa` may be empty: where it is found, and this machine's.
Result<std::string> run_compiler(std::string_view loops, CompilerText text, const std::string& compiler, const std::string& isa);

}  // namespace msvm::cli
