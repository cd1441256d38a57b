// LLVM's code generator for this project's targets.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "msvm/base/status.h"
#include "msvm/jit/image.h"

namespace msvm::compiler {

/// Once per process; sets LLVM's global switches. Null with an error if LLVM lacks the target. Not for several threads.
Result<llvm::TargetMachine*> target_machine(jit::ImageIsa isa);

/// Runs the code generator alone: the IR is vectors already, so the mid-level optimiser has nothing to add. The module is changed.
Result<llvm::SmallVector<char, 0>> generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type);

}  // namespace msvm::compiler
