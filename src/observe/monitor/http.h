// Requests and responses as Beast has them.
#pragma once
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "observe/monitor/request.h"

namespace msvm::observe {

using HttpParser = boost::beast::http::request_parser<boost::beast::http::string_body>;
using HttpResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// With the limits of requests set.
void set_limits(HttpParser& parser);
/// Once the header is there: whether a body follows where none belongs.
bool has_needless_body(const HttpParser& parser);
/// What the parser has; the body is moved out.
Request to_request(HttpParser& parser);
/// The refusal of what couldn't be read as a request, or nothing where nobody waits for one.
Response refusal_of(const boost::beast::error_code& error);
/// With the headers that every response has.
HttpResponse to_http(Response response, unsigned version, bool keep_alive, bool head);

}  // namespace msvm::observe
