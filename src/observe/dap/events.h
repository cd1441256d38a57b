// Events and responses in order: nothing that a request brings about is told before its response. Private to the room.
#pragma once
#include <mutex>
#include <vector>

#include "observe/dap/peer.h"

namespace msvm::observe::dap {

/// Thread-safe.
class Events {
 public:
  explicit Events(Output& client) : client_(client) {}
  /// Events wait until the response is out.
  void request_begins();
  void respond(Json response);
  void event(const std::string& name, Json body);
  /// Even while a request is handled.
  void event_now(const std::string& name, Json body);

 private:
  void send(Json message);  // with mutex_ held

  Output& client_;
  std::mutex mutex_;
  int64_t seq_ = 0;
  bool in_request_ = false;
  std::vector<Json> waiting_;
};

}  // namespace msvm::observe::dap
