// The format text of msvm.Print: Python's, with operands by number.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm {

struct PrintPiece {
  std::string text;     // as it stands
  int operand = -1;     // then this operand, if not negative
  std::string_view spec;  // "!r:>10", "": how Python formats it
};

/// "loss {0:.3f}, {1}" in pieces; {{ and }} stand for braces. Each operand is a number below `operands`; nothing else may stand in braces
/// before ! or :, and no braces after.
Result<std::vector<PrintPiece>> parse_print_format(std::string_view format, size_t operands);

}  // namespace msvm
