// Dimension expressions: integers over symbols in a canonical, interned form. Equal polynomials are equal pointers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/stable_vector.h"

namespace msvm {

using SymbolId = uint32_t;

/// Operators of a non-constant expression node.
enum class DimOp : uint8_t {
  kBigConst,   // a constant that doesn't fit the handle
  kSymbol,
  kSum,        // c0 + c1*product1 + c2*product2 ...: products of symbols and opaque nodes
  kFloorDiv,
  kCeilDiv,
  kMod,
  kMin,
  kMax,
  kBroadcast,  // numpy's rule for two sizes: a where b == 1, else b; valid only where a == b, a == 1 or b == 1
};

struct DimNode;

/// Handle of an expression; 8 bytes, compared by value. Constants up to 62 bits live in the handle itself.
/// An *invalid* handle is the result of overflow or division by zero; operations on it stay invalid.
class Dim {
 public:
  constexpr Dim() : bits_(0) {}                       // invalid
  bool valid() const { return bits_ != 0; }
  bool is_const() const { return valid() && (small() || big_const()); }
  int64_t value() const;                              // of a constant
  bool is_const(int64_t v) const { return is_const() && value() == v; }
  const DimNode* node() const { return small() || !valid() ? nullptr : reinterpret_cast<const DimNode*>(bits_); }
  bool is_symbol() const;
  SymbolId symbol() const;                            // of a bare symbol
  friend bool operator==(Dim a, Dim b) { return a.bits_ == b.bits_; }
  uintptr_t key() const { return bits_; }

 private:
  friend class DimContext;
  explicit constexpr Dim(uintptr_t bits) : bits_(bits) {}
  bool small() const { return bits_ & 1; }
  bool big_const() const;
  uintptr_t bits_;
};

struct DimHash {
  size_t operator()(Dim d) const { return (d.key() ^ d.key() >> 33) * 0x9e3779b97f4a7c15u >> 3; }
};

/// One product of a sum. `factors` points into the context and is shared: equal products have the same address.
struct DimTerm {
  int64_t coefficient;             // not 0
  std::span<const Dim> factors;    // neither constants nor sums; sorted; at least one
  bool operator==(const DimTerm& o) const { return coefficient == o.coefficient && factors.data() == o.factors.data(); }
};

/// A non-constant expression (or a constant too wide for the handle). Lives as long as its context; never changes.
struct DimNode {
  DimOp op;
  bool exact = false;               // kFloorDiv by a constant that is known to divide `a`
  SymbolId symbol = 0;              // kSymbol
  int64_t constant = 0;             // kBigConst: the value; kSum: c0; kSymbol: its place in the order
  std::span<const DimTerm> terms;   // kSum, sorted: higher degree first, then by symbol
  Dim a, b;                         // the two operands of every other operator
  uint32_t id = 0;                  // creation order
  uint32_t weight = 1;              // nodes of the expression written out as a tree
  uint64_t symbol_mask = 0;         // bit (symbol % 64) of each symbol inside
  uint64_t hash = 0;
  Dim self;                         // the handle of this node: a product of one factor
};

/// Limits beyond which an expression is refused, so that every walk over one is short.
constexpr size_t kMaxDimTerms = 64;
constexpr size_t kMaxDimDegree = 32;
constexpr size_t kMaxDimProducts = 512;  // terms of a product before equal ones are joined
constexpr uint32_t kMaxDimWeight = 1024;

/// A named size. Ranges are facts that are checked where the symbol is defined.
struct SymbolInfo {
  std::string name;                 // "H"; of a register symbol "R7"
  int64_t min = 0;
  int64_t max = INT64_MAX;
  int64_t divisor = 1;              // value ≡ remainder (mod divisor)
  int64_t remainder = 0;
  int32_t function = -1;            // >= 0: the symbol of i64 register `reg` of that function
  int32_t reg = -1;
  bool is_register() const { return function >= 0; }
};

struct DimRange {
  int64_t min = INT64_MIN, max = INT64_MAX;
};

/// value ≡ remainder (mod modulus), 0 <= remainder < modulus; modulus 0: the value is `remainder`; modulus 1: nothing is known.
struct DimResidue {
  int64_t modulus = 1, remainder = 0;
};

/// Owns symbols and nodes; hands out canonical expressions. One thread at a time may let it grow; others may read what exists meanwhile.
///
/// A canonical expression has the value of the expression it was built from wherever that one is defined (no overflow, no
/// division by zero, sizes that broadcast). The order of terms depends on symbols and structure only, never on what was built
/// before, so that text and files are reproducible.
/// Expressions beyond the limits above are refused (invalid): callers bind a fresh symbol instead.
class DimContext {
 public:
  DimContext();
  ~DimContext();
  DimContext(const DimContext&) = delete;
  DimContext& operator=(const DimContext&) = delete;

