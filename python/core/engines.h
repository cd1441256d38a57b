// The engines of the process.
#pragma once
#include <memory>

#include "common.h"
#include "msvm/engine/engine.h"

namespace msvm::python {

/// The engine with these options; made at first use, kept. Patches of the capability database that the process was given are in it. Needs
/// the GIL.
std::shared_ptr<Engine> engine_for(const EngineOptions& options = {});
void bind_engines(nb::module_& m);

}  // namespace msvm::python
