// What the user should know, each with what would help. Private to the room.
#pragma once
#include "observe/snapshot/snapshot.h"

namespace msvm::observe {

struct Warning {
  Time time;
  std::string kind;      // "fallback", "kernel", "capability", "hit_rate", "memory"
  std::string severity;  // "error", "warning", "info"
  std::string program, region, place;
  std::string text, mend;
};

/// Newest first.
std::vector<Warning> warnings_of(const Snapshot& s);

}  // namespace msvm::observe
