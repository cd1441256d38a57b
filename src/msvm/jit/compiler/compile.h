// Loop programs to images of native code.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/jit/image.h"
#include "msvm/loops/loop_program.h"

namespace msvm::compiler {

/// "avx2" or "avx512".
Result<jit::ImageIsa> isa_from_name(std::string_view name);

enum class Stage { kEmit, kGenerate, kLayOut };

/// The image's kernels are those of the program, in its order; equal ones share their code. `enter` is told what begins. Not for
/// several threads at a time.
Result<std::vector<std::byte>> compile(const loops::Program& program, jit::ImageIsa isa, const std::function<void(Stage)>& enter = {});

/// For people: the IR, and the assembly with the kernels' names and the lines of the program as comments.
Result<std::string> compile_to_ir(const loops::Program& program, jit::ImageIsa isa);
Result<std::string> compile_to_assembly(const loops::Program& program, jit::ImageIsa isa);

}  // namespace msvm::compiler
