// What would help: sentences. Private to the room.
#pragma once
#include <string>

#include "msvm/jit/native/jit_view.h"

namespace msvm::observe {

inline constexpr const char* kKernelMend = "`msvm explain` lists the kernels and why they can't serve; a capability patch may have taken them out";

/// For a reason of the slow path.
std::string fallback_mend(const std::string& reason);

/// Whether buckets would help a region: a sentence with boundaries to try, for the symbol whose sizes vary most; empty if they wouldn't:
/// the sizes seen are few, or even buckets see too few runs each.
std::string bucket_advice(const JitRegionView& region);

}  // namespace msvm::observe
