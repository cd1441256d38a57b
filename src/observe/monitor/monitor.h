// A monitor of this process: an HTTP server with a thread of its own. docs/monitor.md has routes and rules.
#pragma once
#include <memory>
#include <string>

#include "msvm/base/status.h"
#include "observe/monitor/options.h"
#include "observe/snapshot/source.h"

namespace msvm::observe {

/// Serves from start() until it is destroyed or stopped. Its methods may be called from any thread. After a fork the child has none:
/// its sockets are closed there, and the object does nothing.
class Monitor {
 public:
  /// `source` must outlive the monitor.
  static Result<std::unique_ptr<Monitor>> start(const MonitorOptions& options, Source& source);
  ~Monitor();
  /// "http://127.0.0.1:9464", without a token; of addresses that stand for all, this machine's.
  const std::string& url() const;
  /// Whether it serves: in the process that started it, until stop().
  bool running() const;
  /// url(), with what lets a browser in once, within a minute.
  std::string browser_url();
  /// Ends connections, and waits until no request is being answered. Again: nothing.
  void stop();

  struct Impl;
  explicit Monitor(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace msvm::observe
