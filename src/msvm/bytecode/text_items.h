// Lists in brackets, for the parts of the assembler.
#pragma once
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text_parse.h"

namespace msvm {

/// After the opening bracket: items up to `close`, separated by commas; lines may end after the bracket and after commas.
template <class Item>
void Assembler::items(std::string_view close, Item item, size_t limit) {
  if (failed_) return;
  at_.blanks_and_lines();
  if (at_.take(close)) return;
  for (size_t n = 0; !failed_; ++n) {
    if (n == limit) return fail(DiagCode::kLimitExceeded, "more than " + std::to_string(limit) + " elements in one list");
    item();
    if (failed_) return;
    if (at_.take(",")) {
      at_.blanks_and_lines();
      continue;
    }
    at_.blanks_and_lines();
    if (!at_.take(close)) fail(DiagCode::kSyntax, "unexpected text in a list", ", or " + std::string(close));
    return;
  }
}

}  // namespace msvm
