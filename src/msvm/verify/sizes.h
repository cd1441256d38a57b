// What is known of sizes while the walk goes down the dominator tree: values of i64 registers, canonical types, facts.
#pragma once
#include <deque>
#include <string_view>
#include <type_traits>

#include "msvm/ops/schema.h"
#include "msvm/verify/context.h"

namespace msvm::verification {

/// Who evaluates a condition that couldn't be proved.
enum class Check : uint8_t {
  kBefore,        // a RuntimeCheck before the instruction
  kAfter,         // a RuntimeCheck after it
  kByMetadata,    // the interpreter compares actual sizes with the declared type by itself
};

class Sizes {
 public:
  explicit Sizes(Context& c);

  /// A fact from here on. Of very many only the first are kept, so that a question stays cheap: fewer facts mean more checks.
  void learn(const DimCondition& fact);
  struct Mark {
    size_t store, equalities, others;
  };
  Mark mark() const { return {store_.mark(), equalities_, others_}; }
  void rollback(const Mark& m);
  const ConstraintStore& store() const { return store_; }

  /// `d` with i64 registers replaced by their values. Their definitions must have been walked.
  Dim canonical(Dim d);
  /// The type of a tensor register with canonical sizes. Its definition must have been walked.
  const TensorType& type(Reg r) const { return *types_[r]; }
  void set_type(Reg r);
  Dim value(Reg r) const { return c_.facts.reg_value[r]; }
  void set_value(Reg r, Dim v) { c_.facts.reg_value[r] = v; }
  void set_opaque(Reg r);
  Dim own_symbol(Reg r);

  /// Proved, refuted, or unknown: then a check is planned and the condition is a fact from here on. Reports nothing but
  /// overflow.
  /// `what` is a text, or a function that makes one when it is needed.
  template <class What>
  Answer settle(int32_t at, const DimCondition& condition, DiagCode code, const What& what, Check check) {
    const bool valid = condition.a.valid() && condition.b.valid();
    if (valid)
      if (const Answer a = settle_on_edge(condition); a != Answer::kUnknown) return a;
    if constexpr (std::is_invocable_v<const What&>) return unsettled(at, condition, code, what(), check);
    else return unsettled(at, condition, code, std::string(what), check);
  }
  /// As settle, for a condition on an edge: nothing becomes a fact.
  Answer settle_on_edge(const DimCondition& condition);
  bool proved(CondOp op, Dim a, Dim b) const { return (op == CondOp::kEq && a == b) || store_.ask({op, a, b}) == Answer::kProved; }

  /// What holds where bool register `r` is `truth`: comparisons and what and/or/not make of them.
  void conditions_of(Reg r, bool truth, std::vector<DimCondition>& out);
  void add_conditions_of(Reg r, bool truth);

  // Substitution on an edge or at RETURN: symbols that take a value there.
  void begin_substitution() { ++substitution_; }
  void put(SymbolId s, Dim v);
  bool has(SymbolId s) const { return s < stamp_.size() && stamp_[s] == substitution_; }
  Dim substituted(Dim d);

  SymbolId symbol_of(Reg r) const { return reg_symbol_[r]; }
  static constexpr SymbolId kNoSymbol = UINT32_MAX;

 private:
  bool agree_only_when_empty(Dim a, Dim b) const;
  Answer unsettled(int32_t at, const DimCondition& q, DiagCode code, std::string what, Check check);

  Context& c_;
  ConstraintStore store_;
  size_t equalities_ = 0, others_ = 0;
  std::vector<const TensorType*> types_;
  std::deque<TensorType> made_;
  std::vector<SymbolId> reg_symbol_;
  std::vector<Dim> memo_;  // by node id
  std::vector<uint32_t> stamp_;
  std::vector<Dim> put_;
  uint32_t substitution_ = 0;
};

/// What a view gives: shape and whether it is certainly dense. Reports what is outside or not expressible.
struct ViewResult {
  std::vector<Dim> shape;
  bool strided = true;
  bool ok = false;
  bool row_major = false;  // whatever the source's layout
};
ViewResult check_view(Context& c, Sizes& sizes, int32_t at);
void check_call_shapes(Context& c, Sizes& sizes, int32_t at);
void check_phi_edge(Context& c, Sizes& sizes, BlockId from, BlockId to, std::vector<uint8_t>& reported);
void check_return_shapes(Context& c, Sizes& sizes, int32_t at);
/// Values and shapes of every other instruction.
void check_values(Context& c, Sizes& sizes, int32_t at);

/// dtype, device, layout and density of result `r` against what its instruction gives; rule kResultType.
bool check_result(Context& c, int32_t at, Reg r, const TensorType& given);

/// "Missing SHAPE_CALC from h to 2*h", and the instructions to insert before `at`; both may be empty. `size` is then how the required size
/// is written there.
struct SizeFix {
  std::string message, fix;
  Edits inserted = {};
  std::string size = {};
  /// With the size of `axis` of instruction `at` written so, too; empty if there is no fix.
  Edits with_size(int32_t at, int axis) const {
    if (size.empty()) return {};
    Edits all = inserted;
    all.push_back(size_of(at, axis, size));
    return all;
  }
};
SizeFix fix_size(Context& c, const Sizes& sizes, int32_t at, Dim declared, Dim required);

}  // namespace msvm::verification
