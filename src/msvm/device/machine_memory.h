// How much memory there is.
#pragma once
#include <cstdint>

namespace msvm {

/// Bytes of the machine, or of the container if that has less. Asking for more gets a process killed, not an error.
int64_t machine_memory();

}  // namespace msvm
