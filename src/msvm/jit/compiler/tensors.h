// Elements of tensors: where they lie, and loads and stores of one or of several lanes.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "msvm/loops/loop_program.h"

namespace msvm::compiler {

/// Consecutive columns of a row. One lane is a scalar; a mask says which lanes count.
struct Columns {
  int lanes = 1;
  llvm::Value* first = nullptr;  // i64
  llvm::Value* mask = nullptr;   // null: all
};

/// A tensor at a row: `row` points to its column 0, `stride` is that of the row in elements (null where it is 1).
struct RowOf {
  DType dtype;
  llvm::Value* row = nullptr;
  llvm::Value* stride = nullptr;
};

/// The value, f16 and bf16 as f32. Lanes that the mask excludes are 0 and not touched; only with stride 1.
llvm::Value* emit_load(llvm::IRBuilderBase& b, const RowOf& tensor, const Columns& at);
void emit_store(llvm::IRBuilderBase& b, const RowOf& tensor, const Columns& at, llvm::Value* value);

}  // namespace msvm::compiler
