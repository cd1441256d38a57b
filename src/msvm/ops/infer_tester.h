// For the tests of this room: calls written as text, results and conditions as text.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "msvm/ops/schema.h"
#include "msvm/shape/dim_parse.h"

namespace msvm {

using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;
using Strings = std::vector<std::string>;

class InferTester {
 public:
  InferTester() {
    for (const char* name : {"N", "C", "H", "W", "L", "K", "M"}) dims_.add_symbol({.name = name});
  }
  DimContext& dims() { return dims_; }
  /// What was required in the last call and isn't decided by constants: "4 <= H".
  const std::vector<std::string>& conditions() const { return sink_.seen; }

  /// `call`: "f32[N, 3, H, W], _, i64[*]; 2, H". Result: "f32[N, 8], i64[?]" or "error: message".
  std::string operator()(std::string_view op, std::string_view call, Attributes attrs = {}, size_t outputs = 1) {
    std::vector<TensorType> types;
    std::vector<int> present;
    std::vector<Dim> args;
    std::string bad = parse(call, types, present, args);
    if (!bad.empty()) return bad;
    std::vector<const TensorType*> inputs;
    size_t next = 0;
    for (int p : present) inputs.push_back(p ? &types[next++] : nullptr);
    sink_.seen.clear();
    sink_.context = &dims_;
    const OpSchema* schema = find_op(op);
    if (!schema) return fmt::format("no operator {}", op);
    auto result = infer_call(*schema, dims_, inputs, args, attrs, outputs, sink_);
    if (!result.ok()) return "error: " + result.status().message();
    std::string text;
    for (const TensorType& t : *result) text += (text.empty() ? "" : ", ") + print(t);
    return text;
  }

  std::string print(const TensorType& t) {
    std::string text = fmt::format("{}[", dtype_name(t.dtype));
    if (t.unknown_rank) text += "*";
    for (size_t i = 0; i < t.shape.size(); ++i)
      text += (i ? ", " : "") + (t.shape[i].valid() ? dims_.to_string(t.shape[i]) : std::string("?"));
    return text + "]";
  }

 private:
  struct Sink final : ConditionSink {
    Status require(const DimCondition& c, std::string_view what) override {
      seen.push_back(to_string(c, *context));
      return ConstantSink().require(c, what);
    }
    std::vector<std::string> seen;
    DimContext* context = nullptr;
  };

  static std::string_view trim(std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
  }

  std::string parse_dims(std::string_view text, std::vector<Dim>& out) {
    size_t at = 0;
    for (text = trim(text); at < text.size();) {
      ParsedDim d = parse_dim_prefix(text, at, dims_, [this](std::string_view name) {
        auto id = dims_.find_symbol(name);
        return id ? dims_.symbol(*id) : Dim();
      });
      if (!d.error.empty()) return fmt::format("bad size in \"{}\": {}", text, d.error);
      out.push_back(d.dim);
      at = d.end;
      while (at < text.size() && (text[at] == ',' || text[at] == ' ')) ++at;
    }
    return {};
  }

  std::string parse(std::string_view call, std::vector<TensorType>& types, std::vector<int>& present, std::vector<Dim>& args) {
    size_t semicolon = call.find(';');
    std::string_view left = trim(call.substr(0, semicolon));
    while (!left.empty()) {
      if (left.front() == '_') {
        present.push_back(0);
        left.remove_prefix(1);
      } else {
        size_t open = left.find('['), close = left.find(']');
        if (open == std::string_view::npos || close == std::string_view::npos) return fmt::format("bad call \"{}\"", call);
        auto dtype = dtype_from_name(left.substr(0, open));
        if (!dtype) return fmt::format("bad dtype in \"{}\"", call);
        TensorType t;
        t.dtype = *dtype;
        std::string_view inside = left.substr(open + 1, close - open - 1);
        if (inside == "*") {
          t.unknown_rank = true;
        } else if (std::string bad = parse_dims(inside, t.shape); !bad.empty()) {
          return bad;
        }
        types.push_back(std::move(t));
        present.push_back(1);
        left.remove_prefix(close + 1);
      }
      left = trim(left);
      if (!left.empty() && left.front() == ',') left.remove_prefix(1);
      left = trim(left);
    }
    return semicolon == std::string_view::npos ? std::string() : parse_dims(call.substr(semicolon + 1), args);
  }

  DimContext dims_;
  Sink sink_;
};

}  // namespace msvm
