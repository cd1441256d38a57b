// Groups 4 and 7: what each instruction but OP_CALL, PHIs and RETURN says about sizes and values.
#include <fmt/format.h>

#include "msvm/base/checked.h"
#include "msvm/verify/sizes.h"

namespace msvm::verification {

bool check_result(Context& c, int32_t at, Reg r, const TensorType& given) {
  const TensorType& t = c.declared(r);
  const char* problem = t.dtype != given.dtype ? "another dtype"
                        : t.layout != given.layout ? "another layout"
                        : !(t.device == given.device) ? "another device"
                        : given.strided && !t.strided ? "a dense type, but isn't certainly dense"
                                                      : nullptr;
  if (!problem) return true;
  TensorType fixed = t;
  fixed.dtype = given.dtype;
  fixed.layout = given.layout;
  fixed.device = given.device;
  fixed.strided |= given.strided;
  c.error(Rule::kResultType, at, {fmt::format("the result R{} has {}", r, problem), to_string(fixed, c.dims), c.type_text(r),
                                  fmt::format("declare R{} as {}", r, to_string(fixed, c.dims)),
                                  {stated_type(at, r, to_string(fixed, c.dims))}});
  return false;
}

namespace {

class ValueCheck {
 public:
  ValueCheck(Context& c, Sizes& s, int32_t at) : c_(c), s_(s), at_(at), x_(c.at(at)) {}

  void run() {
    switch (x_.op) {
      case Opcode::kTensorCreate: return create();
      case Opcode::kTensorConst: return constant();
      case Opcode::kTensorAlloc: return destination();
      case Opcode::kTensorResize: return resize();
      case Opcode::kTensorView: return view();
      case Opcode::kTensorCopy: return copy();
      case Opcode::kTensorRead: return read();
      case Opcode::kScalarInput: return opaque();
      case Opcode::kShapePropagate: return propagate();
      case Opcode::kShapeCalc: return calc();
      case Opcode::kScalarConst:
        if (c_.kind(x_.defs[0]) == RegKind::kI64) s_.set_value(x_.defs[0], c_.dims.constant(x_.imms[0]));
        return;
      case Opcode::kScalarCalc: return opaque();
      case Opcode::kShapeAssert: return assertion();
      case Opcode::kListMake:
      case Opcode::kListAppend:
      case Opcode::kListGet:
      case Opcode::kListLength: return list();
      case Opcode::kOpCall:
        for (Reg r : x_.defs) s_.set_type(r);
        return check_call_shapes(c_, s_, at_);
      case Opcode::kReturn: return check_return_shapes(c_, s_, at_);
      case Opcode::kTensorPhi:   // at the edges
      case Opcode::kScalarPhi:
      case Opcode::kTensorFree:
      case Opcode::kJump:
      case Opcode::kBranchIf:
      case Opcode::kSwitch:
      case Opcode::kTrap: return;
    }
  }

 private:
  void error(Rule rule, Text t) { c_.error(rule, at_, std::move(t)); }
  void opaque() {
    if (c_.kind(x_.defs[0]) == RegKind::kI64) s_.set_opaque(x_.defs[0]);
  }

  /// Reports unless both are certainly one size.
  bool same_size(Rule rule, Dim a, Dim b, const char* what) {
    if (a == b || s_.proved(CondOp::kEq, a, b)) {
      ++c_.facts.proved;
      return true;
    }
    error(rule, {what, c_.text(a), c_.text(b)});
    return false;
  }

  /// The spec stands twice: in the instruction and as the register's type.
  bool spec() {
    const TensorType& t = s_.type(x_.defs[0]);
    if (t.unknown_rank ? !x_.dims.empty() : x_.dims.size() != t.shape.size()) {
      error(Rule::kSpecType, {"the spec has another rank than its register", c_.type_text(x_.defs[0]), fmt::format("{} sizes", x_.dims.size())});
      return false;
    }
    for (size_t a = 0; a < x_.dims.size(); ++a)
      if (!same_size(Rule::kSpecType, t.shape[a], s_.canonical(x_.dims[a]), "the spec says another size than the type of its register")) return false;
    return true;
  }

