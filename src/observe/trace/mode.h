// How tiers are called.
#pragma once
#include <string_view>

#include "msvm/events/event.h"
#include "observe/snapshot/snapshot.h"

namespace msvm::observe {

inline bool has_mode(EventKind k) { return k == EventKind::kRun || k == EventKind::kRegion || k == EventKind::kCall || k == EventKind::kNative || k == EventKind::kCopy; }
inline std::string_view mode_name(int tier) { return kTierNames[tier]; }
inline std::string_view mode_name(const Event& e) { return has_mode(e.kind) ? mode_name(e.tier) : std::string_view(); }

}  // namespace msvm::observe
