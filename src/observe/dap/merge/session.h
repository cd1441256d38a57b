// A Python program as one session: a client on one side, debugpy and the process's debug server of bytecode on the other.
#pragma once
#include <functional>
#include <memory>

#include "observe/dap/peer.h"

namespace msvm::observe::dap::merge {

/// Takes a conversation over whose `initialize` has been answered, with its `launch` of a Python program, or its `attach` to a process. That request, too, is
/// answered from here. `client` must outlive the session. What it has launched ends with it. `over`: the client has left, the last answer is out; on a thread of the
/// session's.
std::unique_ptr<Peer> python_session(Output& client, Json initialize_arguments, const Json& request, std::function<void()> over);

}  // namespace msvm::observe::dap::merge
