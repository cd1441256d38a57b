#include "msvm/jit/compiler/compile_request.h"

#include "msvm/jit/compiler/compile.h"

namespace msvm::compiler {

Result<std::vector<std::byte>> compile_request(const jit::CompileRequest& request, jit::PhaseReporter& phases) {
  phases.enter(jit::Phase::kParse);
  MSVM_ASSIGN_OR_RETURN(const jit::ImageIsa isa, isa_from_name(request.target.substr(0, request.target.find(' '))));
  MSVM_ASSIGN_OR_RETURN(const loops::Program program, loops::parse(request.program));
  return compile(program, isa, [&](Stage stage) {
    switch (stage) {
      case Stage::kEmit: return phases.enter(jit::Phase::kOptimize);
      case Stage::kGenerate: return phases.enter(jit::Phase::kCodeGen);
      case Stage::kLayOut: return;  // a hundredth of the time
    }
  });
}

}  // namespace msvm::compiler
