// The expressions of a module in a context of their own, numbered as files and text need them: what comes out depends on the
// module's content only, not on the order in which it was made.
#pragma once
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "msvm/bytecode/module.h"

namespace msvm {

class DimTable {
 public:
  /// Symbols: all named ones in their order, then those of registers that are used or declared, by function and register.
  explicit DimTable(const Module& module);

  const DimContext& context() const { return context_; }
  /// The expression in context(); invalid if `d` is, or can't be built from what the symbols declare.
  Dim canonical(Dim d) const;
  /// Position in nodes(); `d` must be canonical and valid.
  uint32_t index(Dim canonical) const { return index_.at(canonical.key()); }
  /// Every expression and its parts, parts first, in order of first use.
  const std::vector<Dim>& nodes() const { return nodes_; }
  /// The function whose registers the canonical expression mentions; kNoOwner if none, kMixed if several.
  int32_t owner(Dim canonical) const;
  static constexpr int32_t kNoOwner = -1, kMixed = -2;
  /// Empty, or why the module's symbols can't be written.
  const std::string& problem() const { return problem_; }

 private:
  void collect(Dim d);
  void add_symbols(const Module& module);
  Dim rebuild(Dim d);
  void number(Dim canonical);

  mutable DimContext context_;
  std::vector<Dim> originals_;          // as met, each once
  std::unordered_set<uintptr_t> seen_;  // parts, by collect()
  std::unordered_set<SymbolId> used_symbols_;
  std::unordered_map<SymbolId, SymbolId> symbol_of_;
  std::unordered_map<uintptr_t, Dim> canonical_of_;
  std::unordered_map<uintptr_t, uint32_t> index_;  // by canonical key
  std::vector<Dim> nodes_;
  std::vector<int32_t> owners_;  // parallel to nodes_
  std::string problem_;
};

/// Calls `visit` for each expression that stands in the module, in the order of the file.
void for_each_dim(const Module& module, const std::function<void(Dim)>& visit);

/// `R7` and `dynamic` mean something else in text: no named symbol may be called so.
bool is_reserved_symbol_name(std::string_view name);
/// One of them or kNoOwner, of an expression with these two parts.
int32_t join_owners(int32_t a, int32_t b);
/// A register symbol of which nothing is declared.
bool is_plain_register_symbol(const SymbolInfo& s);

}  // namespace msvm
