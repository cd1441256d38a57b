// The text form, line by line: no recursion, counts bounded while reading, every error with its line.
#include <fmt/format.h>

#include <charconv>

#include "msvm/loops/loop_program.h"

namespace msvm::loops {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == '+'; }

/// One line from left to right.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) { blanks(); }
  bool at_end() const { return rest_.empty(); }
  bool accept(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    blanks();
    return true;
  }
  /// Letters, digits, signs and dots; empty where there are none.
  std::string_view word() {
    size_t n = 0;
    while (n < rest_.size() && is_word(rest_[n])) ++n;
    const std::string_view w = rest_.substr(0, n);
    rest_.remove_prefix(n);
    blanks();
    return w;
  }
  std::string found() const { return at_end() ? "the end of the line" : fmt::format("\"{}\"", rest_.substr(0, 20)); }

 private:
  void blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r')) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

template <class T>
bool read_number(std::string_view s, T& value) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  return error == std::errc() && end == s.data() + s.size() && !s.empty();
}
/// "v12" with the letter 'v'.
bool read_name(std::string_view s, char letter, int32_t& number) {
  return s.size() > 1 && s[0] == letter && s[1] >= '0' && s[1] <= '9' && read_number(s.substr(1), number);
}

Status expected(const Line& line, std::string_view what) { return malformed(fmt::format("expected {}, found {}", what, line.found())); }

class Parser {
 public:
  Result<Program> parse(std::string_view text) {
    if (text.size() > kMaxText) return resource_limit(fmt::format("a loop program of {} bytes, the limit is {}", text.size(), kMaxText));
    size_t number = 0;
    while (!text.empty()) {
      ++number;
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      line = line.substr(0, line.find('#'));
      Line l(line);
      if (l.at_end()) continue;
      if (Status s = one(l); !s.ok()) return s.with_context(fmt::format("line {}: ", number));
    }
    if (!versioned_) return malformed("line 1: expected \"loops version 1\"");
    if (Status s = finish(); !s.ok()) return s.with_context(fmt::format("line {}: ", number));
    return std::move(program_);
  }

 private:
  Status one(Line& l) {
    Status s = versioned_ ? item(l) : version(l);
    if (s.ok() && !l.at_end()) return expected(l, "the end of the line");
    return s;
  }

  Status version(Line& l) {
    if (l.word() != "loops" || l.word() != "version") return malformed("expected \"loops version 1\"");
    if (const auto v = l.word(); v != "1") return unsupported(fmt::format("version \"{}\" of loop programs, known is 1", v.substr(0, 20)));
    versioned_ = true;
    return {};
  }

  /// A kernel is checked when the next one begins.
  Status finish() { return program_.kernels.empty() ? Status() : check(program_.kernels.back()); }

  Status item(Line& l) {
    const std::string_view word = l.word();
    if (word == "kernel") {
      MSVM_RETURN_IF_ERROR(finish());
      return head(l);
    }
    if (program_.kernels.empty()) return malformed("expected a kernel first");
    Kernel& k = program_.kernels.back();
    if (word == "outer" && k.passes.empty()) return list(l, k.outer, kMaxOuter);
    if (word == "inner" && k.passes.empty()) return size(l, k.inner);
    if (word == "pass" || word == "row") {
      if (k.passes.size() >= kMaxPasses) return resource_limit(fmt::format("more than {} passes", kMaxPasses));
      k.passes.push_back({word == "row", {}});
      return {};
    }
    if (int32_t t; k.passes.empty() && read_name(word, 't', t)) {
      if (static_cast<size_t>(t) >= k.tensors.size()) return malformed(fmt::format("t{} isn't one of the {} tensors", t, k.tensors.size()));
      return list(l, k.tensors[static_cast<size_t>(t)].strides, kMaxOuter + 1);
    }
    if (k.passes.empty()) return malformed(fmt::format("expected outer, inner, strides, pass or row, found \"{}\"", word.substr(0, 20)));
    return step(l, word, k);
  }

  Status head(Line& l) {
    if (program_.kernels.size() >= kMaxKernels) return resource_limit(fmt::format("more than {} kernels", kMaxKernels));
    Kernel& k = program_.kernels.emplace_back();
    values_.assign(kMaxSteps, DType::kF32);
    rows_ = values_;
    k.name = l.word();
    if (!l.accept('(')) return expected(l, "(");
    do {
      int32_t number = -1;
      if (!read_name(l.word(), 't', number) || static_cast<size_t>(number) != k.tensors.size()) return malformed(fmt::format("expected t{}: tensors stand in order", k.tensors.size()));
      if (k.tensors.size() >= kMaxTensors) return resource_limit(fmt::format("more than {} tensors", kMaxTensors));
      if (!l.accept(':')) return expected(l, ":");
      Access& a = k.tensors.emplace_back();
      std::string_view word = l.word();
      if (word == "out") {
        a.written = true;
        word = l.word();
      }
      MSVM_RETURN_IF_ERROR(dtype(word, a.dtype));
    } while (l.accept(','));
    if (l.accept(';')) do {
        int32_t number = -1;
        if (!read_name(l.word(), 'n', number) || number != k.sizes) return malformed(fmt::format("expected n{}: size arguments stand in order", k.sizes));
        if (static_cast<size_t>(++k.sizes) > kMaxSizes) return resource_limit(fmt::format("more than {} size arguments", kMaxSizes));
      } while (l.accept(','));
    return l.accept(')') ? Status() : expected(l, ")");
  }

  static Status dtype(std::string_view word, DType& out) {
    const auto d = dtype_from_name(word);
    if (!d || *d == DType::kString) return malformed(fmt::format("expected a dtype, found \"{}\"", word.substr(0, 20)));
    out = *d;
    return {};
  }

