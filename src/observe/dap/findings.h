// Findings about a program, as the event that tells of them.
#pragma once
#include "msvm/base/diagnostic.h"
#include "observe/dap/json.h"

namespace msvm::observe::dap {

/// Body of msvm/verificationFailed; `name`: of the program, or its file.
Json verification_failed(const std::string& name, const Diagnostics& findings);

}  // namespace msvm::observe::dap
