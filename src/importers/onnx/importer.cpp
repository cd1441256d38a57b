#include "importers/onnx/importer.h"

#include <algorithm>

#include "importers/onnx/graph_order.h"
#include "importers/onnx/symbols.h"

namespace msvm::onnx {

int64_t Frame::opset(std::string_view domain) const {
  auto it = opsets.find(domain);
  return it == opsets.end() ? 0 : it->second;
}

const Value* Scope::find(std::string_view name) const {
  for (const Scope* s = this; s; s = s->parent)
    if (auto it = s->values.find(name); it != s->values.end()) return &it->second;
  return nullptr;
}

GraphImporter::GraphImporter(const Model& model, TensorReader& reader, ModuleBuilder& mb)
    : model_(model), reader_(reader), mb_(mb), fb_(mb.function("main")), emitter_(fb_) {
  for (const FunctionProto& f : model.functions) {
    std::string key = std::string(f.domain) + "\n" + std::string(f.name) + "\n" + std::string(f.overload);
    if (!functions_.emplace(std::move(key), &f).second) error({}, "function '" + std::string(f.name) + "' is defined twice");
  }
}

void GraphImporter::run() {
  const Graph& g = *model_.graph;
  auto frame = std::make_shared<Frame>();
  for (const OpsetImport& o : model_.opsets) frame->opsets[o.domain] = o.version;
  int64_t opset = frame->opset("");
  if (opset != 0 && (opset < kOldestOpset || opset > kNewestOpset)) {
    error({}, "operator set " + std::to_string(opset) + " isn't supported: " + std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) + " are");
    return;
  }
  if (g.outputs.empty()) error({}, "the model has no outputs");
  Scope scope;
  push_region();
  import_inputs(g, scope);
  std::vector<Value> results = import_graph(g, scope, frame);
  fb_.set_debug({});
  import_outputs(g, results);
  pop_region();
}

// --- inputs and outputs of the model -----------------------------------------------------------------------------------

Dim GraphImporter::input_dim(const ValueInfo& input, size_t axis, const Dimension& d) {
  if (d.value && *d.value >= 0) return dims().constant(*d.value);
  if (!d.param.empty()) {
    if (Dim parsed = parse_dimension(mb_, d.param); parsed.valid()) return parsed;
  }
  return mb_.fresh_symbol(symbol_name(std::string(input.name) + "_" + std::to_string(axis) + "_"));
}

std::optional<TensorType> GraphImporter::input_type(const ValueInfo& input) {
  std::string place = "input '" + std::string(input.name) + "'";
  if (input.type.kind != TypeProto::Kind::kTensor) {
    error(place, "only tensors can be inputs of a model");
    return std::nullopt;
  }
  auto dtype = dtype_of(input.type.elem_type);
  if (!dtype.ok()) {
    error(place, dtype.status().message());
    return std::nullopt;
  }
  if (!input.type.shape) {
    error(place, "its rank must be known: the model gives it no shape");
    return std::nullopt;
  }
  if (input.type.shape->size() > static_cast<size_t>(kMaxRank)) {
    error(place, "it has " + std::to_string(input.type.shape->size()) + " axes (limit " + std::to_string(kMaxRank) + ")");
    return std::nullopt;
  }
  TensorType t{.dtype = *dtype};
  for (size_t axis = 0; axis < input.type.shape->size(); ++axis) t.shape.push_back(input_dim(input, axis, (*input.type.shape)[axis]));
  return t;
}

void GraphImporter::import_inputs(const Graph& g, Scope& scope) {
  std::unordered_set<std::string_view> constants;
  for (const TensorProto& t : g.initializers) constants.insert(t.name);
  for (const ValueInfo& input : g.inputs) {
    if (constants.contains(input.name)) continue;  // a default: used as it is
    auto type = input_type(input);
    Value v = type ? tensor_value(fb_.input(std::string(input.name), *type)) : poison_value();
    if (!scope.values.emplace(input.name, std::move(v)).second) error("input '" + std::string(input.name) + "'", "it is declared twice");
  }
}

void GraphImporter::import_outputs(const Graph& g, const std::vector<Value>& values) {
  std::vector<Reg> results;
  for (size_t i = 0; i < values.size(); ++i) {
    std::string name(g.outputs[i].name), place = "output '" + name + "'";
    if (values[i]->kind == ValueKind::kPoison) continue;
    if (values[i]->kind == ValueKind::kList || values[i]->kind == ValueKind::kSequence) {
      error(place, "sequences can't be outputs of a model");
      continue;
    }
    auto r = tensor(values[i]);
    if (!r.ok()) {
      error(place, r.status().message());
      continue;
    }
    RegType type = fb_.type(*r);
    type.tensor.strided = false;
    type.tensor.filled.reset();
    fb_.output(name, type);
    results.push_back(*r);
  }
  if (!errors.empty()) return;
  fb_.ret(results);
  if (Status s = fb_.finish(); !s.ok()) error({}, s.message());
}

// --- graphs ------------------------------------------------------------------------------------------------------------

