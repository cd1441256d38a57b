// Monitors of the process, as Python starts them.
#pragma once
#include "common.h"

namespace msvm::python {

void bind_monitor(nb::module_& m);

}  // namespace msvm::python
