// Names and expressions of dimensions in ONNX files -> symbols.
#pragma once
#include <string>
#include <string_view>

#include "msvm/bytecode/builder.h"

namespace msvm::onnx {

/// `text` with whatever can't stand in a symbol's name replaced by `_`; never the name of a register ("R7").
std::string symbol_name(std::string_view text);

/// "batch", "4*h", "floor(h/2)": an expression over symbols of the module, made if need be; a text that is no such
/// expression becomes one symbol of its own. Invalid if nothing can be made of it.
Dim parse_dimension(ModuleBuilder& mb, std::string_view text);

}  // namespace msvm::onnx
