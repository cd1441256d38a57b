#include "observe/dap/merge/upstream.h"

namespace msvm::observe::dap::merge {

/// Brings what comes to the loop. The loop is stopped before the upstream goes.
struct Upstream::Reader final : Peer {
  Reader(Upstream& u, Loop& l, std::function<void()> c) : upstream(u), loop(l), on_closed(std::move(c)) {}
  void receive(const Json& message) override {
    loop.post([this, message] { upstream.client_.receive(message); });
  }
  void closed() override {
    loop.post([this] {
      upstream.client_.closed();
      on_closed();
    });
  }
  Upstream& upstream;
  Loop& loop;
  const std::function<void()> on_closed;
};

Upstream::Upstream(std::unique_ptr<Connection> connection, Loop& loop, OnMessage event, std::function<void()> closed)
    : connection_(std::move(connection)), client_(*connection_, std::move(event)), reader_(std::make_unique<Reader>(*this, loop, std::move(closed))), thread_([this] { connection_->serve(*reader_); }) {}

Upstream::~Upstream() {
  connection_->close();
  thread_.join();
}

}  // namespace msvm::observe::dap::merge
