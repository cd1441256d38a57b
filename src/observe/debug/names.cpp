#include "observe/debug/names.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace msvm::observe::debug {
namespace {

bool means_something(std::string_view name, const Function& f, const DimContext& dims) {
  if (const auto r = register_number(name)) return *r >= 0 && static_cast<size_t>(*r) < f.regs.size();
  const auto is = [&](const auto& x) { return x.name == name; };
  return std::ranges::any_of(f.regs, is) || std::ranges::any_of(f.inputs, is) || find_symbol(name, dims);
}

}  // namespace

std::optional<Reg> register_number(std::string_view name) {
  Reg r = -1;
  if (name.size() < 2 || (name[0] != 'R' && name[0] != 'r')) return {};
  const auto read = std::from_chars(name.data() + 1, name.data() + name.size(), r);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size()) return {};
  return r;
}

std::optional<SymbolId> find_symbol(std::string_view name, const DimContext& dims) {
  for (SymbolId s = 0; s < dims.num_symbols(); ++s)
    if (!dims.symbol_info(s).is_register() && dims.symbol_info(s).name == name) return s;
  return {};
}

Status no_such_name(const Expression& name, const Function& f) {
  return error_at(name.column, fmt::format("there is no register, symbol or name '{}' in @{}: its registers are R0 to R{}", name.text, f.name, f.regs.size() - 1));
}

Status known_names(const Expression& e, const Function& f, const DimContext& dims) {
  if (e.op == Op::kName && !means_something(e.text, f, dims)) return no_such_name(e, f);
  for (const Expression& of : e.operands) MSVM_RETURN_IF_ERROR(known_names(of, f, dims));
  for (const Expression::Index& i : e.indices)
    for (const Expression* part : {i.from.get(), i.to.get(), i.step.get()})
      if (part) MSVM_RETURN_IF_ERROR(known_names(*part, f, dims));
  return {};
}

}  // namespace msvm::observe::debug
