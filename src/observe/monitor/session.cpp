#include "observe/monitor/session.h"

#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl.hpp>
#include <exception>

#include "observe/monitor/handle.h"
#include "observe/monitor/http.h"

namespace msvm::observe {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr size_t kBuffer = 64 << 10;
constexpr auto kGoodbye = std::chrono::seconds(1);
constexpr int kLastReads = 64;

/// Counts the connection, and has a forked child close it. Goes before the socket does.
class Place {
 public:
  Place(Shared& shared, int fd) : shared_(shared), place_(shared.guard.add(fd)) { ++shared_.connections; }
  ~Place() {
    shared_.guard.remove(place_);
    --shared_.connections;
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  Shared& shared_;
  const size_t place_;
};

Response guarded(const Request& request, const Site& site) {
  try {
    return handle(request, site);
  } catch (const std::exception& e) {  // no memory
    return error_response(500, e.what());
  }
}

asio::awaitable<Response> in_other_thread(const Request& request, const Site& site) { co_return guarded(request, site); }

asio::awaitable<Response> answer(const Request& request, Shared& s) {
  if (!is_slow(request)) co_return guarded(request, s.site);
  co_return co_await asio::co_spawn(s.slow, in_other_thread(request, s.site), asio::use_awaitable);
}

/// A connection with T = tcp_stream or ssl_stream.
template <class T> class Connection {
 public:
  Connection(T& stream, Shared& s) : stream_(stream), s_(s), buffer_(kBuffer) {}

  asio::awaitable<void> run() {
    bool goes_on = true;
    while (goes_on) goes_on = co_await exchange();
    if (broken_) reset();
    else co_await say_goodbye();
  }

 private:
  void deadline(std::chrono::milliseconds t) { beast::get_lowest_layer(stream_).expires_after(t); }

  /// One request and its response; whether the connection stays.
  asio::awaitable<bool> exchange() {
    HttpParser parser;
    set_limits(parser);
    deadline(s_.options.request_time);
    const auto [header_error, header_bytes] = co_await http::async_read_header(stream_, buffer_, parser, kAwait);
    if (header_error) co_return co_await refuse_unread(header_error);
    const bool head = parser.get().method() == http::verb::head;
    if (has_needless_body(parser)) co_return co_await refuse_unread(http::make_error_code(http::error::body_limit));
    if (auto refused = refuse(to_request(parser), s_.site)) {
      // What follows isn't read: who isn't known sends no megabytes.
      co_return co_await write(to_http(std::move(*refused), parser.get().version(), parser.is_done() && parser.keep_alive(), head));
    }
    if (!parser.is_done()) {
      if (beast::iequals(parser.get()[http::field::expect], "100-continue") && !co_await write(HttpResponse(http::status::continue_, parser.get().version()))) co_return false;
      const auto [body_error, body_bytes] = co_await http::async_read(stream_, buffer_, parser, kAwait);
      if (body_error) co_return co_await refuse_unread(body_error);
    }
    const Request request = to_request(parser);
    Response response = co_await answer(request, s_);
    if (response.live) {
      co_await send_events(std::move(response), parser.get().version(), head);
      co_return false;
    }
    co_return co_await write(to_http(std::move(response), parser.get().version(), parser.keep_alive(), head));
  }

  asio::awaitable<bool> refuse_unread(beast::error_code error) {
    const bool is_http = error.category() == http::make_error_code(http::error::bad_method).category();
    if (is_http && error != http::error::end_of_stream && error != http::error::partial_message) co_await write(to_http(refusal_of(error), 11, false, false));
    co_return false;
  }

  asio::awaitable<bool> write(HttpResponse response) {
    deadline(s_.options.write_time);
    const auto [error, bytes] = co_await http::async_write(stream_, response, kAwait);
    broken_ |= error.failed();
    co_return !error && (response.keep_alive() || response.result() == http::status::continue_);
  }

  asio::awaitable<void> send_events(Response response, unsigned version, bool head) {
    const Role role = response.role;
    if (s_.live->listeners() * 4 >= s_.options.max_connections * 3) {  // others must come through
      co_await write(to_http(error_response(503, "too many listen to events: close one, or raise max_connections"), version, false, head));
      co_return;
    }
    HttpResponse begin = to_http(std::move(response), version, false, head);
    http::response_serializer<http::string_body> serializer(begin);
    deadline(s_.options.write_time);
    const auto [begin_error, begin_bytes] = co_await http::async_write_header(stream_, serializer, kAwait);
    if (begin_error || head) co_return;
    Live::Listener listener(s_.live, role);
    listener.on_drop = [this] { beast::get_lowest_layer(stream_).cancel(); };
    for (;;) {
      const Live::Message message = co_await listener.next();
      if (message) {
        deadline(s_.options.write_time);
        const auto [error, bytes] = co_await asio::async_write(stream_, asio::buffer(*message), kAwait);
        if (!error) continue;
      }
      broken_ = true;
      co_return;
    }
  }

  /// What the peer didn't take in time isn't kept for it by the kernel either.
  void reset() {
    beast::error_code ignored;
    auto& socket = beast::get_lowest_layer(stream_).socket();
    socket.set_option(asio::socket_base::linger(true, 0), ignored);
  }

  /// A socket closed with bytes unread would take the response along with it.
  asio::awaitable<void> say_goodbye() {
    deadline(kGoodbye);
    if constexpr (!std::is_same_v<T, beast::tcp_stream>) co_await stream_.async_shutdown(kAwait);
    auto& tcp = beast::get_lowest_layer(stream_);
    beast::error_code ignored;
    tcp.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    char bytes[4096];
    for (int i = 0; i < kLastReads; ++i) {
      const auto [error, n] = co_await tcp.async_read_some(asio::buffer(bytes), kAwait);
      if (error) break;
    }
  }

  T& stream_;
  Shared& s_;
  beast::flat_buffer buffer_;
  bool broken_ = false;  // the peer doesn't take what is sent
};

}  // namespace

asio::awaitable<void> serve(Tcp::socket socket, std::shared_ptr<Shared> shared) {
  const int fd = socket.native_handle();
  beast::error_code ignored;
  socket.set_option(Tcp::no_delay(true), ignored);
  if (shared->tls) {
    beast::ssl_stream<beast::tcp_stream> stream(beast::tcp_stream(std::move(socket)), *shared->tls);
    const Place place(*shared, fd);
    beast::get_lowest_layer(stream).expires_after(shared->options.request_time);
    const auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
    if (error) co_return;
    Connection connection(stream, *shared);
    co_await connection.run();
  } else {
    beast::tcp_stream stream(std::move(socket));
    const Place place(*shared, fd);
    Connection connection(stream, *shared);
    co_await connection.run();
  }
}

}  // namespace msvm::observe
