#include "observe/monitor/gate.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

namespace msvm::observe {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_port(std::string_view text) {
  return text.size() <= 5 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_address(int family, const std::string& text) {
  in6_addr address;
  return inet_pton(family, text.c_str(), &address) == 1;
}

bool changes(const Request& r) { return r.method != "GET" && r.method != "HEAD"; }

/// The origin's host and port are the request's; behind a proxy that ends TLS the schemes differ.
bool same_origin(std::string_view origin, std::string_view host, const Site& site) {
  const std::string o = lower(origin), h = lower(host);
  return o == "https://" + h || (!site.tls && o == "http://" + h);
}

std::string_view bearer(std::string_view value) {
  if (value.size() < 7 || lower(value.substr(0, 7)) != "bearer ") return {};
  value.remove_prefix(7);
  while (value.starts_with(' ')) value.remove_prefix(1);
  return value;
}

std::string_view cookie_of(const Request& request, const std::string& name) {
  for (std::string_view all : request.values("cookie")) {
    while (!all.empty()) {
      const size_t end = std::min(all.find(';'), all.size());
      std::string_view one = all.substr(0, end);
      all.remove_prefix(std::min(end + 1, all.size()));
      while (one.starts_with(' ')) one.remove_prefix(1);
      if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=') return one.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

std::string cookie_name(const Site& site) { return fmt::format("msvm_monitor_{}", site.port); }

bool host_allowed(std::string_view host, const Site& site) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view rest = host.substr(end + 1);
    return is_address(AF_INET6, std::string(host.substr(1, end - 1))) && (rest.empty() || (rest[0] == ':' && is_port(rest.substr(1))));
  }
  const size_t colon = std::min(host.find(':'), host.size());
  if (colon < host.size() && !is_port(host.substr(colon + 1))) return false;
  const std::string name = lower(host.substr(0, colon));
  return name == "localhost" || is_address(AF_INET, name) || (!name.empty() && std::find(site.hosts.begin(), site.hosts.end(), name) != site.hosts.end());
}

std::optional<Response> check_origin(const Request& request, const Target& target, const Site& site) {
  const auto hosts = request.values("host");
  if (hosts.size() != 1) return error_response(400, fmt::format("expected one Host header, found {}", hosts.size()));
  if (!host_allowed(hosts[0], site))
    return error_response(421, fmt::format("Host is \"{}\": expected an address, localhost, or a name that the monitor was started with (MSVM_MONITOR_HOSTS)", hosts[0]));
  const auto fetch_site = request.values("sec-fetch-site");
  const bool navigates = !changes(request) && target.path == "/" && request.value("sec-fetch-mode") == "navigate";
  for (std::string_view s : fetch_site)
    if (s != "same-origin" && s != "none" && !navigates) return error_response(403, "a page of another origin asks: open the monitor's own page");
  if (!changes(request)) return {};
  for (std::string_view origin : request.values("origin"))
    if (!same_origin(origin, hosts[0], site)) return error_response(403, fmt::format("Origin is \"{}\": only the monitor's own page may change things", origin));
  // Forms of other pages can't send this type without being asked first.
  std::string type = lower(request.value("content-type"));
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.pop_back();
  if (type != "application/json") return error_response(415, "expected Content-Type: application/json");
  return {};
}

Caller identify(const Request& request, const Target& target, const Site& site) {
  if (site.access.open()) return {Role::kAdmin};
  if (const auto given = request.values("authorization"); !given.empty())
    return {given.size() == 1 ? site.access.of_token(bearer(given[0])) : Role::kNone};
  const bool may_login = !changes(request) && (target.path == "/" || target.path == "/api/v1/live");
  if (const std::string* token = may_login ? target.find("token") : nullptr) {
    Role role = site.access.of_token(*token);
    if (role == Role::kNone) role = site.access.take_ticket(*token);
    return {role, role != Role::kNone};
  }
  const std::string_view cookie = cookie_of(request, cookie_name(site));
  // Old browsers say no Origin: then a cookie isn't enough for a change.
  if (cookie.empty() || (changes(request) && request.value("origin").empty())) return {};
  return {site.access.of_cookie(cookie)};
}

}  // namespace msvm::observe
