#include "observe/dap/merge/acceptor.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace msvm::observe::dap::merge {

Result<std::unique_ptr<Acceptor>> Acceptor::start(std::function<void(int)> accepted) {
  std::unique_ptr<Acceptor> a(new Acceptor);
  a->accepted_ = std::move(accepted);
  a->wake_ = ::eventfd(0, EFD_CLOEXEC);
  a->listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* at = reinterpret_cast<sockaddr*>(&address);
  if (a->wake_ < 0 || a->listening_ < 0 || ::bind(a->listening_, at, size) != 0 || ::listen(a->listening_, 4) != 0 || ::getsockname(a->listening_, at, &size) != 0)
    return Status(StatusCode::kIo, fmt::format("can't listen on 127.0.0.1: {}", std::strerror(errno)));
  a->port_ = ntohs(address.sin_port);
  a->thread_ = std::thread([p = a.get()] { p->run(); });
  return a;
}

void Acceptor::run() {
  for (;;) {
    pollfd p[] = {{wake_, POLLIN, 0}, {listening_, POLLIN, 0}};
    if (::poll(p, 2, -1) < 0 && errno != EINTR) return;
    if (p[0].revents) return;
    if (!p[1].revents) continue;
    const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) accepted_(fd);
  }
}

Acceptor::~Acceptor() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one);
    thread_.join();
  }
  for (const int fd : {listening_, wake_})
    if (fd >= 0) ::close(fd);
}

}  // namespace msvm::observe::dap::merge
