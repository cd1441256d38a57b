#pragma once
#include <cstdint>
#include <string>

namespace msvm::observe {

/// "2026-11-30T12:34:56.123456Z", from nanoseconds since 1970 UTC. Years beyond 9999 and before 0 are cut.
std::string time_text(int64_t wall_ns);

}  // namespace msvm::observe
