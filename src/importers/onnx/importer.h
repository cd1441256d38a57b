// One model on its way into one function: environment, materialisation, errors. The operators' handlers work on NodeImport.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "importers/onnx/import.h"
#include "importers/onnx/value.h"
#include "msvm/emit/emitter.h"

namespace msvm::onnx {

/// What holds for all nodes of the main graph, or of one inlined function call.
struct Frame {
  std::map<std::string_view, int64_t> opsets;
  int64_t opset(std::string_view domain) const;  // 0 if not declared
  std::map<std::string_view, const Attribute*> bindings;  // attributes of the function call
  std::string path;                                       // of the calling nodes, for messages: "block1/"
  int depth = 0;                                          // function calls around it
};
using FramePtr = std::shared_ptr<const Frame>;

/// Names of one graph; those of enclosing graphs are visible through it.
struct Scope {
  const Scope* parent = nullptr;
  std::unordered_map<std::string_view, Value> values;
  const Value* find(std::string_view name) const;
};

/// How to compute a value as tensors although its elements are known one by one.
struct Deferred {
  const Node* node;
  FramePtr frame;
  std::vector<Value> inputs;
  size_t num_outputs;
  int depth = 0;  // deferred values that it stands on
};

/// What was computed in blocks that dominate the current one.
struct Region {
  std::unordered_map<Value, Reg> tensors;
  std::unordered_map<Value, Scalars> reads;
  std::unordered_map<ExprPtr, Reg> exprs;
  std::unordered_map<uintptr_t, Dim> sizes;  // of large expressions
};

class NodeImport;
struct OperatorRow;

class GraphImporter {
 public:
  GraphImporter(const Model& model, TensorReader& reader, ModuleBuilder& mb);
  /// The whole model as function "main". Errors are collected.
  void run();
  Diagnostics errors;

  FunctionBuilder& fb() { return fb_; }
  Emitter& emitter() { return emitter_; }
  DimContext& dims() { return mb_.dims(); }
  TensorReader& reader() { return reader_; }
  ModuleBuilder& mb() { return mb_; }

  // Values as what an operator needs; what must be computed is computed in the current block.
  Result<Reg> tensor(const Value& v);
  Result<Reg> list(const Value& v);
  /// The elements; those of a tensor of known shape are read at run time.
  Result<Scalars> scalars(const Value& v);
  Result<Reg> float_reg(const Scalar& s);
  Result<Reg> bool_reg(const Scalar& s);
  Result<DType> dtype(const Value& v);
  /// The value with sizes whose expressions have grown too large computed into registers: expressions are walked as trees.
  Value compact(const Value& v);
  /// Sizes of tensors that exist aren't negative, whatever their expressions say.
  void note_size(Dim d) { sizes_.insert(d.key()); }
  bool never_negative(Dim d) { return sizes_.contains(d.key()) || (d.valid() && dims().range(d).min >= 0); }
  /// Registers of unknown rank get one: checked when it runs.
  Reg fix_rank(Reg r, size_t rank);
  /// A constant of the model or of an attribute, read once.
  Result<Value> constant(const TensorProto& t);

  // Graphs.
  /// Imports initializers and nodes into `scope`; the values of the graph's outputs.
  std::vector<Value> import_graph(const Graph& g, Scope& scope, const FramePtr& frame);
  void import_function(const FunctionProto& f, NodeImport& call);
  /// What is computed from here on is known only until the region is popped: it doesn't dominate what comes later.
  void push_region(std::unique_ptr<Region> r = std::make_unique<Region>()) { regions_.push_back(std::move(r)); }
  std::unique_ptr<Region> pop_region();
  /// A graph or function is about to be imported inside another; an error if that is nested too deeply.
  Status enter_nested();
  void leave_nested() { --nesting_; }
  /// Only looks for operators that aren't supported, in graphs that can't be imported for other reasons.
  void check_operators(const Graph& g, const FramePtr& frame);

  /// All of the state that importing a graph changes: loops are imported on trial until their types settle.
  struct Snapshot {
    Function function;
    FunctionBuilder builder;
    size_t errors;
    std::unordered_set<std::string> reported;
  };
  std::unique_ptr<Snapshot> snapshot();
  void restore(const Snapshot& s);
  /// Elements that may still be followed or copied at import; false once they are used up: hostile files would multiply them.
  bool take_elements(size_t n) { return (elements_left_ -= static_cast<int64_t>(n)) >= 0; }
  /// Trials of loop bodies that are left; nested loops would multiply them.
  bool take_trial() { return trials_left_-- > 0; }

  void error(const NodeImport& n, const Status& s);
  void error(std::string place, std::string message);

 private:
  void import_node(const Node& n, Scope& scope, const FramePtr& frame);
  Status run_node(NodeImport& n);
  void define_outputs(NodeImport& n, Scope& scope);
  Status emit_node(NodeImport& n, const OperatorRow& row);
  Result<bool> fold_node(NodeImport& n, const OperatorRow& row);
  Result<Reg> materialise(const ValueData& v);
  Result<Reg> materialise_scalars(const ValueData& v);
  Result<Reg> run_deferred(const Value& v);
  struct Extent {
    int depth;
    int64_t nodes;
  };
  Extent extent(Dim d);
  bool is_large(Dim d);
  Dim compact(Dim d);
  void import_inputs(const Graph& g, Scope& scope);
  void import_outputs(const Graph& g, const std::vector<Value>& values);
  std::optional<TensorType> input_type(const ValueInfo& input);
  Dim input_dim(const ValueInfo& input, size_t axis, const Dimension& d);
  const std::vector<size_t>& order_of(const Graph& g);
  const std::vector<std::string_view>& captures_of(const Graph& g);
  const FunctionProto* find_function(const Node& n) const;

