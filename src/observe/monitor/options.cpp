#include "observe/monitor/options.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "msvm/jit/disk/fd.h"

namespace msvm::observe {
namespace {

constexpr size_t kMaxToken = 512, kLongToken = 16;

std::string variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value ? value : "";
}

bool is_ip(const std::string& address) {
  in6_addr bytes;
  return inet_pton(AF_INET, address.c_str(), &bytes) == 1 || inet_pton(AF_INET6, address.c_str(), &bytes) == 1;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Status check_token(const std::string& token, const char* which, bool loopback) {
  if (token.empty()) return {};
  if (token.size() > kMaxToken) return invalid_argument(fmt::format("monitor: the {} token has {} bytes: expected {} at most", which, token.size(), kMaxToken));
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; }))
    return invalid_argument(fmt::format("monitor: the {} token holds what can't stand in a header: expected visible ASCII without blanks", which));
  if (!loopback && token.size() < kLongToken)
    return invalid_argument(fmt::format("monitor: the {} token has {} bytes, which can be guessed: expected {} or more, as `openssl rand -hex 32` gives", which, token.size(), kLongToken));
  return {};
}

Status token_from(std::string& token, const char* name, const char* file_name) {
  if (!token.empty()) return {};
  token = variable(name);
  const std::string file = variable(file_name);
  if (file.empty()) return {};
  if (!token.empty()) return invalid_argument(fmt::format("monitor: both {} and {} are set: unset one", name, file_name));
  MSVM_ASSIGN_OR_RETURN(token, read_token_file(file));
  return {};
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text, std::string_view whose, uint16_t own_port) {
  const Status bad = invalid_argument(fmt::format("{0}: \"{1}\" isn't an address: expected ADDRESS:PORT, as in 127.0.0.1:{2} or [::1]:{2}", whose, text, own_port));
  Endpoint e{.address = "127.0.0.1", .port = own_port};
  std::string_view port;
  if (is_number(text)) {
    port = text;
  } else if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos || (end + 1 < text.size() && text[end + 1] != ':')) return bad;
    e.address = text.substr(1, end - 1);
    if (end + 1 < text.size() && (port = text.substr(end + 2)).empty()) return bad;
  } else if (std::count(text.begin(), text.end(), ':') > 1) {
    e.address = text;  // an address of version 6 without a port
  } else {
    const size_t colon = std::min(text.find(':'), text.size());
    if (colon > 0) e.address = text.substr(0, colon);
    if (colon < text.size() && (port = text.substr(colon + 1)).empty()) return bad;
    if (text.empty()) return bad;
  }
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), e.port);
    if (!is_number(port) || error != std::errc() || end != port.data() + port.size()) return bad;
  }
  if (e.address == "localhost") e.address = "127.0.0.1";
  if (!is_ip(e.address)) return invalid_argument(fmt::format("{}: \"{}\" isn't an address of this machine as a number: expected one as 127.0.0.1{}", whose, e.address, whose == "monitor" ? " or 0.0.0.0" : " or ::1"));
  return e;
}

bool is_loopback(const std::string& address) {
  in6_addr six;
  in_addr four;
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  return inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

Result<std::string> read_token_file(const std::string& path) {
  const jit::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.ok()) return Status(StatusCode::kIo, fmt::format("monitor: token file {}: {}", path, std::strerror(errno)));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return invalid_argument(fmt::format("monitor: token file {}: not a regular file", path));
  if ((info.st_mode & 077) != 0) return invalid_argument(fmt::format("monitor: token file {}: others may read it (mode {:04o}): chmod 600 {}", path, info.st_mode & 07777, path));
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return invalid_argument(fmt::format("monitor: token file {}: it belongs to user {}, expected user {}", path, info.st_uid, ::geteuid()));
  char bytes[kMaxToken + 3];
  const ssize_t n = ::read(fd.get(), bytes, sizeof bytes);
  if (n < 0) return Status(StatusCode::kIo, fmt::format("monitor: token file {}: {}", path, std::strerror(errno)));
  std::string token(bytes, static_cast<size_t>(n));
  while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  if (token.empty()) return invalid_argument(fmt::format("monitor: token file {}: it is empty", path));
  return token;
}

Status fill_from_environment(MonitorOptions& o) {
  MSVM_RETURN_IF_ERROR(token_from(o.admin_token, "MSVM_MONITOR_TOKEN", "MSVM_MONITOR_TOKEN_FILE"));
  MSVM_RETURN_IF_ERROR(token_from(o.read_token, "MSVM_MONITOR_READ_TOKEN", "MSVM_MONITOR_READ_TOKEN_FILE"));
  if (o.certificate.empty() && o.key.empty()) {
    o.certificate = variable("MSVM_MONITOR_CERTIFICATE");
    o.key = variable("MSVM_MONITOR_KEY");
  }
  const std::string hosts = variable("MSVM_MONITOR_HOSTS");
  for (size_t at = 0; at < hosts.size();) {
    const size_t end = std::min(hosts.find(',', at), hosts.size());
    std::string name = hosts.substr(at, end - at);
    std::erase(name, ' ');
    if (!name.empty()) o.hosts.push_back(std::move(name));
    at = end + 1;
  }
  return {};
}

Status check_options(const MonitorOptions& o) {
  const bool loopback = is_loopback(o.address);
  if (!is_ip(o.address)) return invalid_argument(fmt::format("monitor: \"{}\" isn't an address: expected one as 127.0.0.1, ::1 or 0.0.0.0", o.address));
  MSVM_RETURN_IF_ERROR(check_token(o.admin_token, "administrator's", loopback));
  MSVM_RETURN_IF_ERROR(check_token(o.read_token, "read-only", loopback));
  if (!o.admin_token.empty() && o.admin_token == o.read_token) return invalid_argument("monitor: the administrator's and the read-only token are the same: expected two");
  if (!loopback && o.admin_token.empty() && o.read_token.empty())
    return invalid_argument(fmt::format("monitor: other machines reach {}, and there is no token: set MSVM_MONITOR_TOKEN (may change things) or MSVM_MONITOR_READ_TOKEN (may look), or listen on 127.0.0.1", o.address));
  if (o.certificate.empty() != o.key.empty())
    return invalid_argument(fmt::format("monitor: TLS needs a certificate and its key: found the {} only", o.key.empty() ? "certificate" : "key"));
  for (const std::string& host : o.hosts)
    if (host.empty() || !std::all_of(host.begin(), host.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'; }))
      return invalid_argument(fmt::format("monitor: \"{}\" isn't a host's name: expected letters, digits, dots and hyphens, without a port", host));
  return {};
}

}  // namespace msvm::observe
