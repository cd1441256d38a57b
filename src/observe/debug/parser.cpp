// Recursive descent; depth and length are limited.
#include <fmt/core.h>

#include <optional>

#include "observe/debug/lexer.h"

namespace msvm::observe::debug {
namespace {

struct Binary {
  std::string_view sign;
  Op op;
};
constexpr Binary kOr[] = {{"or", Op::kOr}, {"||", Op::kOr}};
constexpr Binary kAnd[] = {{"and", Op::kAnd}, {"&&", Op::kAnd}};
constexpr Binary kCompare[] = {{"==", Op::kEq}, {"!=", Op::kNe}, {"<=", Op::kLe}, {">=", Op::kGe}, {"<", Op::kLt}, {">", Op::kGt}};
constexpr Binary kSum[] = {{"+", Op::kAdd}, {"-", Op::kSub}};
constexpr Binary kProduct[] = {{"*", Op::kMul}, {"//", Op::kFloorDiv}, {"/", Op::kDiv}, {"%", Op::kMod}};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Expression> whole() {
    MSVM_RETURN_IF_ERROR(advance());
    if (at_.token == Token::kEnd) return error_at(1, "there is nothing: a value was expected");
    MSVM_ASSIGN_OR_RETURN(Expression e, disjunction());
    MSVM_RETURN_IF_ERROR(expect_end("an operator"));
    return e;
  }

  Result<std::vector<Expression::Index>> whole_indices() {
    MSVM_RETURN_IF_ERROR(advance());
    std::vector<Expression::Index> out;
    if (at_.token == Token::kEnd) return out;
    MSVM_RETURN_IF_ERROR(indices(out));
    MSVM_RETURN_IF_ERROR(expect_end("',' or ':'"));
    return out;
  }

 private:
  Status advance() {
    MSVM_ASSIGN_OR_RETURN(at_, lexer_.next());
    return {};
  }
  bool is(std::string_view sign) const { return (at_.token == Token::kSign || (at_.token == Token::kName && !at_.quoted)) && at_.text == sign; }
  Status expect(std::string_view sign) {
    if (!is(sign)) return error_at(at_.column, fmt::format("expected '{}', found {}", sign, shown(at_)));
    return advance();
  }
  Status expect_end(std::string_view what) const {
    if (at_.token == Token::kEnd) return {};
    return error_at(at_.column, fmt::format("expected {} or the end, found {}", what, shown(at_)));
  }

  template <size_t n>
  std::optional<Op> one_of(const Binary (&list)[n]) const {
    for (const Binary& b : list)
      if (is(b.sign)) return b.op;
    return std::nullopt;
  }

  /// Every way down goes through here, so that depth is counted once.
  Result<Expression> disjunction() {
    if (++depth_ > kMostDepth) return error_at(at_.column, fmt::format("nested more than {} deep", kMostDepth));
    auto e = chain(kOr, &Parser::conjunction);
    --depth_;
    return e;
  }
  Result<Expression> conjunction() { return chain(kAnd, &Parser::negation); }
  Result<Expression> sum() { return chain(kSum, &Parser::product); }
  Result<Expression> product() { return chain(kProduct, &Parser::factor); }

  // A chain grows to the left: as deep as it is long.
  template <size_t n>
  Result<Expression> chain(const Binary (&list)[n], Result<Expression> (Parser::*next)()) {
    MSVM_ASSIGN_OR_RETURN(Expression left, (this->*next)());
    int length = 0;
    while (auto op = one_of(list)) {
      if (++length > kMostDepth) return error_at(at_.column, fmt::format("more than {} operators in a row", kMostDepth));
      Expression both;
      both.op = *op;
      both.column = at_.column;
      MSVM_RETURN_IF_ERROR(advance());
      MSVM_ASSIGN_OR_RETURN(Expression right, (this->*next)());
      both.operands.push_back(std::move(left));
      both.operands.push_back(std::move(right));
      left = std::move(both);
    }
    return left;
  }

  Result<Expression> prefix(Op op, Result<Expression> (Parser::*next)()) {
    Expression e;
    e.op = op;
    e.column = at_.column;
    MSVM_RETURN_IF_ERROR(advance());
    if (++depth_ > kMostDepth) return error_at(at_.column, fmt::format("nested more than {} deep", kMostDepth));
    MSVM_ASSIGN_OR_RETURN(Expression operand, (this->*next)());
    --depth_;
    e.operands.push_back(std::move(operand));
    return e;
  }
  Result<Expression> negation() {
    if (is("not") || is("!")) return prefix(Op::kNot, &Parser::negation);
    return comparison();
  }
  Result<Expression> factor() {
    if (is("-")) return prefix(Op::kNeg, &Parser::factor);
    return postfix();
  }

  Result<Expression> comparison() {
    MSVM_ASSIGN_OR_RETURN(Expression left, sum());
    const auto op = one_of(kCompare);
    if (!op) return left;
    Expression both;
    both.op = *op;
    both.column = at_.column;
    MSVM_RETURN_IF_ERROR(advance());
    MSVM_ASSIGN_OR_RETURN(Expression right, sum());
    if (one_of(kCompare)) return error_at(at_.column, fmt::format("found {} after a comparison: join two of them with 'and'", shown(at_)));
    both.operands.push_back(std::move(left));
    both.operands.push_back(std::move(right));
    return both;
  }

