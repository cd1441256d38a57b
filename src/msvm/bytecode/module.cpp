#include "msvm/bytecode/module.h"

namespace msvm {

const Function* Module::find_function(std::string_view wanted) const {
  for (const Function& f : functions)
    if (f.name == wanted) return &f;
  return nullptr;
}

namespace {
uint64_t key_of(int32_t function, Reg reg) { return static_cast<uint64_t>(function) << 32 | static_cast<uint32_t>(reg); }
}  // namespace

// Copies of a module share the context but not the cache, so symbols that others added are looked through first.
Dim register_dim(Module& module, int32_t function, Reg reg) {
  DimContext& dims = *module.dims;
  RegisterSymbols& cache = module.register_symbols;
  if (cache.context != &dims || cache.seen > dims.num_symbols()) cache = {.context = &dims};
  for (; cache.seen < dims.num_symbols(); ++cache.seen) {
    const SymbolInfo& s = dims.symbol_info(static_cast<SymbolId>(cache.seen));
    if (s.is_register()) cache.ids.emplace(key_of(s.function, s.reg), static_cast<SymbolId>(cache.seen));
  }
  if (auto it = cache.ids.find(key_of(function, reg)); it != cache.ids.end()) return dims.symbol(it->second);
  SymbolInfo info;
  info.name = "R" + std::to_string(reg);
  info.min = INT64_MIN;
  info.function = function;
  info.reg = reg;
  SymbolId id = dims.add_symbol(std::move(info));
  cache.ids.emplace(key_of(function, reg), id);
  return dims.symbol(id);
}

}  // namespace msvm
