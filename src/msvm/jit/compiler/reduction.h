// A reduction in the making: the values that its loop carries.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <span>
#include <vector>

#include "msvm/loops/loop_program.h"

namespace msvm::compiler {

/// Extremes of floats carry a flag beside the extreme: whether there was a NaN. So the extreme itself takes one instruction. Others carry
/// one value. All spans hold parts() values, vectors of `lanes` or scalars.
class Reduction {
 public:
  /// `flags_are_bits`: masks of lanes are values like others; else flags are words.
  Reduction(const loops::Step& step, bool flags_are_bits) : step_(&step), flags_are_bits_(flags_are_bits) {}
  const loops::Step& step() const { return *step_; }
  size_t parts() const { return flagged() ? 2 : 1; }
  /// Appended to `to`: what it starts with.
  void start(llvm::LLVMContext& context, int lanes, std::vector<llvm::Value*>& to) const;
  /// Takes an element in; not where the mask (may be null) excludes it.
  void add(llvm::IRBuilderBase& b, llvm::Value* element, llvm::Value* mask, std::span<llvm::Value*> parts) const;
  void merge(llvm::IRBuilderBase& b, std::span<llvm::Value*> into, std::span<llvm::Value* const> other) const;
  /// From vectors to scalars, halves onto halves.
  void across_lanes(llvm::IRBuilderBase& b, std::span<llvm::Value*> parts) const;
  /// Of scalar parts.
  llvm::Value* result(llvm::IRBuilderBase& b, std::span<llvm::Value* const> parts) const;

 private:
  bool flagged() const;
  llvm::Value* combine(llvm::IRBuilderBase& b, llvm::Value* x, llvm::Value* so_far) const;
  llvm::Type* flag_type(llvm::Type* value) const;

  const loops::Step* step_;
  bool flags_are_bits_;
};

}  // namespace msvm::compiler
