#include "msvm/bytecode/text_print.h"

#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

#include "msvm/bytecode/text_values.h"
#include "msvm/shape/quote.h"

namespace msvm {
namespace {

constexpr size_t kReadableElements = 32;
constexpr size_t kHexBytesPerLine = 32;

template <class... Args>
void put(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

// Stands without quotes in `; model.py:12`.
bool is_plain_file(std::string_view s) {
  if (s.empty()) return false;
  for (char c : s)
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '"' || c == ':' || c == ';') return false;
  return true;
}

void append_hex(std::string& out, std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (size_t at = 0; at < bytes.size(); at += kHexBytesPerLine) {
    out += bytes.size() > kHexBytesPerLine ? "\n  0x" : "0x";
    for (std::byte b : bytes.subspan(at, std::min(kHexBytesPerLine, bytes.size() - at))) {
      out += kDigits[std::to_integer<int>(b) >> 4];
      out += kDigits[std::to_integer<int>(b) & 15];
    }
  }
}

}  // namespace

std::string name_text(std::string_view name) { return is_plain_name(name) ? std::string(name) : quoted(name); }

Disassembler::Disassembler(const Module& module, const DisassembleOptions& options)
    : module_(module), options_(options), dims_(module) {
  std::unordered_map<std::string_view, size_t> count;
  for (const Constant& c : module.constants) ++count[c.name];
  for (const Constant& c : module.constants) unique_constant_.push_back(!c.name.empty() && count[c.name] == 1);
}

std::string Disassembler::run() {
  print_header();
  print_symbols();
  for (size_t k = 0; k < module_.constants.size(); ++k) print_constant(k);
  for (size_t k = 0; k < module_.functions.size(); ++k) print_function(k);
  return std::move(out_);
}

void Disassembler::print_header() {
  put(out_, "module {} version 1\n", quoted(module_.name));
  if (!module_.producer.empty()) put(out_, "producer {}\n", quoted(module_.producer));
  out_ += "opset";
  if (module_.opsets.empty()) out_ += " none";
  for (size_t k = 0; k < module_.opsets.size(); ++k)
    put(out_, "{} {} {}", k ? "," : "", quoted(module_.opsets[k].domain), module_.opsets[k].version);
  out_ += "\n";
  if (module_.opt_level != 0) put(out_, "opt_level {}\n", module_.opt_level);
  for (const auto& [key, value] : module_.metadata) put(out_, "metadata {} = {}\n", quoted(key), quoted(value));
}

void Disassembler::print_symbol_info(const SymbolInfo& s) {
  out_ += name_text(s.name);
  int64_t default_min = s.is_register() ? INT64_MIN : 0;
  if (s.min != default_min || s.max != INT64_MAX) {
    put(out_, " in [{}, {}]", s.min == INT64_MIN ? "*" : std::to_string(s.min), s.max == INT64_MAX ? "*" : std::to_string(s.max));
  }
  if (s.divisor != 1) put(out_, " multiple_of {}", s.divisor);
  if (s.remainder != 0) put(out_, " plus {}", s.remainder);
}

void Disassembler::print_symbols() {
  constexpr size_t kWidth = 100;
  const DimContext& context = dims_.context();
  size_t line_start = out_.size();
  for (SymbolId id = 0; id < context.num_symbols(); ++id) {
    const SymbolInfo& s = context.symbol_info(id);
    if (s.is_register()) break;  // in their functions, which follow in the same order
    next_register_symbol_ = id + 1;
    bool first = out_.size() == line_start || out_.size() - line_start > kWidth;
    if (out_.size() != line_start) out_ += first ? "\n" : ", ";
    if (first) {
      line_start = out_.size();
      out_ += "symbol ";
    }
    print_symbol_info(s);
  }
  if (out_.size() != line_start) out_ += "\n";
}

std::string Disassembler::constant_name(size_t index) const {
  if (index < unique_constant_.size() && unique_constant_[index]) return "%" + name_text(module_.constants[index].name);
  return "%" + std::to_string(index);
}

void Disassembler::print_constant(size_t index) {
  const Constant& c = module_.constants[index];
  put(out_, "const %{} {} = ", name_text(c.name), tensor_type(c.type));
  auto list = [&](const auto& elements) {
    out_ += "[";
    for (size_t k = 0; k < elements.size(); ++k) out_ += (k ? ", " : "") + elements[k];
    out_ += "]\n";
  };
  if (c.type.dtype == DType::kString) {
    std::vector<std::string> elements;
    for (const std::string& s : c.strings) elements.push_back(quoted(s));
    return list(elements);
  }
  if (!c.external_file.empty()) {
    put(out_, "data({}, {}, {})\n", quoted(c.external_file), c.external_offset, c.bytes);
    return;
  }
  std::span<const std::byte> bytes(c.data, c.data ? c.bytes : 0);
  if (bytes.size() > options_.max_inline_bytes) {
    out_ += "data(elided)\n";
    return;
  }
  if (bytes.size() / static_cast<size_t>(dtype_bytes(c.type.dtype)) <= kReadableElements)
    if (auto elements = element_texts(c.type.dtype, bytes)) return list(*elements);
  out_ += "data(";
  append_hex(out_, bytes);
  out_ += ")\n";
}

void Disassembler::print_params(const std::vector<Param>& params) {
  for (size_t k = 0; k < params.size(); ++k) {
    const Param& p = params[k];
    if (k) out_ += ", ";
    if (!p.name.empty()) put(out_, "{}: ", name_text(p.name));
    out_ += type(p.type);
    if (p.donated) out_ += " donated";
  }
}

void Disassembler::print_signature(const Function& f) {
  put(out_, "\nfunc @{}(", name_text(f.name));
  print_params(f.inputs);
  out_ += ")";
  bool bare = f.outputs.size() == 1 && f.outputs[0].name.empty() && !f.outputs[0].donated;
  if (!f.outputs.empty()) {
    out_ += bare ? " -> " : " -> (";
    print_params(f.outputs);
    if (!bare) out_ += ")";
  }
  out_ += "\n";
}

void Disassembler::print_undefined_registers() {
  std::vector<bool> defined(f_->regs.size());
  for (const Block& b : f_->blocks)
    for (const Instr& i : b.instrs)
      for (Reg r : i.defs)
        if (r >= 0 && static_cast<size_t>(r) < defined.size()) defined[static_cast<size_t>(r)] = true;
  for (size_t r = 0; r < f_->regs.size(); ++r) {
    if (defined[r]) continue;
    out_ += "  register ";
    print_def(static_cast<Reg>(r), true);
    out_ += "\n";
  }
}

void Disassembler::print_register_symbols(size_t function) {
  const DimContext& context = dims_.context();
  for (SymbolId& id = next_register_symbol_; id < context.num_symbols(); ++id) {
    const SymbolInfo& s = context.symbol_info(id);
    if (static_cast<size_t>(s.function) > function) break;
    if (is_plain_register_symbol(s)) continue;
    out_ += "  symbol ";
    print_symbol_info(s);
    out_ += "\n";
  }
}

void Disassembler::print_function(size_t index) {
  f_ = &module_.functions[index];
  defined_.assign(f_->regs.size(), false);
  print_signature(*f_);
  print_register_symbols(index);
  print_undefined_registers();
  for (size_t b = 0; b < f_->blocks.size(); ++b) {
    put(out_, "b{}:\n", b);
    for (const Instr& i : f_->blocks[b].instrs) {
      size_t start = out_.size();
      out_ += "  ";
      print_instr(i);
      print_comment(i, start);
      out_ += "\n";
    }
  }
}

// `; 0x2a model.py:12:3 from "conv1"`, from column 80 on where there is room.
void Disassembler::print_comment(const Instr& i, size_t line_start) {
  std::string comment;
  auto part = [&](const std::string& s) { comment += (comment.empty() ? "" : " ") + s; };
  if (options_.offsets) part(fmt::format("0x{:x}", i.offset));
  if (options_.debug && i.debug < f_->debug.size()) {
    const DebugInfo& d = f_->debug[i.debug];
    int line = std::max(0, d.line), column = std::max(0, d.column);
    if (!d.file.empty() || line > 0 || column > 0) {
      std::string place = (is_plain_file(d.file) ? d.file : quoted(d.file)) + ":" + std::to_string(line);
      part(column > 0 ? place + ":" + std::to_string(column) : place);
    }
    for (size_t k = 0; k < d.origins.size(); ++k)
      comment += (k ? ", " : comment.empty() ? "from " : " from ") + quoted(d.origins[k]);
  }
  if (comment.empty()) return;
  constexpr size_t kColumn = 80;
  size_t width = out_.size() - line_start;
  out_.append(width < kColumn ? kColumn - width : 2, ' ');
  out_ += "; " + comment;
}

std::string Disassembler::dim_list(const std::vector<Dim>& list, size_t from) const {
  std::string out;
  for (size_t k = from; k < list.size(); ++k) out += (k > from ? ", " : "") + dim(list[k]);
  return out;
}

std::string Disassembler::reg_list(const std::vector<Reg>& list) const {
  std::string out;
  for (size_t k = 0; k < list.size(); ++k) {
    if (k) out += ", ";
    out += list[k] == kNoReg ? "_" : "R" + std::to_string(list[k]);
  }
  return out;
}

std::string Disassembler::tensor_type(const TensorType& t) const {
  TensorType c = t;
  for (Dim& d : c.shape) d = dims_.canonical(d);
  if (c.filled) c.filled = FilledExtent{t.filled->axis, dims_.canonical(t.filled->from), dims_.canonical(t.filled->to)};
  return to_string(c, dims_.context());
}

std::string Disassembler::type(const RegType& t) const {
  switch (t.kind) {
    case RegKind::kTensor:
      return tensor_type(t.tensor);
    case RegKind::kList:
      return fmt::format("list<{}>", dtype_name(t.tensor.dtype));
    case RegKind::kI64:
      return "i64";
    case RegKind::kF64:
      return "f64";
    case RegKind::kBool:
      return "bool";
  }
  return "?";
}

std::string disassemble(const Module& module, const DisassembleOptions& options) { return Disassembler(module, options).run(); }

}  // namespace msvm
