// The engines of the process.
#pragma once
#include <map>
#include <memory>

#include "common.h"
#include "msvm/engine/engine.h"

namespace msvm::python {

/// The engine with so many threads; made at first use, kept. Needs the GIL.
std::shared_ptr<Engine> engine_for(int threads);
void bind_engines(nb::module_& m);

}  // namespace msvm::python