  static Status size(Line& l, Size& out) {
    const std::string_view word = l.word();
    if (int32_t n; read_name(word, 'n', n)) {
      out = Size::arg(n);
      return {};
    }
    int64_t value = 0;
    if (!read_number(word, value)) return malformed(fmt::format("expected a number or a size argument, found \"{}\"", word.substr(0, 20)));
    out = Size::number(value);
    return {};
  }

  static Status list(Line& l, std::vector<Size>& out, size_t limit) {
    if (!out.empty()) return malformed("stands there twice");
    if (!l.accept('[')) return expected(l, "[");
    if (l.accept(']')) return {};
    do {
      if (out.size() >= limit) return resource_limit(fmt::format("more than {} entries", limit));
      MSVM_RETURN_IF_ERROR(size(l, out.emplace_back()));
    } while (l.accept(','));
    return l.accept(']') ? Status() : expected(l, "]");
  }

  /// What a number is depends on the other operands, so that numbers stay text until all are read.
  Status operand(Line& l, Operand& o, std::string_view& text) {
    const std::string_view word = l.word();
    o = {};
    if (read_name(word, 'v', o.index)) o.kind = Operand::kValue;
    else if (read_name(word, 'r', o.index)) o.kind = Operand::kRow;
    else if (read_name(word, 'n', o.index)) o.kind = Operand::kSize;
    else o.kind = Operand::kNumber, text = word;
    if (o.kind != Operand::kNumber && o.kind != Operand::kSize && static_cast<size_t>(o.index) >= kMaxSteps)
      return malformed(fmt::format("\"{}\" is beyond the limit of {} values", word.substr(0, 20), kMaxSteps));
    return {};
  }

  DType operand_type(const Step& s, int k) const {
    if (s.op == Op::kSelect && k == 0) return DType::kBool;
    if (s.op == Op::kStore) return value_type(s.type);
    if (!is_comparison(s.op)) return s.type;
    for (const Operand& o : s.operands) {
      if (o.kind == Operand::kSize) return DType::kI64;
      if (o.kind == Operand::kValue) return values_[static_cast<size_t>(o.index)];
      if (o.kind == Operand::kRow) return rows_[static_cast<size_t>(o.index)];
    }
    return DType::kF32;
  }

  static Status number(std::string_view text, DType type, Operand& o) {
    bool good = false;
    if (type == DType::kU64) {
      uint64_t u = 0;
      good = read_number(text, u);
      o.integer = static_cast<int64_t>(u);
    } else if (is_integer(type)) {
      good = read_number(text, o.integer);
    } else {
      good = read_number(text, o.number);
    }
    return good ? Status() : malformed(fmt::format("expected a value or a number of {}, found \"{}\"", dtype_name(type), text.substr(0, 20)));
  }

  Status step(Line& l, std::string_view word, Kernel& k) {
    Step s{};
    Pass& pass = k.passes.back();
    char letter = 0;
    if (l.accept('=')) {
      letter = word.empty() ? '?' : word[0];
      if (!(letter == 'v' || letter == 'r') || !read_name(word, letter, s.result) || static_cast<size_t>(s.result) >= kMaxSteps)
        return malformed(fmt::format("expected v<number> or r<number> below {} before =, found \"{}\"", kMaxSteps, word.substr(0, 20)));
      word = l.word();
    }
    const Op* op = find_op(word);
    if (!op) return malformed(fmt::format("expected an operation, found \"{}\"", word.substr(0, 30)));
    s.op = *op;
    const bool to_row = pass.row || is_reduction(s.op);
    if (s.op == Op::kStore ? letter != 0 : letter != (to_row ? 'r' : 'v'))
      return malformed(s.op == Op::kStore ? "store has no result" : fmt::format("the result of {} must be {}<number> here", word, to_row ? 'r' : 'v'));
    const bool memory = s.op == Op::kLoad || s.op == Op::kStore;
    if (memory && !read_name(l.word(), 't', s.tensor)) return malformed("expected a tensor");
    if (memory && static_cast<size_t>(s.tensor) >= k.tensors.size()) return malformed(fmt::format("t{} isn't one of the {} tensors", s.tensor, k.tensors.size()));
    std::array<std::string_view, 3> texts;
    const int operands = op_info(s.op).operands;
    for (int i = 0; i < operands; ++i) {
      if ((i > 0 || memory) && !l.accept(',')) return expected(l, ",");
      MSVM_RETURN_IF_ERROR(operand(l, s.operands[static_cast<size_t>(i)], texts[static_cast<size_t>(i)]));
    }
    if (s.op == Op::kStore) {
      s.type = k.tensors[static_cast<size_t>(s.tensor)].dtype;
    } else {
      if (!l.accept(':')) return expected(l, ":");
      MSVM_RETURN_IF_ERROR(dtype(l.word(), s.type));
    }
    for (int i = 0; i < operands; ++i)
      if (Operand& o = s.operands[static_cast<size_t>(i)]; o.kind == Operand::kNumber) MSVM_RETURN_IF_ERROR(number(texts[static_cast<size_t>(i)], operand_type(s, i), o));
    if (s.result >= 0) (to_row ? rows_ : values_)[static_cast<size_t>(s.result)] = s.type;
    if (pass.steps.size() >= kMaxSteps) return resource_limit(fmt::format("more than {} steps", kMaxSteps));
    pass.steps.push_back(s);
    return {};
  }

  Program program_;
  bool versioned_ = false;
  std::vector<DType> values_, rows_;
};

}  // namespace

Result<Program> parse(std::string_view text) { return Parser().parse(text); }

}  // namespace msvm::loops
