// The two servers, and ids that say whose they are: debugpy's become even numbers, those of bytecode odd ones. Private to the room.
#pragma once
#include <cstdint>
#include <optional>

#include "observe/dap/json.h"

namespace msvm::observe::dap::merge {

enum class Side : uint8_t { kPython, kBytecode };
inline constexpr Side kSides[] = {Side::kPython, Side::kBytecode};

/// 0 means nothing on either side, and stays.
constexpr int64_t id_out(Side side, int64_t id) { return id > 0 && id < INT64_MAX / 2 ? 2 * id + static_cast<int64_t>(side) : id; }
constexpr Side side_of(int64_t id) { return id % 2 ? Side::kBytecode : Side::kPython; }
constexpr int64_t id_in(int64_t id) { return id > 0 ? id / 2 : id; }

/// Ids of frames, variables and sources in an answer or event of `side`, as the client sees them.
void ids_out(Side side, Json& body);
/// The reverse, in arguments. Threads aren't touched.
void ids_in(Json& arguments);
/// Whose frame, variable or source the arguments name; none: they name nothing.
std::optional<Side> side_named(const Json& arguments);

}  // namespace msvm::observe::dap::merge
