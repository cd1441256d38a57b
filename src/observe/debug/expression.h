// The language of conditions, watches and the console: text -> tree. Private to the room.
//   or       and, not, comparisons, + - * / // %, unary -, parentheses
//   values   1, 1.5, true, "f32", R3, N, names of the source, `any name`
//   shape(R3)[2], R3[0, 1:4, :], max(R3), ...: functions.h
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"

namespace msvm::observe::debug {

constexpr size_t kMostText = 4096;   // characters
constexpr int kMostDepth = 64;

enum class Op : uint8_t {
  kInt, kFloat, kBool, kText, kName, kCall, kIndex,
  kNeg, kNot, kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kEq, kNe, kLt, kLe, kGt, kGe, kAnd, kOr,
};

struct Expression {
  /// Of an index: a place, or a range whose parts may be absent.
  struct Index {
    bool range = false;
    std::unique_ptr<Expression> from, to, step;
  };
  Op op{};
  int32_t column = 0;   // from 1
  int64_t integer = 0;  // also of kBool
  double real = 0;
  std::string text;     // name, function, or text
  std::vector<Expression> operands;
  std::vector<Index> indices;
};

/// The error says the column, what was found and what was expected.
Result<Expression> parse(std::string_view text);
/// What stands between the brackets of an index: "0, 1:4, :".
Result<std::vector<Expression::Index>> parse_indices(std::string_view text);

Status error_at(int32_t column, const std::string& what);

}  // namespace msvm::observe::debug
