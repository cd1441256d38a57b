#include "msvm/ops/print_format.h"

#include <fmt/format.h>

#include <charconv>

namespace msvm {

Result<std::vector<PrintPiece>> parse_print_format(std::string_view format, size_t operands) {
  std::vector<PrintPiece> pieces(1);
  auto wrong = [&](size_t at, std::string_view what) { return invalid_argument(fmt::format("format: {} at byte {} of \"{}\"", what, at, format.substr(0, 200))); };
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (c != '{' && c != '}') {
      pieces.back().text += c;
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == c) {
      pieces.back().text += c;
      ++i;
      continue;
    }
    if (c == '}') return wrong(i, "a closing brace without an opening one");
    const size_t end = format.find_first_of("{}", i + 1);
    if (end == std::string_view::npos || format[end] != '}') return wrong(i, "an opening brace without a closing one");
    const std::string_view inside = format.substr(i + 1, end - i - 1);
    int operand = -1;
    const auto [rest, error] = std::from_chars(inside.data(), inside.data() + inside.size(), operand);
    const std::string_view spec = inside.substr(static_cast<size_t>(rest - inside.data()));
    if (error != std::errc() || operand < 0 || (!spec.empty() && spec[0] != ':' && spec[0] != '!')) return wrong(i, "an operand that isn't a number");
    if (static_cast<size_t>(operand) >= operands) return wrong(i, fmt::format("operand {} of {}", operand, operands));
    pieces.back().operand = operand;
    pieces.back().spec = spec;
    pieces.emplace_back();
    i = end;
  }
  if (pieces.back().text.empty()) pieces.pop_back();
  return pieces;
}

}  // namespace msvm