  bool known_rank(Reg r) {
    if (!s_.type(r).unknown_rank) return true;
    error(Rule::kKnownRank, {"a tensor of unknown rank can't be used here", "a known rank", c_.origin(r), fmt::format("give R{} a rank with TENSOR_CREATE R{}, spec", r, r)});
    return false;
  }

  bool axis_of(Reg r, int64_t axis) {
    if (axis < s_.type(r).rank()) return true;
    error(Rule::kViewInside, {fmt::format("axis {} doesn't exist", axis), fmt::format("below {}", s_.type(r).rank()), c_.origin(r)});
    return false;
  }

  void sizes_fit(const TensorType& t) {
    std::vector<int64_t> constant;
    for (Dim d : t.shape) {
      if (s_.settle(at_, {CondOp::kLe, c_.dims.constant(0), d}, DiagCode::kShapeConstraint, "sizes are not negative", Check::kBefore) == Answer::kRefuted) {
        error(Rule::kNegativeSize, {fmt::format("size {} is negative", c_.text(d)), "0 or more", c_.type_text(x_.defs[0])});
        return;
      }
      if (d.is_const()) constant.push_back(d.value());
    }
    const auto elements = checked_product(constant);
    if (!elements || !checked_mul(*elements, dtype_bytes(t.dtype)))
      error(Rule::kSizeOverflow, {"the tensor's bytes leave 64 bits", {}, c_.type_text(x_.defs[0])});
  }

  // --- tensors -----------------------------------------------------------------------------------------------------
  void create() {
    s_.set_type(x_.defs[0]);
    switch (create_kind(x_)) {
      case CreateKind::kInput: return input();
      case CreateKind::kNarrow: return narrow();
      case CreateKind::kDestination:
        destination();
        return entry_sizes();
    }
  }

  void input() {
    const Param& p = c_.f.inputs[x_.imms[0]];
    const TensorType &t = s_.type(x_.defs[0]), &want = p.type.tensor;
    bool same = t.dtype == want.dtype && t.layout == want.layout && t.device == want.device && t.shape == want.shape && !t.unknown_rank && (t.strided || !want.strided);
    if (!same) {
      error(Rule::kInputSpec, {fmt::format("input {} \"{}\" is declared otherwise", x_.imms[0], p.name), to_string(p.type, c_.dims), c_.type_text(x_.defs[0])});
      return;
    }
    spec();
  }

  void narrow() {
    const Reg d = x_.defs[0];
    const TensorType &from = s_.type(x_.uses[0]), &to = s_.type(d);
    check_result(c_, at_, d, from);
    if (!spec()) return;
    if (from.unknown_rank || to.unknown_rank) return;
    if (from.rank() != to.rank()) {
      error(Rule::kNarrowShape, {"the narrower type has another rank", c_.origin(x_.uses[0]), c_.type_text(d)});
      return;
    }
    for (int a = 0; a < to.rank(); ++a) {
      if (s_.settle(at_, {CondOp::kEq, to.shape[a], from.shape[a]}, DiagCode::kShapeConstraint, [&] { return fmt::format("axis {} of the narrower type", a); }, Check::kByMetadata) ==
          Answer::kRefuted) {
        error(Rule::kNarrowShape, {fmt::format("axis {} can't be {}", a, c_.text(to.shape[a])), c_.origin(x_.uses[0]), c_.type_text(d)});
        return;
      }
    }
  }

  void destination() {
    const Reg d = x_.defs[0];
    s_.set_type(d);
    const TensorType& t = s_.type(d);
    if (t.unknown_rank) {
      error(Rule::kKnownRank, {"a destination has a known rank", {}, c_.type_text(d)});
      return;
    }
    if (spec()) sizes_fit(t);
  }

