// Which operators leave the outermost axis alone: element i along axis 0 of a result depends on element i of the inputs only.
#pragma once
#include <span>
#include <string_view>

#include "msvm/bytecode/instruction.h"
#include "msvm/shape/tensor_type.h"

namespace msvm::jit {

struct OuterOperand {
  const TensorType* type;  // null: absent, or no tensor
  bool carries;            // its axis 0 has an extent that might be free
};

/// False if the instruction reduces, reorders or mixes the outermost axis of what carries it, or may do so: an operator that isn't known
/// here does.
bool keeps_outer_axis(const Instr& instr, std::span<const OuterOperand> inputs, std::span<const OuterOperand> outputs);

/// Whether the first size argument of the operator is the extent of its result's axis 0 (where the two are equal) and serves for nothing else.
bool argument_is_outer_extent(std::string_view op);

}  // namespace msvm::jit
