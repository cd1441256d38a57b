// A monitor as it runs: sockets, deadlines, events, TLS, forks.
#include "observe/monitor/monitor.h"

#include <gmock/gmock.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "msvm/jit/disk/test_folder.h"
#include "observe/monitor/client.h"
#include "observe/monitor/run_file.h"
#include "observe/monitor/testing/certificate.h"
#include "observe/monitor/testing/fake_source.h"
#include "observe/monitor/testing/wire.h"

namespace msvm::observe {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;

constexpr const char* kGet = "GET /api/v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr const char* kLive = "GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n";

struct MonitorTest : ::testing::Test {
  MonitorTest() { ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1); }
  void start(MonitorOptions o = {}) {
    o.port = 0;
    auto m = Monitor::start(o, source);
    ASSERT_TRUE(m.ok()) << m.status().message();
    monitor = std::move(*m);
  }
  std::string url() const { return monitor->url(); }
  std::string ask(std::string_view text) {
    Wire w(url());
    w.send(text);
    return w.read("}\n");
  }
  /// Within ten seconds.
  template <class F> static bool comes_true(F f) {
    for (int i = 0; i < 1000; ++i, std::this_thread::sleep_for(10ms))
      if (f()) return true;
    return false;
  }

  const jit::TestFolder place;
  const std::string folder = place.path();
  FakeSource source;
  std::unique_ptr<Monitor> monitor;
};

std::string why_not(MonitorOptions o, Source& source) {
  o.port = 0;
  auto m = Monitor::start(o, source);
  return m.ok() ? "it started" : m.status().message();
}

TEST_F(MonitorTest, ServesAndStops) {
  start();
  EXPECT_THAT(url(), StartsWith("http://127.0.0.1:"));
  const auto state = http_get({.url = url()}, "/api/v1/state");
  ASSERT_TRUE(state.ok()) << state.status().message();
  EXPECT_THAT(*state, StartsWith("{\"role\":\"admin\",\"version\":1"));
  ASSERT_TRUE(http_post({.url = url()}, "/api/v1/actions/trace", "{\"on\":true}").ok());
  EXPECT_EQ(source.last_body, "{\"on\":true}");
  const auto missing = http_get({.url = url()}, "/api/v1/disassembly?program=7&function=0&region=0&entry=a");
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.status().message(), HasSubstr("there is no program 7"));
  EXPECT_EQ(source.began, 1);
  EXPECT_EQ(source.ended, 0);
  monitor->stop();
  monitor->stop();
  EXPECT_EQ(source.ended, 1);
  EXPECT_EQ(http_get({.url = url(), .timeout = 1s}, "/healthz").status().code(), StatusCode::kIo);
}