  Result<Expression> postfix() {
    MSVM_ASSIGN_OR_RETURN(Expression e, primary());
    for (int length = 0; is("[") || is("."); ++length) {
      if (length > kMostDepth) return error_at(at_.column, fmt::format("more than {} indices in a row", kMostDepth));
      Expression outer;
      outer.column = at_.column;
      if (is(".")) {  // R3.shape is shape(R3)
        MSVM_RETURN_IF_ERROR(advance());
        if (at_.token != Token::kName || at_.quoted) return error_at(at_.column, fmt::format("expected a function's name after '.', found {}", shown(at_)));
        outer.op = Op::kCall;
        outer.column = at_.column;
        outer.text = at_.text;
        MSVM_RETURN_IF_ERROR(advance());
      } else {
        outer.op = Op::kIndex;
        MSVM_RETURN_IF_ERROR(advance());
        MSVM_RETURN_IF_ERROR(indices(outer.indices));
        MSVM_RETURN_IF_ERROR(expect("]"));
      }
      outer.operands.push_back(std::move(e));
      e = std::move(outer);
    }
    return e;
  }

  bool ends_index() const { return is(",") || is("]") || is(":") || at_.token == Token::kEnd; }

  Status part(std::unique_ptr<Expression>& to) {
    if (ends_index()) return {};
    MSVM_ASSIGN_OR_RETURN(Expression e, disjunction());
    to = std::make_unique<Expression>(std::move(e));
    return {};
  }

  Status indices(std::vector<Expression::Index>& out) {
    constexpr size_t kMostIndices = 16;
    for (;;) {
      Expression::Index i;
      if (is(",") || is("]") || at_.token == Token::kEnd) return error_at(at_.column, fmt::format("expected an index, found {}", shown(at_)));
      MSVM_RETURN_IF_ERROR(part(i.from));
      if (is(":")) {
        i.range = true;
        MSVM_RETURN_IF_ERROR(advance());
        MSVM_RETURN_IF_ERROR(part(i.to));
        if (is(":")) {
          MSVM_RETURN_IF_ERROR(advance());
          MSVM_RETURN_IF_ERROR(part(i.step));
        }
      }
      out.push_back(std::move(i));
      if (out.size() > kMostIndices) return error_at(at_.column, fmt::format("more than {} indices", kMostIndices));
      if (!is(",")) return {};
      MSVM_RETURN_IF_ERROR(advance());
    }
  }

  Result<Expression> primary() {
    Expression e;
    e.column = at_.column;
    switch (at_.token) {
      case Token::kInt:
        e.op = Op::kInt;
        e.integer = at_.integer;
        break;
      case Token::kFloat:
        e.op = Op::kFloat;
        e.real = at_.real;
        break;
      case Token::kText:
        e.op = Op::kText;
        e.text = at_.text;
        break;
      case Token::kName: return name();
      case Token::kSign:
        if (is("(")) {
          MSVM_RETURN_IF_ERROR(advance());
          MSVM_ASSIGN_OR_RETURN(e, disjunction());
          MSVM_RETURN_IF_ERROR(expect(")"));
          return e;
        }
        [[fallthrough]];
      case Token::kEnd: return error_at(at_.column, fmt::format("expected a value, found {}", shown(at_)));
    }
    MSVM_RETURN_IF_ERROR(advance());
    return e;
  }

  Result<Expression> name() {
    constexpr size_t kMostArguments = 16;
    Expression e;
    e.column = at_.column;
    e.op = Op::kName;
    e.text = at_.text;
    const bool quoted = at_.quoted;
    if (!quoted)
      for (const std::string_view word : {"and", "or", "not"})
        if (e.text == word) return error_at(at_.column, fmt::format("expected a value, found '{}'", word));
    MSVM_RETURN_IF_ERROR(advance());
    if (!quoted && (e.text == "true" || e.text == "false" || e.text == "True" || e.text == "False")) {
      e.op = Op::kBool;
      e.integer = e.text == "true" || e.text == "True";
    } else if (!quoted && is("(")) {
      e.op = Op::kCall;
      MSVM_RETURN_IF_ERROR(advance());
      while (!is(")")) {
        if (!e.operands.empty()) MSVM_RETURN_IF_ERROR(expect(","));
        MSVM_ASSIGN_OR_RETURN(Expression a, disjunction());
        e.operands.push_back(std::move(a));
        if (e.operands.size() > kMostArguments) return error_at(at_.column, fmt::format("more than {} arguments", kMostArguments));
      }
      MSVM_RETURN_IF_ERROR(advance());
    }
    return e;
  }

  Lexer lexer_;
  Lexeme at_;
  int depth_ = 0;
};

Status check_length(std::string_view text) {
  return text.size() <= kMostText ? Status() : invalid_argument(fmt::format("the expression has {} characters: at most {}", text.size(), kMostText));
}

}  // namespace

Result<Expression> parse(std::string_view text) {
  MSVM_RETURN_IF_ERROR(check_length(text));
  return Parser(text).whole();
}

Result<std::vector<Expression::Index>> parse_indices(std::string_view text) {
  MSVM_RETURN_IF_ERROR(check_length(text));
  return Parser(text).whole_indices();
}

}  // namespace msvm::observe::debug
