// The optimiser wired to the kernels: verify -> optimise -> verify.
#pragma once
#include <memory>

#include "msvm/opt/optimize.h"

namespace msvm {

/// Verifies, runs the passes (constants are folded with this build's kernels on the calling thread) and verifies what comes out. Findings
/// of the given module are its own, also in `findings` where it is not null; a finding of the optimised one is an internal error.
Result<std::shared_ptr<const VerifiedModule>> verify_and_optimize(Module module, const OptOptions& options = {}, Diagnostics* findings = nullptr);

}  // namespace msvm
