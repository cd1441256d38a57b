// A dump of the flight recorder from a process that dies of a signal.
#pragma once
#include <string>

#include "observe/trace/flight.h"

namespace msvm::observe {

/// From now on a crash writes `path`. One at a time; null takes the handlers away. `flight` must live until then.
void dump_on_crash(const Flight* flight, const std::string& path);

}  // namespace msvm::observe
