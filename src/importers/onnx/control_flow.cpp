#include "importers/onnx/control_flow.h"

#include "importers/onnx/fold.h"
#include "importers/onnx/handlers.h"

namespace msvm::onnx {

Result<TensorType> join_types(GraphImporter& im, const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype) return invalid_argument("branches give " + std::string(dtype_name(a.dtype)) + " and " + std::string(dtype_name(b.dtype)));
  TensorType t = a;
  t.filled.reset();
  t.strided = a.strided || b.strided;
  if (a.unknown_rank || b.unknown_rank || a.rank() != b.rank()) {
    t.unknown_rank = true;
    t.strided = true;
    t.shape.clear();
    return t;
  }
  for (size_t i = 0; i < t.shape.size(); ++i)
    if (t.shape[i] != b.shape[i]) t.shape[i] = im.mb().fresh_symbol("d");
  return t;
}

Result<Scalar> condition(NodeImport& n, const Value& v) {
  Scalars s;
  if (auto known = known_scalars(v, n.dims())) {
    s = *known;
  } else {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.im.tensor(v));
    r = n.im.fix_rank(r, 0);
    const TensorType& t = n.fb().tensor_type(r);
    if (t.dtype != DType::kBool) return invalid_argument("the condition isn't a bool");
    std::vector<Dim> first(t.shape.size(), n.constant(0));
    Expr leaf;
    leaf.reg = n.fb().read(r, first);
    return expr_scalar(ScalarKind::kBool, leaf);
  }
  if (s.items.size() != 1 || s.dtype != DType::kBool) return invalid_argument("the condition isn't one bool");
  return s.items[0];
}

Result<std::vector<Value>> import_body(NodeImport& n, const Graph& g, Scope& scope) {
  MSVM_RETURN_IF_ERROR(n.im.enter_nested());
  scope.parent = n.scope;
  std::vector<Value> results = n.im.import_graph(g, scope, n.frame);
  n.im.leave_nested();
  n.fb().set_debug({.origins = {n.label()}});
  return results;
}

namespace {

struct Branch {
  BlockId end = 0;
  std::unique_ptr<Region> region;
  std::vector<Value> results;
};

/// One result of an If: as it is, or a PHI (several for elements that are followed one by one).
class Join {
 public:
  Join(NodeImport& n, Branch& a, Branch& b) : n_(n), a_(a), b_(b) {}

  /// Computes in both branches what the PHI needs.
  Status prepare(size_t i) {
    const Value &x = a_.results[i], &y = b_.results[i];
    bool poisoned = x->kind == ValueKind::kPoison || y->kind == ValueKind::kPoison;
    if (poisoned || x == y) {
      same_ = poisoned ? poison_value() : x;
      return {};
    }
    bool x_list = is_list(x), y_list = is_list(y);
    if (x_list != y_list || (x->kind == ValueKind::kAbsent) != (y->kind == ValueKind::kAbsent)) return unsupported("branches give values of different kinds");
    if (x->kind == ValueKind::kAbsent) {
      same_ = x;
      return {};
    }
    if (x_list) return prepare_lists(x, y);
    if (scalars(x, y)) return prepare_scalars();
    MSVM_RETURN_IF_ERROR(in(a_, [&]() -> Status {
      MSVM_ASSIGN_OR_RETURN(reg_a_, n_.im.tensor(x));
      return {};
    }));
    MSVM_RETURN_IF_ERROR(in(b_, [&]() -> Status {
      MSVM_ASSIGN_OR_RETURN(reg_b_, n_.im.tensor(y));
      return {};
    }));
    type_.kind = RegKind::kTensor;
    MSVM_ASSIGN_OR_RETURN(type_.tensor, join_types(n_.im, n_.fb().tensor_type(reg_a_), n_.fb().tensor_type(reg_b_)));
    return {};
  }

  /// The value, in the block where the branches meet.
  Value finish() {
    if (same_) return same_;
    FunctionBuilder& fb = n_.fb();
    if (elements_) {
      for (auto [k, ra, rb] : element_phis_) {
        Scalar& e = elements_->items[k];
        if (e.kind == ScalarKind::kInt) {
          Reg phi = fb.phi({RegKind::kI64, {}});
          fb.add_phi_input(phi, {a_.end, kNoReg, e.dim});
          fb.add_phi_input(phi, {b_.end, kNoReg, other_->items[k].dim});
          e.dim = fb.dim(phi);
        } else {
          Expr leaf;
          leaf.reg = fb.phi({RegKind::kBool, {}});
          fb.add_phi_input(leaf.reg, {a_.end, ra, {}});
          fb.add_phi_input(leaf.reg, {b_.end, rb, {}});
          e = expr_scalar(ScalarKind::kBool, leaf);
        }
      }
      return scalars_value(std::move(*elements_));
    }
    Reg phi = fb.phi(type_);
    fb.add_phi_input(phi, {a_.end, reg_a_, {}});
    fb.add_phi_input(phi, {b_.end, reg_b_, {}});
    return type_.kind == RegKind::kList ? list_value(phi, type_.tensor.dtype) : tensor_value(phi);
  }

