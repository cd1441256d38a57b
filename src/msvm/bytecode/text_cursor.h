// Where the assembler stands in its text: words, names, numbers and marks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msvm {

/// Looks past blanks before it takes anything; never past the end of the line unless asked to.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  size_t position() const { return at_; }
  void set_position(size_t at) { at_ = at; }
  bool at_end() const { return at_ >= text_.size(); }

  void blanks();
  /// Blanks, line ends and comments: within brackets.
  void blanks_and_lines();
  /// At a line end, a comment or the end of the text.
  bool at_line_end();
  /// Moves to the beginning of the next line.
  void next_line();
  /// The rest of the line.
  std::string_view rest_of_line() const;

  bool peek(std::string_view mark);
  bool take(std::string_view mark);
  /// [A-Za-z_][A-Za-z0-9_.]*, or empty.
  std::string_view peek_word();
  std::string_view take_word();
  bool take_word(std::string_view word);
  /// A plain name or a quoted one; none (and nothing taken) otherwise.
  std::optional<std::string> take_name();
  std::optional<std::string> take_string();
  /// A decimal integer of 64 bits, none otherwise.
  std::optional<int64_t> take_int();
  /// The characters of a number, "inf", "-inf" or "nan"; possibly empty.
  std::string_view take_number_text();
  /// "R12" -> 12: a letter and digits as one word.
  std::optional<int64_t> take_numbered(char letter);

  /// What stands here, for messages: a word, a mark, "the end of the line".
  std::string here();

 private:
  std::string_view text_;
  size_t at_ = 0;
};

/// 12 for ("R12", 'R'); none if the word isn't a letter and digits, or the number has more than nine digits.
std::optional<int64_t> numbered(std::string_view word, char letter);

}  // namespace msvm
