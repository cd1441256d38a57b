#include "msvm/emit/emitter.h"

#include <algorithm>
#include <cctype>

namespace msvm {
namespace {

/// Refutes what the declared ranges of symbols refute; everything else is the verifier's to prove or to plan a check for.
class RangeSink final : public ConditionSink {
 public:
  explicit RangeSink(DimContext& dims) : dims_(dims) {}

  Status require(const DimCondition& c, std::string_view what) override {
    if (!c.a.valid() || !c.b.valid() || !refuted(c)) return {};
    return shape_mismatch(std::string(what) + ": " + to_string(c, dims_) + " can't hold");
  }

 private:
  bool refuted(const DimCondition& c) const {
    if (c.a.is_const() && c.b.is_const()) return !holds(c.op, c.a.value(), c.b.value());
    if (c.op == CondOp::kNe) return c.a == c.b;
    if (c.op == CondOp::kDivides) return false;
    DimRange a = dims_.range(c.a), b = dims_.range(c.b);
    bool disjoint = a.max < b.min || b.max < a.min;
    switch (c.op) {
      case CondOp::kEq: return disjoint;
      case CondOp::kLe: return a.min > b.max;
      case CondOp::kLt: return a.min >= b.max || c.a == c.b;
      case CondOp::kBroadcastable: return disjoint && !contains_one(a) && !contains_one(b);
      case CondOp::kNe:
      case CondOp::kDivides: return false;
    }
    return false;
  }
  static bool contains_one(DimRange r) { return r.min <= 1 && 1 <= r.max; }

  DimContext& dims_;
};

/// "NonZero" -> "nonzero": the stem of symbols for sizes that only the kernel knows.
std::string symbol_stem(const std::string& op) {
  std::string stem = op.substr(op.rfind('.') + 1);
  std::transform(stem.begin(), stem.end(), stem.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return stem;
}

}  // namespace

/// What a call is made of: the row, and the types of what it takes.
struct Emitter::Operands {
  const OpSchema* schema;
  std::vector<TensorType> types;  // copies: registers may move while outputs are made
  std::vector<const TensorType*> views;
};

Result<Emitter::Operands> Emitter::operands(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args) {
  Operands in{find_op(op), {}, {}};
  if (!in.schema) return unsupported("there is no operator " + op);
  in.types.reserve(inputs.size());
  for (Reg r : inputs) {
    if (r == kNoReg) {
      in.views.push_back(nullptr);
      continue;
    }
    const RegType& t = fb_.type(r);
    if (t.kind != RegKind::kTensor && t.kind != RegKind::kList) return internal_error(op + " takes tensors, not scalar registers");
    in.types.push_back(t.tensor);
    if (t.kind == RegKind::kList) in.types.back() = TensorType{.dtype = t.tensor.dtype, .unknown_rank = true};  // stands for its elements
    in.views.push_back(&in.types.back());
  }
  while (!in.views.empty() && !in.views.back() && in.views.size() > in.schema->inputs.size()) in.views.pop_back();
  for (Dim d : args)
    if (!d.valid()) return overflow_error(op + ": the arithmetic of a size argument overflows");
  return in;
}

Result<std::vector<Reg>> Emitter::call(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs,
                                       const std::vector<bool>& wanted) {
  MSVM_ASSIGN_OR_RETURN(Operands in, operands(op, inputs, args));
  const OpSchema* schema = in.schema;
  RangeSink sink(dims());
  MSVM_ASSIGN_OR_RETURN(std::vector<TensorType> results, infer_call(*schema, dims(), in.views, args, attrs, wanted.size(), sink));
  if (results.size() < wanted.size()) return internal_error(op + " has no rule for all of its outputs");

  bool allocated_by_call = schema->data_dependent;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    allocated_by_call |= results[i].unknown_rank;
    for (Dim d : results[i].shape) allocated_by_call |= !d.valid();
  }
  std::vector<std::optional<TensorType>> outs(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    outs[i] = std::move(results[i]);
    for (Dim& d : outs[i]->shape)
      if (!d.valid()) d = fb_.module_builder().fresh_symbol(symbol_stem(op));
  }
  return allocated_by_call ? fb_.call_new(op, inputs, args, std::move(attrs), outs) : fb_.call_alloc(op, inputs, args, std::move(attrs), outs);
}

Result<std::vector<Reg>> Emitter::call_declared(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs,
                                                std::vector<std::optional<TensorType>> outs) {
  MSVM_ASSIGN_OR_RETURN(Operands in, operands(op, inputs, args));
  if (!declares_outputs(*in.schema)) return invalid_argument(op + " says itself what its outputs are");
  MSVM_RETURN_IF_ERROR(check_call(*in.schema, in.views, args.size(), outs.size(), attrs));
  std::vector<Reg> regs, made_by_call;
  for (auto& t : outs) {
    if (!t) {
      regs.push_back(kNoReg);
      continue;
    }
    bool unknown = t->unknown_rank;
    for (Dim& d : t->shape)
      if (!d.valid()) {
        d = fb_.module_builder().fresh_symbol(symbol_stem(op));
        unknown = true;
      }
    regs.push_back(unknown ? fb_.new_reg({RegKind::kTensor, *t}) : fb_.alloc(*t));
    if (unknown) made_by_call.push_back(regs.back());
  }
  fb_.append({.op = Opcode::kOpCall, .defs = std::move(made_by_call), .uses = inputs, .dims = args, .outs = regs, .text = op, .attrs = std::move(attrs)});
  return regs;
}

Result<Reg> Emitter::call1(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs) {
  MSVM_ASSIGN_OR_RETURN(std::vector<Reg> outs, call(op, inputs, args, std::move(attrs)));
  return outs[0];
}

}  // namespace msvm
