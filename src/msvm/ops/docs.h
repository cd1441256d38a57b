// The reference page of the operators, written from the table, and what it is made of.
#pragma once
#include <string>

#include "msvm/ops/schema.h"

namespace msvm {

/// docs/operators.md as Markdown.
std::string operator_docs();

/// "Conv(X, W, B?) -> Y"
std::string op_signature(const OpSchema& op);
/// "X, B: a float (one for all); -> Y: that of X"
std::string op_dtypes(const OpSchema& op);

}  // namespace msvm
