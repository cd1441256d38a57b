#include "observe/debug/lexer.h"

#include <fmt/core.h>

#include <charconv>

namespace msvm::observe::debug {
namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool begins_name(char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_'; }

}  // namespace

Status error_at(int32_t column, const std::string& what) { return invalid_argument(fmt::format("column {}: {}", column, what)); }

std::string shown(const Lexeme& l) {
  switch (l.token) {
    case Token::kEnd: return "the end";
    case Token::kText: return "a text";
    default: return "'" + l.text + "'";
  }
}

Result<Lexeme> Lexer::number() {
  Lexeme l;
  l.column = static_cast<int32_t>(at_) + 1;
  size_t end = at_;
  bool real = false;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  if (end < text_.size() && text_[end] == '.') {
    real = true;
    for (++end; end < text_.size() && is_digit(text_[end]);) ++end;
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    size_t digits = end + 1;
    if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
    if (digits < text_.size() && is_digit(text_[digits])) {
      real = true;
      for (end = digits; end < text_.size() && is_digit(text_[end]);) ++end;
    }
  }
  if (end < text_.size() && begins_name(text_[end])) return error_at(static_cast<int32_t>(end) + 1, fmt::format("'{}' after a number: an operator was expected", text_[end]));
  l.text = std::string(text_.substr(at_, end - at_));
  const char *first = l.text.data(), *last = first + l.text.size();
  const auto read = real ? std::from_chars(first, last, l.real) : std::from_chars(first, last, l.integer);
  if (read.ec != std::errc()) return error_at(l.column, fmt::format("{} is out of the range of {}", l.text, real ? "f64" : "i64"));
  l.token = real ? Token::kFloat : Token::kInt;
  at_ = end;
  return l;
}

Result<Lexeme> Lexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  Lexeme l;
  l.column = static_cast<int32_t>(at_) + 1;
  if (at_ >= text_.size()) return l;
  const char c = text_[at_];
  if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
  if (begins_name(c)) {
    const size_t begin = at_;
    while (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    l.token = Token::kName;
    l.text = std::string(text_.substr(begin, at_ - begin));
    return l;
  }
  if (c == '"' || c == '\'' || c == '`') {
    const size_t end = text_.find(c, at_ + 1);
    if (end == std::string_view::npos) return error_at(l.column, fmt::format("{} has no end: another {} was expected", c, c));
    l.token = c == '`' ? Token::kName : Token::kText;
    l.quoted = true;
    l.text = std::string(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return l;
  }
  for (const std::string_view two : {"==", "!=", "<=", ">=", "//", "&&", "||"})
    if (text_.substr(at_, 2) == two) {
      l.token = Token::kSign;
      l.text = std::string(two);
      at_ += 2;
      return l;
    }
  if (std::string_view("+-*/%<>!()[],:.").find(c) != std::string_view::npos) {
    l.token = Token::kSign;
    l.text = std::string(1, c);
    ++at_;
    return l;
  }
  const bool printable = ' ' < c && c < 127;
  return error_at(l.column, fmt::format("{} can't stand in an expression{}", printable ? fmt::format("'{}'", c) : std::string("this character"), c == '=' ? ": == compares" : ""));
}

}  // namespace msvm::observe::debug
