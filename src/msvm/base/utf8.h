// Text that must be UTF-8, from names that may not be.
#pragma once
#include <cstddef>
#include <string_view>

namespace msvm {

/// Length of the UTF-8 sequence at the start of `s`, which isn't empty; 0 if it isn't one (overlong, surrogate, cut off, above U+10FFFF).
size_t utf8_length(std::string_view s);

}  // namespace msvm
