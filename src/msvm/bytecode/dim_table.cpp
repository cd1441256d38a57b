#include "msvm/bytecode/dim_table.h"

#include <algorithm>
#include <tuple>

namespace msvm {

bool is_plain_register_symbol(const SymbolInfo& s) {
  return s.is_register() && s.min == INT64_MIN && s.max == INT64_MAX && s.divisor == 1 && s.remainder == 0;
}

bool is_reserved_symbol_name(std::string_view name) {
  if (name == "dynamic") return true;
  return name.size() > 1 && name[0] == 'R' && name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

int32_t join_owners(int32_t a, int32_t b) {
  if (a == DimTable::kNoOwner || a == b) return b;
  return b == DimTable::kNoOwner ? a : DimTable::kMixed;
}

int32_t DimTable::owner(Dim d) const {
  auto it = index_.find(d.key());
  return it == index_.end() ? kNoOwner : owners_[it->second];
}

void for_each_dim(const Module& module, const std::function<void(Dim)>& visit) {
  auto visit_type = [&](const TensorType& t) {
    for (Dim d : t.shape) visit(d);
    if (t.filled) visit(t.filled->from), visit(t.filled->to);
  };
  auto visit_reg_type = [&](const RegType& t) {
    if (t.kind == RegKind::kTensor) visit_type(t.tensor);
  };
  for (const Constant& c : module.constants) visit_type(c.type);
  for (const Function& f : module.functions) {
    for (const Param& p : f.inputs) visit_reg_type(p.type);
    for (const Param& p : f.outputs) visit_reg_type(p.type);
    for (const Register& r : f.regs) visit_reg_type(r.type);
    for (const Block& b : f.blocks)
      for (const Instr& i : b.instrs)
        for (Dim d : i.dims) visit(d);
  }
}

DimTable::DimTable(const Module& module) {
  std::unordered_set<uintptr_t> met;
  for_each_dim(module, [&](Dim d) {
    if (!d.valid() || !met.insert(d.key()).second) return;
    originals_.push_back(d);
    collect(d);
  });
  add_symbols(module);
  for (Dim d : originals_)
    if (Dim c = rebuild(d); c.valid()) number(c);
}

void DimTable::collect(Dim d) {
  if (!seen_.insert(d.key()).second || d.is_const()) return;
  const DimNode& n = *d.node();
  if (n.op == DimOp::kSymbol) used_symbols_.insert(n.symbol);
  for (const DimTerm& t : n.terms)
    for (Dim f : t.factors) collect(f);
  if (n.a.valid()) collect(n.a);
  if (n.b.valid()) collect(n.b);
}

void DimTable::add_symbols(const Module& module) {
  const DimContext& dims = *module.dims;
  std::vector<SymbolId> registers;
  std::unordered_set<std::string_view> names;
  for (SymbolId id = 0; id < dims.num_symbols(); ++id) {
    const SymbolInfo& s = dims.symbol_info(id);
    if (s.is_register()) {
      if (used_symbols_.contains(id) || !is_plain_register_symbol(s)) registers.push_back(id);
      continue;
    }
    if (is_reserved_symbol_name(s.name)) problem_ = "a symbol has the reserved name \"" + s.name + "\"";
    if (!names.insert(s.name).second) problem_ = "two symbols have the name \"" + s.name + "\"";
    symbol_of_.emplace(id, context_.add_symbol(s));
  }
  auto key = [&](SymbolId id) { return std::tuple(dims.symbol_info(id).function, dims.symbol_info(id).reg); };
  std::sort(registers.begin(), registers.end(),
            [&](SymbolId a, SymbolId b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
  for (size_t i = 0; i < registers.size(); ++i) {
    SymbolInfo s = dims.symbol_info(registers[i]);
    s.name = "R" + std::to_string(s.reg);
    if (i > 0 && key(registers[i]) == key(registers[i - 1])) problem_ = "register " + s.name + " has two symbols";
    symbol_of_.emplace(registers[i], context_.add_symbol(std::move(s)));
  }
}

Dim DimTable::rebuild(Dim d) {
  if (!d.valid()) return d;
  if (d.is_const()) return context_.constant(d.value());
  if (auto it = canonical_of_.find(d.key()); it != canonical_of_.end()) return it->second;
  const DimNode& n = *d.node();
  Dim out;
  if (n.op == DimOp::kSymbol) {
    if (auto it = symbol_of_.find(n.symbol); it != symbol_of_.end()) out = context_.symbol(it->second);
  } else if (n.op == DimOp::kSum) {
    out = context_.constant(n.constant);
    for (const DimTerm& t : n.terms) {
      Dim product = context_.constant(t.coefficient);
      for (Dim f : t.factors) product = context_.mul(product, rebuild(f));
      out = context_.add(out, product);
    }
  } else {
    out = context_.apply(n.op, rebuild(n.a), rebuild(n.b));
  }
  canonical_of_.emplace(d.key(), out);
  return out;
}

Dim DimTable::canonical(Dim d) const {
  if (!d.valid()) return d;
  if (d.is_const()) return context_.constant(d.value());  // wide ones are interned already
  auto it = canonical_of_.find(d.key());
  return it == canonical_of_.end() ? Dim() : it->second;
}

void DimTable::number(Dim d) {
  if (index_.contains(d.key())) return;
  int32_t function = kNoOwner;
  auto part = [&](Dim p) {
    number(p);
    function = join_owners(function, owner(p));
  };
  if (!d.is_const()) {
    const DimNode& n = *d.node();
    if (n.op == DimOp::kSymbol) function = context_.symbol_info(n.symbol).function;
    for (const DimTerm& t : n.terms)
      for (Dim f : t.factors) part(f);
    if (n.a.valid()) part(n.a);
    if (n.b.valid()) part(n.b);
  }
  owners_.push_back(function);
  index_.emplace(d.key(), static_cast<uint32_t>(nodes_.size()));
  nodes_.push_back(d);
}

}  // namespace msvm
