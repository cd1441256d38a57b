// One step of a loop program as instructions, on a scalar or a vector.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <array>

#include "msvm/loops/loop_program.h"

namespace msvm::compiler {

/// Of values: f16 and bf16 don't occur. lanes 1: a scalar.
llvm::Type* value_type_of(llvm::LLVMContext& context, DType type, int lanes);

/// Any step but Load, Store, Index and reductions, with the bits of loops::evaluate. `source`: the operands' type of comparisons and casts.
/// May continue in a new block.
llvm::Value* emit_step(llvm::IRBuilderBase& b, loops::Op op, DType type, DType source, const std::array<llvm::Value*, 3>& operands);

/// About how many instructions a step takes.
int step_cost(loops::Op op);

}  // namespace msvm::compiler
