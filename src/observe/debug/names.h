// Names of an expression before anything runs. Private to the room.
#pragma once
#include "msvm/bytecode/module.h"
#include "observe/debug/expression.h"

namespace msvm::observe::debug {

/// "R3"; nothing: it is another name. The register may not be there.
std::optional<Reg> register_number(std::string_view name);
/// Not those that stand for registers.
std::optional<SymbolId> find_symbol(std::string_view name, const DimContext& dims);
Status no_such_name(const Expression& name, const Function& f);
/// An error if no run of the function will ever know what a name of the expression is.
Status known_names(const Expression& e, const Function& f, const DimContext& dims);

}  // namespace msvm::observe::debug
