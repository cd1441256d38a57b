#include "importers/onnx/symbols.h"

#include <algorithm>
#include <cctype>

#include "msvm/shape/dim_parse.h"

namespace msvm::onnx {
namespace {

constexpr size_t kMaxName = 128;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

/// Exporters write sympy's names: floor(h/2), Max(1, h), Mod(h, 2).
std::string as_expression(std::string_view text) {
  std::string s(text);
  replace_all(s, "//", "/");
  replace_all(s, "/", "//");
  replace_all(s, "floor(", "(");
  replace_all(s, "Max(", "max(");
  replace_all(s, "Min(", "min(");
  replace_all(s, "Mod(", "mod(");
  return s;
}

bool is_register_name(std::string_view s) {
  return s.size() > 1 && s[0] == 'R' && std::all_of(s.begin() + 1, s.end(), [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

std::string symbol_name(std::string_view text) {
  std::string name(text.substr(0, kMaxName));
  for (char& c : name)
    if (!std::isprint(static_cast<unsigned char>(c)) || c == '"' || c == '\\') c = '_';
  if (name.starts_with("symbolic:")) name.erase(0, 9);
  if (is_register_name(name)) name = "_" + name;
  return name.empty() ? "d" : name;
}

Dim parse_dimension(ModuleBuilder& mb, std::string_view text) {
  // "?" and the like name nothing: every occurrence is a size of its own.
  bool named = std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c); });
  if (!named) return mb.fresh_symbol("d");
  if (text.size() > kMaxName) return mb.symbol(symbol_name(text));
  std::string expression = as_expression(text);
  DimContext scratch;  // names of a text that turns out to be no expression must not become symbols
  auto in_scratch = [&](std::string_view name) {
    auto id = scratch.find_symbol(name);
    return scratch.symbol(id ? *id : scratch.add_symbol({.name = std::string(name)}));
  };
  auto parsed = parse_dim(expression, scratch, in_scratch);
  if (parsed.ok() && parsed->valid()) {
    auto in_module = [&](std::string_view name) { return mb.symbol(symbol_name(name)); };
    if (auto dim = parse_dim(expression, mb.dims(), in_module); dim.ok() && dim->valid()) return *dim;
  }
  return mb.symbol(symbol_name(text));
}

}  // namespace msvm::onnx
