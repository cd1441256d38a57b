// Which build made a piece of code, and which runs.
#pragma once
#include <string>
#include <string_view>

namespace msvm::jit {

/// The linker's build id of an ELF file, in hex; of files without one size and time of change; "none" if there is no such file.
std::string build_id_of_file(const std::string& path);

/// Of the sources and flags that this code was built from: the same in all programs and libraries of one build.
std::string build_id_of_this_code();

/// Both, for keys: code that another build compiled, or another build would call, is other code.
std::string code_build(const std::string& compiler_path);

/// Whether code that says `made_for` is code for `here`, both of code_build(). Where there is no compiler ("none" in `here`) any may have
/// made it: the code that will call it is the same, and nothing here could make other.
bool code_build_serves(std::string_view made_for, std::string_view here);

}  // namespace msvm::jit
