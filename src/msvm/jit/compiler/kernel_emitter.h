// A kernel of a loop program as a function of LLVM's IR.
#pragma once
#include <llvm/IR/Module.h>

#include <string>

#include "msvm/jit/image.h"
#include "msvm/loops/loop_program.h"

namespace msvm::compiler {

class SourceLines;

/// Adds the function `name` to the module; the kernel passed loops::check(). `lines`, if there are any, learn of it.
llvm::Function* emit_kernel(llvm::Module& module, const loops::Kernel& kernel, jit::ImageIsa isa, const std::string& name, SourceLines* lines = nullptr);

}  // namespace msvm::compiler
