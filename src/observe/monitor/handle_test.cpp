// Routing, roles, and what foreign pages and names may do: without a socket.
#include "observe/monitor/handle.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "observe/monitor/page.h"
#include "observe/monitor/parse.h"
#include "observe/monitor/testing/fake_source.h"

namespace msvm::observe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAdmin = "0123456789abcdef-admin";
constexpr const char* kRead = "0123456789abcdef-read";

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Fixture : ::testing::Test {
  FakeSource source;
  Access open{"", ""}, closed{kAdmin, kRead};
  Site site_of(Access& access) { return {source, access, {"box.example"}, false, 9464}; }

  static Request request(std::string method, std::string target, Headers headers = {}, std::string body = "") {
    if (std::none_of(headers.begin(), headers.end(), [](const auto& h) { return h.first == "host"; })) headers.emplace_back("host", "127.0.0.1:9464");
    return {std::move(method), std::move(target), std::move(body), std::move(headers)};
  }
  unsigned get(Access& access, std::string target, Headers headers = {}) { return handle(request("GET", std::move(target), std::move(headers)), site_of(access)).status; }
  unsigned post(Access& access, std::string target, Headers headers = {}) {
    headers.emplace_back("content-type", "application/json");
    return handle(request("POST", std::move(target), std::move(headers), "{}"), site_of(access)).status;
  }
};

std::string header(const Response& r, std::string_view name) {
  for (const auto& [key, value] : r.headers)
    if (key == name) return value;
  return {};
}

TEST_F(Fixture, RoutesAnswer) {
  const Site site = site_of(open);
  const auto body = [&](const char* target) { return handle(request("GET", target), site).body; };
  EXPECT_EQ(body("/healthz"), "{\"status\":\"ok\"}\n");
  EXPECT_THAT(body("/metrics"), HasSubstr("msvm_runs_total 3\n"));
  EXPECT_EQ(body("/api/v1/state"), "{\"role\":\"admin\",\"version\":1,\"number\":1,\"padding\":\"\"}");
  EXPECT_THAT(body("/api/v1/history"), HasSubstr("\"points\""));
  EXPECT_EQ(body("/api/v1/disassembly?program=1&function=2&region=3&entry=b%6fx"), "{\"entry\":\"2/3/box\"}");
  EXPECT_EQ(body("/api/v1/bytecode?program=18446744073709551615"), "{\"lines\":[],\"program\":18446744073709551615}");
  const Response page = handle(request("GET", "/"), site);
  EXPECT_EQ(page.body, page_html());
  EXPECT_EQ(header(page, "Content-Security-Policy"), page_policy());
  EXPECT_TRUE(handle(request("GET", "/api/v1/live"), site).live);
  EXPECT_EQ(handle(request("GET", "/metrics"), site).type, "text/plain; version=0.0.4; charset=utf-8");
}

TEST_F(Fixture, WrongAddresses) {
  for (const char* target : {"/nowhere", "/api/v1/actions/", "/api/v1/state/", "/../etc/passwd", "/index.html", "//", "/api/v1/disassembly?program=2&function=0&region=0&entry=x"}) EXPECT_EQ(get(open, target), 404U) << target;
  for (const char* target : {"", "http://127.0.0.1/", "*", "/%", "/%4", "/%zz", "/a%00b", "/?a=%0", "/api/v1/bytecode", "/api/v1/bytecode?program=", "/api/v1/bytecode?program=-1",
                             "/api/v1/bytecode?program=1x", "/api/v1/bytecode?program=18446744073709551616", "/api/v1/disassembly?program=1", "/api/v1/disassembly?program=1&function=0&region=2147483648&entry=x",
                             "/api/v1/disassembly?program=1&function=0&region=0"})
    EXPECT_EQ(get(open, target), 400U) << target;
  EXPECT_EQ(get(open, "/" + std::string(kMaxTarget, 'a')), 414U);
}

