// What comes in: kinds, dtypes, ranks and sizes of a run's inputs. Private to the room.
#pragma once
#include <span>

#include "msvm/vm/code.h"
#include "msvm/vm/session.h"

namespace msvm::vm {

/// Checks every input against its declared type, binds the symbols of their sizes and puts scalars into their slots.
Status bind_inputs(const Module& module, const Function& f, std::span<const Value> inputs, int64_t* scalars);

}  // namespace msvm::vm
