// A debug server that the session talks to: debugpy, or the process's own of bytecode. Private to the room.
#pragma once
#include <memory>
#include <thread>

#include "observe/dap/client.h"
#include "observe/dap/connection.h"
#include "observe/dap/merge/loop.h"

namespace msvm::observe::dap::merge {

/// All calls come and go on the loop.
class Upstream {
 public:
  using OnMessage = Client::OnMessage;
  /// `event`: what isn't a response. `closed`: it is gone; every request has been answered with a failure then.
  Upstream(std::unique_ptr<Connection> connection, Loop& loop, OnMessage event, std::function<void()> closed);
  ~Upstream();

  void request(const std::string& command, Json arguments, OnMessage then) { client_.request(command, std::move(arguments), std::move(then)); }
  bool open() const { return connection_->open(); }
  void close() { connection_->close(); }

 private:
  struct Reader;
  const std::unique_ptr<Connection> connection_;
  Client client_;
  const std::unique_ptr<Reader> reader_;
  std::thread thread_;
};

}  // namespace msvm::observe::dap::merge
