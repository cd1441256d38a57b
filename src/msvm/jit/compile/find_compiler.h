#pragma once
#include <string>

#include "msvm/base/status.h"

namespace msvm::jit {

/// The path of the compiler program: `option` if it isn't empty, else the environment's MSVM_CC, else msvm-cc beside the running
/// executable, else beside the library that holds this code. kNotFound names the places where it isn't.
Result<std::string> find_compiler(const std::string& option);

}  // namespace msvm::jit
