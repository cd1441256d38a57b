// The equation of Einsum, taken apart.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm {

/// Labels of one tensor's axes; `...` is one '.' among them, and stands for the axes left over (possibly none).
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;  // explicit, or by the rule: '.' if any input has one, then labels that occur once, in alphabetical order
};

/// Checks the form: letters, one ellipsis a term, one term for each input, output labels that occur once and come from inputs.
Result<EinsumEquation> parse_einsum(std::string_view equation, size_t num_inputs);

}  // namespace msvm
