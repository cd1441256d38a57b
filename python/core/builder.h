// How Python makes programs: ModuleBuilder and Emitter, for one function at a time.
#pragma once
#include "msvm/bytecode/builder.h"
#include "msvm/emit/emitter.h"
#include "dtypes.h"

namespace msvm::python {

/// A finished program that nobody has verified.
struct PyModule {
  Module module;
};

void bind_builder(nb::module_& m);

}  // namespace msvm::python
