#include "msvm/base/json_text.h"

#include <fmt/format.h>

#include <iterator>

namespace msvm {
namespace {

// Length of the UTF-8 sequence at the start of `s`; 0 if it isn't one (overlong, surrogate, cut off, above U+10FFFF).
size_t utf8_length(std::string_view s) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  auto tail = [&](size_t i) { return i < s.size() && (byte(i) & 0xc0) == 0x80; };
  unsigned char c = byte(0);
  if (c < 0x80) return 1;
  if (c >= 0xc2 && c <= 0xdf) return tail(1) ? 2 : 0;
  if (c >= 0xe0 && c <= 0xef) {
    if (!tail(1) || !tail(2)) return 0;
    if ((c == 0xe0 && byte(1) < 0xa0) || (c == 0xed && byte(1) > 0x9f)) return 0;
    return 3;
  }
  if (c >= 0xf0 && c <= 0xf4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if ((c == 0xf0 && byte(1) < 0x90) || (c == 0xf4 && byte(1) > 0x8f)) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    size_t n = utf8_length(text);
    char c = text[0];
    if (n == 0) {
      out += "\\ufffd";
      n = 1;
    } else if (n > 1) {
      out += text.substr(0, n);
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
    text.remove_prefix(n);
  }
  out += '"';
}

}  // namespace msvm
