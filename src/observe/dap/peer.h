// The two directions of a conversation, whatever carries it.
#pragma once
#include "observe/dap/json.h"

namespace msvm::observe::dap {

/// Where messages go. Thread-safe; each goes out whole. One that can't be sent any more is dropped.
class Output {
 public:
  virtual ~Output() = default;
  virtual void send(const Json& message) = 0;
};

/// Whoever takes messages: an adapter, or a client. One thread at a time calls receive().
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void receive(const Json& message) = 0;
  /// The other side is gone, and nothing comes any more. Called once.
  virtual void closed() {}
};

}  // namespace msvm::observe::dap
