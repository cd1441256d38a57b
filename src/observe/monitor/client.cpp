#include "observe/monitor/client.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "observe/monitor/asio.h"
#include "observe/monitor/tls.h"

namespace msvm::observe {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using Request = http::request<http::string_body>;

struct Url {
  bool tls = false;
  std::string host, port, authority;  // host without brackets
};

Result<Url> parse_url(std::string_view text) {
  Url u;
  const Status bad = invalid_argument(fmt::format("\"{}\" isn't a monitor's address: expected http://127.0.0.1:9464, https://HOST:PORT, or HOST:PORT", text));
  if (text.starts_with("https://")) u.tls = true, text.remove_prefix(8);
  else if (text.starts_with("http://")) text.remove_prefix(7);
  while (text.ends_with('/')) text.remove_suffix(1);
  if (text.empty() || text.find_first_of("/@?# \r\n") != std::string_view::npos) return bad;
  u.authority = text;
  size_t end = text.find(':');
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos) return bad;
    u.host = text.substr(1, end - 1);
    ++end;
  } else {
    u.host = text.substr(0, end);
  }
  u.port = u.tls ? "443" : "80";
  if (end < text.size()) {
    if (text[end] != ':') return bad;
    u.port = text.substr(end + 1);
  }
  if (u.host.empty() || u.port.empty() || u.port.find_first_not_of("0123456789") != std::string::npos) return bad;
  return u;
}

struct Exchange {
  const ClientOptions& options;
  const Url url;
  const Request request;
  asio::ssl::context* tls = nullptr;
  std::string step = "can't be reached";  // what failed
  beast::error_code error;
  unsigned status = 0;
  std::string body;
};

template <class Stream> asio::awaitable<void> talk(Stream& stream, Exchange& x) {
  x.step = "doesn't answer";
  std::tie(x.error, std::ignore) = co_await http::async_write(stream, x.request, kAwait);
  if (x.error) co_return;
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(x.options.max_bytes);
  std::tie(x.error, std::ignore) = co_await http::async_read(stream, buffer, parser, kAwait);
  x.status = parser.get().result_int();
  x.body = std::move(parser.get().body());
}

asio::awaitable<void> carry_out(asio::io_context& io, Exchange& x) {
  Tcp::resolver resolver(io);
  auto [resolve_error, found] = co_await resolver.async_resolve(x.url.host, x.url.port, kAwait);
  x.error = resolve_error;
  if (x.error) co_return;
  beast::tcp_stream tcp(io);
  tcp.expires_after(x.options.timeout);
  std::tie(x.error, std::ignore) = co_await tcp.async_connect(found, kAwait);
  if (x.error) co_return;
  if (!x.tls) {
    co_await talk(tcp, x);
    co_return;
  }
  beast::ssl_stream<beast::tcp_stream> stream(std::move(tcp), *x.tls);
  SSL_set_tlsext_host_name(stream.native_handle(), x.url.host.c_str());
  beast::error_code ignored;
  if (x.options.certificate.empty()) stream.set_verify_callback(asio::ssl::host_name_verification(x.url.host), ignored);
  x.step = "isn't trusted (name its certificate if it is your own)";
  std::tie(x.error) = co_await stream.async_handshake(asio::ssl::stream_base::client, kAwait);
  if (!x.error) co_await talk(stream, x);
}

/// The monitor's own words, where it has some.
std::string words(const Exchange& x) {
  const auto j = nlohmann::json::parse(x.body, nullptr, false);
  if (j.is_object() && j.contains("error") && j["error"].is_string()) return j["error"].get<std::string>();
  return "this isn't what a monitor says";
}

Result<std::string> exchange(const ClientOptions& options, http::verb verb, const std::string& target, const std::string& json) {
  MSVM_ASSIGN_OR_RETURN(const Url url, parse_url(options.url));
  Request request(verb, target, 11);
  request.set(http::field::host, url.authority);
  request.set(http::field::connection, "close");
  if (!options.token.empty()) request.set(http::field::authorization, "Bearer " + options.token);
  if (verb == http::verb::post) {
    request.set(http::field::content_type, "application/json");
    request.body() = json;
    request.prepare_payload();
  }
  std::unique_ptr<asio::ssl::context> tls;
  if (url.tls) {
    MSVM_ASSIGN_OR_RETURN(tls, client_context(options.certificate));
  }
  Exchange x{.options = options, .url = url, .request = std::move(request), .tls = tls.get()};
  try {
    asio::io_context io(1);
    asio::co_spawn(io, carry_out(io, x), asio::detached);
    io.run_for(options.timeout + std::chrono::milliseconds(500));
    if (!io.stopped()) x.error = beast::error::timeout;
  } catch (const std::exception& e) {
    return internal_error(e.what());
  }
  const auto of_url = [&](const std::string& what) { return fmt::format("monitor at {}: {}", options.url, what); };
  if (x.error && x.error != asio::ssl::error::stream_truncated) return Status(StatusCode::kIo, of_url(fmt::format("{}: {}", x.step, x.error.message())));
  if (x.status == 200) return std::move(x.body);
  const std::string text = of_url(words(x));
  return x.status == 404 ? Status(StatusCode::kNotFound, text) : x.status == 401 || x.status == 403 ? Status(StatusCode::kInvalidArgument, text + " (MSVM_MONITOR_TOKEN, MSVM_MONITOR_READ_TOKEN)") : invalid_argument(text);
}

}  // namespace

Result<std::string> http_get(const ClientOptions& options, const std::string& target) { return exchange(options, http::verb::get, target, ""); }
Result<std::string> http_post(const ClientOptions& options, const std::string& target, const std::string& json) { return exchange(options, http::verb::post, target, json); }

}  // namespace msvm::observe