 private:
  static bool is_list(const Value& v) { return v->kind == ValueKind::kList || v->kind == ValueKind::kSequence; }

  template <class F>
  Status in(Branch& b, F f) {
    n_.fb().set_block(b.end);
    n_.im.push_region(std::move(b.region));
    Status s = f();
    b.region = n_.im.pop_region();
    b.end = n_.fb().current();
    return s;
  }

  /// Integers and bools of few elements, and any elements that don't differ.
  bool scalars(const Value& x, const Value& y) {
    auto a = known_scalars(x, n_.dims()), b = known_scalars(y, n_.dims());
    if (!a || !b || a->dtype != b->dtype || a->shape != b->shape || a->items.size() > 16) return false;
    bool can_join = a->dtype == DType::kI64 || a->dtype == DType::kI32 || a->dtype == DType::kBool;
    for (size_t k = 0; k < a->items.size(); ++k) {
      const Scalar &p = a->items[k], &q = b->items[k];
      bool same = p.kind == ScalarKind::kInt ? p.dim == q.dim : p.expr == q.expr && p.truth == q.truth && p.number == q.number;
      if (same && p.is_const()) continue;
      if (!can_join) return false;
      if (!same) element_phis_.push_back({k, kNoReg, kNoReg});
    }
    elements_ = std::move(a);
    other_ = std::move(b);
    return true;
  }

  Status prepare_scalars() {
    for (auto& [k, ra, rb] : element_phis_) {
      if (elements_->items[k].kind != ScalarKind::kBool) continue;
      MSVM_RETURN_IF_ERROR(in(a_, [&, index = k, &out = ra]() -> Status {
        MSVM_ASSIGN_OR_RETURN(out, n_.im.bool_reg(elements_->items[index]));
        return {};
      }));
      MSVM_RETURN_IF_ERROR(in(b_, [&, index = k, &out = rb]() -> Status {
        MSVM_ASSIGN_OR_RETURN(out, n_.im.bool_reg(other_->items[index]));
        return {};
      }));
    }
    return {};
  }

  Status prepare_lists(const Value& x, const Value& y) {
    if (x->dtype != y->dtype) return invalid_argument("branches give sequences of different types");
    MSVM_RETURN_IF_ERROR(in(a_, [&]() -> Status {
      MSVM_ASSIGN_OR_RETURN(reg_a_, n_.im.list(x));
      return {};
    }));
    MSVM_RETURN_IF_ERROR(in(b_, [&]() -> Status {
      MSVM_ASSIGN_OR_RETURN(reg_b_, n_.im.list(y));
      return {};
    }));
    type_ = {RegKind::kList, TensorType{.dtype = x->dtype}};
    return {};
  }

  struct ElementPhi {
    size_t index;
    Reg a, b;
  };

  NodeImport& n_;
  Branch &a_, &b_;
  Value same_;
  std::optional<Scalars> elements_, other_;
  std::vector<ElementPhi> element_phis_;
  RegType type_;
  Reg reg_a_ = kNoReg, reg_b_ = kNoReg;
};

Result<const Graph*> graph_attr(NodeImport& n, std::string_view name) {
  const Attribute* a = n.attr(name);
  if (!a || !a->graph) return invalid_argument("attribute '" + std::string(name) + "' holds no graph");
  return a->graph.get();
}

}  // namespace

