#include "observe/dap/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <thread>

#include "msvm/base/no_signals.h"
#include "observe/dap/connection.h"
#include "observe/dap/server_file.h"
#include "observe/dap/session.h"
#include "observe/monitor/access.h"
#include "observe/monitor/fork_guard.h"

namespace msvm::observe::dap {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTimeToAttach = std::chrono::seconds(10);  // for who has connected: the place is for one
constexpr auto kTimeToLeave = std::chrono::milliseconds(500);  // for who was refused, or has let go
constexpr size_t kMostRefused = 8;                         // at the same time

struct Listening {
  int fd = -1;
  uint16_t port = 0;
};

Result<Listening> listen_on(const ServerOptions& o) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  sockaddr* at = nullptr;
  socklen_t size = 0;
  if (o.address == "127.0.0.1" || o.address == "localhost") {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(o.port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at = reinterpret_cast<sockaddr*>(&v4);
    size = sizeof v4;
  } else if (o.address == "::1") {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(o.port);
    v6.sin6_addr = in6addr_loopback;
    at = reinterpret_cast<sockaddr*>(&v6);
    size = sizeof v6;
  } else {
    return invalid_argument(fmt::format("debug server: expected an address that only this machine reaches, 127.0.0.1 or ::1, found \"{}\"", o.address));
  }
  const int fd = ::socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (fd >= 0 && ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 && ::bind(fd, at, size) == 0 && ::listen(fd, 8) == 0 && ::getsockname(fd, at, &size) == 0)
    return Listening{fd, ntohs(at->sa_family == AF_INET ? v4.sin_port : v6.sin6_port)};
  const int error = errno;
  if (fd >= 0) ::close(fd);
  return Status(StatusCode::kIo, fmt::format("debug server: can't listen on {} port {}: {}{}", o.address, o.port, std::strerror(error),
                                             error == EADDRINUSE ? ": another program listens there: choose another port, or 0 for any that is free" : ""));
}

/// Who comes while another is served: each of its requests is answered by why it can't be.
class Refusal final : public Peer {
 public:
  Refusal(int fd, std::string why) : connection_(fd, fd), why_(std::move(why)), thread_([this] {
                                       connection_.serve(*this);
                                       ended_ = true;
                                     }) {}
  ~Refusal() override {
    connection_.close();
    thread_.join();
  }
  void receive(const Json& message) override {
    if (text_in(message, "type") == "request") connection_.send({{"seq", ++seq_}, {"type", "response"}, {"request_seq", message["seq"]}, {"command", text_in(message, "command")}, {"success", false}, {"message", why_}});
  }
  /// It has gone, or has had its time.
  bool over() const { return ended_ || Clock::now() - since_ > kTimeToAttach; }

 private:
  Connection connection_;
  const std::string why_;
  int64_t seq_ = 0;
  const Clock::time_point since_ = Clock::now();
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace

struct Server::Impl {
  Impl(const ServerOptions& o, debug::Debugger& d, Source& s) : options(o), debugger(d), source(s), token(random_secret().substr(0, 32)), wake(::eventfd(0, EFD_CLOEXEC)), guard(3) {}
  ~Impl() {
    for (const int fd : {listening.fd, wake})
      if (fd >= 0) ::close(fd);
  }

  /// A client that is being served; the last one until the next comes.
  struct Visit {
    Visit(int fd, Impl& server)
        : connection(fd, fd), session(connection, {.debugger = server.debugger, .source = server.source, .host = server.options.host, .may_attach = true,
                               .token = server.options.fd < 0 ? server.token : std::string()}) {}
    Connection connection;
    Session session;
    size_t place = 0;  // in the guard
    Clock::time_point since = Clock::now();
    std::atomic<bool> ended{false};
    std::thread thread;
  };