TEST_F(Fixture, Methods) {
  const Response r = handle(request("POST", "/api/v1/state", {{"content-type", "application/json"}}), site_of(open));
  EXPECT_EQ(r.status, 405U);
  EXPECT_EQ(header(r, "Allow"), "GET, HEAD");
  EXPECT_EQ(get(open, "/api/v1/alerts"), 405U);
  EXPECT_EQ(handle(request("HEAD", "/api/v1/state"), site_of(open)).status, 200U);
  EXPECT_NE(handle(request("OPTIONS", "/api/v1/actions/trace"), site_of(open)).status, 200U);
  EXPECT_EQ(handle(request("DELETE", "/api/v1/state", {{"content-type", "application/json"}}), site_of(open)).status, 405U);
}

TEST_F(Fixture, ActionsReachTheSource) {
  const Site site = site_of(open);
  const Response done = handle(request("POST", "/api/v1/actions/trace", {{"content-type", "application/json; charset=utf-8"}}, "{\"on\":true}"), site);
  EXPECT_EQ(done.status, 200U);
  EXPECT_EQ(source.last_action, "trace");
  EXPECT_EQ(source.last_body, "{\"on\":true}");
  EXPECT_EQ(post(open, "/api/v1/alerts"), 200U);
  EXPECT_EQ(source.last_action, "alerts");
  EXPECT_EQ(post(open, "/api/v1/actions/unknown"), 404U);
  const Response failed = handle(request("POST", "/api/v1/actions/fail", {{"content-type", "application/json"}}, "{}"), site);
  EXPECT_EQ(failed.status, 400U);
  EXPECT_EQ(nlohmann::json::parse(failed.body)["error"], "it \"fails\"\n");
  Request large = request("POST", "/api/v1/actions/trace", {{"content-type", "application/json"}}, std::string(kMaxBody + 1, ' '));
  EXPECT_EQ(handle(large, site).status, 413U);
}

TEST_F(Fixture, HostsOfOthersAreRefused) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:80", "localhost", "LOCALHOST:9464", "[::1]:9464", "192.168.3.4:1", "box.example", "Box.Example:9464"}) EXPECT_EQ(get(open, "/api/v1/state", {{"host", host}}), 200U) << host;
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:9464", "", ":9464", "localhost:1x", "[::1", "[::1]x", "[evil]", "127.1", "0x7f000001", "2130706433",
                           "box.example.", "user@127.0.0.1", "127.0.0.1/x"})
    EXPECT_EQ(get(open, "/api/v1/state", {{"host", host}}), 421U) << host;
  Request none = request("GET", "/healthz");
  none.headers.clear();
  EXPECT_EQ(handle(none, site_of(open)).status, 400U);
  EXPECT_EQ(get(open, "/healthz", {{"host", "localhost"}, {"host", "localhost"}}), 400U);
}

TEST_F(Fixture, PagesOfOthersChangeNothing) {
  EXPECT_EQ(post(open, "/api/v1/actions/trace"), 200U);  // no browser
  EXPECT_EQ(post(open, "/api/v1/actions/trace", {{"origin", "http://127.0.0.1:9464"}}), 200U);
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:8000", "http://127.0.0.1", "http://127.0.0.1:9464.evil.example", "ftp://127.0.0.1:9464", ""})
    EXPECT_EQ(post(open, "/api/v1/actions/trace", {{"origin", origin}}), 403U) << origin;
  EXPECT_EQ(post(open, "/api/v1/actions/trace", {{"origin", "http://127.0.0.1:9464"}, {"origin", "http://evil.example"}}), 403U);
  for (const char* from : {"cross-site", "same-site"}) {
    EXPECT_EQ(post(open, "/api/v1/actions/trace", {{"sec-fetch-site", from}}), 403U);
    EXPECT_EQ(get(open, "/api/v1/state", {{"sec-fetch-site", from}}), 403U);
    EXPECT_EQ(get(open, "/", {{"sec-fetch-site", from}, {"sec-fetch-mode", "no-cors"}}), 403U);
    EXPECT_EQ(get(open, "/", {{"sec-fetch-site", from}, {"sec-fetch-mode", "navigate"}}), 200U);  // a link to the page
  }
  const auto typed = [&](Headers h) { return handle(request("POST", "/api/v1/actions/trace", std::move(h), "{}"), site_of(open)).status; };
  EXPECT_EQ(typed({}), 415U);  // forms send others
  EXPECT_EQ(typed({{"content-type", "text/plain"}}), 415U);
  EXPECT_EQ(typed({{"content-type", "application/json"}, {"content-type", "text/plain"}}), 415U);
  Site tls = site_of(open);
  tls.tls = true;
  Request r = request("POST", "/api/v1/alerts", {{"content-type", "application/json"}, {"origin", "http://127.0.0.1:9464"}}, "[]");
  EXPECT_EQ(handle(r, tls).status, 403U);
  r.headers[1].second = "https://127.0.0.1:9464";
  EXPECT_EQ(handle(r, tls).status, 200U);
}

