// One walk over a row: a loop of several vectors, one of masked vectors or of single elements for what is left.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <map>
#include <vector>

#include "msvm/jit/compiler/reduction.h"
#include "msvm/jit/compiler/source_lines.h"
#include "msvm/jit/compiler/tensors.h"
#include "msvm/loops/loop_program.h"

namespace msvm::compiler {

/// What the passes of a kernel share.
struct KernelState {
  llvm::IRBuilder<>& b;
  const loops::Kernel& kernel;
  int lanes;                      // of a vector
  bool masks_all;                 // masked loads and stores of every width; else of 4 and 8 bytes
  std::vector<llvm::Value*> sizes;  // the arguments
  std::vector<RowOf> tensors;       // at the current row
  std::map<int32_t, std::pair<llvm::Value*, DType>> rows;  // row scalars
  SourceLines* lines = nullptr;     // that are told; null: nobody asks
};

class PassEmitter {
 public:
  PassEmitter(KernelState& state, const loops::Pass& pass) : k_(state), b_(state.b), pass_(pass) {}
  /// Arithmetic between two walks.
  void row_section();
  /// Columns [begin, end).
  void walk(llvm::Value* begin, llvm::Value* end);

 private:
  using Typed = std::pair<llvm::Value*, DType>;
  using Values = std::map<int32_t, Typed>;
  struct Loop {
    llvm::BasicBlock* block;
    llvm::PHINode* column;
    std::vector<llvm::PHINode*> sums;  // parts of reductions
  };

  llvm::BasicBlock* block(const char* name);
  llvm::Value* splat(llvm::Value* scalar, int lanes);
  Typed operand(const loops::Operand& o, DType type, int lanes, const Values& values);
  llvm::Value* step(const loops::Step& s, const Columns& at, const Values& values);
  /// Of a step, or of the pass: what belongs to none of its steps.
  template <class Part> void at_line_of(const Part& part) {
    if (k_.lines) k_.lines->at(b_, part);
  }
  void constant_steps();
  void steps(const Columns& at, std::span<llvm::Value*> sums);
  std::vector<llvm::Value*> starts(int lanes) const;
  void merge(std::span<llvm::Value*> into, std::span<llvm::Value* const> other);
  template <class Each>
  void each_reduction(const Each& each) const;
  Loop open(llvm::BasicBlock* from, llvm::Value* begin, const std::vector<llvm::Value*>& sums);
  void close(const Loop& loop, int64_t by, llvm::Value* end, const std::vector<llvm::Value*>& sums, llvm::BasicBlock* next);
  std::vector<llvm::Value*> join(const std::vector<llvm::Value*>& a, llvm::BasicBlock* from_a, const std::vector<llvm::Value*>& b, llvm::BasicBlock* from_b);
  llvm::Value* mask(llvm::Value* left);
  bool strided() const;
  bool masked_rest() const;
  int vectors_at_once() const;

  KernelState& k_;
  llvm::IRBuilder<>& b_;
  const loops::Pass& pass_;
  llvm::BasicBlock* enter_ = nullptr;            // before the loops: splats go to its end
  Values constant_;                              // values that are the same in all columns, as scalars
  std::map<llvm::Value*, llvm::Value*> splats_;
  std::vector<Reduction> reductions_;
  size_t parts_ = 0;                             // of all of them: as many values are carried by a loop
};

}  // namespace msvm::compiler
