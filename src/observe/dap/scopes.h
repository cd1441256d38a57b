// What a frame holds, as variables. Private to the room.
#pragma once
#include "observe/dap/state.h"

namespace msvm::observe::dap {

/// The protocol's Scopes of a frame.
Result<Json> scopes_of(State& s, const Frame& frame);
/// A register, or an operand of a call, as a row; `name` as it is shown.
Json register_row(State& s, debug::FrameRef frame, const debug::RegisterView& r, std::string name);
/// What an expression gave, as a row.
Json value_row(State& s, debug::FrameRef frame, const debug::Value& value, std::string name, const std::string& expression);
/// Rows that are there already, to unfold; 0 if there are none.
int64_t unfolding(State& s, debug::ThreadId thread, std::vector<Json> rows);
/// A row that unfolds nothing.
Json plain_row(std::string name, std::string value, std::string type = {});

}  // namespace msvm::observe::dap