TEST_F(Fixture, Tokens) {
  const auto bearer = [](std::string token) { return Headers{{"authorization", "Bearer " + std::move(token)}}; };
  EXPECT_EQ(get(closed, "/healthz"), 200U);
  for (const char* path : {"/", "/metrics", "/api/v1/state", "/api/v1/live", "/nowhere"}) EXPECT_EQ(get(closed, path), 401U) << path;
  EXPECT_EQ(get(closed, "/api/v1/state", bearer(kRead)), 200U);
  EXPECT_EQ(get(closed, "/api/v1/state", bearer(kAdmin)), 200U);
  EXPECT_EQ(get(closed, "/nowhere", bearer(kRead)), 404U);
  EXPECT_THAT(handle(request("GET", "/api/v1/state", bearer(kRead)), site_of(closed)).body, HasSubstr("\"role\":\"read\""));
  for (std::string wrong : {std::string(), std::string("x"), std::string(kAdmin) + "x", std::string(kAdmin).substr(1), std::string("0123456789abcdef-adminx")}) EXPECT_EQ(get(closed, "/api/v1/state", bearer(wrong)), 401U);
  EXPECT_EQ(get(closed, "/api/v1/state", {{"authorization", std::string("Basic ") + kAdmin}}), 401U);
  EXPECT_EQ(get(closed, "/api/v1/state", {{"authorization", std::string("Bearer ") + kAdmin}, {"authorization", "Bearer x"}}), 401U);
  EXPECT_EQ(post(closed, "/api/v1/actions/trace"), 401U);
  EXPECT_EQ(post(closed, "/api/v1/actions/trace", bearer(kRead)), 403U);
  EXPECT_EQ(post(closed, "/api/v1/actions/trace", bearer(kAdmin)), 200U);
  EXPECT_EQ(post(closed, std::string("/api/v1/actions/trace?token=") + kAdmin), 401U);
  EXPECT_EQ(get(closed, std::string("/api/v1/state?token=") + kAdmin), 401U) << "tokens in addresses are for the page alone";
  Access read_only{"", kRead};
  EXPECT_EQ(post(read_only, "/api/v1/actions/trace", bearer(kRead)), 403U);
  EXPECT_EQ(post(read_only, "/api/v1/actions/trace", bearer("")), 401U);
}

