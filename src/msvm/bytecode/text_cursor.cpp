#include "msvm/bytecode/text_cursor.h"

#include <charconv>

#include "msvm/shape/quote.h"

namespace msvm {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

std::optional<int64_t> numbered(std::string_view word, char letter) {
  if (word.size() < 2 || word.size() > 10 || word[0] != letter) return std::nullopt;
  int64_t value = 0;
  for (char c : word.substr(1)) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

void TextCursor::blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
}

void TextCursor::blanks_and_lines() {
  for (blanks(); at_ < text_.size(); blanks()) {
    if (text_[at_] == ';')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (text_[at_] == '\n')
      ++at_;
    else
      return;
  }
}

bool TextCursor::at_line_end() {
  blanks();
  return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == ';';
}

void TextCursor::next_line() {
  size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
}

std::string_view TextCursor::rest_of_line() const {
  if (at_ >= text_.size()) return {};
  return text_.substr(at_, std::min(text_.find('\n', at_), text_.size()) - at_);
}

bool TextCursor::peek(std::string_view mark) {
  blanks();
  return at_ < text_.size() && text_.substr(at_).starts_with(mark);
}

bool TextCursor::take(std::string_view mark) {
  if (!peek(mark)) return false;
  at_ += mark.size();
  return true;
}

std::string_view TextCursor::peek_word() {
  blanks();
  if (at_ >= text_.size() || !is_letter(text_[at_])) return {};
  size_t end = at_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.')) ++end;
  return text_.substr(at_, end - at_);
}

std::string_view TextCursor::take_word() {
  std::string_view w = peek_word();
  at_ += w.size();
  return w;
}

bool TextCursor::take_word(std::string_view word) {
  if (peek_word() != word) return false;
  at_ += word.size();
  return true;
}

std::optional<std::string> TextCursor::take_string() {
  if (!peek("\"")) return std::nullopt;
  size_t at = at_;
  auto s = read_quoted(text_, at);
  if (s) at_ = at;
  return s;
}

std::optional<std::string> TextCursor::take_name() {
  if (peek("\"")) return take_string();
  std::string_view w = take_word();
  return w.empty() ? std::nullopt : std::optional(std::string(w));
}

std::optional<int64_t> TextCursor::take_int() {
  blanks();
  int64_t value = 0;
  auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) return std::nullopt;
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

std::string_view TextCursor::take_number_text() {
  blanks();
  size_t end = at_;
  if (end < text_.size() && text_[end] == '-') ++end;
  for (std::string_view word : {"inf", "nan"})
    if (text_.substr(end).starts_with(word)) end += word.size();
  while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.' || text_[end] == 'e' || text_[end] == 'E' ||
                                ((text_[end] == '-' || text_[end] == '+') && (text_[end - 1] == 'e' || text_[end - 1] == 'E'))))
    ++end;
  std::string_view out = text_.substr(at_, end - at_);
  at_ = end;
  return out;
}

std::optional<int64_t> TextCursor::take_numbered(char letter) {
  auto n = numbered(peek_word(), letter);
  if (n) take_word();
  return n;
}

std::string TextCursor::here() {
  if (at_line_end()) return "the end of the line";
  std::string_view w = peek_word();
  if (w.empty()) {
    size_t end = at_ + 1;
    if (is_digit(text_[at_]))
      while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) ++end;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;  // whole UTF-8 characters
    w = text_.substr(at_, end - at_);
  }
  return std::string(w.substr(0, 40));
}

}  // namespace msvm
