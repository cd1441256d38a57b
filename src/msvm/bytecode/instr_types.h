// Types of results that the instruction itself determines, so that text needn't state them.
#pragma once
#include <functional>
#include <optional>

#include "msvm/bytecode/module.h"

namespace msvm {

/// The type of a register, or null while it isn't known.
using KnownType = std::function<const RegType*(Reg)>;

/// What the canonical text leaves out: types that are visible in the instruction or its operands. None for views, PHIs, resized
/// tensors, lists and outputs of calls.
std::optional<RegType> visible_type(const Module& module, const Function& f, const Instr& i, const KnownType& known);

/// visible_type, and what can be computed besides: views, resized tensors, lists, PHIs of known inputs. Not an authority on
/// density: what isn't plainly dense counts as strided. None also for operands that don't fit.
std::optional<RegType> computed_type(const Module& module, const Function& f, const Instr& i, const KnownType& known);

/// The type of a view of `source`; none if the operands don't fit it or a size overflows.
std::optional<TensorType> view_type(DimContext& dims, const TensorType& source, const Instr& view);

}  // namespace msvm
