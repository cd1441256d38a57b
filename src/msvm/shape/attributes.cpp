#include "msvm/shape/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "msvm/shape/quote.h"

namespace msvm {
namespace {

template <class T>
const T* typed(const AttrValue* v) {
  return v ? std::get_if<T>(v) : nullptr;
}

template <class T>
const T& typed_or_empty(const AttrValue* v) {
  static const T kEmpty;
  const T* found = typed<T>(v);
  return found ? *found : kEmpty;
}

std::string scalar_text(int64_t v) { return std::to_string(v); }
std::string scalar_text(double v) {
  if (std::isnan(v)) return "nan";
  std::string out = fmt::format("{}", v);  // shortest text that reads back to the same bits
  return out.find_first_of(".ei") == std::string::npos ? out + ".0" : out;
}
std::string scalar_text(const std::string& v) { return quoted(v); }

template <class T>
std::string list_text(const std::vector<T>& list, std::string_view empty) {
  if (list.empty()) return std::string(empty);
  std::string out = "[";
  for (const T& v : list) {
    if (out.size() > 1) out += ", ";
    out += scalar_text(v);
  }
  return out + "]";
}

// ---- reading ----

bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == '+'; }

std::string_view word_at(std::string_view text, size_t position) {
  size_t end = position;
  while (end < text.size() && in_word(text[end])) ++end;
  return text.substr(position, end - position);
}

void skip_blanks(std::string_view text, size_t& position) {
  while (position < text.size() && (text[position] == ' ' || text[position] == '\t')) ++position;
}

std::optional<AttrValue> parse_scalar(std::string_view text, size_t& position) {
  if (position < text.size() && text[position] == '"') {
    auto s = read_quoted(text, position);
    return s ? std::optional<AttrValue>(std::move(*s)) : std::nullopt;
  }
  std::string_view word = word_at(text, position);
  if (word.empty()) return std::nullopt;
  std::optional<AttrValue> out;
  const char* end = word.data() + word.size();
  if (word == "nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (word == "inf" || word == "-inf") {
    out = word[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  } else if (auto t = dtype_from_name(word)) {
    out = *t;
  } else if ((word[0] >= '0' && word[0] <= '9') || word[0] == '-') {
    if (word.find_first_not_of("0123456789", word[0] == '-' ? 1 : 0) == std::string_view::npos) {
      int64_t v = 0;
      if (auto r = std::from_chars(word.data(), end, v); r.ec == std::errc() && r.ptr == end) out = v;
    } else if (word.find_first_not_of("0123456789.eE+-") == std::string_view::npos) {
      double v = 0;
      if (auto r = std::from_chars(word.data(), end, v); r.ec == std::errc() && r.ptr == end) out = v;
    }
  }
  if (out) position += word.size();
  return out;
}

template <class T>
std::optional<AttrValue> list_of(const std::vector<AttrValue>& items) {
  std::vector<T> out;
  for (const AttrValue& v : items) {
    const T* item = std::get_if<T>(&v);
    if (!item) return std::nullopt;
    out.push_back(*item);
  }
  return out;
}

}  // namespace

Attributes::Attributes(std::initializer_list<Attr> list) {
  for (const Attr& a : list) set(a.name, a.value);
}

void Attributes::set(std::string name, AttrValue value) {
  auto it = std::lower_bound(list_.begin(), list_.end(), name, [](const Attr& a, const std::string& n) { return a.name < n; });
  if (it != list_.end() && it->name == name) {
    it->value = std::move(value);
  } else {
    list_.insert(it, Attr{std::move(name), std::move(value)});
  }
}

void Attributes::erase(std::string_view name) {
  std::erase_if(list_, [&](const Attr& a) { return a.name == name; });
}

const AttrValue* Attributes::find(std::string_view name) const {
  auto it = std::lower_bound(list_.begin(), list_.end(), name, [](const Attr& a, std::string_view n) { return a.name < n; });
  return it != list_.end() && it->name == name ? &it->value : nullptr;
}

int64_t Attributes::get_int(std::string_view name, int64_t fallback) const {
  const int64_t* v = typed<int64_t>(find(name));
  return v ? *v : fallback;
}
double Attributes::get_float(std::string_view name, double fallback) const {
  const double* v = typed<double>(find(name));
  return v ? *v : fallback;
}
std::string_view Attributes::get_string(std::string_view name, std::string_view fallback) const {
  const std::string* v = typed<std::string>(find(name));
  return v ? std::string_view(*v) : fallback;
}
DType Attributes::get_dtype(std::string_view name, DType fallback) const {
  const DType* v = typed<DType>(find(name));
  return v ? *v : fallback;
}
const std::vector<int64_t>& Attributes::get_ints(std::string_view name) const { return typed_or_empty<std::vector<int64_t>>(find(name)); }
const std::vector<double>& Attributes::get_floats(std::string_view name) const { return typed_or_empty<std::vector<double>>(find(name)); }
const std::vector<std::string>& Attributes::get_strings(std::string_view name) const {
  return typed_or_empty<std::vector<std::string>>(find(name));
}

std::string to_string(const AttrValue& v) {
  struct Visitor {
    std::string operator()(int64_t x) const { return scalar_text(x); }
    std::string operator()(double x) const { return scalar_text(x); }
    std::string operator()(const std::string& x) const { return scalar_text(x); }
    std::string operator()(DType x) const { return std::string(dtype_name(x)); }
    std::string operator()(const std::vector<int64_t>& x) const { return list_text(x, "[]"); }
    std::string operator()(const std::vector<double>& x) const { return list_text(x, "f64[]"); }
    std::string operator()(const std::vector<std::string>& x) const { return list_text(x, "string[]"); }
  };
  return std::visit(Visitor{}, v);
}

std::optional<AttrValue> parse_attr_value(std::string_view text, size_t& position) {
  std::string_view rest = text.substr(std::min(position, text.size()));
  if (rest.starts_with("f64[]")) return position += 5, std::vector<double>{};
  if (rest.starts_with("string[]")) return position += 8, std::vector<std::string>{};
  if (!rest.starts_with('[')) return parse_scalar(text, position);
  size_t at = position + 1;
  std::vector<AttrValue> items;
  skip_blanks(text, at);
  while (at < text.size() && text[at] != ']') {
    auto item = parse_scalar(text, at);
    if (!item) return std::nullopt;
    items.push_back(std::move(*item));
    skip_blanks(text, at);
    if (at < text.size() && text[at] == ',') {
      ++at;
      skip_blanks(text, at);
      if (at < text.size() && text[at] == ']') return std::nullopt;
    } else if (at < text.size() && text[at] != ']') {
      return std::nullopt;
    }
  }
  if (at >= text.size()) return std::nullopt;
  std::optional<AttrValue> out = items.empty() || std::holds_alternative<int64_t>(items[0]) ? list_of<int64_t>(items)
                                 : std::holds_alternative<double>(items[0])                 ? list_of<double>(items)
                                                                                            : list_of<std::string>(items);
  if (out) position = at + 1;
  return out;
}

}  // namespace msvm
