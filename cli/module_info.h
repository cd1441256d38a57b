// What a program holds, as data.
#pragma once
#include <string>

#include "msvm/verify/verify.h"

namespace msvm::cli {

/// What `info --json` prints.
std::string module_info(const VerifiedModule& v, const std::string& path);

}  // namespace msvm::cli
