// A loopback port for one peer. Private to the room.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "msvm/base/status.h"

namespace msvm::observe::dap::merge {

class Acceptor {
 public:
  /// `accepted` gets each socket that connects, and owns it, on a thread of its own.
  static Result<std::unique_ptr<Acceptor>> start(std::function<void(int fd)> accepted);
  /// Waits for a call that is under way.
  ~Acceptor();
  uint16_t port() const { return port_; }

 private:
  Acceptor() = default;
  void run();
  int listening_ = -1, wake_ = -1;
  uint16_t port_ = 0;
  std::function<void(int)> accepted_;
  std::thread thread_;
};

}  // namespace msvm::observe::dap::merge