  void entry_sizes() {
    for (Dim d : s_.type(x_.defs[0]).shape) {
      bool entry = true;
      DimContext::for_each_symbol(d, [&](SymbolId s) {
        const int32_t at = c_.definition(s);
        entry &= at == kAtEntry || (at >= 0 && c_.at(at).op == Opcode::kScalarInput);
      });
      if (entry) continue;
      error(Rule::kEntrySizes, {fmt::format("size {} isn't known at the entry", c_.text(d)), "sizes of inputs", c_.type_text(x_.defs[0]), "make the destination with TENSOR_ALLOC"});
      return;
    }
  }

  void constant() {
    s_.set_type(x_.defs[0]);
    const Constant& k = c_.module.constants[x_.imms[0]];
    TensorType t = c_.declared(x_.defs[0]);
    t.filled.reset();
    if (!(t == k.type))
      error(Rule::kResultType, {"the register's type isn't the constant's", to_string(k.type, c_.dims), c_.type_text(x_.defs[0])});
  }

  void resize() {
    const Reg d = x_.defs[0];
    s_.set_type(d);
    if (!known_rank(x_.uses[0])) return;
    const TensorType &from = s_.type(x_.uses[0]), &to = s_.type(d);
    const int64_t axis = x_.imms[0];
    if (!axis_of(x_.uses[0], axis)) return;
    const Dim size = s_.canonical(x_.dims[0]);
    TensorType given = from;
    // Strides come from the capacity: dense only if nothing lies outside of the axis.
    given.strided = from.strided || from.layout != Layout::kRowMajor;
    for (int a = 0; a < axis; ++a) given.strided |= !from.shape[a].is_const(1);
    if (!check_result(c_, at_, d, given)) return;
    if (s_.settle(at_, {CondOp::kLe, c_.dims.constant(0), size}, DiagCode::kShapeConstraint, "sizes are not negative", Check::kBefore) == Answer::kRefuted) {
      error(Rule::kNegativeSize, {fmt::format("size {} is negative", c_.text(size))});
      return;
    }
    given.shape[axis] = size;
    if (to.rank() != given.rank() || to.unknown_rank) {
      error(Rule::kResizeShape, {"RESIZE keeps the rank", c_.text(given.shape), c_.type_text(d)});
      return;
    }
    for (int a = 0; a < to.rank(); ++a)
      if (!same_size(Rule::kResizeShape, given.shape[a], to.shape[a], a == axis ? "the result has another size than the operand says" : "RESIZE changes one axis only")) return;
  }

  void view() {
    const Reg d = x_.defs[0];
    if (c_.kind(d) == RegKind::kList) {
      if (c_.declared(d).dtype != c_.declared(x_.uses[0]).dtype) error(Rule::kResultType, {"the list has another dtype", c_.type_text(x_.uses[0]), c_.type_text(d)});
      return;
    }
    s_.set_type(d);
    const ViewResult v = check_view(c_, s_, at_);
    if (!v.ok) return;
    TensorType given = s_.type(x_.uses[0]);
    given.strided = v.strided;
    if (v.row_major) given.layout = Layout::kRowMajor;
    if (!check_result(c_, at_, d, given)) return;
    const TensorType& t = s_.type(d);
    if (t.unknown_rank != given.unknown_rank || t.shape.size() != v.shape.size()) {
      error(Rule::kViewShape, {"the view has another rank than its register", c_.text(v.shape), c_.type_text(d)});
      return;
    }
    for (size_t a = 0; a < v.shape.size(); ++a) {
      if (t.shape[a] == v.shape[a]) {
        ++c_.facts.proved;
        continue;
      }
      if (s_.settle(at_, {CondOp::kEq, t.shape[a], v.shape[a]}, DiagCode::kShapeConstraint, [&] { return fmt::format("axis {} of the view", a); }, Check::kBefore) != Answer::kRefuted) continue;
      SizeFix fix = fix_size(c_, s_, at_, t.shape[a], v.shape[a]);
      Edits edits;
      if (fix.fix.empty()) {
        TensorType given_type = c_.declared(d);
        given_type.shape = v.shape;
        fix.fix = fmt::format("declare R{} as {}", d, to_string(given_type, c_.dims));
        edits.push_back(stated_type(at_, d, to_string(given_type, c_.dims)));
      }
      error(Rule::kViewShape, {fix.message.empty() ? fmt::format("axis {} of the view is {}", a, c_.text(v.shape[a])) : fix.message, c_.text(v.shape),
                               c_.type_text(d) + ", a view of " + c_.origin(x_.uses[0]), fix.fix, std::move(edits)});
      return;
    }
  }

