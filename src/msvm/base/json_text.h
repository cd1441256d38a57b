// Text as a JSON string, for rooms that write JSON by hand.
#pragma once
#include <string>
#include <string_view>

namespace msvm {

/// Appends `text` in quotes, escaped. Bytes that aren't UTF-8 become U+FFFD, so the result always parses.
void append_json_string(std::string& out, std::string_view text);

}  // namespace msvm
