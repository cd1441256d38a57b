#include "loopback_peer.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace msvm::cli {
namespace {

/// As /proc/net/tcp writes it.
std::string written(const sockaddr_in& a) { return fmt::format("{:08X}:{:04X}", a.sin_addr.s_addr, ntohs(a.sin_port)); }

}  // namespace

bool is_own_peer(int fd) {
  sockaddr_in here{}, there{};
  socklen_t size = sizeof here;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size) != 0 || here.sin_family != AF_INET) return false;
  size = sizeof there;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &size) != 0 || there.sin_family != AF_INET) return false;
  const std::string local = written(there), remote = written(here);
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string number, from, to, state, queues, timer, retransmits;
    unsigned uid = 0;
    if (fields >> number >> from >> to >> state >> queues >> timer >> retransmits >> uid && from == local && to == remote) return uid == ::getuid() || uid == 0;
  }
  return false;
}

}  // namespace msvm::cli
