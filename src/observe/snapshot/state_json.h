// A snapshot as the JSON of /api/v1/state; docs/state.md describes it. Private to the room.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "observe/snapshot/process.h"
#include "observe/snapshot/snapshot.h"

namespace msvm::observe {

/// `alerts`: a JSON array, as somebody gave it. Always valid UTF-8, whatever files named things.
std::string state_json(const Snapshot& s, const ProcessFacts& process, bool tracing, const nlohmann::json& alerts);
/// Of any value of this room.
std::string dump(const nlohmann::json& value);

}  // namespace msvm::observe
