// Moments as text.
#pragma once
#include <cstdint>
#include <string>

namespace msvm {

/// ISO 8601 in UTC, from nanoseconds since 1970, cut to so many digits of a second: "2026-11-30T12:34:56.123456Z" with 6, no dot with 0.
std::string utc_text(int64_t wall_ns, int digits);

}  // namespace msvm