TEST_F(MonitorTest, ConnectionsAreKept) {
  start();
  Wire w(url());
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(w.send(kGet));
    EXPECT_THAT(w.read("\"}"), HasSubstr("\"number\":" + std::to_string(i)));
  }
  ASSERT_TRUE(w.send("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
  EXPECT_THAT(w.read("}\n"), StartsWith("HTTP/1.1 421 "));
  ASSERT_TRUE(w.send("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n"));
  EXPECT_THAT(w.read(), EndsWith("{\"status\":\"ok\"}\n"));
  EXPECT_TRUE(w.closed);
}

TEST_F(MonitorTest, WhatIsNotSafeIsNotStarted) {
  const std::string token = "0123456789abcdef";
  EXPECT_THAT(why_not({.address = "0.0.0.0"}, source), HasSubstr("set MSVM_MONITOR_TOKEN"));
  EXPECT_THAT(why_not({.address = "::"}, source), HasSubstr("set MSVM_MONITOR_TOKEN"));
  EXPECT_THAT(why_not({.address = "0.0.0.0", .admin_token = "short"}, source), HasSubstr("can be guessed"));
  EXPECT_THAT(why_not({.admin_token = "two words"}, source), HasSubstr("visible ASCII"));
  EXPECT_THAT(why_not({.admin_token = token, .read_token = token}, source), HasSubstr("are the same"));
  EXPECT_THAT(why_not({.address = "example.com"}, source), HasSubstr("isn't an address"));
  EXPECT_THAT(why_not({.address = "203.0.113.7", .admin_token = token}, source), HasSubstr("can't listen on 203.0.113.7"));
  EXPECT_THAT(why_not({.hosts = {"a:80"}}, source), HasSubstr("without a port"));
  EXPECT_EQ(why_not({.address = "0.0.0.0", .read_token = token}, source), "it started");
  start();
  MonitorOptions taken;
  taken.port = static_cast<uint16_t>(std::stoi(url().substr(url().rfind(':') + 1)));
  EXPECT_THAT(Monitor::start(taken, source).status().message(), HasSubstr("choose another port"));
}

TEST_F(MonitorTest, TokensAreNeededWhereThereAreSome) {
  start({.admin_token = "the-admins", .read_token = "the-readers"});
  const auto none = http_get({.url = url()}, "/api/v1/state");
  EXPECT_THAT(none.status().message(), HasSubstr("MSVM_MONITOR_TOKEN"));
  EXPECT_TRUE(http_get({.url = url(), .token = "the-readers"}, "/api/v1/state").ok());
  EXPECT_FALSE(http_post({.url = url(), .token = "the-readers"}, "/api/v1/alerts", "[]").ok());
  EXPECT_TRUE(http_post({.url = url(), .token = "the-admins"}, "/api/v1/alerts", "[]").ok());
  const std::string ticket = monitor->browser_url().substr(url().size());
  const std::string login = ask("GET " + ticket + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(login, StartsWith("HTTP/1.1 303 "));
  EXPECT_THAT(login, HasSubstr("HttpOnly; SameSite=Strict"));
}

TEST_F(MonitorTest, SizesAreLimited) {
  start();
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(64 << 10, 'x') + "\r\n\r\n"), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask("GET /" + std::string(4096, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 414 "));
  const std::string post = "POST /api/v1/actions/trace HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  EXPECT_THAT(ask(post + "Content-Length: 3000000\r\n\r\n" + std::string(100'000, ' ')), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask(post + "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + std::string(0x200000, ' ') + "\r\n0\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask(post + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{}"), HasSubstr("HTTP/1.1 200 "));
  EXPECT_THAT(ask("\x16\x03\x01\x02\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(MonitorTest, WhoSendsSlowlyIsCutOff) {
  start({.request_time = 300ms});
  Wire w(url());
  const auto begin = std::chrono::steady_clock::now();
  w.send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 60; ++i) {
    if (!w.send("X: y\r\n")) break;
    w.read("never", 50);
    if (w.closed) break;
  }
  EXPECT_TRUE(w.closed);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
  EXPECT_TRUE(http_get({.url = url()}, "/healthz").ok());
}

TEST_F(MonitorTest, AHundredConnections) {
  start({.max_connections = 100});
  std::vector<Wire> wires;
  for (int i = 0; i < 100; ++i) {
    wires.emplace_back(url());
    ASSERT_TRUE(wires.back().connected);
  }
  for (Wire& w : wires) ASSERT_TRUE(w.send(kGet));
  for (Wire& w : wires) EXPECT_THAT(w.read("\"}"), StartsWith("HTTP/1.1 200 "));
  Wire more(url());
  EXPECT_THAT(more.read(), StartsWith("HTTP/1.1 503 "));
  EXPECT_TRUE(more.closed);
  wires.clear();
  EXPECT_TRUE(comes_true([&] { return http_get({.url = url()}, "/healthz").ok(); }));
}

struct Event {
  int id = -1;
  nlohmann::json state, point;
};
Event next_event(Wire& w) {
  Event e;
  const std::string text = w.read("\n\n"), history = w.read("\n\n");
  const auto data = [](const std::string& t) { return nlohmann::json::parse(t.substr(t.find("data: ") + 6), nullptr, false); };
  if (const size_t at = text.find("id: "); at != std::string::npos) e.id = std::stoi(text.substr(at + 4));
  if (text.find("event: state\n") != std::string::npos) e.state = data(text);
  if (history.find("event: history\n") != std::string::npos) e.point = data(history);
  return e;
}

TEST_F(MonitorTest, EventsComeInOrderMadeOnceForAll) {
  start({.tick = 50ms});
  std::vector<Wire> wires;
  for (int i = 0; i < 10; ++i) {
    wires.emplace_back(url());
    wires.back().send(kLive);
    EXPECT_THAT(wires.back().read("\r\n\r\n"), HasSubstr("Content-Type: text/event-stream\r\n"));
  }
  const int before = source.states;
  std::vector<int> last(wires.size(), 0);
  for (int k = 0; k < 5; ++k)
    for (size_t i = 0; i < wires.size(); ++i) {
      const Event e = next_event(wires[i]);
      ASSERT_TRUE(e.state.is_object());
      EXPECT_EQ(e.id, e.state["number"]);
      EXPECT_EQ(e.state["role"], "admin");
      EXPECT_EQ(e.point, nlohmann::json({{"time", "b"}, {"queued", 2}}));
      if (k > 0) {
        EXPECT_EQ(e.id, last[i] + 1);
      }
      last[i] = e.id;
    }
  EXPECT_LT(source.states - before, 5 * 10) << "each listener had a state of its own";
  wires.clear();
  int now = -1;
  EXPECT_TRUE(comes_true([&] { return std::exchange(now, source.states) == now && (std::this_thread::sleep_for(200ms), source.states == now); })) << "nobody listens";
}

TEST_F(MonitorTest, WhoReadsNothingHoldsNobodyUp) {
  source.padding = 1 << 20;
  start({.tick = 100ms});
  Wire slow(url()), quick(url());
  slow.receive_buffer(4096);
  slow.send(kLive);
  quick.send(kLive);
  quick.read("\r\n\r\n");
  int id = -1;
  for (int k = 0; k < 25; ++k) {
    const Event e = next_event(quick);
    ASSERT_GT(e.id, id);
    id = e.id;
  }
  std::string got = slow.read();
  EXPECT_TRUE(slow.closed) << "it was dropped, and knows";
  EXPECT_LT(got.size(), 16U << 20);
}

TEST_F(MonitorTest, ALongAnswerHoldsNobodyUp) {
  source.disassembly_ms = 400;
  start({.tick = 50ms});
  Wire live(url()), slow(url());
  live.send(kLive);
  live.read("\r\n\r\n");
  next_event(live);
  slow.send("GET /api/v1/disassembly?program=1&function=0&region=0&entry=box HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < 3; ++k) next_event(live);
  EXPECT_TRUE(http_get({.url = url()}, "/healthz").ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 390ms);
  EXPECT_THAT(slow.read("\"}"), HasSubstr("0/0/box"));
}

TEST_F(MonitorTest, ListenersLeaveRoomForOthers) {
  start({.max_connections = 8});
  std::vector<Wire> wires;
  for (int i = 0; i < 7; ++i) {
    wires.emplace_back(url());
    wires.back().send(kLive);
    EXPECT_THAT(wires.back().read("\r\n\r\n"), StartsWith(i < 6 ? "HTTP/1.1 200 " : "HTTP/1.1 503 ")) << i;
  }
  EXPECT_TRUE(http_get({.url = url()}, "/healthz").ok());
}

TEST_F(MonitorTest, Tls) {
  const std::string certificate = folder + "/c.pem", key = folder + "/k.pem", other = folder + "/other.pem", other_key = folder + "/other_key.pem";
  make_certificate(certificate, key);
  make_certificate(other, other_key);
  start({.certificate = certificate, .key = key});
  EXPECT_THAT(url(), StartsWith("https://127.0.0.1:"));
  const auto ok = http_get({.url = url(), .certificate = certificate}, "/healthz");
  EXPECT_TRUE(ok.ok()) << ok.status().message();
  EXPECT_THAT(http_get({.url = url(), .certificate = other}, "/healthz").status().message(), HasSubstr("isn't trusted"));
  EXPECT_THAT(http_get({.url = url()}, "/healthz").status().message(), HasSubstr("isn't trusted"));
  EXPECT_FALSE(http_get({.url = "http" + url().substr(5)}, "/healthz").ok());
  SSL_CTX* old = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(old, TLS1_1_VERSION);
  SSL_CTX_set_security_level(old, 0);
  BIO* bio = BIO_new_ssl_connect(old);
  BIO_set_conn_hostname(bio, url().substr(8).c_str());
  EXPECT_LE(BIO_do_connect(bio), 0) << "TLS 1.1 is too old";
  BIO_free_all(bio);
  SSL_CTX_free(old);

  EXPECT_THAT(why_not({.certificate = certificate}, source), HasSubstr("found the certificate only"));
  EXPECT_THAT(why_not({.certificate = certificate, .key = other_key}, source), HasSubstr("isn't that of certificate"));
  EXPECT_THAT(why_not({.certificate = folder + "/none", .key = key}, source), HasSubstr("/none: "));
  EXPECT_THAT(why_not({.certificate = key, .key = key}, source), HasSubstr("expected a PEM file"));
  std::ofstream(folder + "/encrypted.pem") << "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n";
  EXPECT_THAT(why_not({.certificate = certificate, .key = folder + "/encrypted.pem"}, source), HasSubstr("without a passphrase"));
}

TEST_F(MonitorTest, AChildHasNone) {
  start({.tick = 50ms});
  Wire live(url());
  live.send(kLive);
  live.read("\r\n\r\n");
  const std::string file = folder + "/msvm/" + std::to_string(::getpid()) + ".json";
  ASSERT_TRUE(fs::exists(file));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int open = 0;  // sockets of its own: none
    for (const auto& e : fs::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      const std::string to = fs::read_symlink(e, error).string();
      open += to.starts_with("socket:");
    }
    monitor->stop();
    monitor.reset();
    ::_exit(open <= 1 ? 0 : 1);  // the test's own end of the connection
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(source.ended, 0);
  EXPECT_TRUE(fs::exists(file));
  next_event(live);
  EXPECT_GT(next_event(live).id, 0);
  EXPECT_TRUE(http_get({.url = url()}, "/healthz").ok());
}

TEST_F(MonitorTest, RunningMonitorsAreFound) {
  start({.admin_token = "a-secret-token"});
  const std::string file = folder + "/msvm/" + std::to_string(::getpid()) + ".json";
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  std::ifstream in(file);
  EXPECT_THAT(std::string((std::istreambuf_iterator<char>(in)), {}), Not(HasSubstr("a-secret-token")));
  auto found = running_monitors();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pid, ::getpid());
  EXPECT_EQ(found[0].url, url());
  EXPECT_THAT(found[0].command, HasSubstr("monitor_test"));
  // Of a process that is gone, of one that had the number before, and what is no such file.
  const std::string text = R"({"pid":%,"start":"1","url":"http://127.0.0.1:1","certificate":"","command":"x"})";
  for (const char* name : {"1.json", "999999999.json", "x.json", "01.json"}) {
    std::ofstream(folder + "/msvm/" + name) << text;
    ::chmod((folder + "/msvm/" + name).c_str(), 0600);
  }
  EXPECT_EQ(running_monitors().size(), 1U);
  monitor->stop();
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(running_monitors().empty());
}

TEST(Options, Endpoints) {
  const auto parsed = [](const char* text) {
    const auto e = parse_endpoint(text);
    return e.ok() ? e->address + " " + std::to_string(e->port) : e.status().message();
  };
  EXPECT_EQ(parsed("127.0.0.1:80"), "127.0.0.1 80");
  EXPECT_EQ(parsed("localhost:0"), "127.0.0.1 0");
  EXPECT_EQ(parsed("[::1]:80"), "::1 80");
  EXPECT_EQ(parsed("::1"), "::1 9464");
  EXPECT_EQ(parsed("0.0.0.0"), "0.0.0.0 9464");
  EXPECT_EQ(parsed("8080"), "127.0.0.1 8080");
  EXPECT_EQ(parsed(":8080"), "127.0.0.1 8080");
  for (const char* bad : {"", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x", "127.0.0.1:-1", "[::1", "[::1]x", "[::1]:", "65536", "host", "1.2.3:4"}) EXPECT_THAT(parsed(bad), HasSubstr("monitor: ")) << bad;
  for (const char* loopback : {"127.0.0.1", "127.8.9.1", "::1"}) EXPECT_TRUE(is_loopback(loopback));
  for (const char* other : {"0.0.0.0", "::", "192.168.0.1", "::ffff:127.0.0.1"}) EXPECT_FALSE(is_loopback(other));
}

TEST_F(MonitorTest, TokensFromFilesAndTheEnvironment) {
  const std::string file = folder + "/token";
  std::ofstream(file) << "from-a-file\n";
  ::chmod(file.c_str(), 0644);
  EXPECT_THAT(read_token_file(file).status().message(), HasSubstr("chmod 600"));
  ::chmod(file.c_str(), 0600);
  EXPECT_EQ(*read_token_file(file), "from-a-file");
  EXPECT_FALSE(read_token_file(folder).ok());
  EXPECT_EQ(read_token_file(folder + "/none").status().code(), StatusCode::kIo);
  ::setenv("MSVM_MONITOR_TOKEN_FILE", file.c_str(), 1);
  ::setenv("MSVM_MONITOR_READ_TOKEN", "to-read", 1);
  ::setenv("MSVM_MONITOR_HOSTS", "a.example, b.example", 1);
  MonitorOptions o;
  EXPECT_TRUE(fill_from_environment(o).ok());
  EXPECT_EQ(o.admin_token, "from-a-file");
  EXPECT_EQ(o.read_token, "to-read");
  EXPECT_THAT(o.hosts, ::testing::ElementsAre("a.example", "b.example"));
  ::setenv("MSVM_MONITOR_TOKEN", "both", 1);
  MonitorOptions both;
  EXPECT_THAT(fill_from_environment(both).message(), HasSubstr("unset one"));
  for (const char* name : {"MSVM_MONITOR_TOKEN", "MSVM_MONITOR_TOKEN_FILE", "MSVM_MONITOR_READ_TOKEN", "MSVM_MONITOR_HOSTS"}) ::unsetenv(name);
}

}  // namespace
}  // namespace msvm::observe
