// Target-independent, shape-agnostic passes from module to module. What comes out is verified again before it runs.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "msvm/verify/verify.h"

namespace msvm {

/// Computes an operator on constants; the engine implements it with the reference kernels.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// `call` is an OP_CALL of one output whose inputs are all constants and whose type has constant sizes. Not kOk: stays a call.
  virtual Result<Constant> evaluate(const Instr& call, std::span<const Constant* const> inputs, const TensorType& output) = 0;
};

struct OptOptions {
  int level = 1;                    // 0: nothing changes
  bool fuse = true;                 // false: no epilogues, no groups of elementwise operators (enable_graph_kernel=False)
  bool layout = true;               // false: everything stays row-major
  std::vector<std::string> passes;  // only these, in this order (see pass_names()); empty: all of the level
};

/// In the order in which they run.
std::vector<std::string> pass_names();

/// The module that does the same with fewer and larger calls. Numbers may differ by rounding where products are folded or fused
/// (docs/optimizer.md has the bounds). Debug information leads back to all operators that an instruction came from. Symbols may be
/// added to the module's dimension context, which both modules share: nobody else may use it meanwhile.
Result<Module> optimize(const VerifiedModule& module, const OptOptions& options = {}, Evaluator* evaluator = nullptr);

}  // namespace msvm
