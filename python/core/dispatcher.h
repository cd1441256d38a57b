// `_core.Dispatcher`: calls a compiled program that fits the arguments, or asks Python for one.
#pragma once
#include "common.h"

namespace msvm::python {

void bind_dispatcher(nb::module_& m);

}  // namespace msvm::python
