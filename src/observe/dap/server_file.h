// PID.debug.json: where the server of a process listens, for its user alone.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::observe::dap {

struct ServerPlace {
  int pid = 0;
  std::string address;
  uint16_t port = 0;
  std::string token;
};

/// Of this process; the last of several.
Status write_server_file(const ServerPlace& place);
/// Of this process, if it names `port`.
void remove_server_file(uint16_t port);

/// Processes of this user that can be attached to, by PID.
std::vector<int> running_servers();
/// The error says how a server is started.
Result<ServerPlace> find_server(int pid);

}  // namespace msvm::observe::dap