  void copy() {
    const Reg from = x_.uses[0], to = x_.outs[0];
    if (!known_rank(from) || !known_rank(to)) return;
    const TensorType &s = s_.type(from), &t = s_.type(to);
    if (s.dtype != t.dtype || s.rank() != t.rank()) {
      error(Rule::kCopyShape, {"a copy keeps dtype and rank", c_.origin(from), c_.origin(to), s.dtype != t.dtype ? "convert with Cast" : ""});
      return;
    }
    for (int a = 0; a < s.rank(); ++a)
      if (s_.settle(at_, {CondOp::kEq, s.shape[a], t.shape[a]}, DiagCode::kShapeConstraint, [&] { return fmt::format("axis {} of the copy", a); }, Check::kBefore) == Answer::kRefuted) {
        SizeFix fix = fix_size(c_, s_, c_.def[to] < 0 ? at_ : c_.def[to], t.shape[a], s.shape[a]);
        error(Rule::kCopyShape, {fmt::format("axis {} differs", a), c_.origin(from), c_.origin(to), fix.fix, c_.def[to] < 0 ? Edits() : fix.with_size(c_.def[to], a)});
        return;
      }
  }

  void read() {
    opaque();
    const Reg r = x_.uses[0];
    if (!known_rank(r)) return;
    const TensorType& t = s_.type(r);
    if (static_cast<int>(x_.dims.size()) != t.rank()) {
      error(Rule::kReadIndex, {"one index is needed for each axis", std::to_string(t.rank()), std::to_string(x_.dims.size())});
      return;
    }
    for (int a = 0; a < t.rank(); ++a) {
      const Dim i = s_.canonical(x_.dims[a]);
      auto what = [&] { return fmt::format("the index along axis {} lies inside", a); };
      if (s_.settle(at_, {CondOp::kLe, c_.dims.constant(0), i}, DiagCode::kValueHazard, what, Check::kBefore) == Answer::kRefuted ||
          s_.settle(at_, {CondOp::kLt, i, t.shape[a]}, DiagCode::kValueHazard, what, Check::kBefore) == Answer::kRefuted) {
        error(Rule::kReadIndex, {fmt::format("index {} along axis {} lies outside", c_.text(i), a), fmt::format("0 to {} - 1", c_.text(t.shape[a])), c_.origin(r)});
        return;
      }
    }
  }

  // --- scalars -----------------------------------------------------------------------------------------------------
  void propagate() {
    opaque();
    const Reg r = x_.uses[0];
    if (known_rank(r) && axis_of(r, x_.imms[0])) s_.set_value(x_.defs[0], s_.type(r).shape[x_.imms[0]]);
  }

