// Changes of a text that stand beside its instructions: from "instruction 7, size of axis 1" to lines and columns.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msvm {

/// Beside or within one instruction of a function, counted over its blocks.
struct StatementEdit {
  enum class Kind : uint8_t {
    kInsert,   // `text`: a statement to stand before it
    kOperand,  // the first operand `find` ("R3", "b1: R3") becomes `text`
    kSize,     // the size of `axis` in the first list in brackets becomes `text`; axis -1: the whole list does
    kType,     // the type stated for register `find`, or none, becomes `text`
  };
  Kind kind = Kind::kInsert;
  int32_t instruction = -1;
  std::string text;
  std::string find = {};
  int axis = -1;
};

/// Lines and columns (in bytes) from 1 on; the end is the first character that doesn't belong to it.
struct TextPlace {
  int32_t line = 0, column = 0, end_line = 0, end_column = 0;
};

struct TextEdit {
  TextPlace place;
  std::string text;
};

/// The statements of one function's instructions within a text. Both arguments must outlive it.
class StatementTexts {
 public:
  /// `lines`: of AssembleResult::instruction_lines.
  StatementTexts(std::string_view text, const std::vector<int32_t>& lines);

  /// Without the comment behind it. Also over several lines.
  std::optional<TextPlace> place(int32_t instruction) const;
  /// In the order of the text, none overlapping another. None if one of them finds no place: then nothing should be changed.
  std::optional<std::vector<TextEdit>> edits(std::span<const StatementEdit> changes) const;

 private:
  struct Extent {
    size_t begin = 0, end = 0;
  };
  std::optional<Extent> extent(int32_t instruction) const;
  TextPlace place(Extent e) const;

  std::string_view text_;
  const std::vector<int32_t>& lines_;
  std::vector<size_t> starts_;  // of lines
};

/// The text with the edits of StatementTexts::edits() in it.
std::string with_edits(std::string_view text, std::span<const TextEdit> edits);

}  // namespace msvm
