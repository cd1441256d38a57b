// What a program tells about itself, as dicts and lists: native code, kernels, Shape Convergence Degree.
#pragma once
#include "executable.h"

namespace msvm::python {

void bind_reports(nb::module_& m, nb::class_<PyExecutable>& executable);

}  // namespace msvm::python
