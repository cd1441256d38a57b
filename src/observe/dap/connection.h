// Messages over a pair of descriptors: standard input and output, or a socket.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

#include "observe/dap/framing.h"
#include "observe/dap/peer.h"

namespace msvm::observe::dap {

class Connection final : public Output {
 public:
  /// Owns both, which may be the same one.
  Connection(int in, int out);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// A socket to `address` ("127.0.0.1", "::1") and `port`.
  static Result<std::unique_ptr<Connection>> connect(const std::string& address, uint16_t port, std::chrono::milliseconds timeout);

  /// Waits a while for who doesn't read, then takes the connection for lost.
  void send(const Json& message) override;
  /// Gives every message to `peer` until the other side closes, close() is called, or what comes can't be a message: then it is told so.
  /// peer.closed() at the end.
  void serve(Peer& peer);
  /// From any thread: serve() ends soon, and nothing is sent any more.
  void close();
  bool open() const { return open_.load(std::memory_order_relaxed); }

 private:
  bool read_more(FrameReader& reader);
  bool write(std::string_view bytes);

  const int in_, out_;
  int wake_ = -1;  // an eventfd: close() was called
  bool socket_ = false;
  std::atomic<bool> open_{true};
  std::mutex write_;
};

/// Gives the messages that are whole to `peer`; JSON that isn't one is answered by a failed response. False: no message can follow what came.
bool deliver(FrameReader& reader, Peer& peer, Output& answers);

/// What is wrong with `message` as a message of the protocol; ok if it is one.
Status check_message(const Json& message);
/// A response to nobody's request: what came wasn't one.
Json not_a_message(const Status& why);

}  // namespace msvm::observe::dap
