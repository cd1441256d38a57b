// Sizes, types, parameters and attribute values.
#include <bit>
#include <charconv>
#include <limits>

#include "msvm/bytecode/dim_table.h"
#include "msvm/bytecode/file.h"
#include "msvm/bytecode/text_items.h"
#include "msvm/bytecode/text_parse.h"
#include "msvm/shape/dim_parse.h"

namespace msvm {

Dim Assembler::register_symbol(Reg r) {
  auto [it, fresh] = register_symbols_.try_emplace(r, Dim());
  if (fresh) {
    it->second = register_dim(module_, function_, r);
    mention(r);
  }
  return it->second;
}

// A name that the text doesn't hold, so that no symbol further down can have it.
Dim Assembler::fresh_symbol() {
  std::string_view text = at_.text();
  if (fresh_prefix_.empty()) {
    fresh_prefix_ = "any";
    for (size_t at = text.find("any"); at != std::string_view::npos; at = text.find("any", at)) {
      size_t end = std::min(text.find_first_not_of('_', at += 3), text.size());
      if (fresh_prefix_.size() <= 3 + (end - at)) fresh_prefix_.append(4 + (end - at) - fresh_prefix_.size(), '_');
    }
  }
  return named_symbol({.name = fresh_prefix_ + std::to_string(fresh_count_++)});
}

Dim Assembler::named_symbol(SymbolInfo s) {
  std::string name = s.name;
  return symbols_[std::move(name)] = module_.dims->symbol(module_.dims->add_symbol(std::move(s)));
}

Dim Assembler::resolve(std::string_view name) {
  DimContext& c = *module_.dims;
  if (auto r = numbered(name, 'R')) {
    if (!in_function() || *r >= static_cast<int64_t>(FileLimits::kRegisters)) return {};
    return register_symbol(static_cast<Reg>(*r));
  }
  if (c.num_symbols() >= FileLimits::kSymbols) return {};
  if (name == "dynamic") return fresh_symbol();
  if (is_reserved_symbol_name(name) || name.size() > FileLimits::kNameBytes) return {};
  auto it = symbols_.find(std::string(name));
  return it != symbols_.end() ? it->second : named_symbol({.name = std::string(name)});
}

Dim Assembler::dim() {
  if (failed_) return {};
  ParsedDim p = parse_dim_prefix(at_.text(), at_.position(), *module_.dims, [&](std::string_view name) { return resolve(name); });
  if (!p.error.empty()) {
    fail_at(p.end, DiagCode::kSyntax, "not a size: " + p.error, "a size such as 64, H or 2*H + 1");
    return {};
  }
  at_.set_position(p.end);
  return p.dim;
}

std::vector<Dim> Assembler::dims() {
  std::vector<Dim> out;
  expect("[");
  items("]", [&] { out.push_back(dim()); });
  return out;
}

DType Assembler::dtype() {
  if (failed_) return {};
  auto t = dtype_from_name(at_.peek_word());
  if (!t) {
    fail(DiagCode::kSyntax, "not a dtype", "f64, f32, f16, bf16, i8 to i64, u8 to u64, bool or string");
    return {};
  }
  at_.take_word();
  return *t;
}

Device Assembler::device() {
  if (failed_) return {};
  at_.blanks();
  size_t start = at_.position();
  std::string text(at_.take_word());
  expect("(");
  int64_t index = expect_int("the device's number");
  expect(")");
  if (failed_) return {};
  auto d = device_from_string(text + "(" + std::to_string(index) + ")");
  if (!d) fail_at(start, DiagCode::kSyntax, "unknown device", "CPU(0) or sim(n)");
  return d.value_or(Device{});
}

Layout Assembler::layout() {
  if (failed_ || !at_.take("@")) return Layout::kRowMajor;
  if (!at_.take_word("nhwc")) fail(DiagCode::kSyntax, "unknown layout", "nhwc");
  return Layout::kNhwc;
}

TensorType Assembler::tensor_type() {
  TensorType t;
  t.dtype = dtype();
  expect("[");
  if (!failed_ && at_.take("*")) {
    t.unknown_rank = true;
    expect("]");
  } else {
    at_.blanks();
    size_t start = at_.position();
    items("]", [&] { t.shape.push_back(dim()); });
    if (!failed_ && t.rank() > kMaxRank)
      fail_at(start, DiagCode::kRank, "a tensor has " + std::to_string(t.rank()) + " axes", "at most " + std::to_string(kMaxRank));
  }
  t.layout = layout();
  if (!failed_ && at_.take_word("strided")) t.strided = true;
  if (!failed_ && (at_.peek("CPU(") || at_.peek("sim("))) t.device = device();
  if (!failed_ && at_.take_word("filled")) {
    FilledExtent e;
    expect("(");
    int64_t axis = expect_int("the filled axis");
    if (!failed_ && (axis < 0 || axis >= kMaxRank)) fail(DiagCode::kRank, "the filled axis is out of range", "0 to 7");
    e.axis = static_cast<int>(axis);
    expect(",");
    e.from = dim();
    expect(",");
    e.to = dim();
    expect(")");
    t.filled = e;
  }
  return t;
}

RegType Assembler::type() {
  if (failed_) return {};
  std::string_view word = at_.peek_word();
  auto scalar = [&](RegKind k) -> std::optional<RegType> {
    size_t start = at_.position();
    at_.take_word();
    if (!at_.peek("[")) return RegType{k, {}};
    at_.set_position(start);
    return std::nullopt;
  };
  std::optional<RegType> t;
  if (word == "i64")
    t = scalar(RegKind::kI64);
  else if (word == "f64")
    t = scalar(RegKind::kF64);
  else if (word == "bool")
    t = scalar(RegKind::kBool);
  if (t) return *t;
  if (word == "list") {
    at_.take_word();
    RegType list{RegKind::kList, {}};
    expect("<");
    list.tensor.dtype = dtype();
    expect(">");
    return list;
  }
  if (!dtype_from_name(word)) {
    fail(DiagCode::kSyntax, "not a type", "a type such as f32[N, 64], list<f32>, i64, f64 or bool");
    return {};
  }
  return {RegKind::kTensor, tensor_type()};
}

std::vector<Param> Assembler::params() {
  std::vector<Param> out;
  items(")", [&] {
    Param p;
    size_t start = at_.position();
    auto name = at_.take_name();
    if (name && at_.take(":"))
      p.name = std::move(*name);
    else
      at_.set_position(start);
    if (p.name.size() > FileLimits::kNameBytes) fail(DiagCode::kLimitExceeded, "a name has more than 65536 bytes");
    p.type = type();
    p.donated = !failed_ && at_.take_word("donated");
    out.push_back(std::move(p));
  });
  return out;
}

AttrValue Assembler::number_value() {
  at_.blanks();
  size_t start = at_.position();
  std::string_view text = at_.take_number_text();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text == "nan") {
    if (!at_.take("(0x")) return std::bit_cast<double>(uint64_t{0x7ff8000000000000});
    uint64_t bits = 0;
    const char* hex = at_.text().data() + at_.position();
    auto [stop, error] = std::from_chars(hex, at_.text().data() + at_.text().size(), bits, 16);
    at_.set_position(static_cast<size_t>(stop - at_.text().data()));
    if (error != std::errc() || !at_.take(")")) fail(DiagCode::kSyntax, "not the bits of a NaN", "nan(0x7ff8000000000001)");
    return std::bit_cast<double>(bits);
  }
  if (text.find_first_of(".eE") != std::string_view::npos) {
    double v = 0;
    auto [stop, error] = std::from_chars(begin, end, v);
    if (error == std::errc() && stop == end) return v;
  } else {
    int64_t v = 0;
    auto [stop, error] = std::from_chars(begin, end, v);
    if (error == std::errc() && stop == end && !text.empty()) return v;
  }
  fail_at(start, DiagCode::kSyntax, "not a number that fits 64 bits", "a number such as 3, -1 or 0.5");
  return int64_t{0};
}

AttrValue Assembler::attribute_value() {
  if (failed_) return int64_t{0};
  at_.blanks();
  size_t position = at_.position();
  auto v = parse_attr_value(at_.text(), position);
  if (v)
    at_.set_position(position);
  else
    fail(DiagCode::kSyntax, "not the value of an attribute", "3, 0.5, \"text\", a dtype, or a list [1, 2] of one kind");
  return v.value_or(int64_t{0});
}

Attributes Assembler::attributes() {
  Attributes out;
  items("}", [&] {
    at_.blanks();
    size_t start = at_.position();
    std::string name = expect_name("the attribute's name");
    expect(":");
    AttrValue value = attribute_value();
    if (failed_) return;
    if (out.has(name)) return fail_at(start, DiagCode::kMultipleDefinition, "attribute " + name + " is stated twice");
    out.set(std::move(name), std::move(value));
  });
  return out;
}

}  // namespace msvm
