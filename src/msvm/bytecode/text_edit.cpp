#include "msvm/bytecode/text_edit.h"

#include <algorithm>
#include <tuple>

namespace msvm {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }
bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

/// Walks over a statement: strings and comments count as one step, brackets are counted.
struct Walk {
  std::string_view text;
  size_t at = 0;
  int depth = 0;
  char before = '\0';  // the last character that is no blank

  bool done() const { return at >= text.size(); }
  /// A semicolon separates size arguments, `Op(R0; N)`; behind a comma or the opening bracket of a list it begins a comment.
  bool at_comment() const { return text[at] == ';' && (depth <= 0 || before == ',' || before == '[' || before == '{'); }
  /// The end of what begins here: a string, a comment, or one character.
  size_t after() const {
    if (at_comment()) return std::min(text.find('\n', at), text.size());
    if (text[at] != '"') return at + 1;
    size_t k = at + 1;
    while (k < text.size() && text[k] != '"' && text[k] != '\n') k += text[k] == '\\' ? 2 : 1;
    return std::min(k + 1, text.size());
  }
  void step() {
    const size_t next = after();
    if (!at_comment()) {
      if (opens(text[at])) ++depth;
      if (closes(text[at])) --depth;
      if (!is_blank(text[at]) && text[at] != '\n') before = text[at];
    }
    at = next;
  }
};

/// Where operands begin: behind the mnemonic, which follows the first `=` outside brackets where there is one.
size_t operands_at(std::string_view s) {
  size_t from = 0;
  for (Walk w{s}; !w.done(); w.step())
    if (w.depth == 0 && s[w.at] == '=') {
      from = w.at + 1;
      break;
    }
  while (from < s.size() && is_blank(s[from])) ++from;
  while (from < s.size() && is_word(s[from])) ++from;
  return from;
}

/// `find` from `from` on, as whole words and whatever blanks: its begin and end.
std::optional<std::pair<size_t, size_t>> find_words(std::string_view s, size_t from, std::string_view find) {
  for (Walk w{s, from}; !w.done(); w.step()) {
    if (s[w.at] == '"' || (w.at > 0 && is_word(s[w.at - 1]) && is_word(s[w.at]))) continue;
    size_t at = w.at, k = 0;
    while (k < find.size()) {
      if (is_blank(find[k])) {
        ++k;
      } else if (at < s.size() && is_blank(s[at]) && at > w.at && !(is_word(s[at - 1]) && is_word(find[k]))) {
        ++at;
      } else if (at < s.size() && s[at] == find[k]) {
        ++at, ++k;
      } else {
        break;
      }
    }
    if (k == find.size() && !(at < s.size() && is_word(s[at]) && is_word(s[at - 1]))) return std::pair(w.at, at);
  }
  return std::nullopt;
}

using Span = std::optional<std::pair<size_t, size_t>>;

std::pair<size_t, size_t> trimmed(std::string_view s, size_t from, size_t to) {
  while (from < to && (is_blank(s[from]) || s[from] == '\n')) ++from;
  while (to > from && (is_blank(s[to - 1]) || s[to - 1] == '\n')) --to;
  return {from, to};
}

/// The size in an item of a list: all of it, or what stands behind the name in `(name, size)`.
Span size_in(std::string_view s, size_t from, size_t to) {
  std::tie(from, to) = trimmed(s, from, to);
  if (from == to) return std::nullopt;
  if (s[from] == '(' && s[to - 1] == ')')
    for (Walk w{s.substr(0, to), from}; !w.done(); w.step())
      if (w.depth == 1 && s[w.at] == ',') return trimmed(s, w.at + 1, to - 1);
  return std::pair(from, to);
}

Span size_span(std::string_view s, int axis) {
  Walk w{s, operands_at(s)};
  while (!w.done() && s[w.at] != '[') w.step();
  if (w.done()) return std::nullopt;
  const size_t list = w.at;
  w.step();
  const int inside = w.depth;
  size_t item = w.at;
  for (int k = 0; !w.done(); w.step()) {
    const bool end = w.depth == inside && s[w.at] == ']';
    if (w.at_comment()) {
      item = w.after();  // a line ends behind the comma
      continue;
    }
    if (!end && !(w.depth == inside && s[w.at] == ',')) continue;
    if (k == axis) return size_in(s, item, w.at);
    if (end) return axis < 0 ? Span(std::pair(list, w.at + 1)) : std::nullopt;
    ++k;
    item = w.at + 1;
  }
  return std::nullopt;
}

