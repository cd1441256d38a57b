// dap: the debug adapter, for editors and other clients.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "common.h"
#include "debug_front.h"
#include "loopback_peer.h"
#include "observe/dap/connection.h"

namespace msvm::cli {
namespace {

using observe::dap::Connection;

void serve(int in, int out) {
  Connection connection(in, out);
  DebugFront front(connection, [&connection] { connection.close(); });
  connection.serve(front);
}

/// What the program prints must not come between the messages: it goes to standard error.
int over_stdio() {
  const int in = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in < 0 || out < 0 || null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return report({StatusCode::kIo, fmt::format("standard input and output: {}", std::strerror(errno))});
  ::close(null);
  serve(in, out);
  return kDone;
}

int over_socket(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const int on = 1;
  if (fd < 0 || ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(fd, 1) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return report({StatusCode::kIo, fmt::format("port {}: {}", port, std::strerror(errno))});
  fmt::print("{}\n", ntohs(at.sin_port));
  std::fflush(stdout);
  for (;;) {  // one client after the other
    const int client = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0 && !is_own_peer(client)) ::close(client);  // whoever debugs runs programs as this user
    else if (client >= 0) serve(client, client);
    else if (errno != EINTR && errno != ECONNABORTED) return report({StatusCode::kIo, fmt::format("port {}: {}", port, std::strerror(errno))});
  }
}

}  // namespace

void add_dap(CLI::App& app, int& code) {
  auto* c = app.add_subcommand("dap", "The debug adapter: speaks the Debug Adapter Protocol with editors");
  auto port = std::make_shared<int>(-1);
  c->add_option("--port", *port, "listen on this port of 127.0.0.1 in place of standard input and output; 0: any, which is printed")->check(CLI::Range(0, 65535));
  c->footer("Example: msvm dap --port 0");
  c->callback([=, &code] {
    ::signal(SIGPIPE, SIG_IGN);
    code = *port < 0 ? over_stdio() : over_socket(static_cast<uint16_t>(*port));
  });
}

}  // namespace msvm::cli
