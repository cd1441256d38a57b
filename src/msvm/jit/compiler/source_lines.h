// Which line of a loop program's text each instruction comes from: debug locations, for people who read the code.
#pragma once
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>

#include <map>
#include <string>

#include "msvm/loops/loop_program.h"

namespace msvm::compiler {

/// Of one module and one program, which must outlive it. Lines are those of loops::print().
class SourceLines {
 public:
  SourceLines(llvm::Module& module, const loops::Program& program);
  /// What follows belongs to this function, for now to the line that begins the kernel, which is one of the program's.
  void enter(llvm::IRBuilderBase& b, llvm::Function& f, const loops::Kernel& kernel);
  void at_kernel(llvm::IRBuilderBase& b) const { set(b, kernel_line_); }
  void at(llvm::IRBuilderBase& b, const loops::Pass& pass) const { set(b, passes_.at(&pass)); }
  void at(llvm::IRBuilderBase& b, const loops::Step& step) const { set(b, steps_.at(&step)); }
  /// When all functions are there.
  void finish() { builder_.finalize(); }
  /// The assembly of that module with the lines as comments above their instructions, without directives that only tools need.
  std::string annotate(std::string_view assembly) const;

 private:
  void set(llvm::IRBuilderBase& b, unsigned line) const { b.SetCurrentDebugLocation(llvm::DILocation::get(b.getContext(), line, 0, function_)); }

  llvm::DIBuilder builder_;
  llvm::DIFile* file_;
  std::vector<std::string> text_;                  // by line, from 1
  std::map<const loops::Step*, unsigned> steps_;
  std::map<const loops::Pass*, unsigned> passes_;
  std::map<const loops::Kernel*, unsigned> kernels_;
  llvm::DISubprogram* function_ = nullptr;
  unsigned kernel_line_ = 0;
};

}  // namespace msvm::compiler
