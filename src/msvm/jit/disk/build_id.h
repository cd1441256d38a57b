// Which build made a piece of code, and which runs.
#pragma once
#include <string>

namespace msvm::jit {

/// The linker's build id of an ELF file, in hex; of files without one size and time of change; "none" if there is no such file.
std::string build_id_of_file(const std::string& path);

/// That of the executable or library which holds this code.
std::string build_id_of_this_code();

/// Both, for keys: code that another build compiled, or another build would call, is other code.
std::string code_build(const std::string& compiler_path);

}  // namespace msvm::jit
