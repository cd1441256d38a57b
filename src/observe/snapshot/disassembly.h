// Machine code of an entry, as JSON. Private to the room.
#pragma once
#include "msvm/engine/engine.h"

namespace msvm::observe {

/// `entry`: its name or alias, as the state has it.
Result<std::string> disassembly_json(const Executable& program, int32_t function, int32_t region, std::string_view entry);

}  // namespace msvm::observe
