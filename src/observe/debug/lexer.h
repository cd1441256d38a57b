// Private to the room.
#pragma once
#include "observe/debug/expression.h"

namespace msvm::observe::debug {

enum class Token : uint8_t { kEnd, kInt, kFloat, kText, kName, kSign };

struct Lexeme {
  Token token = Token::kEnd;
  int32_t column = 1;
  std::string text;    // as it was written; of a text or a quoted name what stands between
  bool quoted = false; // a name in `...`
  int64_t integer = 0;
  double real = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Result<Lexeme> next();

 private:
  Result<Lexeme> number();
  std::string_view text_;
  size_t at_ = 0;
};

std::string shown(const Lexeme& l);  // "'+'", "the end"

}  // namespace msvm::observe::debug
