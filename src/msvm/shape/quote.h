// Names and strings as the text form writes them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace msvm {

/// [A-Za-z_][A-Za-z0-9_.]*: can stand in text without quotes.
bool is_plain_name(std::string_view name);
/// In double quotes: \" \\ \n \t \r, and \xNN for other control bytes; UTF-8 stays as it is.
std::string quoted(std::string_view text);
/// Reads what `quoted` wrote, from text[position] == '"' on; moves `position` behind the closing quote. None if malformed.
std::optional<std::string> read_quoted(std::string_view text, size_t& position);

}  // namespace msvm
