#include "observe/dap/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace msvm::observe::dap {
namespace {

constexpr int kMostWait = 10'000;  // ms, for somebody who doesn't read

bool is_socket(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

Result<sockaddr_storage> address_of(const std::string& text, uint16_t port, socklen_t& size) {
  sockaddr_storage out{};
  if (auto* v4 = reinterpret_cast<sockaddr_in*>(&out); ::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    size = sizeof(sockaddr_in);
    return out;
  }
  if (auto* v6 = reinterpret_cast<sockaddr_in6*>(&out); ::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    size = sizeof(sockaddr_in6);
    return out;
  }
  return invalid_argument(fmt::format("address: expected 127.0.0.1 or ::1, found \"{}\"", text));
}

}  // namespace

Connection::Connection(int in, int out) : in_(in), out_(out), wake_(::eventfd(0, EFD_CLOEXEC)), socket_(is_socket(out)) {
  const int on = 1;
  if (socket_) (void)::setsockopt(out_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // answers are short, and somebody waits for each
}

Connection::~Connection() {
  if (wake_ >= 0) ::close(wake_);
  if (in_ >= 0) ::close(in_);
  if (out_ >= 0 && out_ != in_) ::close(out_);
}

Result<std::unique_ptr<Connection>> Connection::connect(const std::string& address, uint16_t port, std::chrono::milliseconds timeout) {
  socklen_t size = 0;
  MSVM_ASSIGN_OR_RETURN(const sockaddr_storage to, address_of(address, port, size));
  const int fd = ::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto failed = [&](int error) {
    if (fd >= 0) ::close(fd);
    return Status(StatusCode::kIo, fmt::format("{} port {}: can't connect: {}", address, port, std::strerror(error)));
  };
  if (fd < 0) return failed(errno);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), size) != 0) {
    if (errno != EINPROGRESS) return failed(errno);
    pollfd p{fd, POLLOUT, 0};
    if (::poll(&p, 1, static_cast<int>(timeout.count())) <= 0) return failed(ETIMEDOUT);
    int error = 0;
    socklen_t n = sizeof error;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0 || error != 0) return failed(error);
  }
  (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return std::make_unique<Connection>(fd, fd);
}

void Connection::send(const Json& message) {
  const std::string text = framed(dump(message));
  std::lock_guard lock(write_);
  if (open() && !write(text)) close();
}

bool Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = socket_ ? ::send(out_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) : ::write(out_, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
    pollfd p[] = {{out_, POLLOUT, 0}, {wake_, POLLIN, 0}};
    const int ready = ::poll(p, 2, kMostWait);
    if (ready == 0 || (ready < 0 && errno != EINTR) || (p[1].revents & POLLIN)) return false;
  }
  return true;
}

bool Connection::read_more(FrameReader& reader) {
  for (;;) {
    pollfd p[] = {{in_, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (::poll(p, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (p[1].revents & POLLIN) return false;
    char bytes[1 << 16];
    const ssize_t n = ::read(in_, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return false;
    // Peers that send a header and its body apart wait for the acknowledgement in between.
    if (const int on = 1; socket_) (void)::setsockopt(in_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
    reader.push({bytes, static_cast<size_t>(n)});
    return true;
  }
}

bool deliver(FrameReader& reader, Peer& peer, Output& answers) {
  for (;;) {
    auto message = reader.next();
    if (!message.ok()) {
      answers.send(not_a_message(message.status()));
      return false;
    }
    if (!*message) return true;
    auto json = parse_json(**message);
    if (Status good = json.ok() ? check_message(*json) : json.status(); good.ok()) peer.receive(*json);
    else answers.send(not_a_message(good));
  }
}

void Connection::serve(Peer& peer) {
  FrameReader reader;
  while (open() && deliver(reader, peer, *this) && open() && read_more(reader)) {
  }
  close();
  peer.closed();
}

void Connection::close() {
  if (!open_.exchange(false)) return;
  const uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
  if (socket_) ::shutdown(out_, SHUT_RDWR);
}

Status check_message(const Json& message) {
  const Arguments m(message);
  if (!message.is_object()) return invalid_argument(fmt::format("expected a message, an object, found {}", described(message)));
  MSVM_ASSIGN_OR_RETURN(const std::string type, m.text("type"));
  if (type == "request") {
    MSVM_RETURN_IF_ERROR(m.integer("seq", 0, std::numeric_limits<int64_t>::max()).status());
    return m.text("command").status();
  }
  if (type == "event") return m.text("event").status();
  if (type == "response") return m.integer("request_seq", 0, std::numeric_limits<int64_t>::max()).status();
  return m.wrong("type", "\"request\", \"response\" or \"event\"");
}

Json not_a_message(const Status& why) {
  return {{"seq", 0}, {"type", "response"}, {"request_seq", 0}, {"success", false}, {"command", ""}, {"message", why.message()}};
}

}  // namespace msvm::observe::dap