Result<Value> GraphImporter::constant(const TensorProto& t) {
  auto [it, fresh] = constants_.try_emplace(&t, nullptr);
  if (!fresh) return it->second;
  auto c = reader_.read(t);
  it->second = c.ok() ? const_value(*c) : poison_value();
  if (!c.ok()) return c.status();
  return it->second;
}

std::vector<Value> GraphImporter::import_graph(const Graph& g, Scope& scope, const FramePtr& frame) {
  auto outer_declared = std::exchange(declared_, {});
  for (const auto* list : {&g.value_info, &g.outputs})
    for (const ValueInfo& v : *list)
      if (v.type.shape) declared_.emplace(v.name, &v);

  for (std::string_view name : g.sparse_initializers) {
    error("initializer '" + std::string(name) + "'", "sparse tensors aren't supported");
    scope.values.emplace(name, poison_value());
  }
  for (const TensorProto& t : g.initializers) {
    auto v = constant(t);
    if (!v.ok()) error({}, v.status().message());
    if (!scope.values.emplace(t.name, v.ok() ? *v : poison_value()).second) error("initializer '" + std::string(t.name) + "'", "the name is defined twice");
  }
  for (size_t i : order_of(g)) import_node(g.nodes[i], scope, frame);

  std::vector<Value> results;
  for (const ValueInfo& o : g.outputs) {
    const Value* v = scope.find(o.name);
    if (!v) error("output '" + std::string(o.name) + "'", "nothing computes it");
    results.push_back(v ? *v : poison_value());
  }
  declared_ = std::move(outer_declared);
  return results;
}

const std::vector<size_t>& GraphImporter::order_of(const Graph& g) {
  auto [it, fresh] = orders_.try_emplace(&g);
  if (!fresh) return it->second;
  GraphOrder order = sort_nodes(g);
  if (!order.cycle.empty()) error({}, "nodes depend on one another in a circle: " + order.cycle);
  return it->second = std::move(order.nodes);
}

void GraphImporter::import_node(const Node& node, Scope& scope, const FramePtr& frame) {
  std::vector<Value> inputs;
  std::string missing;
  for (std::string_view name : node.inputs) {
    const Value* v = name.empty() ? nullptr : scope.find(name);
    if (!v && !name.empty()) missing = name;
    inputs.push_back(v ? *v : name.empty() ? absent_value() : poison_value());
  }
  NodeImport n(*this, node, frame, std::move(inputs), node.outputs.size());
  n.scope = &scope;
  if (!missing.empty()) error(n, invalid_argument("its input '" + missing + "' isn't defined"));
  fb_.set_debug({.origins = {n.label()}});
  if (Status s = run_node(n); !s.ok()) {
    error(n, s);
    for (Value& v : n.outputs) v = poison_value();
  }
  define_outputs(n, scope);
}

Status GraphImporter::run_node(NodeImport& n) {
  const FunctionProto* function = find_function(n.node);
  const OperatorRow* row = function ? nullptr : find_operator(n.node.domain, n.node.op_type);
  bool poisoned = std::any_of(n.inputs.begin(), n.inputs.end(), [](const Value& v) { return v->kind == ValueKind::kPoison; });
  if (!function && !row) {
    std::string domain(n.node.domain);
    return unsupported("operator " + (domain.empty() ? "" : domain + ".") + n.op() + " isn't supported");
  }
  if (nodes_left_ <= 0) {
    poisoned = true;
    if (nodes_left_-- == 0) return resource_limit("the model has too many nodes once its functions are inlined");
  }
  --nodes_left_;
  if (poisoned) {  // the operators below it may be unsupported, too
    if (function && enter_nested().ok()) {
      if (std::find(active_functions_.begin(), active_functions_.end(), function) == active_functions_.end()) {
        active_functions_.push_back(function);
        check_operators(function->body, n.frame);
        active_functions_.pop_back();
      }
      leave_nested();
    }
    for (const Attribute& a : n.node.attributes)
      if (a.graph) check_operators(*a.graph, n.frame);
    for (Value& v : n.outputs) v = poison_value();
    return {};
  }
  if (function) {
    import_function(*function, n);
    return {};
  }
  if (n.node.domain.empty() && n.opset == 0) return invalid_argument("the model doesn't say which operator set it uses");
  MSVM_ASSIGN_OR_RETURN(bool folded, fold_node(n, *row));
  if (folded) return {};
  return emit_node(n, *row);
}

Status GraphImporter::emit_node(NodeImport& n, const OperatorRow& row) {
  if (row.handle) {
    MSVM_RETURN_IF_ERROR(row.handle(n));
  } else {
    MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for(n.op()));
    std::vector<Reg> in;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      MSVM_ASSIGN_OR_RETURN(Reg r, n.optional_tensor(i));
      in.push_back(r);
    }
    MSVM_RETURN_IF_ERROR(n.call_all(n.op(), in, {}, std::move(attrs)));
  }
  return n.check_attributes();
}

