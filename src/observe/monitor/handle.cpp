#include "observe/monitor/handle.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "observe/monitor/page.h"

namespace msvm::observe {
namespace {

struct Call {
  const Request& request;
  const Target& target;
  const Site& site;
  Caller caller;
};

Response json(std::string body) { return {.body = std::move(body)}; }

Response failure(const Status& s) {
  switch (s.code()) {
    case StatusCode::kNotFound: return error_response(404, s.message());
    case StatusCode::kUnsupported: return error_response(501, s.message());
    case StatusCode::kResourceLimit: return error_response(503, s.message());
    case StatusCode::kInternal: return error_response(500, s.message());
    default: return error_response(400, s.message());
  }
}

Response answer(Result<std::string> r) { return r.ok() ? json(std::move(*r)) : failure(r.status()); }

template <class T> Result<T> number(const Target& target, const char* name) {
  const std::string* text = target.find(name);
  if (!text) return invalid_argument(fmt::format("{} is missing: a number", name));
  T value{};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < 0)
    return invalid_argument(fmt::format("{}: expected a number of 0 to {}, found \"{}\"", name, std::numeric_limits<T>::max(), *text));
  return value;
}

std::string login_cookie(const Call& c) {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict{}", cookie_name(c.site), c.site.access.cookie(c.caller.role), c.site.tls ? "; Secure" : "");
}

Response page(const Call& c) {
  if (c.caller.login) {  // the token leaves the address
    Response r{.status = 303};
    r.headers = {{"Location", "/"}, {"Set-Cookie", login_cookie(c)}};
    return r;
  }
  Response r{.type = "text/html; charset=utf-8", .body = std::string(page_html())};
  r.headers = {{"Content-Security-Policy", std::string(page_policy())}};
  return r;
}

Response health(const Call&) { return json("{\"status\":\"ok\"}\n"); }
Response metrics(const Call& c) { return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = c.site.source.metrics()}; }
Response state(const Call& c) { return json(with_role(c.site.source.state(), c.caller.role)); }
Response history(const Call& c) { return json(c.site.source.history()); }

Response live(const Call& c) {
  Response r{.type = "text/event-stream", .live = true, .role = c.caller.role};
  if (c.caller.login) r.headers = {{"Set-Cookie", login_cookie(c)}};
  return r;
}

Response bytecode(const Call& c) {
  const auto program = number<uint64_t>(c.target, "program");
  return program.ok() ? answer(c.site.source.bytecode(*program)) : failure(program.status());
}

Response disassembly(const Call& c) {
  const auto program = number<uint64_t>(c.target, "program");
  if (!program.ok()) return failure(program.status());
  const auto function = number<int32_t>(c.target, "function"), region = number<int32_t>(c.target, "region");
  if (!function.ok()) return failure(function.status());
  if (!region.ok()) return failure(region.status());
  const std::string* entry = c.target.find("entry");
  if (!entry) return failure(invalid_argument("entry is missing: the name of an entry, as in /api/v1/state"));
  return answer(c.site.source.disassembly(*program, *function, *region, *entry));
}

constexpr std::string_view kActions = "/api/v1/actions/";

Response act(const Call& c) {
  const bool alerts = c.target.path == "/api/v1/alerts";
  const std::string_view action = alerts ? "alerts" : std::string_view(c.target.path).substr(kActions.size());
  if (Status s = c.site.source.act(action, c.request.body); !s.ok()) return failure(s);
  return json("{\"status\":\"done\"}\n");
}

struct Route {
  std::string_view path;
  bool post;
  Role needs;
  bool slow;
  Response (*answer)(const Call&);
  bool prefix = false;
};
constexpr Route kRoutes[] = {
    {"/", false, Role::kRead, false, page},
    {"/healthz", false, Role::kNone, false, health},
    {"/metrics", false, Role::kRead, false, metrics},
    {"/api/v1/state", false, Role::kRead, false, state},
    {"/api/v1/history", false, Role::kRead, false, history},
    {"/api/v1/live", false, Role::kRead, false, live},
    {"/api/v1/bytecode", false, Role::kRead, true, bytecode},
    {"/api/v1/disassembly", false, Role::kRead, true, disassembly},
    {"/api/v1/alerts", true, Role::kAdmin, true, act},
    {kActions, true, Role::kAdmin, true, act, true},
};

const Route* find_route(std::string_view path) {
  for (const Route& r : kRoutes)
    if (r.prefix ? path.starts_with(r.path) && path.size() > r.path.size() : path == r.path) return &r;
  return nullptr;
}

Response unauthorized() {
  Response r = error_response(401, "a token is needed: Authorization: Bearer TOKEN; in a browser open /?token=TOKEN");
  r.headers = {{"WWW-Authenticate", "Bearer"}};
  return r;
}

/// Of what came before the body. `route` and `caller` are set where nothing is refused.
std::optional<Response> admit(const Request& request, const Site& site, Target& target, const Route*& route, Caller& caller) {
  if (request.target.size() > kMaxTarget) return error_response(414, fmt::format("an address of {} bytes: expected {} at most", request.target.size(), kMaxTarget));
  if (!parse_target(request.target, target)) return error_response(400, "the address isn't of the form /path?name=value");
  if (auto refused = check_origin(request, target, site)) return refused;
  route = find_route(target.path);
  // A token is taken only where it can be used: tickets serve once.
  if (!route || route->needs != Role::kNone) {
    caller = identify(request, target, site);
    if (caller.role == Role::kNone) return unauthorized();
  }
  if (!route) return error_response(404, fmt::format("there is no {}; docs/monitor.md lists what there is", target.path));
  const bool post = request.method == "POST", get = request.method == "GET" || request.method == "HEAD";
  if (route->post ? !post : !get) {
    Response r = error_response(405, fmt::format("{} doesn't go with {}", request.method, target.path));
    r.headers = {{"Allow", route->post ? "POST" : "GET, HEAD"}};
    return r;
  }
  if (route->needs == Role::kAdmin && caller.role != Role::kAdmin) return error_response(403, "the token may only read: changes need the administrator's");
  return {};
}

}  // namespace

std::optional<Response> refuse(const Request& request, const Site& site) {
  // A ticket serves once, and handle() will take it.
  if (request.method != "POST" && request.target.find("token=") != std::string::npos) return {};
  Target target;
  const Route* route = nullptr;
  Caller caller;
  return admit(request, site, target, route, caller);
}

Response handle(const Request& request, const Site& site) {
  Target target;
  const Route* route = nullptr;
  Caller caller;
  if (auto refused = admit(request, site, target, route, caller)) return std::move(*refused);
  if (request.body.size() > kMaxBody) return error_response(413, fmt::format("a body of {} bytes: expected {} at most", request.body.size(), kMaxBody));
  return route->answer({request, target, site, caller});
}

bool is_slow(const Request& request) {
  Target target;
  if (!parse_target(request.target, target)) return false;
  const Route* route = find_route(target.path);
  return route && route->slow;
}

std::string with_role(std::string_view state, Role role) {
  if (!state.starts_with('{')) return std::string(state);
  std::string out = fmt::format("{{\"role\":\"{}\"", role_name(role));
  state.remove_prefix(1);
  if (!state.starts_with('}')) out += ',';
  out += state;
  return out;
}

}  // namespace msvm::observe
