#include "msvm/jit/compiler/compile.h"

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <map>

#include "msvm/jit/compiler/kernel_emitter.h"
#include "msvm/jit/compiler/layout.h"
#include "msvm/jit/compiler/machine.h"
#include "msvm/jit/compiler/source_lines.h"

namespace msvm::compiler {
namespace {

struct Unit {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::vector<std::string> names;  // of each kernel's function
  std::unique_ptr<SourceLines> lines;
};

/// Functions by the kernels' own names are for people; those of images are numbered.
Status emit(Unit& unit, const loops::Program& program, jit::ImageIsa isa, llvm::TargetMachine& machine, bool named, bool lines = true) {
  MSVM_RETURN_IF_ERROR(loops::check(program));
  unit.context.setDiscardValueNames(!named);
  unit.module = std::make_unique<llvm::Module>("loops", unit.context);
  unit.module->setTargetTriple(machine.getTargetTriple().str());
  unit.module->setDataLayout(machine.createDataLayout());
  if (lines) unit.lines = std::make_unique<SourceLines>(*unit.module, program);
  std::map<std::string, std::string> known;  // text of a kernel without its name to its function
  for (const loops::Kernel& kernel : program.kernels) {
    loops::Program alone{{kernel}};
    alone.kernels[0].name = "k";
    auto [at, fresh] = known.try_emplace(loops::print(alone), named ? kernel.name : fmt::format("k{}", unit.names.size()));
    if (fresh) at->second = emit_kernel(*unit.module, kernel, isa, at->second, unit.lines.get())->getName().str();
    unit.names.push_back(at->second);
  }
  if (unit.lines) unit.lines->finish();
#ifndef NDEBUG
  std::string why;
  llvm::raw_string_ostream stream(why);
  if (llvm::verifyModule(*unit.module, &stream)) return internal_error("wrong IR: " + why);
#endif
  return {};
}

}  // namespace

Result<jit::ImageIsa> isa_from_name(std::string_view name) {
  if (name == "avx2") return jit::ImageIsa::kAvx2;
  if (name == "avx512") return jit::ImageIsa::kAvx512;
  return invalid_argument(fmt::format("instruction set \"{}\": expected avx2 or avx512", name));
}

Result<std::vector<std::byte>> compile(const loops::Program& program, jit::ImageIsa isa, const std::function<void(Stage)>& enter) {
  auto tell = [&](Stage stage) {
    if (enter) enter(stage);
  };
  tell(Stage::kEmit);
  MSVM_ASSIGN_OR_RETURN(llvm::TargetMachine* const machine, target_machine(isa));
  Unit unit;
  MSVM_RETURN_IF_ERROR(emit(unit, program, isa, *machine, false));
  tell(Stage::kGenerate);
  MSVM_ASSIGN_OR_RETURN(const auto object, generate(*unit.module, *machine, llvm::CodeGenFileType::ObjectFile));
  tell(Stage::kLayOut);
  MSVM_ASSIGN_OR_RETURN(const Layout layout, lay_out(object, unit.names));
  if (layout.code.size() > jit::kMaxCodeBytes) return resource_limit(fmt::format("{} bytes of code, the limit is {}", layout.code.size(), jit::kMaxCodeBytes));
  return jit::encode_image({isa, layout.offsets, layout.code, layout.lines});
}

Result<std::string> compile_to_ir(const loops::Program& program, jit::ImageIsa isa) {
  MSVM_ASSIGN_OR_RETURN(llvm::TargetMachine* const machine, target_machine(isa));
  Unit unit;
  MSVM_RETURN_IF_ERROR(emit(unit, program, isa, *machine, true, false));
  std::string text;
  llvm::raw_string_ostream stream(text);
  unit.module->print(stream, nullptr);
  return text;
}

Result<std::string> compile_to_assembly(const loops::Program& program, jit::ImageIsa isa) {
  MSVM_ASSIGN_OR_RETURN(llvm::TargetMachine* const machine, target_machine(isa));
  Unit unit;
  MSVM_RETURN_IF_ERROR(emit(unit, program, isa, *machine, true));
  MSVM_ASSIGN_OR_RETURN(const auto text, generate(*unit.module, *machine, llvm::CodeGenFileType::AssemblyFile));
  return unit.lines->annotate({text.data(), text.size()});
}

}  // namespace msvm::compiler
