// Operators whose kernels are Python callables or C functions, and where msvm.Print goes.
#pragma once
#include "common.h"

namespace msvm::python {

void bind_custom(nb::module_& m);

}  // namespace msvm::python
