// A function of one module as part of another: calls of loaded programs within compiled functions.
#pragma once
#include <vector>

#include "msvm/bytecode/builder.h"

namespace msvm {

/// An argument or result: a tensor, list, f64 or bool register, or an i64 as a size.
struct InlineValue {
  Reg reg = kNoReg;
  Dim dim;
};

/// Appends the instructions of `callee`'s function to the builder's current block and those that it opens, and goes on where the function
/// returns. Arguments by position; tensors are narrowed to what the inputs declare, and what is declared of their symbols is checked.
/// `callee` must be verified. Its constants are shared. Refuses kinds, dtypes and ranks that don't fit; then the builder is of no use.
Result<std::vector<InlineValue>> inline_function(FunctionBuilder& fb, const Module& callee, const std::vector<InlineValue>& arguments, int32_t function = 0);

}  // namespace msvm
