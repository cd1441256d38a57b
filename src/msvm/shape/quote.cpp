#include "msvm/shape/quote.h"

#include <fmt/format.h>

namespace msvm {
namespace {
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
int hex(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}
}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;
  for (char c : name)
    if (!is_letter(c) && !is_digit(c) && c != '.') return false;
  return true;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::optional<std::string> read_quoted(std::string_view text, size_t& position) {
  size_t i = position;
  if (i >= text.size() || text[i++] != '"') return std::nullopt;
  std::string out;
  while (i < text.size() && text[i] != '"') {
    char c = text[i++];
    if (c != '\\') {
      if (c == '\n') return std::nullopt;
      out += c;
      continue;
    }
    if (i >= text.size()) return std::nullopt;
    switch (text[i++]) {
      case '"': out += '"'; break;
      case '\\': out += '\\'; break;
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case 'x': {
        if (text.size() - i < 2 || hex(text[i]) < 0 || hex(text[i + 1]) < 0) return std::nullopt;
        out += static_cast<char>(hex(text[i]) * 16 + hex(text[i + 1]));
        i += 2;
        break;
      }
      default: return std::nullopt;
    }
  }
  if (i >= text.size()) return std::nullopt;
  position = i + 1;
  return out;
}

}  // namespace msvm