  void receive_client(int fd) {
    const NoSignals no_signals;
    // Who comes right behind one that was refused or has detached may be here before the end of that connection is seen.
    for (const auto until = Clock::now() + kTimeToLeave; visit && !visit->ended && !visit->session.attached() && Clock::now() < until;) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (visit && !visit->ended) {
      if (refused.size() >= kMostRefused) {
        ::close(fd);
        return;
      }
      const std::string who = visit->session.client();
      refused.push_back(std::make_unique<Refusal>(fd, fmt::format("another debugger is attached to process {}{}: end its session (`quit`, or disconnect), then attach again", ::getpid(), who.empty() ? "" : fmt::format(": {}", who))));
      return;
    }
    end_visit();
    auto fresh = std::make_unique<Visit>(fd, *this);
    {
      std::lock_guard lock(visiting);
      visit = std::move(fresh);
    }
    visit->place = guard.add(fd);
    visit->thread = std::thread([v = visit.get()] {
      pthread_setname_np(pthread_self(), "msvm debug");
      v->connection.serve(v->session);
      v->ended = true;
    });
  }

  void end_visit() {
    if (!visit) return;
    visit->connection.close();
    visit->thread.join();
    guard.remove(visit->place);
    std::lock_guard lock(visiting);
    visit.reset();
  }

  void run() {
    pthread_setname_np(pthread_self(), "msvm debug door");
    for (;;) {
      pollfd p[] = {{wake, POLLIN, 0}, {listening.fd, POLLIN, 0}};
      const bool unknown = visit && !visit->ended && !visit->session.attached();
      const int ready = ::poll(p, 2, unknown || !refused.empty() ? 500 : -1);
      if (p[0].revents & POLLIN) break;
      if (unknown && Clock::now() - visit->since > kTimeToAttach) visit->connection.close();
      std::erase_if(refused, [](const auto& r) { return r->over(); });
      if (ready <= 0 || !(p[1].revents & POLLIN)) continue;
      const int fd = ::accept4(listening.fd, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd >= 0) receive_client(fd);
      else if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    refused.clear();
    end_visit();
  }

  const ServerOptions options;
  debug::Debugger& debugger;
  Source& source;
  const std::string token;
  const int wake;
  ForkGuard guard;
  Listening listening;
  std::mutex visiting;           // held to change `visit`, or to use it from other threads
  std::unique_ptr<Visit> visit;  // of the thread below
  std::vector<std::unique_ptr<Refusal>> refused;  // of that thread, too
  std::thread thread;
  std::mutex mutex;              // of what follows
  bool stopped = false;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  stop();
  if (!impl_->guard.is_ours()) (void)impl_.release();  // a child of a fork: its threads never were
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, debug::Debugger& debugger, Source& source) {
  auto impl = std::make_unique<Impl>(options, debugger, source);
  if (impl->wake < 0) return resource_limit("debug server: can't start: no descriptors");
  impl->guard.add(impl->wake);
  if (options.fd < 0) {
    MSVM_ASSIGN_OR_RETURN(impl->listening, listen_on(options));
    impl->guard.add(impl->listening.fd);
    (void)write_server_file({::getpid(), options.address == "localhost" ? "127.0.0.1" : options.address, impl->listening.port, impl->token});  // without it, address and token serve
  } else {
    impl->receive_client(options.fd);
  }
  const NoSignals no_signals;
  try {
    impl->thread = std::thread([i = impl.get()] { i->run(); });
  } catch (const std::exception& e) {  // no thread
    impl->end_visit();
    return resource_limit(fmt::format("debug server: can't start: {}", e.what()));
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

const std::string& Server::address() const { return impl_->options.address; }
uint16_t Server::port() const { return impl_->listening.port; }
const std::string& Server::token() const { return impl_->token; }

bool Server::running() const {
  if (!impl_->guard.is_ours()) return false;
  std::lock_guard lock(impl_->mutex);
  return !impl_->stopped;
}

void Server::tell(const std::string& event, const Json& body) {
  if (!impl_->guard.is_ours()) return;
  std::lock_guard lock(impl_->visiting);
  if (impl_->visit && impl_->visit->session.attached()) impl_->visit->session.event(event, body);
}

void Server::stop() {
  if (!impl_->guard.is_ours()) return;
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->stopped) return;
    impl_->stopped = true;
  }
  if (impl_->options.fd < 0) remove_server_file(impl_->listening.port);
  const uint64_t one = 1;
  (void)!::write(impl_->wake, &one, sizeof one);
  impl_->thread.join();
  if (impl_->listening.fd >= 0) ::close(std::exchange(impl_->listening.fd, -1));
}

}  // namespace msvm::observe::dap
