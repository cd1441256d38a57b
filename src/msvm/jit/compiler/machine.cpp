#include "msvm/jit/compiler/machine.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>

#include <array>

// Of llvm-c/Target.h, for the one target that is linked.
extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
}

namespace msvm::compiler {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

void set_up() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  // Passes that cost a third of the time and gain nothing on such loops; hoisting constants out of them fills the registers, while
  // instructions take them from memory for nothing.
  const std::array switches = {"msvm-cc", "-disable-lsr", "-enable-misched=0", "-enable-post-misched=0", "-post-RA-scheduler=0", "-disable-machine-licm"};
  llvm::cl::ParseCommandLineOptions(static_cast<int>(switches.size()), switches.data());
}

std::unique_ptr<llvm::TargetMachine> make(jit::ImageIsa isa) {
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // a fused multiply-add only where a formula says so
  // What device/cpu_features.h asks of these instruction sets, no more.
  const char* features = isa == jit::ImageIsa::kAvx512 ? "+avx2,+fma,+f16c,+avx512f,+avx512bw,+avx512dq,+avx512vl" : "+avx2,+fma,+f16c";
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, "x86-64", features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

}  // namespace

Result<llvm::TargetMachine*> target_machine(jit::ImageIsa isa) {
  static const bool ready = (set_up(), true);
  (void)ready;
  static const std::unique_ptr<llvm::TargetMachine> avx2 = make(jit::ImageIsa::kAvx2), avx512 = make(jit::ImageIsa::kAvx512);
  llvm::TargetMachine* machine = (isa == jit::ImageIsa::kAvx512 ? avx512 : avx2).get();
  if (!machine) return internal_error("this LLVM has no x86-64 target");
  return machine;
}

Result<llvm::SmallVector<char, 0>> generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> out;
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true)) return internal_error("LLVM cannot emit such a file");
  passes.run(module);
  return out;
}

}  // namespace msvm::compiler
