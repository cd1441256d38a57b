// Server-sent events: the state once a tick, made once for all who listen.
#pragma once
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <memory>

#include "observe/monitor/asio.h"
#include "observe/monitor/request.h"
#include "observe/snapshot/source.h"

namespace msvm::observe {

/// Only the thread that runs the executor touches it. While nobody listens, nothing is made.
class Live : public std::enable_shared_from_this<Live> {
 public:
  using Message = std::shared_ptr<const std::string>;

  /// Who listens. One that doesn't keep up is dropped: it never holds more than kMaxQueue messages.
  class Listener {
   public:
    Listener(std::shared_ptr<Live> live, Role role);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    /// The next message; null: the listener was dropped.
    asio::awaitable<Message> next();
    /// Called when it is dropped, to end a write that waits.
    std::function<void()> on_drop;

   private:
    friend class Live;
    const std::shared_ptr<Live> live_;
    const Role role_;
    std::deque<Message> queue_;
    bool dropped_ = false;
    asio::steady_timer wake_;
    std::list<Listener*>::iterator place_;
  };

  Live(asio::io_context& io, Source& source, std::chrono::milliseconds tick) : io_(io), source_(source), tick_(tick), timer_(io) {}
  size_t listeners() const { return listeners_.size(); }

  static constexpr size_t kMaxQueue = 4;

 private:
  static asio::awaitable<void> run(std::shared_ptr<Live> live);
  void make();
  Message message(Role role);
  void push(Listener& listener);

  asio::io_context& io_;
  Source& source_;
  const std::chrono::milliseconds tick_;
  asio::steady_timer timer_;
  std::list<Listener*> listeners_;
  bool runs_ = false;
  uint64_t number_ = 0;                      // of the tick
  std::chrono::steady_clock::time_point made_{};
  std::string state_, point_;                // of the tick
  std::array<Message, 2> messages_;          // for Role::kRead, Role::kAdmin; made when needed
};

}  // namespace msvm::observe
