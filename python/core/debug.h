// The debug server of the process, as Python starts it, and what it asks of Python.
#pragma once
#include "common.h"

namespace msvm::python {

void bind_debug(nb::module_& m);

}  // namespace msvm::python
