// Every request of the protocol and of ours; requests.def is the table. Private to the room.
#pragma once
#include "observe/dap/state.h"

namespace msvm::observe::dap {

#define MSVM_REQUEST(command, handler, when) Result<Json> handler(State& s, const Arguments& a);
#include "observe/dap/requests.def"
#undef MSVM_REQUEST

/// A thread of the arguments.
Result<debug::ThreadId> thread_of(const Arguments& a);
/// The frame of `frameId`, or else the innermost of `threadId`, or else of the only thread that waits.
Result<debug::FrameRef> frame_of(State& s, const Arguments& a);
/// The language's own debugger goes, if it came for this session.
void stop_host_debugger(State& s);

}  // namespace msvm::observe::dap
