#include "observe/monitor/http.h"

#include <boost/beast/http/error.hpp>

#include "observe/monitor/handle.h"

namespace msvm::observe {
namespace http = boost::beast::http;

void set_limits(HttpParser& parser) {
  parser.header_limit(static_cast<uint32_t>(kMaxHeader));
  parser.body_limit(kMaxBody);
}

bool has_needless_body(const HttpParser& parser) { return parser.get().method() != http::verb::post && (parser.chunked() || parser.content_length().value_or(0) > 0); }

Request to_request(HttpParser& parser) {
  auto& message = parser.get();
  Request r;
  r.method = std::string(message.method_string());
  r.target = std::string(message.target());
  for (const auto& field : message) {
    std::string name(field.name_string());
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    r.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  r.body = std::move(message.body());
  return r;
}

Response refusal_of(const boost::beast::error_code& error) {
  if (error == http::error::header_limit) return error_response(431, "the header is longer than 16 KiB");
  if (error == http::error::body_limit) return error_response(413, "the body is longer than 1 MiB, or this request has none");
  return error_response(400, "not a request of HTTP/1.1: " + error.message());
}

HttpResponse to_http(Response r, unsigned version, bool keep_alive, bool head) {
  HttpResponse out{static_cast<http::status>(r.status), version};
  out.set(http::field::content_type, r.type);
  out.set(http::field::cache_control, "no-store");
  out.set("X-Content-Type-Options", "nosniff");
  out.set("Referrer-Policy", "no-referrer");
  out.set("Cross-Origin-Resource-Policy", "same-origin");
  out.set("X-Frame-Options", "DENY");
  out.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  for (const auto& [name, value] : r.headers) out.set(name, value);
  out.keep_alive(keep_alive);
  if (r.live) return out;  // ends with the connection
  const size_t size = r.body.size();
  if (!head) out.body() = std::move(r.body);
  out.content_length(size);
  return out;
}

}  // namespace msvm::observe