  SymbolId add_symbol(SymbolInfo info);
  size_t num_symbols() const { return symbols_.size(); }
  const SymbolInfo& symbol_info(SymbolId id) const { return id < symbols_.size() ? symbols_[id] : hidden_info(id); }
  /// Set ranges, divisor and register before the symbol is used in expressions: they simplify by what is declared then. Later
  /// it may only be narrowed.
  SymbolInfo& mutable_symbol_info(SymbolId id) { return symbols_[id]; }
  /// A named (not register) symbol by name.
  std::optional<SymbolId> find_symbol(std::string_view name) const;

  /// Where the context stands.
  struct Mark {
    size_t symbols;
    uint32_t nodes;
  };
  Mark mark() const;
  /// Forgets symbols and expressions made since: the same calls make them anew, with the same order. Handles of them are no longer used.
  void rollback(Mark mark);

  Dim constant(int64_t v);
  Dim symbol(SymbolId id);  // invalid if there is no such symbol
  Dim add(Dim a, Dim b);
  Dim sub(Dim a, Dim b);
  Dim mul(Dim a, Dim b);
  Dim neg(Dim a);
  Dim floordiv(Dim a, Dim b);
  Dim ceildiv(Dim a, Dim b);
  Dim mod(Dim a, Dim b);
  Dim min(Dim a, Dim b);
  Dim max(Dim a, Dim b);
  Dim broadcast(Dim a, Dim b);
  /// The binary operator `op` (not kSum, kSymbol, kBigConst).
  Dim apply(DimOp op, Dim a, Dim b);
  Dim product(std::span<const Dim> dims);

  /// `d` with each symbol replaced by `value_of(symbol)`; an invalid Dim from the function keeps the symbol.
  Dim substitute(Dim d, const std::function<Dim(SymbolId)>& value_of);
  /// The value under the symbols' values; none on overflow or division by zero.
  static std::optional<int64_t> evaluate(Dim d, const std::function<std::optional<int64_t>(SymbolId)>& value_of);
  /// Interval bounds from the symbols' declared ranges; INT64_MIN / INT64_MAX where unbounded.
  DimRange range(Dim d) const;
  /// What is known of `d` modulo something, from the symbols' declared divisors.
  DimResidue residue(Dim d) const;
  /// Calls `visit` for each symbol in `d` (repeats possible).
  static void for_each_symbol(Dim d, const std::function<void(SymbolId)>& visit);
  /// Text that the assembler reads back: "2*H + ceildiv(W, 2) - 1".
  std::string to_string(Dim d) const;

 private:
  friend class ConstraintStore;
  struct Impl;
  class Declared;

  // Symbols that a ConstraintStore needs for itself ("H / 32"). They count nowhere and never appear in results.
  Dim hidden_symbol(SymbolInfo info, SymbolId base);
  const SymbolInfo& hidden_info(SymbolId id) const;

  Dim make_node(DimOp op, Dim a, Dim b, bool exact = false);
  Dim intern(DimNode& node);
  Dim make_sum(int64_t c0, std::span<const DimTerm> terms);
  Dim make_monomial(const DimTerm& term);
  std::span<const Dim> intern_monomial(std::span<const Dim> factors);
  std::span<const Dim> monomial_product(std::span<const Dim> x, std::span<const Dim> y);
  Dim reduce_term(const DimTerm& term);
  Dim add_scaled(Dim a, Dim b, int64_t k);
  Dim scale(Dim a, int64_t k);

  Dim floordiv_constant(Dim p, int64_t c);
  Dim mod_constant(Dim p, int64_t c);
  Dim exact_quotient(const DimTerm& term, int64_t c);
  Dim divide_exactly(Dim p, Dim q);
  bool cancel_common(Dim& p, Dim& q, Dim* common);
  bool split_multiples(Dim p, Dim q, Dim* quotient, Dim* rest);
  Dim extremum(DimOp op, Dim a, Dim b);
  Dim chain(DimOp op, std::vector<Dim>& operands);

  StableVector<SymbolInfo> symbols_;
  std::unique_ptr<Impl> impl_;
};

/// The canonical order of expressions: negative, 0 or positive. Constants, then symbols, then other operators, then sums.
int compare_dims(Dim x, Dim y);
/// The name by which text writes a binary operator: "floordiv", …, "bcast".
std::string_view dim_op_name(DimOp op);

}  // namespace msvm
