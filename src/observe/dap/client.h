// The client's side: requests go out, responses come back to who asked.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "observe/dap/peer.h"

namespace msvm::observe::dap {

/// Of a response: what it says went wrong, with the code that our own adapters put into `error.id`.
Status status_of(const Json& response);

/// Over any Output; what comes back is given to receive(). Thread-safe.
class Client final : public Peer {
 public:
  using OnMessage = std::function<void(const Json& message)>;
  /// `other`: events, and requests of the adapter. Called on the thread that calls receive().
  Client(Output& to, OnMessage other) : to_(to), other_(std::move(other)) {}

  /// `then` gets the response, on the thread that calls receive(); a failed one if the other side goes first.
  void request(std::string command, Json arguments, OnMessage then);
  /// The response's body; its message as an error. Not for the thread that calls receive().
  Result<Json> call(std::string command, Json arguments = Json::object(), std::chrono::milliseconds timeout = std::chrono::seconds(30));

  void receive(const Json& message) override;
  void closed() override;

 private:
  Output& to_;
  const OnMessage other_;
  std::mutex mutex_;
  int64_t last_ = 0;
  bool closed_ = false;
  struct Waiting {
    std::string command;
    OnMessage then;
  };
  std::map<int64_t, Waiting> waiting_;  // by seq
};

}  // namespace msvm::observe::dap