/// The type behind the register, or the empty place where one can be stated (`text` then begins with a colon).
Span type_span(std::string_view s, std::string_view reg, bool& stated) {
  const auto found = find_words(s, 0, reg);
  if (!found) return std::nullopt;
  size_t at = found->second;
  Walk w{s, at};
  auto blanks = [&] {
    while (!w.done() && is_blank(s[w.at])) ++w.at;
  };
  blanks();
  if (!w.done() && s[w.at] == '"') {
    w.step();
    at = w.at;
    blanks();
  }
  stated = !w.done() && s[w.at] == ':';
  if (!stated) return std::pair(at, at);
  w.step();
  const size_t from = w.at;
  while (!w.done() && !(w.depth == 0 && (s[w.at] == '=' || s[w.at] == ',' || s[w.at] == '{'))) w.step();
  return trimmed(s, from, w.at);
}

}  // namespace

StatementTexts::StatementTexts(std::string_view text, const std::vector<int32_t>& lines) : text_(text), lines_(lines), starts_{0} {
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') starts_.push_back(i + 1);
}

std::optional<StatementTexts::Extent> StatementTexts::extent(int32_t instruction) const {
  if (instruction < 0 || static_cast<size_t>(instruction) >= lines_.size()) return std::nullopt;
  const int32_t line = lines_[static_cast<size_t>(instruction)];
  if (line < 1 || static_cast<size_t>(line) > starts_.size()) return std::nullopt;
  Walk w{text_, starts_[static_cast<size_t>(line) - 1]};
  while (!w.done() && is_blank(text_[w.at])) ++w.at;
  const size_t begin = w.at;
  size_t end = begin;
  while (!w.done()) {
    const char c = text_[w.at];
    const bool comment = w.at_comment();
    if (w.depth <= 0 && (comment || c == '\n')) break;
    w.step();
    if (!comment && !is_blank(c) && c != '\n') end = w.at;
  }
  if (end == begin) return std::nullopt;
  return Extent{begin, end};
}

TextPlace StatementTexts::place(Extent e) const {
  auto line = [&](size_t at) { return static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), at) - starts_.begin()); };
  auto column = [&](size_t at) { return static_cast<int32_t>(at - starts_[line(at) - 1]) + 1; };
  return {static_cast<int32_t>(line(e.begin)), column(e.begin), static_cast<int32_t>(line(e.end)), column(e.end)};
}

std::optional<TextPlace> StatementTexts::place(int32_t instruction) const {
  const auto e = extent(instruction);
  return e ? std::optional(place(*e)) : std::nullopt;
}

std::optional<std::vector<TextEdit>> StatementTexts::edits(std::span<const StatementEdit> changes) const {
  struct Change {
    Extent at;
    std::string text;
  };
  std::vector<Change> found;
  for (const StatementEdit& c : changes) {
    const auto e = extent(c.instruction);
    if (!e) return std::nullopt;
    const std::string_view s = text_.substr(e->begin, e->end - e->begin);
    if (c.kind == StatementEdit::Kind::kInsert) {
      const size_t start = starts_[static_cast<size_t>(lines_[static_cast<size_t>(c.instruction)]) - 1];
      std::string line(text_.substr(start, e->begin - start));
      line += c.text + "\n";
      auto same = std::find_if(found.begin(), found.end(), [&](const Change& o) { return o.at.begin == start && o.at.end == start; });
      if (same != found.end()) same->text += line;
      else found.push_back({{start, start}, std::move(line)});
      continue;
    }
    Span span;
    std::string text = c.text;
    if (c.kind == StatementEdit::Kind::kOperand) span = find_words(s, operands_at(s), c.find);
    if (c.kind == StatementEdit::Kind::kSize) span = size_span(s, c.axis);
    if (c.kind == StatementEdit::Kind::kType) {
      bool stated = false;
      span = type_span(s, c.find, stated);
      if (!stated) text = ": " + text;
    }
    if (!span) return std::nullopt;
    found.push_back({{e->begin + span->first, e->begin + span->second}, std::move(text)});
  }
  std::sort(found.begin(), found.end(), [](const Change& a, const Change& b) { return a.at.begin < b.at.begin; });
  std::vector<TextEdit> out;
  size_t end = 0;
  for (Change& c : found) {
    if (c.at.begin < end) return std::nullopt;
    end = c.at.end;
    out.push_back({place(c.at), std::move(c.text)});
  }
  return out;
}

std::string with_edits(std::string_view text, std::span<const TextEdit> edits) {
  std::vector<size_t> starts{0};
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') starts.push_back(i + 1);
  auto position = [&](int32_t line, int32_t column) {
    return std::min(text.size(), starts[static_cast<size_t>(std::clamp(line, 1, static_cast<int32_t>(starts.size()))) - 1] + static_cast<size_t>(std::max(column, 1)) - 1);
  };
  std::string out;
  size_t at = 0;
  for (const TextEdit& e : edits) {
    out += text.substr(at, position(e.place.line, e.place.column) - at);
    out += e.text;
    at = position(e.place.end_line, e.place.end_column);
  }
  return out += text.substr(at);
}

}  // namespace msvm
