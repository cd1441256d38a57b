// Requests and responses as plain data: routing knows nothing of sockets.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msvm::observe {

/// What a caller may do.
enum class Role : uint8_t { kNone, kRead, kAdmin };
std::string_view role_name(Role role);

struct Request {
  std::string method, target, body;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, as they came otherwise

  std::vector<std::string_view> values(std::string_view name) const;
  /// Of a header that may stand once; empty if it is absent or stands twice.
  std::string_view value(std::string_view name) const;
};

struct Response {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool live = false;       // server-sent events follow, for `role`
  Role role = Role::kNone;
};

/// {"status":404,"error":"..."}
Response error_response(unsigned status, std::string_view message);

/// A target's path and its parameters, percent-decoded. The first of equal names counts.
struct Target {
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;
  const std::string* find(std::string_view name) const;
};
/// False: not of the form /path?a=b, or an escape that isn't one, or a zero byte.
bool parse_target(std::string_view text, Target& out);

}  // namespace msvm::observe
