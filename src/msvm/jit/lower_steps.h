// The operators that are one step of a loop program.
#pragma once
#include <string_view>

#include "msvm/loops/loop_program.h"

namespace msvm::jit::lowering {

/// The step with the bits of the interpreter's kernel for a first input of this dtype, or null.
const loops::Op* single_step(std::string_view op, DType type);

}  // namespace msvm::jit::lowering
