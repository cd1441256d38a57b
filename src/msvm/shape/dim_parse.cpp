#include "msvm/shape/dim_parse.h"

#include <fmt/format.h>

#include "msvm/base/checked.h"
#include "msvm/shape/quote.h"

namespace msvm {
namespace {

constexpr int kMaxDepth = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::optional<DimOp> function_op(std::string_view name) {
  for (DimOp op : {DimOp::kFloorDiv, DimOp::kCeilDiv, DimOp::kMod, DimOp::kMin, DimOp::kMax, DimOp::kBroadcast})
    if (dim_op_name(op) == name) return op;
  return std::nullopt;
}

// Recursive descent; the first error sticks.
class Parser {
 public:
  Parser(std::string_view text, size_t from, DimContext& c, const DimResolver& resolve)
      : text_(text), at_(from), context_(c), resolve_(resolve) {}

  ParsedDim run() {
    Dim d = sum();
    if (!failed()) return {d, end_, {}};
    return {{}, error_at_, error_};
  }

 private:
  bool failed() const { return !error_.empty(); }
  Dim fail(size_t at, std::string why) {
    if (!failed()) {
      error_ = std::move(why);
      error_at_ = at;
    }
    return {};
  }
  // An expression that the context refuses: overflow, division by zero, more terms than permitted.
  Dim checked(Dim d, size_t at) { return d.valid() || failed() ? d : fail(at, "the expression overflows, divides by zero or is too large"); }

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool next_is(std::string_view token) {
    blanks();
    return text_.substr(at_).starts_with(token);
  }
  bool take(std::string_view token) {
    if (!next_is(token)) return false;
    at_ += token.size();
    end_ = at_;
    return true;
  }

  Dim sum() {
    Dim left = product(false);
    while (!failed()) {
      blanks();
      size_t at = at_;
      if (take("+")) {
        left = checked(context_.add(left, product(false)), at);
      } else if (!next_is("->") && take("-")) {
        left = checked(context_.add(left, product(true)), at);
      } else {
        break;
      }
    }
    return left;
  }

  // A sign in front belongs to the first factor, so that INT64_MIN can be read.
  Dim product(bool negative) {
    Dim left = unary(negative);
    while (!failed()) {
      blanks();
      size_t at = at_;
      if (take("*")) {
        left = checked(context_.mul(left, unary(false)), at);
      } else if (take("//")) {
        left = checked(negative ? context_.neg(context_.floordiv(context_.neg(left), unary(false))) : context_.floordiv(left, unary(false)), at);
      } else if (take("%")) {
        left = checked(negative ? context_.neg(context_.mod(context_.neg(left), unary(false))) : context_.mod(left, unary(false)), at);
      } else {
        break;
      }
    }
    return left;
  }

  Dim unary(bool negative) {
    while (!next_is("->") && take("-")) negative = !negative;
    blanks();
    if (at_ < text_.size() && is_digit(text_[at_])) return number(negative);
    size_t at = at_;
    Dim d = primary();
    return negative ? checked(context_.neg(d), at) : d;
  }

  Dim number(bool negative) {
    size_t at = at_;
    uint64_t v = 0;
    bool fits = true;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      uint64_t digit = static_cast<uint64_t>(text_[at_] - '0');
      fits = fits && !__builtin_mul_overflow(v, uint64_t{10}, &v) && !__builtin_add_overflow(v, digit, &v);
    }
    end_ = at_;
    if (!fits || v > (uint64_t{1} << 63) - (negative ? 0 : 1)) return fail(at, "the number doesn't fit 64 bits");
    return context_.constant(static_cast<int64_t>(negative ? ~v + 1 : v));
  }

  Dim primary() {
    if (++depth_ > kMaxDepth) return fail(at_, "the expression is nested too deeply");
    Dim d = primary_inside();
    --depth_;
    return d;
  }

  Dim primary_inside() {
    if (take("(")) {
      Dim d = sum();
      if (!failed() && !take(")")) return fail(at_, "expected )");
      return d;
    }
    if (take("symbolic:")) return unary(false);
    size_t at = at_;
    std::string name;
    if (next_is("\"")) {
      auto text = read_quoted(text_, at_);
      if (!text) return fail(at, "unterminated string");
      name = std::move(*text);
    } else if (at_ < text_.size() && is_letter(text_[at_])) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
      name = text_.substr(at, at_ - at);
      if (auto op = function_op(name); op && next_is("(")) return call(*op, at);
    } else {
      return fail(at, "expected a number, a name or (");
    }
    end_ = at_;
    Dim d = resolve_(name);
    return d.valid() ? d : fail(at, fmt::format("unknown name {}", is_plain_name(name) ? name : quoted(name)));
  }

  Dim call(DimOp op, size_t at) {
    take("(");
    Dim d = sum();
    bool many = op == DimOp::kMin || op == DimOp::kMax || op == DimOp::kBroadcast;
    if (!failed() && !next_is(",")) return fail(at_, "expected ,");
    for (int count = 1; !failed() && (many || count < 2) && take(","); ++count) d = checked(context_.apply(op, d, sum()), at);
    if (!failed() && !take(")")) return fail(at_, "expected )");
    return d;
  }

  std::string_view text_;
  size_t at_, end_ = 0;  // end_: behind the last token that was taken
  DimContext& context_;
  const DimResolver& resolve_;
  int depth_ = 0;
  std::string error_;
  size_t error_at_ = 0;
};

}  // namespace

ParsedDim parse_dim_prefix(std::string_view text, size_t from, DimContext& context, const DimResolver& resolve) {
  return Parser(text, from, context, resolve).run();
}

Result<Dim> parse_dim(std::string_view text, DimContext& context, const DimResolver& resolve) {
  ParsedDim p = parse_dim_prefix(text, 0, context, resolve);
  size_t end = p.end;
  if (p.error.empty()) {
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
    if (end == text.size()) return p.dim;
    p.error = "unexpected text after the expression";
  }
  return invalid_argument(fmt::format("column {}: {}", end + 1, p.error));
}

Result<Dim> parse_dim(std::string_view text, DimContext& context) {
  return parse_dim(text, context, [&](std::string_view name) {
    auto id = context.find_symbol(name);
    return id ? context.symbol(*id) : Dim();
  });
}

}  // namespace msvm