Status import_if(NodeImport& n) {
  MSVM_RETURN_IF_ERROR(n.need(0));
  MSVM_ASSIGN_OR_RETURN(const Graph* then_graph, graph_attr(n, "then_branch"));
  MSVM_ASSIGN_OR_RETURN(const Graph* else_graph, graph_attr(n, "else_branch"));
  if (then_graph->outputs.size() != else_graph->outputs.size() || then_graph->outputs.size() < n.outputs.size()) return invalid_argument("its branches differ in their number of outputs");
  MSVM_ASSIGN_OR_RETURN(Scalar cond, condition(n, n.inputs[0]));
  if (cond.is_const()) {
    Scope scope;
    MSVM_ASSIGN_OR_RETURN(std::vector<Value> results, import_body(n, cond.truth ? *then_graph : *else_graph, scope));
    for (size_t i = 0; i < n.outputs.size(); ++i) n.set(i, results[i]);
    return {};
  }
  FunctionBuilder& fb = n.fb();
  MSVM_ASSIGN_OR_RETURN(Reg on, n.im.bool_reg(cond));
  BlockId then_block = fb.new_block(), else_block = fb.new_block();
  fb.branch_if(on, then_block, else_block);
  auto import_branch = [&](const Graph& g, BlockId block) -> Result<Branch> {
    Branch b;
    fb.set_block(block);
    n.im.push_region();
    Scope scope;
    auto results = import_body(n, g, scope);
    b.region = n.im.pop_region();
    if (!results.ok()) return results.status();
    b.results = std::move(*results);
    b.end = fb.current();
    return b;
  };
  MSVM_ASSIGN_OR_RETURN(Branch a, import_branch(*then_graph, then_block));
  MSVM_ASSIGN_OR_RETURN(Branch b, import_branch(*else_graph, else_block));
  std::vector<Join> joins;
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    joins.emplace_back(n, a, b);
    MSVM_RETURN_IF_ERROR(joins.back().prepare(i));
  }
  BlockId merge = fb.new_block();
  for (Branch* end : {&a, &b}) {
    fb.set_block(end->end);
    fb.jump(merge);
  }
  fb.set_block(merge);
  for (size_t i = 0; i < joins.size(); ++i) n.set(i, joins[i].finish());
  return {};
}

Status import_loop(NodeImport& n) {
  LoopSpec spec;
  MSVM_ASSIGN_OR_RETURN(spec.body, graph_attr(n, "body"));
  if (n.has(0)) {
    MSVM_ASSIGN_OR_RETURN(spec.trips, one_size(n, 0));
    if (spec.trips.is_const(INT64_MAX)) spec.trips = Dim();
  }
  if (n.has(1)) { MSVM_ASSIGN_OR_RETURN(spec.cond, condition(n, n.inputs[1])); }
  for (size_t i = 2; i < n.inputs.size(); ++i) spec.initial.push_back(n.inputs[i]);
  size_t carried = spec.initial.size(), results = spec.body->outputs.size();
  if (spec.body->inputs.size() != carried + 2 || results < carried + 1) return invalid_argument("its body doesn't fit its inputs");
  spec.outputs.resize(results - 1 - carried);
  return emit_loop(n, spec);
}

Status import_scan(NodeImport& n) {
  if (n.opset < 9) return unsupported("Scan of operator set 8");
  LoopSpec spec;
  spec.is_loop = false;
  MSVM_ASSIGN_OR_RETURN(spec.body, graph_attr(n, "body"));
  int64_t scans = n.int_attr("num_scan_inputs", 0), total = static_cast<int64_t>(n.inputs.size());
  if (scans < 1 || scans > total || spec.body->inputs.size() != n.inputs.size()) return invalid_argument("its body doesn't fit its inputs");
  auto carried = static_cast<size_t>(total - scans);
  if (spec.body->outputs.size() < carried) return invalid_argument("its body has too few outputs");
  spec.initial.assign(n.inputs.begin(), n.inputs.begin() + static_cast<ptrdiff_t>(carried));
  auto list = [&](std::string_view name) { return n.ints_attr(name); };
  std::vector<int64_t> in_axes = list("scan_input_axes"), in_back = list("scan_input_directions"), out_axes = list("scan_output_axes"), out_back = list("scan_output_directions");
  auto at = [](const std::vector<int64_t>& v, size_t i) { return i < v.size() ? v[i] : 0; };
  for (size_t i = carried; i < n.inputs.size(); ++i) {
    MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(i));
    std::vector<Dim> shape = n.shape(x);
    MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(at(in_axes, i - carried), shape.size()));
    spec.scans.push_back({x, axis, at(in_back, i - carried) != 0});
    Dim size = shape[static_cast<size_t>(axis)];
    if (!spec.trips.valid()) {
      spec.trips = size;
    } else if (spec.trips != size) {
      if (spec.trips.is_const() && size.is_const()) return invalid_argument("its inputs differ in length");
      n.fb().shape_assert(n.fb().compare(CalcOp::kEq, spec.trips, size), n.label() + ": inputs differ in length");
    }
  }
  for (size_t i = carried; i < spec.body->outputs.size(); ++i) spec.outputs.push_back({at(out_axes, i - carried), at(out_back, i - carried) != 0});
  return emit_loop(n, spec);
}

namespace {
constexpr HandlerRow kRows[] = {{"If", import_if}, {"Loop", import_loop}, {"Scan", import_scan}};
}  // namespace

std::span<const HandlerRow> control_flow_handlers() { return kRows; }

}  // namespace msvm::onnx
