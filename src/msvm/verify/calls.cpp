// Groups 4 and 6 for OP_CALL: the operator, its attributes and dtypes, its conditions, and the shapes it gives.
#include <fmt/format.h>

#include "msvm/verify/sizes.h"

namespace msvm::verification {
namespace {

bool contains(const std::string& s, std::string_view part) { return s.find(part) != std::string::npos; }

class CallCheck {
 public:
  CallCheck(Context& c, Sizes& s, int32_t at) : c_(c), s_(s), at_(at), x_(c.at(at)) {}

  void run() {
    schema_ = find();
    if (!schema_) {
      const bool foreign = !domain().empty() && domain() != "msvm";
      c_.error(Rule::kOperatorKnown, at_, {fmt::format("there is no operator {}", x_.text.substr(0, 100)), {}, {}, foreign ? "register it before the program is loaded" : ""});
      return;
    }
    if (!as_registered(*schema_) && !domain_declared()) {
      c_.error(Rule::kOperatorDomain, at_, {fmt::format("the module doesn't declare the operator set of {}", x_.text), {}, {}, fmt::format("declare it: opset \"{}\" version", domain())});
      return;
    }
    if (!collect()) return;
    Sink sink(*this);
    auto given = infer_call(*schema_, c_.dims, inputs_, args_, x_.attrs, x_.outs.size(), sink);
    if (!given.ok()) {
      if (!sink.refuted) explain(given.status());
      return;
    }
    if (given->size() < x_.outs.size()) {
      c_.error(Rule::kOperatorArity, at_, {fmt::format("{} has no rule for all of its outputs", x_.text)});
      return;
    }
    for (size_t i = 0; i < x_.outs.size(); ++i)
      if (x_.outs[i] != kNoReg && !c_.bad_reg[x_.outs[i]]) output(i, (*given)[i]);
  }

 private:
  /// One definition of a registered operator serves all calls of the module, whatever is registered meanwhile.
  const OpSchema* find() const {
    auto& held = c_.tables.operators;
    if (auto it = held.find(x_.text); it != held.end()) return it->second.op;
    if (RegisteredOperator r = find_registered(x_.text); r.op) return held.emplace(x_.text, std::move(r)).first->second.op;
    return find_op(x_.text);
  }

  struct Sink final : ConditionSink {
    explicit Sink(CallCheck& owner) : call(owner) {}
    Status require(const DimCondition& q, std::string_view what) override {
      if (call.s_.settle(call.at_, q, DiagCode::kShapeConstraint, what, Check::kBefore) != Answer::kRefuted) return {};
      refuted = true;
      call.condition_error(q, what);
      return shape_mismatch(std::string(what));
    }
    CallCheck& call;
    bool refuted = false;
  };

  std::string_view domain() const {
    const size_t dot = x_.text.find('.');
    return dot == std::string::npos ? std::string_view() : std::string_view(x_.text).substr(0, dot);
  }
  /// A module that declares nothing follows this build's sets.
  bool domain_declared() const {
    for (const OpsetVersion& o : c_.module.opsets)
      if (o.domain == domain()) return true;
    return c_.module.opsets.empty();
  }

  bool collect() {
    const TensorType* first = nullptr;
    for (size_t i = 0; i < x_.uses.size(); ++i) {
      const Reg r = x_.uses[i];
      if (r == kNoReg) {
        inputs_.push_back(nullptr);
      } else if (c_.kind(r) == RegKind::kList) {
        if (!schema_->variadic || i + 1 < schema_->inputs.size()) {
          c_.error(Rule::kOperatorTypes, at_, {fmt::format("{} doesn't take a list here", x_.text), "a tensor", c_.origin(r)});
          return false;
        }
        lists_[i] = TensorType{.dtype = c_.declared(r).dtype, .unknown_rank = true};
        inputs_.push_back(&lists_[i]);
      } else {
        inputs_.push_back(&s_.type(r));
        if (!first) first = inputs_.back(), first_ = r;
        if (!(inputs_.back()->device == first->device)) return device_error(r);
      }
    }
    device_ = first ? std::optional(first->device) : std::nullopt;
    for (Dim d : x_.dims) args_.push_back(s_.canonical(d));
    return true;
  }

  bool device_error(Reg r) {
    c_.error(Rule::kOperatorTypes, at_, {"the operands of a call are on one device", c_.origin(first_), c_.origin(r), "bring them together with TENSOR_COPY"});
    return false;
  }

  std::string operands() const {
    std::string s;
    for (Reg r : x_.uses)
      if (r != kNoReg) s += (s.empty() ? "" : "; ") + c_.origin(r);
    return s;
  }

  void condition_error(const DimCondition& q, std::string_view what) {
    Text t{fmt::format("{} needs that {}", x_.text, what), to_string(q, c_.dims), fmt::format("inputs {}", operands())};
    if (q.op == CondOp::kEq) t.fix = fix_size(c_, s_, at_, q.a, q.b).fix;
    c_.error(Rule::kCallCondition, at_, std::move(t));
  }

