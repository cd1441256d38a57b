// Text without what surrounds it.
#pragma once
#include <string_view>

namespace msvm {

/// Without the characters of `blanks` at either end.
constexpr std::string_view trimmed(std::string_view s, std::string_view blanks = " ") {
  const size_t first = s.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view() : s.substr(first, s.find_last_not_of(blanks) - first + 1);
}

}  // namespace msvm
