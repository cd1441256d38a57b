// One connection: requests one after the other, or server-sent events until it ends.
#pragma once
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "observe/monitor/asio.h"
#include "observe/monitor/fork_guard.h"
#include "observe/monitor/gate.h"
#include "observe/monitor/live.h"
#include "observe/monitor/options.h"

namespace msvm::observe {

/// What connections share. Only the I/O thread touches what isn't const.
struct Shared {
  const MonitorOptions& options;
  const Site& site;
  ForkGuard& guard;
  asio::ssl::context* tls;     // null: none
  asio::thread_pool& slow;     // for answers that take long
  std::shared_ptr<Live> live;
  size_t connections = 0;
};

/// Until the peer goes, a deadline passes, or the io_context is stopped.
asio::awaitable<void> serve(Tcp::socket socket, std::shared_ptr<Shared> shared);

}  // namespace msvm::observe
