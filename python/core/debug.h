// The debug server of the process, as Python starts it, and what it asks of Python.
#pragma once
#include "common.h"
#include "msvm/base/diagnostic.h"

namespace msvm::python {

void bind_debug(nb::module_& m);

/// What the verifier has found in the module that this thread has loaded last; nothing if it was fine.
void keep_findings(Diagnostics findings);
/// They go to the debugger that is attached, if there are any.
void tell_verification_failed(const std::string& name);

}  // namespace msvm::python
