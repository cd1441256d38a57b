// A socket that says exactly what a test wants.
#pragma once
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace msvm::observe {

class Wire {
 public:
  explicit Wire(const std::string& url) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  Wire(Wire&& o) noexcept : connected(o.connected), fd_(std::exchange(o.fd_, -1)) {}
  ~Wire() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool connected;
  bool send(std::string_view text) { return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()); }
  void receive_buffer(int bytes) { ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); }
  /// What came until `end` did, the peer closed, or the time was over; `closed` says which.
  std::string read(std::string_view end = {}, int ms = 10'000) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
    while (end.empty() || text_.find(end) == std::string::npos) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
      pollfd p{fd_, POLLIN, 0};
      if (left <= 0 || ::poll(&p, 1, static_cast<int>(left)) <= 0) return take(text_.size());
      char bytes[1 << 16];
      const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
      if (n <= 0) {
        closed = true;
        return take(text_.size());
      }
      text_.append(bytes, static_cast<size_t>(n));
    }
    return take(text_.find(end) + end.size());
  }
  bool closed = false;

 private:
  std::string take(size_t n) {
    std::string out = text_.substr(0, n);
    text_.erase(0, n);
    return out;
  }
  int fd_;
  std::string text_;
};

}  // namespace msvm::observe
