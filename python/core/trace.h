// Traces: the event stream of the process, kept in files and in memory.
#pragma once
#include "common.h"

namespace msvm::python {

void bind_trace(nb::module_& m);

}  // namespace msvm::python
