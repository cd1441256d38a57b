// The debugger's door into a process that runs: a loopback socket, for one client at a time that knows the token.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "msvm/base/status.h"
#include "observe/dap/host.h"
#include "observe/dap/json.h"
#include "observe/debug/debugger.h"
#include "observe/snapshot/source.h"

namespace msvm::observe::dap {

struct ServerOptions {
  std::string address = "127.0.0.1";   // or ::1: nobody but this machine
  uint16_t port = 0;                   // 0: any that is free
  int fd = -1;                         // a socket that is connected already: its client alone is served, without a token. Owned from start() on
  HostFrames* host = nullptr;          // must outlive the server
};

/// Serves from start() until it is stopped or destroyed. Its methods may be called from any thread. A client that goes away lets the
/// program go on as if it had never come. After a fork the child has none.
class Server {
 public:
  /// The file by which find_server() finds it is written, too; that it can't be is not an error.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, debug::Debugger& debugger = debug::Debugger::process(), Source& source = process_source());
  ~Server();
  const std::string& address() const;
  uint16_t port() const;
  /// 32 hex digits that `attach` needs.
  const std::string& token() const;
  /// Whether it serves: in the process that started it, until stop().
  bool running() const;
  /// An event for the client, if one has attached.
  void tell(const std::string& event, const Json& body);
  /// The client is let go. Again: nothing.
  void stop();

  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace msvm::observe::dap
