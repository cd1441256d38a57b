// The text form of dimension expressions: "2*H + ceildiv(W, 2) - 1".
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "msvm/base/status.h"
#include "msvm/shape/dim.h"

namespace msvm {

/// Gives the expression of a name (`H`, `R7`, `"odd name"` without its quotes); an invalid Dim if it is unknown.
using DimResolver = std::function<Dim(std::string_view name)>;

struct ParsedDim {
  Dim dim;                 // invalid if there is an error
  size_t end = 0;          // offset of the first character that isn't part of the expression; of the error if there is one
  std::string error;       // empty if none
};

/// Reads the longest expression at `text[from]`, after blanks. Operators: + - * // %, floordiv, ceildiv, mod, min, max, bcast
/// (the last three take two or more operands), parentheses; a prefix `symbolic:` is read over. Nesting is limited.
ParsedDim parse_dim_prefix(std::string_view text, size_t from, DimContext& context, const DimResolver& resolve);

/// The whole of `text`; errors name the column, from 1.
Result<Dim> parse_dim(std::string_view text, DimContext& context, const DimResolver& resolve);
/// Names are the context's named symbols.
Result<Dim> parse_dim(std::string_view text, DimContext& context);

}  // namespace msvm
