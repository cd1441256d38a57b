// The compiler's answer to a request of the compiler protocol.
#pragma once
#include "msvm/jit/compile/compiler_protocol.h"

namespace msvm::compiler {

/// The target begins with the name of the instruction set; what follows after a space, and the flags, only distinguish caches.
Result<std::vector<std::byte>> compile_request(const jit::CompileRequest& request, jit::PhaseReporter& phases);

}  // namespace msvm::compiler