TEST_F(Fixture, ATokenInTheAddressBecomesACookie) {
  const Site site = site_of(closed);
  const Response login = handle(request("GET", std::string("/?token=") + kRead), site);
  EXPECT_EQ(login.status, 303U);
  EXPECT_EQ(header(login, "Location"), "/");
  const std::string set = header(login, "Set-Cookie");
  EXPECT_THAT(set, ::testing::StartsWith("msvm_monitor_9464="));
  EXPECT_THAT(set, HasSubstr("; HttpOnly; SameSite=Strict"));
  EXPECT_THAT(set, Not(HasSubstr(kRead)));
  const std::string cookie = set.substr(0, set.find(';'));
  EXPECT_EQ(get(closed, "/api/v1/state", {{"cookie", "a=b; " + cookie + "; c=d"}}), 200U);
  EXPECT_EQ(get(closed, "/api/v1/state", {{"cookie", "x" + cookie}}), 401U);
  EXPECT_EQ(get(closed, "/api/v1/state", {{"cookie", cookie + "0"}}), 401U);
  EXPECT_EQ(post(closed, "/api/v1/alerts", {{"cookie", cookie}, {"origin", "http://127.0.0.1:9464"}}), 403U);
  const std::string admin = "msvm_monitor_9464=" + closed.cookie(Role::kAdmin);
  EXPECT_EQ(post(closed, "/api/v1/alerts", {{"cookie", admin}, {"origin", "http://127.0.0.1:9464"}}), 200U);
  EXPECT_EQ(post(closed, "/api/v1/alerts", {{"cookie", admin}}), 401U) << "a cookie without Origin may be another page's doing";
  EXPECT_EQ(post(closed, "/api/v1/alerts", {{"cookie", admin}, {"origin", "http://evil.example"}}), 403U);
  const Response live = handle(request("GET", std::string("/api/v1/live?token=") + kAdmin), site);
  EXPECT_TRUE(live.live);
  EXPECT_EQ(live.role, Role::kAdmin);
  EXPECT_THAT(header(live, "Set-Cookie"), HasSubstr(closed.cookie(Role::kAdmin)));
  Site tls = site;
  tls.tls = true;
  EXPECT_THAT(header(handle(request("GET", std::string("/?token=") + kRead), tls), "Set-Cookie"), HasSubstr("; Secure"));
  EXPECT_EQ(get(closed, "/?token=wrong"), 401U);
  Access other{kAdmin, kRead};
  EXPECT_EQ(get(other, "/api/v1/state", {{"cookie", cookie}}), 401U) << "cookies end with their monitor";
}

TEST_F(Fixture, ATicketServesOnce) {
  const std::string ticket = closed.ticket();
  EXPECT_FALSE(refuse(request("GET", "/?token=" + ticket), site_of(closed)));
  EXPECT_EQ(get(closed, "/?token=" + ticket), 303U);
  EXPECT_EQ(get(closed, "/?token=" + ticket), 401U);
}

TEST_F(Fixture, RefusedBeforeTheBody) {
  const Site site = site_of(closed);
  EXPECT_EQ(refuse(request("POST", "/api/v1/alerts", {{"content-type", "application/json"}}), site)->status, 401U);
  EXPECT_FALSE(refuse(request("POST", "/api/v1/alerts", {{"content-type", "application/json"}, {"authorization", std::string("Bearer ") + kAdmin}}), site));
  EXPECT_TRUE(is_slow(request("GET", "/api/v1/disassembly?program=1")));
  EXPECT_FALSE(is_slow(request("GET", "/api/v1/state")));
}

TEST_F(Fixture, Wire) {
  const Site site = site_of(open);
  const std::string ok = respond("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", site);
  EXPECT_THAT(ok, ::testing::StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const char* h : {"Cache-Control: no-store\r\n", "X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n", "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"}) EXPECT_THAT(ok, HasSubstr(h));
  EXPECT_THAT(ok, ::testing::EndsWith("\r\n\r\n{\"status\":\"ok\"}\n"));
  EXPECT_THAT(respond("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", site), ::testing::EndsWith("\r\n\r\n"));
  EXPECT_THAT(respond("", site), HasSubstr("HTTP/1.1 400 "));
  EXPECT_THAT(respond("garbage", site), HasSubstr("HTTP/1.1 400 "));
  EXPECT_THAT(respond("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(kMaxHeader, 'x') + "\r\n\r\n", site), HasSubstr("HTTP/1.1 431 "));
  const std::string post = "POST /api/v1/actions/trace HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ";
  EXPECT_THAT(respond(post + "2\r\n\r\n{}", site), HasSubstr("HTTP/1.1 200 "));
  EXPECT_THAT(respond(post + "2000000\r\n\r\n{}", site), HasSubstr("HTTP/1.1 413 "));
  EXPECT_THAT(respond(post + "20\r\n\r\n{}", site), HasSubstr("HTTP/1.1 400 "));
  EXPECT_THAT(respond("GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", site), HasSubstr("HTTP/1.1 413 "));
}

TEST(WithRole, IsAMemberOfTheState) {
  EXPECT_EQ(with_role("{}", Role::kRead), "{\"role\":\"read\"}");
  EXPECT_EQ(with_role("{\"a\":1}", Role::kAdmin), "{\"role\":\"admin\",\"a\":1}");
}

}  // namespace
}  // namespace msvm::observe
