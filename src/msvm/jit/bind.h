// Values of entry symbols from the sizes of the inputs, as a run would give them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/jit/regions.h"

namespace msvm::jit {

/// Symbols of the function's inputs: sizes of tensor inputs by name; inputs that aren't in it keep their symbols without a value.
class InputSizes {
 public:
  /// Fails where sizes contradict the declaration: rank, constants, repeated symbols, declared ranges.
  static Result<InputSizes> bind(const FunctionView& view, const std::map<std::string, std::vector<int64_t>>& sizes);
  std::optional<int64_t> value(SymbolId s) const;

 private:
  std::map<SymbolId, int64_t> values_;
};

/// None if a symbol of the region is known only at run time, or belongs to an input without sizes; `unknown` says which.
std::optional<std::vector<int64_t>> entry_values(const Region& region, const InputSizes& sizes, size_t* unknown = nullptr);

}  // namespace msvm::jit
