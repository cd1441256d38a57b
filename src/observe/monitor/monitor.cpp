#include "observe/monitor/monitor.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "msvm/base/no_signals.h"
#include "observe/monitor/run_file.h"
#include "observe/monitor/session.h"
#include "observe/monitor/tls.h"

namespace msvm::observe {
namespace {

using Error = boost::system::error_code;
constexpr auto kAfterFailure = std::chrono::milliseconds(100);

std::string command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::replace(text.begin(), text.end(), '\0', ' ');
  while (text.ends_with(' ')) text.pop_back();
  return text.substr(0, 4096);
}

Status listen_on(Tcp::acceptor& acceptor, const MonitorOptions& o) {
  Error error;
  const Tcp::endpoint endpoint(asio::ip::make_address(o.address, error), o.port);
  if (!error) acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return {};
  const char* mend = error == asio::error::address_in_use     ? ": another program listens there: choose another port, or 0 for any that is free"
                     : error == asio::error::access_denied    ? ": choose a port of 1024 or above"
                                                              : ": choose an address of this machine, such as 127.0.0.1";
  return {StatusCode::kIo, fmt::format("monitor: can't listen on {} port {}: {}{}", o.address, o.port, error.message(), mend)};
}

std::string url_of(const Tcp::endpoint& at, bool tls) {
  const auto address = at.address();
  std::string host = address.to_string();
  if (address.is_unspecified()) host = address.is_v4() ? "127.0.0.1" : "::1";
  return fmt::format("http{}://{}:{}", tls ? "s" : "", address.is_v6() ? "[" + host + "]" : host, at.port());
}

/// Who comes when all places are taken is told so, if that takes no time.
void turn_away(Tcp::socket socket, bool tls) {
  constexpr std::string_view kBody = "{\"status\":503,\"error\":\"too many connections: try again\"}\n";
  if (tls) return;
  const std::string text = fmt::format("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: {}\r\n\r\n{}", kBody.size(), kBody);
  (void)::send(socket.native_handle(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

asio::awaitable<void> accept_all(Tcp::acceptor& acceptor, std::shared_ptr<Shared> shared) {
  asio::steady_timer pause(acceptor.get_executor());
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(kAwait);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // no descriptors, say
      pause.expires_after(kAfterFailure);
      co_await pause.async_wait(kAwait);
    } else if (shared->connections >= shared->options.max_connections) {
      turn_away(std::move(socket), shared->tls != nullptr);
    } else {
      auto executor = socket.get_executor();
      asio::co_spawn(executor, serve(std::move(socket), shared), [](const std::exception_ptr&) {});
    }
  }
}

}  // namespace

struct Monitor::Impl {
  Impl(const MonitorOptions& o, Source& source) : options(o), access(o.admin_token, o.read_token), site{source, access, {}, false, 0}, guard(o.max_connections + 1) {
    options.admin_token.clear();
    options.read_token.clear();
    for (std::string host : o.hosts) {
      for (char& c : host)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      site.hosts.push_back(std::move(host));
    }
  }

  /// Connections hold it, so that it goes after them; `io` takes them along.
  struct Loop {
    asio::thread_pool slow{1};
    asio::io_context io{1};
    Tcp::acceptor acceptor{io};
    std::shared_ptr<Live> live;
    std::thread thread;
    size_t place = 0;  // of the acceptor in the guard
  };

  void run() {
    pthread_setname_np(pthread_self(), "msvm monitor");
    for (;;) {
      try {
        loop->io.run();
        return;
      } catch (const std::exception&) {  // no memory: the connection that asked is gone, the others go on
      }
    }
  }

  MonitorOptions options;  // without the tokens
  Access access;
  Site site;
  ForkGuard guard;
  std::unique_ptr<asio::ssl::context> tls;
  std::string url;
  std::mutex mutex;  // of stop()
  std::unique_ptr<Loop> loop;
};

Monitor::Monitor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Monitor::~Monitor() {
  stop();
  if (!impl_->guard.is_ours()) (void)impl_.release();  // threads and locks stayed with the parent
}

const std::string& Monitor::url() const { return impl_->url; }
bool Monitor::running() const {
  if (!impl_->guard.is_ours()) return false;
  std::lock_guard lock(impl_->mutex);
  return impl_->loop != nullptr;
}
std::string Monitor::browser_url() { return impl_->access.open() ? impl_->url + "/" : impl_->url + "/?token=" + impl_->access.ticket(); }

Result<std::unique_ptr<Monitor>> Monitor::start(const MonitorOptions& options, Source& source) {
  MSVM_RETURN_IF_ERROR(check_options(options));
  auto impl = std::make_unique<Impl>(options, source);
  if (!options.certificate.empty()) {
    MSVM_ASSIGN_OR_RETURN(impl->tls, server_context(options.certificate, options.key));
    impl->site.tls = true;
  }
  const NoSignals no_signals;
  try {
    impl->loop = std::make_unique<Impl::Loop>();
    Impl::Loop& l = *impl->loop;
    MSVM_RETURN_IF_ERROR(listen_on(l.acceptor, options));
    const Tcp::endpoint at = l.acceptor.local_endpoint();
    impl->site.port = at.port();
    impl->url = url_of(at, impl->site.tls);
    l.place = impl->guard.add(l.acceptor.native_handle());
    l.live = std::make_shared<Live>(l.io, source, options.tick);
    auto shared = std::make_shared<Shared>(Shared{impl->options, impl->site, impl->guard, impl->tls.get(), l.slow, l.live});
    asio::co_spawn(l.io, accept_all(l.acceptor, std::move(shared)), asio::detached);
    l.thread = std::thread([i = impl.get()] { i->run(); });
  } catch (const std::exception& e) {  // no thread, no descriptor
    return resource_limit(fmt::format("monitor: can't start: {}", e.what()));
  }
  source.monitor_began();
  std::error_code error;
  const std::string certificate = options.certificate.empty() ? std::string() : std::filesystem::absolute(options.certificate, error).string();
  (void)write_run_file({::getpid(), impl->url, certificate, command_line()});  // without it, its address finds it
  return std::make_unique<Monitor>(std::move(impl));
}

void Monitor::stop() {
  if (!impl_->guard.is_ours()) return;
  std::lock_guard lock(impl_->mutex);
  if (!impl_->loop) return;
  remove_run_file(impl_->url);
  impl_->loop->io.stop();
  impl_->loop->thread.join();
  impl_->loop->slow.join();
  impl_->guard.remove(impl_->loop->place);
  impl_->loop.reset();
  impl_->site.source.monitor_ended();
}

}  // namespace msvm::observe
