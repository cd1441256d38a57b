// What is known about sizes: linear equalities, divisibility and bounds. Answers proved, refuted or unknown.
#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "msvm/shape/dim.h"

namespace msvm {

/// A condition on two sizes.
enum class CondOp : uint8_t {
  kEq,
  kNe,
  kLe,
  kLt,
  kDivides,        // a divides b; 0 divides only 0
  kBroadcastable,  // a == b, a == 1 or b == 1
};

struct DimCondition {
  CondOp op;
  Dim a, b;
};

enum class Answer : uint8_t { kProved, kRefuted, kUnknown };

/// Sound, incomplete, cheap: a question costs as much as its expressions are long, plus a bounded number of attempts to combine it
/// with facts. Answers hold for values under which both sides are defined.
/// Facts may be added and later dropped (branches): `mark` / `rollback`, last in, first out.
/// Declared ranges and divisors of the context's symbols count as facts; they mustn't change while a store is in use.
///
/// How it works: equalities are solved for a symbol and substituted, s ≡ r (mod m) becomes s = m*q + r with a hidden symbol q, and
/// what remains are bounds on linear forms. A question is brought into the same form and bounded by intervals, by those facts, and by what
/// min, max and quotients are bounded by.
class ConstraintStore {
 public:
  explicit ConstraintStore(DimContext& context);
  /// Adds a fact (after it was proved or will be checked). A contradiction makes `contradiction()` true.
  void add(const DimCondition& fact);
  Answer ask(const DimCondition& question) const;
  /// `d` with everything known substituted (equal symbols replaced by their representative).
  Dim simplify(Dim d) const;
  /// Bounds of `d` under the facts; INT64_MIN / INT64_MAX where unbounded.
  DimRange range(Dim d) const;
  size_t mark() const { return undo_.size(); }
  void rollback(size_t mark);
  bool contradiction() const { return contradiction_; }
  /// Each fact that said something new, as text, for `msvm info --constraints`.
  std::vector<std::string> describe() const;

 private:
  class Bounds;
  struct Solution {
    Dim value;
    mutable Dim resolved;  // `value` with other solutions put in, as of `epoch`
    mutable uint64_t epoch = 0;
  };
  using Solutions = std::unordered_map<SymbolId, Solution>;
  /// What is known of a linear form: no constant, coefficients without common factor, the first one positive.
  struct Known {
    DimRange range;
    std::vector<int64_t> excluded;
  };
  /// d == sign * scale * form + constant
  struct Linear {
    Dim form;
    int64_t scale = 1, sign = 1, constant = 0;
  };
  struct Undo {
    enum Kind : uint8_t { kFact, kSolved, kVisible, kKnown, kForm, kBroadcastable, kContradiction } kind;
    SymbolId symbol = 0;
    Dim key;
    bool existed = false;
    Known old;
  };

  void learn(const DimCondition& fact);
  void learn_zero(Dim d);
  void learn_not_positive(Dim d);
  void learn_not_zero(Dim d);
  void learn_residue(Dim d, int64_t modulus, int64_t remainder);
  void learn_visible(Dim a, Dim b);
  void solve(SymbolId s, Dim value);
  void bound(Dim form, DimRange range);
  void contradict();
  Dim quotient_form(SymbolId s, DimResidue residue) const;

  Dim resolve(SymbolId s, const Solutions& solutions, int depth) const;
  Dim put_in(Dim d, const Solutions& solutions, int depth) const;
  Dim internal(Dim d) const { return put_in(d, solved_, 0); }
  bool linear(Dim d, Linear& out) const;
  const Known* known(Dim form) const;
  Known* change(Dim form);
  bool prove_not_positive(Dim d, int steps, int& budget) const;
  bool prove_with_facts(Dim d, int steps, int& budget) const;
  bool prove_by_operators(Dim d, int steps, int& budget) const;
  bool never(Dim d, int64_t value) const;
  Answer ask_zero(Dim d) const;
  Answer ask_not_positive(Dim d) const;
  Answer ask_divides(Dim a, Dim b) const;
  Answer ask_broadcastable(Dim a, Dim b) const;

  DimContext& context_;
  std::vector<DimCondition> facts_;
  Solutions solved_;             // in terms of hidden symbols too; for questions
  Solutions visible_;            // from equalities alone; for simplify()
  std::unordered_map<Dim, Known, DimHash> known_;
  uint64_t known_symbols_ = 0;   // a superset of the symbols in known_'s forms, as DimNode::symbol_mask
  std::vector<Dim> forms_;       // those of known_ with several terms, in order of their first fact
  std::vector<std::pair<Dim, Dim>> broadcastable_;
  std::vector<Dim> pending_;     // forms found to be 0 that are still to be solved
  std::vector<Undo> undo_;
  uint64_t epoch_ = 1;
  uint64_t known_epoch_ = 1;     // of known_
  mutable std::vector<std::pair<uint64_t, DimRange>> ranges_;  // by a node's number, as of known_epoch_: questions ask for the same again and again
  bool contradiction_ = false;
};

/// Evaluates a condition on constants.
bool holds(CondOp op, int64_t a, int64_t b);
std::string to_string(const DimCondition& c, const DimContext& context);

}  // namespace msvm
