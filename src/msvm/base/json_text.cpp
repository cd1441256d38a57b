#include "msvm/base/json_text.h"

#include <fmt/format.h>

#include <iterator>

#include "msvm/base/utf8.h"

namespace msvm {

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
