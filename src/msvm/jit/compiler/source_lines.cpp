#include "msvm/jit/compiler/source_lines.h"

#include <fmt/format.h>
#include <llvm/IR/Module.h>

#include <array>
#include <charconv>

namespace msvm::compiler {
namespace {

template <class Visit> void for_each_line(std::string_view text, Visit visit) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    visit(text.substr(at, end - at));
    at = end + 1;
  }
}

std::string_view trimmed(std::string_view s) {
  const size_t begin = s.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : s.substr(begin);
}

/// Of unwinding, debuggers and the linker.
bool for_tools(std::string_view line) {
  constexpr std::array kPrefixes = {".cfi_", ".file", ".type", ".size", ".globl", ".ident", ".addrsig", ".Ltmp", ".Lfunc_", ".Lsec_end"};
  for (const std::string_view p : kPrefixes)
    if (line.starts_with(p)) return true;
  return line.starts_with(".section\t\".note");
}

}  // namespace

SourceLines::SourceLines(llvm::Module& module, const loops::Program& program) : builder_(module), file_(builder_.createFile("loops", "")), text_(1) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  builder_.createCompileUnit(llvm::dwarf::DW_LANG_C, file_, "msvm-cc", true, "", 0, "", llvm::DICompileUnit::DebugDirectivesOnly);
  for_each_line(loops::print(program), [&](std::string_view line) { text_.emplace_back(line); });
  unsigned line = 2;  // behind the version
  for (const loops::Kernel& kernel : program.kernels) {
    kernels_[&kernel] = line;
    line += 3 + static_cast<unsigned>(kernel.tensors.size());  // kernel, outer, inner, strides
    for (const loops::Pass& pass : kernel.passes) {
      passes_[&pass] = line++;
      for (const loops::Step& step : pass.steps) steps_[&step] = line++;
    }
  }
}

void SourceLines::enter(llvm::IRBuilderBase& b, llvm::Function& f, const loops::Kernel& kernel) {
  kernel_line_ = kernels_.at(&kernel);
  llvm::DISubroutineType* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  function_ = builder_.createFunction(file_, f.getName(), "", file_, kernel_line_, type, kernel_line_, llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  f.setSubprogram(function_);
  at_kernel(b);
}

std::string SourceLines::annotate(std::string_view assembly) const {
  std::string out;
  size_t shown = 0;
  for_each_line(assembly, [&](std::string_view whole) {
    const std::string_view line = trimmed(whole);
    if (line.starts_with(".loc\t")) {
      size_t number = 0;
      const size_t at = line.find(' ');  // behind the file
      if (at == std::string_view::npos) return;
      std::from_chars(line.data() + at + 1, line.data() + line.size(), number);
      if (number == 0 || number >= text_.size() || number == shown) return;
      shown = number;
      out += fmt::format("    # {}\n", trimmed(text_[number]));
      return;
    }
    if (for_tools(line)) return;
    if (line.ends_with(':') || line.find(": ") != std::string_view::npos) shown = 0;  // a label: jumps come from elsewhere
    out += std::string(whole) + "\n";
  });
  return out;
}

}  // namespace msvm::compiler