  // Counts, dtypes and attributes first, all of them; else what the shape function said.
  void explain(const Status& failed) {
    const auto all = check_call_all(*schema_, inputs_, args_.size(), x_.outs.size(), x_.attrs);
    for (const Status& s : all) {
      const std::string& m = s.message();
      const bool attribute = contains(m, "attribute") || contains(m, "each element of");
      const bool arity = !attribute && (contains(m, " takes ") || contains(m, " gives ") || contains(m, " is missing"));
      c_.error(attribute ? Rule::kAttribute : arity ? Rule::kOperatorArity : Rule::kOperatorTypes, at_, {m, {}, attribute ? std::string() : operands()});
    }
    if (!all.empty()) return;
    Rule rule = Rule::kCallCondition;
    switch (failed.code()) {
      case StatusCode::kInvalidArgument: rule = Rule::kAttribute; break;
      case StatusCode::kOverflow: rule = Rule::kSizeOverflow; break;
      case StatusCode::kUnsupported: rule = Rule::kCallRank; break;
      case StatusCode::kOk: case StatusCode::kMalformedFile: case StatusCode::kVerification: case StatusCode::kShapeMismatch:
      case StatusCode::kOutOfRange: case StatusCode::kResourceLimit: case StatusCode::kCancelled: case StatusCode::kNotFound:
      case StatusCode::kIo: case StatusCode::kInternal: break;
    }
    c_.error(rule, at_, {failed.message(), {}, operands()});
  }

  void output(size_t i, const TensorType& given) {
    const Reg r = x_.outs[i];
    const bool fresh = c_.def[r] == at_;
    const TensorType& t = s_.type(r);
    if (declares_outputs(*schema_) && (!device_ || t.device == *device_)) return;  // the run compares what comes with what is declared
    if (t.dtype != given.dtype || (device_ && !(t.device == *device_))) {
      c_.error(Rule::kResultType, at_, {fmt::format("output {} of {} has another dtype or device", i, x_.text),
                                        fmt::format("{} on {}", dtype_name(given.dtype), to_string(device_.value_or(t.device))), c_.origin(r)});
      return;
    }
    if (given.unknown_rank || schema_->data_dependent) {
      if (!fresh) return not_new(i, r, given.unknown_rank ? "rank" : "size");
      if (given.unknown_rank || t.unknown_rank) return;
    }
    if (t.unknown_rank) return;  // forgotten on purpose
    if (t.rank() != given.rank()) {
      c_.error(Rule::kCallRank, place_of(r), {fmt::format("the destination of {} has another rank", x_.text), fmt::format("rank {}", given.rank()),
                                              fmt::format("R{} of rank {}; the call is {}", r, t.rank(), c_.where(at_)), declare(r, given), declare_edits(r, given)});
      return;
    }
    for (int a = 0; a < t.rank(); ++a) {
      const Dim declared = t.shape[a], size = given.shape[a];
      if (!size.valid()) {
        if (!fresh) return not_new(i, r, "size");
        continue;
      }
      if (declared == size) {
        ++c_.facts.proved;
        continue;
      }
      auto what = [&] { return fmt::format("axis {} of output {} of {}", a, i, x_.text); };
      if (s_.settle(at_, {CondOp::kEq, declared, size}, DiagCode::kShapeConstraint, what, fresh ? Check::kByMetadata : Check::kBefore) != Answer::kRefuted) continue;
      SizeFix fix = fix_size(c_, s_, place_of(r), declared, size);
      c_.error(Rule::kCallShape, place_of(r),
               {fix.message.empty() ? fmt::format("axis {} is {} where {} is given", a, c_.text(declared), c_.text(size)) : fix.message, c_.text(t.shape),
                fmt::format("op {} at {} requires {}; its inputs are {}", x_.text, c_.where(at_), c_.text(given.shape), operands()),
                fix.fix.empty() ? declare(r, given) : fix.fix, fix.fix.empty() ? declare_edits(r, given) : size_edits(r, fix, a, size)});
      return;
    }
  }

  /// A destination is wrong where it is made.
  int32_t place_of(Reg r) const { return c_.def[r] >= 0 ? c_.def[r] : at_; }

  std::string declare(Reg r, const TensorType& given) const {
    TensorType t = c_.declared(r);
    t.shape = given.shape;
    for (Dim d : t.shape)
      if (!d.valid()) return {};
    return fmt::format("declare R{} as {}", r, to_string(t, c_.dims));
  }

  /// What `declare` says, where the register is made: in the list of sizes of a destination, else in the type that is stated.
  Edits declare_edits(Reg r, const TensorType& given) const {
    if (c_.def[r] < 0 || declare(r, given).empty()) return {};
    if (makes_destination(c_.at(c_.def[r]))) return {size_of(c_.def[r], -1, c_.text(given.shape))};
    TensorType t = c_.declared(r);
    t.shape = given.shape;
    return {stated_type(c_.def[r], r, to_string(t, c_.dims))};
  }
  /// A destination of entry symbols takes no registers, but any expression of those.
  Edits size_edits(Reg r, const SizeFix& fix, int axis, Dim size) const {
    if (c_.def[r] < 0 || !makes_destination(c_.at(c_.def[r]))) return {};
    if (c_.at(c_.def[r]).op == Opcode::kTensorCreate) return {size_of(c_.def[r], axis, c_.text(size))};
    return fix.with_size(c_.def[r], axis);
  }
  static bool makes_destination(const Instr& x) { return x.op == Opcode::kTensorAlloc || (x.op == Opcode::kTensorCreate && create_kind(x) == CreateKind::kDestination); }

  void not_new(size_t i, Reg r, const char* what) {
    c_.error(Rule::kCallNew, at_, {fmt::format("the {} of output {} of {} is known only when it ran", what, i, x_.text), {}, c_.origin(r),
                                   fmt::format("let the call allocate it: -> new R{}", r)});
  }

  Context& c_;
  Sizes& s_;
  const int32_t at_;
  const Instr& x_;
  const OpSchema* schema_ = nullptr;
  std::vector<const TensorType*> inputs_;
  std::vector<Dim> args_;
  std::map<size_t, TensorType> lists_;
  std::optional<Device> device_;
  Reg first_ = kNoReg;
};

}  // namespace

void check_call_shapes(Context& c, Sizes& sizes, int32_t at) { CallCheck(c, sizes, at).run(); }

}  // namespace msvm::verification
