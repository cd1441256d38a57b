#include "observe/monitor/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "msvm/base/json_text.h"

namespace msvm::observe {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_blank) c = ' ';
    if (text[i] == '%') {
      if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return {};
      c = static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    }
    if (c == '\0') return {};
    out += c;
  }
  return out;
}

}  // namespace

std::string_view role_name(Role role) { return role == Role::kAdmin ? "admin" : role == Role::kRead ? "read" : "none"; }

std::vector<std::string_view> Request::values(std::string_view name) const {
  std::vector<std::string_view> out;
  for (const auto& [key, value] : headers)
    if (key == name) out.emplace_back(value);
  return out;
}

std::string_view Request::value(std::string_view name) const {
  const auto all = values(name);
  return all.size() == 1 ? all[0] : std::string_view();
}

Response error_response(unsigned status, std::string_view message) {
  Response r{.status = status};
  r.body = fmt::format("{{\"status\":{},\"error\":", status);
  append_json_string(r.body, message);
  r.body += "}\n";
  return r;
}

const std::string* Target::find(std::string_view name) const {
  const auto at = std::find_if(query.begin(), query.end(), [&](const auto& q) { return q.first == name; });
  return at == query.end() ? nullptr : &at->second;
}

bool parse_target(std::string_view text, Target& out) {
  if (!text.starts_with('/')) return false;
  const size_t mark = std::min(text.find('?'), text.size());
  auto path = decoded(text.substr(0, mark), false);
  if (!path) return false;
  out.path = std::move(*path);
  out.query.clear();
  for (size_t at = mark; at < text.size();) {
    const size_t end = std::min(text.find('&', at + 1), text.size());
    const std::string_view part = text.substr(at + 1, end - at - 1);
    const size_t equal = std::min(part.find('='), part.size());
    auto name = decoded(part.substr(0, equal), true), value = decoded(part.substr(std::min(equal + 1, part.size())), true);
    if (!name || !value) return false;
    if (!name->empty()) out.query.emplace_back(std::move(*name), std::move(*value));
    at = end;
  }
  return true;
}

}  // namespace msvm::observe
