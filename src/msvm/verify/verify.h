// The one gate: only verify() makes a VerifiedModule, and only that runs.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "msvm/base/diagnostic.h"
#include "msvm/base/status.h"
#include "msvm/bytecode/module.h"
#include "msvm/ops/registered.h"
#include "msvm/shape/constraints.h"

namespace msvm {

/// A condition that could not be proved: evaluated right before the instruction runs (after, for facts about what it defines).
struct RuntimeCheck {
  int32_t instruction;      // index within the function, counted over blocks in order
  bool after = false;       // true: after the instruction (sizes bound by `new` outputs, ranges of new symbols)
  DimCondition condition;   // over symbols bound at that point
  DiagCode code;
  std::string what;         // "height of input 1 equals height of input 0"
};

/// An output of a call, or an input of the function, whose actual metadata must be compared with its declared type at run
/// time: each dimension that is a bare symbol not yet bound binds it, every other one is checked.
struct FunctionFacts {
  std::vector<RuntimeCheck> checks;             // sorted by instruction
  std::vector<int32_t> block_start;             // instruction index of each block's first instruction
  std::vector<uint8_t> entry_symbol;            // by SymbolId: 1 if bound by the inputs (TENSOR_CREATE input, SCALAR_INPUT)
  std::vector<Dim> reg_value;                   // i64 registers: canonical value over named and opaque register symbols
  size_t proved = 0, planned = 0;               // conditions by outcome
};

class VerifiedModule {
 public:
  const Module& module() const { return *module_; }
  const FunctionFacts& facts(int32_t function) const { return facts_[function]; }
  /// Registered operators that it calls, as they were when it was verified; by name.
  const std::map<std::string, RegisteredOperator, std::less<>>& operators() const { return operators_; }

 private:
  friend struct Verifier;
  VerifiedModule() = default;
  std::shared_ptr<const Module> module_;
  std::vector<FunctionFacts> facts_;
  std::map<std::string, RegisteredOperator, std::less<>> operators_;
};

struct VerifyResult {
  std::shared_ptr<const VerifiedModule> module;  // null if there are errors
  Diagnostics errors;                            // all of the file
};

/// Takes the module over. Linear in its size.
VerifyResult verify(Module module);

/// The first line of a failed verification, and all findings, as one Status.
Status to_status(const Diagnostics& errors);

}  // namespace msvm