  void calc() {
    const CalcOp op = calc_op(x_);
    if (calc_op_is_bool(op)) return;
    const Dim a = s_.canonical(x_.dims[0]), b = x_.dims.size() > 1 ? s_.canonical(x_.dims[1]) : Dim();
    DimContext& d = c_.dims;
    Dim v;
    switch (op) {
      case CalcOp::kAdd: v = d.add(a, b); break;
      case CalcOp::kSub: v = d.sub(a, b); break;
      case CalcOp::kMul: v = d.mul(a, b); break;
      case CalcOp::kFloorDiv: v = d.floordiv(a, b); break;
      case CalcOp::kCeilDiv: v = d.ceildiv(a, b); break;
      case CalcOp::kMod: v = d.mod(a, b); break;
      case CalcOp::kMin: v = d.min(a, b); break;
      case CalcOp::kMax: v = d.max(a, b); break;
      case CalcOp::kNeg: v = d.neg(a); break;
      case CalcOp::kTruncDiv: v = truncated(a, b); break;
      case CalcOp::kSelect: v = a == b ? a : s_.own_symbol(x_.defs[0]); break;
      case CalcOp::kEq: case CalcOp::kNe: case CalcOp::kLt: case CalcOp::kLe: case CalcOp::kGt: case CalcOp::kGe:
      case CalcOp::kAnd: case CalcOp::kOr: case CalcOp::kNot: return;
    }
    if (v.valid()) return s_.set_value(x_.defs[0], v);
    s_.set_opaque(x_.defs[0]);
    const bool divides = op == CalcOp::kFloorDiv || op == CalcOp::kCeilDiv || op == CalcOp::kMod || op == CalcOp::kTruncDiv;
    if (divides && b.is_const(0)) error(Rule::kConstantHazard, {"division by zero", {}, fmt::format("{} {}, 0", calc_op_name(op), c_.text(a))});
    else if (a.is_const() && (!b.valid() || b.is_const())) error(Rule::kConstantHazard, {"the result leaves 64 bits", {}, fmt::format("{} {}, {}", calc_op_name(op), c_.text(a), c_.text(b))});
  }

  // Rounds towards 0: the same as floordiv where both are not negative.
  Dim truncated(Dim a, Dim b) {
    const Dim zero = c_.dims.constant(0);
    if (b.is_const(0)) return {};
    if (a.is_const() && b.is_const()) {
      if (b.is_const(-1)) return c_.dims.neg(a);
      return c_.dims.constant(a.value() / b.value());
    }
    if (s_.proved(CondOp::kLe, zero, a) && s_.proved(CondOp::kLt, zero, b)) return c_.dims.floordiv(a, b);
    return s_.own_symbol(x_.defs[0]);
  }

  void assertion() {
    std::vector<DimCondition> list;
    s_.conditions_of(x_.uses[0], true, list);
    for (const DimCondition& q : list) {
      if (!q.a.valid() || !q.b.valid()) continue;
      if (s_.settle_on_edge(q) == Answer::kRefuted) {
        error(Rule::kAssertion, {fmt::format("the assertion can never hold: {}", x_.text), to_string(q, c_.dims)});
        return;
      }
      s_.learn(q);
    }
  }

  // --- lists -------------------------------------------------------------------------------------------------------
  void list() {
    if (x_.op == Opcode::kListLength) {
      opaque();
      s_.learn({CondOp::kLe, c_.dims.constant(0), s_.value(x_.defs[0])});
      return;
    }
    const DType dtype = x_.op == Opcode::kListGet ? c_.declared(x_.uses[0]).dtype : c_.declared(x_.defs[0]).dtype;
    for (Reg r : x_.uses)
      if (c_.declared(r).dtype != dtype || (c_.kind(r) == RegKind::kTensor && !(c_.declared(r).device == Device{}))) {
        error(Rule::kResultType, {"a list holds tensors of one dtype on CPU(0)", fmt::format("list<{}>", dtype_name(dtype)), c_.origin(r)});
        return;
      }
    if (x_.op != Opcode::kListGet) return;
    s_.set_type(x_.defs[0]);
    const TensorType given{.dtype = dtype, .unknown_rank = true, .strided = true};
    if (check_result(c_, at_, x_.defs[0], given) && !c_.declared(x_.defs[0]).unknown_rank)
      error(Rule::kResultType, {"an element of a list has unknown rank", fmt::format("{}[*]", dtype_name(dtype)), c_.type_text(x_.defs[0])});
  }

  Context& c_;
  Sizes& s_;
  const int32_t at_;
  const Instr& x_;
};

}  // namespace

void check_values(Context& c, Sizes& sizes, int32_t at) { ValueCheck(c, sizes, at).run(); }

}  // namespace msvm::verification
