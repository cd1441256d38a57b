// Bytes to responses without a socket: what the server does with them, for tests and fuzzing.
#pragma once
#include <string_view>

#include "observe/monitor/gate.h"

namespace msvm::observe {

/// The response to the first request in `bytes`, with all its headers, as it would go over the wire.
std::string respond(std::string_view bytes, const Site& site);

}  // namespace msvm::observe
