// Bytes of a connection, through the parser and the routes of a monitor with tokens, and of one without: a response each, whatever they are.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "observe/monitor/parse.h"
#include "observe/monitor/testing/fake_source.h"

using namespace msvm;
using namespace msvm::observe;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

struct Reply {
  int status;
  std::string_view header, body;
};

Reply split(const std::string& wire) {
  require(wire.starts_with("HTTP/1.1 "), "no status line");
  const size_t end = wire.find("\r\n\r\n");
  require(end != std::string::npos, "the header doesn't end");
  return {std::stoi(wire.substr(9, 3)), std::string_view(wire).substr(0, end + 2), std::string_view(wire).substr(end + 4)};
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

void look_at(const Reply& a) {
  require(a.status >= 200 && a.status < 600 && a.status != 500, "the monitor failed");
  for (const char* h : {"\r\nCache-Control: no-store\r\n", "\r\nX-Content-Type-Options: nosniff\r\n", "\r\nContent-Security-Policy: "}) require(has(a.header, h), h);
  require(!has(a.header, "\r\nAccess-Control"), "other origins are let in");
  if (a.status >= 400 && !a.body.empty()) require(nlohmann::json::accept(a.body), "an error that isn't JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Access closed("the-token-of-administrators", "the-token-of-operators"), open("", "");
  static FakeSource source;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Site with_tokens{source, closed, {"box.example"}, false, 9464}, without{source, open, {}, false, 9464};
  const std::string guarded = respond(bytes, with_tokens), free = respond(bytes, without);
  const Reply a = split(guarded);
  look_at(a);
  look_at(split(free));
  const bool knows_one = has(bytes, "the-token-of-operators") || has(bytes, "the-token-of-administrators") || has(bytes, "%");
  if (a.status < 400 && !knows_one) require(has(bytes, "/healthz") && (a.body.empty() || a.body == "{\"status\":\"ok\"}\n"), "something came out without a token");
  return 0;
}
