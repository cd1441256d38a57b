// Attributes of an operator call: a small sorted list of name = value.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "msvm/shape/dtype.h"

namespace msvm {

/// i64, f64, string, dtype, or a list of the first three. Text: 3, 0.5, "nearest", f32, [1, 2], [0.5], ["a"].
using AttrValue = std::variant<int64_t, double, std::string, DType, std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;

struct Attr {
  std::string name;
  AttrValue value;
  bool operator==(const Attr&) const = default;
};

/// Sorted by name, unique names.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<Attr> list);
  void set(std::string name, AttrValue value);  // replaces
  void erase(std::string_view name);
  const AttrValue* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  bool operator==(const Attributes&) const = default;

  // The value if present and of that type, else `fallback`. Types were checked by the verifier against the schema.
  int64_t get_int(std::string_view name, int64_t fallback) const;
  double get_float(std::string_view name, double fallback) const;
  std::string_view get_string(std::string_view name, std::string_view fallback) const;
  DType get_dtype(std::string_view name, DType fallback) const;
  const std::vector<int64_t>& get_ints(std::string_view name) const;          // empty if absent
  const std::vector<double>& get_floats(std::string_view name) const;
  const std::vector<std::string>& get_strings(std::string_view name) const;

 private:
  std::vector<Attr> list_;
};

/// Text that parse_attr_value reads back to the same value. Floats always look like floats: 1.0, 1e+20, inf, -inf, nan. Empty lists
/// that aren't of integers name their type: [], f64[], string[].
std::string to_string(const AttrValue& v);
/// Reads a value at `text[position]` and moves `position` behind it; none if there is no well-formed value.
std::optional<AttrValue> parse_attr_value(std::string_view text, size_t& position);

}  // namespace msvm