Result<bool> GraphImporter::fold_node(NodeImport& n, const OperatorRow& row) {
  if (!row.fold) return false;
  std::vector<std::optional<Scalars>> in;
  int depth = 0;
  for (const Value& v : n.inputs) {
    in.push_back(v->kind == ValueKind::kAbsent ? std::nullopt : known_scalars(v, dims()));
    if (v->kind != ValueKind::kAbsent && (!in.back() || !take_elements(in.back()->items.size()))) return false;
    if (v->deferred) depth = std::max(depth, v->deferred->depth);
  }
  MSVM_ASSIGN_OR_RETURN(auto out, row.fold(n, in));
  if (!out) return false;
  for (const Scalars& s : *out) {
    if (s.shape.size() > static_cast<size_t>(kMaxRank)) return false;
    if (!take_elements(s.items.size()) || static_cast<int64_t>(s.items.size()) > (s.is_const() ? kMaxConstScalars : kMaxScalars)) return false;
    for (const Scalar& e : s.items)
      if (e.kind == ScalarKind::kInt && !e.dim.valid()) return false;
    if (!s.is_const() && s.dtype != DType::kI64 && s.dtype != DType::kI32 && depth >= kMaxDeferred) return false;
  }
  MSVM_RETURN_IF_ERROR(n.check_attributes());
  auto deferred = std::make_shared<Deferred>(Deferred{&n.node, n.frame, n.inputs, n.outputs.size(), depth + 1});
  for (size_t i = 0; i < out->size() && i < n.outputs.size(); ++i) {
    auto v = std::make_shared<ValueData>(*scalars_value(std::move((*out)[i])));
    bool integers = is_integer(v->dtype);
    if (!integers && !v->scalars->is_const()) {
      v->deferred = deferred;
      v->deferred_output = i;
    }
    n.outputs[i] = std::move(v);
  }
  return true;
}

void GraphImporter::define_outputs(NodeImport& n, Scope& scope) {
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    std::string_view name = n.node.outputs[i];
    if (name.empty()) continue;
    Value& v = n.outputs[i];
    if (!v) {
      error(n, unsupported("its output " + std::to_string(i) + " isn't supported"));
      v = poison_value();
    }
    v = compact(v);
    if (v->kind == ValueKind::kTensor) {
      auto declared = declared_.find(name);
      if (fb_.tensor_type(v->reg).unknown_rank && declared != declared_.end() && declared->second->type.shape->size() <= static_cast<size_t>(kMaxRank))
        v = tensor_value(fix_rank(v->reg, declared->second->type.shape->size()));
      if (fb_.function().regs[static_cast<size_t>(v->reg)].name.empty()) fb_.set_name(v->reg, std::string(name));
    }
    if (!scope.values.emplace(name, v).second) error(n, invalid_argument("its output '" + std::string(name) + "' is defined twice"));
  }
}

void GraphImporter::check_operators(const Graph& g, const FramePtr& frame) {
  for (const Node& node : g.nodes) {
    NodeImport n(*this, node, frame, {}, 0);
    const FunctionProto* f = find_function(node);
    if (f) {
      if (std::find(active_functions_.begin(), active_functions_.end(), f) != active_functions_.end() || !enter_nested().ok()) continue;
      active_functions_.push_back(f);
      check_operators(f->body, frame);
      active_functions_.pop_back();
      leave_nested();
    } else if (!find_operator(node.domain, node.op_type)) {
      error(n, unsupported("operator " + n.op() + " isn't supported"));
    }
    if (nodes_left_-- <= 0) return;
    for (const Attribute& a : node.attributes)
      if (a.graph) check_operators(*a.graph, frame);
  }
}

// --- values in blocks --------------------------------------------------------------------------------------------------

std::unique_ptr<Region> GraphImporter::pop_region() {
  auto r = std::move(regions_.back());
  regions_.pop_back();
  return r;
}

Status GraphImporter::enter_nested() {
  if (nesting_ >= kMaxNesting) return resource_limit("graphs and functions are nested too deeply (limit " + std::to_string(kMaxNesting) + ")");
  ++nesting_;
  return {};
}

std::unique_ptr<GraphImporter::Snapshot> GraphImporter::snapshot() {
  return std::make_unique<Snapshot>(Snapshot{fb_.function(), fb_, errors.size(), reported_});
}

void GraphImporter::restore(const Snapshot& s) {
  fb_.function() = s.function;
  fb_ = s.builder;
  errors.resize(s.errors, Diagnostic{DiagCode::kImport, {}, {}, {}, {}, {}});
  reported_ = s.reported;
}

const FunctionProto* GraphImporter::find_function(const Node& n) const {
  if (functions_.empty()) return nullptr;
  auto it = functions_.find(std::string(n.domain) + "\n" + std::string(n.op_type) + "\n" + std::string(n.overload));
  return it == functions_.end() ? nullptr : it->second;
}

// --- errors ------------------------------------------------------------------------------------------------------------

void GraphImporter::error(const NodeImport& n, const Status& s) { error(n.label(), s.message()); }

void GraphImporter::error(std::string place, std::string message) {
  std::string text = place.empty() ? std::move(message) : place + ": " + message;
  if (!reported_.insert(text).second) return;
  Diagnostic d{.code = DiagCode::kImport};
  d.message = std::move(text);
  errors.push_back(std::move(d));
}

}  // namespace msvm::onnx
