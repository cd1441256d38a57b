#include "observe/monitor/parse.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/serializer.hpp>
#include <sstream>
#include <boost/beast/http/write.hpp>

#include "observe/monitor/handle.h"
#include "observe/monitor/http.h"

namespace msvm::observe {
namespace http = boost::beast::http;

std::string respond(std::string_view bytes, const Site& site) {
  HttpParser parser;
  set_limits(parser);
  parser.eager(false);
  boost::beast::error_code error;
  bool body = false, head = false;
  std::optional<Response> response;
  while (!bytes.empty() && !parser.is_done()) {
    const size_t n = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    bytes.remove_prefix(n);
    if (error && error != http::error::need_more) {
      response = refusal_of(error);
      break;
    }
    if (parser.is_header_done() && !body) {  // as the server: limits and refusals come before the body
      body = true;
      head = parser.get().method() == http::verb::head;
      if (has_needless_body(parser)) {
        response = refusal_of(http::make_error_code(http::error::body_limit));
        break;
      }
      if ((response = refuse(to_request(parser), site))) break;
      parser.eager(true);
      error = {};
      continue;
    }
    if (error == http::error::need_more || n == 0) break;
  }
  if (!response && !parser.is_done()) {
    error = {};
    if (parser.got_some()) parser.put_eof(error);
    response = refusal_of(error ? error : http::make_error_code(http::error::partial_message));
  }
  if (!response) response = handle(to_request(parser), site);
  std::ostringstream out;
  out << to_http(std::move(*response), 11, false, head);
  return out.str();
}

}  // namespace msvm::observe