  const Model& model_;
  TensorReader& reader_;
  ModuleBuilder& mb_;
  FunctionBuilder fb_;
  Emitter emitter_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::map<std::string, const FunctionProto*> functions_;
  std::unordered_map<const Graph*, std::vector<size_t>> orders_;
  std::unordered_map<const Graph*, std::vector<std::string_view>> captures_;
  std::unordered_map<const TensorProto*, Value> constants_;
  std::unordered_map<std::string_view, const ValueInfo*> declared_;  // types of the graph being imported
  std::unordered_set<std::string> reported_;
  std::unordered_set<uintptr_t> sizes_;
  std::unordered_map<uintptr_t, Extent> extents_;
  std::vector<const FunctionProto*> active_functions_;
  int64_t nodes_left_ = 1 << 20;
  int64_t elements_left_ = 1 << 24;
  int trials_left_ = 256;
  int nesting_ = 0;
};

/// One node as its handler sees it: inputs, attributes, and where the outputs go.
class NodeImport {
 public:
  NodeImport(GraphImporter& importer, const Node& n, FramePtr f, std::vector<Value> in, size_t num_outputs);

  GraphImporter& im;
  const Node& node;
  FramePtr frame;
  int64_t opset;
  std::vector<Value> inputs;
  std::vector<Value> outputs;  // to be set
  Scope* scope = nullptr;      // for subgraphs

  FunctionBuilder& fb() { return im.fb(); }
  DimContext& dims() { return im.dims(); }
  Dim constant(int64_t v) { return dims().constant(v); }
  std::string op() const { return std::string(node.op_type); }
  std::string label() const;  // "Conv 'block1/conv'"

  // Inputs.
  bool has(size_t i) const { return i < inputs.size() && inputs[i]->kind != ValueKind::kAbsent; }
  Status need(size_t i) const;
  Result<Reg> tensor(size_t i);
  Result<Reg> optional_tensor(size_t i);               // kNoReg
  Result<Reg> ranked(size_t i);                        // an error if the rank isn't known
  std::vector<Dim> shape(Reg r) { return fb().tensor_type(r).shape; }
  Result<std::vector<Dim>> sizes(size_t i);            // integer elements, read at run time if need be
  std::optional<std::vector<Dim>> sizes_if_possible(size_t i);
  bool sizes_possible(size_t i) const;                 // the number of elements is known
  Result<std::vector<int64_t>> ints(size_t i);         // elements that must be known now
  Result<Scalars> known(size_t i);                     // the same, of any kind
  std::optional<Scalars> known_if_possible(size_t i);

  // Attributes; looking one up marks it as understood. Of the wrong type: `attr_status`.
  const Attribute* attr(std::string_view name);
  bool has_attr(std::string_view name) { return attr(name) != nullptr; }
  int64_t int_attr(std::string_view name, int64_t fallback);
  double float_attr(std::string_view name, double fallback);
  std::string string_attr(std::string_view name, std::string_view fallback);
  std::vector<int64_t> ints_attr(std::string_view name);
  std::vector<double> floats_attr(std::string_view name);
  Result<DType> dtype_attr(std::string_view name, DType fallback);
  /// All attributes not looked up yet, as the operator `op` of ops/ wants them.
  Result<Attributes> attributes_for(const std::string& op);
  Status check_attributes();
  /// The list of axes, sizes or the like that is an attribute before opset `since` and input `i` from then on.
  Result<std::optional<std::vector<int64_t>>> ints_attr_or_input(std::string_view name, size_t i, int64_t since);

  // Outputs.
  bool wants(size_t i) const { return i < outputs.size() && (i >= node.outputs.size() || !node.outputs[i].empty()); }
  void set(size_t i, Value v) { if (i < outputs.size()) outputs[i] = std::move(v); }
  void set(size_t i, Reg r) { set(i, tensor_value(r)); }

  // Calls.
  Result<Reg> call(const std::string& op, const std::vector<Reg>& in, const std::vector<Dim>& args = {}, Attributes attrs = {}) {
    return im.emitter().call1(op, in, args, std::move(attrs));
  }
  /// The call gives all outputs of the node.
  Status call_all(const std::string& op, const std::vector<Reg>& in, const std::vector<Dim>& args = {}, Attributes attrs = {});
  /// A constant of one element, rank 0.
  Result<Reg> number(double v, DType dtype);
  Result<Reg> cast(Reg r, DType to);

 private:
  std::vector<bool> used_;
  Status attr_status_;
};

using Handler = Status (*)(NodeImport&);
/// Elements of the outputs from elements of the inputs; nothing if it must be computed as tensors.
using Fold = Result<std::optional<std::vector<Scalars>>> (*)(NodeImport&, const std::vector<std::optional<Scalars>>&);

struct OperatorRow {
  Handler handle = nullptr;  // null: the operator of the same name in ops/, tensors and attributes as they are
  Fold fold = nullptr;
};
/// The row of an operator; null if it is not supported.
const OperatorRow* find_operator(std::string_view domain, std::string_view op_type);

constexpr int64_t kOldestOpset = 7, kNewestOpset = 28;
/// Graphs and functions within one another, and values whose tensors are computed from one another when needed.
constexpr int kMaxNesting = 64, kMaxDeferred = 64;
/// Size expressions beyond this are computed into a register.
constexpr int kMaxDimDepth = 16;
constexpr int64_t kMaxDimNodes = 160;

}  // namespace msvm::onnx
