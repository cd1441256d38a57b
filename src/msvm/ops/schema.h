// Operators: what each takes, gives and requires. One row per operator; one shape function for verifier, importer,
// Python front end, interpreter and compiler.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msvm/base/status.h"
#include "msvm/shape/attributes.h"
#include "msvm/shape/constraints.h"
#include "msvm/shape/tensor_type.h"

namespace msvm {

/// Receives the preconditions of a shape function. The verifier proves them or plans run-time checks; at run time they
/// are evaluated.
class ConditionSink {
 public:
  virtual ~ConditionSink() = default;
  /// Fails only if the condition is refuted.
  virtual Status require(const DimCondition& condition, std::string_view what) = 0;
};

struct OpSchema;

/// For constant sizes, as at run time: fails where a condition is false, naming both sizes. Symbolic conditions pass.
class ConstantSink final : public ConditionSink {
 public:
  Status require(const DimCondition& condition, std::string_view what) override;
};

/// What a shape function sees. Sizes are expressions; at run time they are constants.
class InferContext {
 public:
  InferContext(DimContext& dims, std::span<const TensorType* const> inputs, std::span<const Dim> args, const Attributes& attrs,
               size_t num_outputs, ConditionSink& sink);

  DimContext& dims() { return dims_; }
  const Attributes& attrs() const { return attrs_; }
  size_t num_inputs() const { return inputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i]; }
  const TensorType& input(size_t i) const { return *inputs_[i]; }
  std::span<const Dim> args() const { return args_; }
  size_t num_outputs() const { return num_outputs_; }

  /// An invalid operand (overflow) is an error; what holds of constants doesn't reach the sink.
  Status require(CondOp op, Dim a, Dim b, std::string_view what);
  /// numpy's broadcasting of one axis, with its condition.
  Result<Dim> broadcast(Dim a, Dim b, std::string_view what);
  /// numpy's broadcasting of whole shapes.
  Result<std::vector<Dim>> broadcast_shapes(std::span<const TensorType* const> types);
  /// Axis in [-rank, rank) to [0, rank).
  Result<int> normalize_axis(int64_t axis, int rank, std::string_view what);
  /// A size that only the kernel knows (data-dependent outputs): an invalid Dim stands for it.
  static Dim data_dependent() { return Dim(); }

  /// The operator whose call this is, once infer_call has set it; messages name its inputs.
  const OpSchema* op() const { return op_; }
  void set_op(const OpSchema& op) { op_ = &op; }
  std::string_view input_name(size_t i) const;
  const TensorType* input_or_null(size_t i) const { return has_input(i) ? inputs_[i] : nullptr; }
  std::span<const TensorType* const> inputs() const { return inputs_; }
  int rank(size_t i) const { return inputs_[i]->rank(); }
  Dim constant(int64_t v) { return dims_.constant(v); }

  /// The output's shape; its dtype comes from the row's OutputSpec. Outputs beyond num_outputs() are ignored.
  void set_shape(size_t i, std::vector<Dim> shape);
  void set_unknown_rank(size_t i);
  void set_output(size_t i, TensorType type);
  void set_output(size_t i, DType dtype, std::vector<Dim> shape);
  std::vector<TensorType>& outputs() { return outputs_; }

 private:
  DimContext& dims_;
  std::span<const TensorType* const> inputs_;
  std::span<const Dim> args_;
  const Attributes& attrs_;
  size_t num_outputs_;
  ConditionSink& sink_;
  const OpSchema* op_ = nullptr;
  std::vector<TensorType> outputs_;
};

using InferFn = Status (*)(InferContext&);

enum class AttrType : uint8_t { kInt, kFloat, kString, kDType, kInts, kFloats, kStrings, kNumber /* int or float */ };

struct AttrSpec {
  std::string_view name;
  AttrType type;
  bool required = false;
  int64_t min = INT64_MIN, max = INT64_MAX;       // ints and elements of lists
  std::string_view choices = {};                  // strings and their lists: "a|b|c"
  std::string_view doc = {};
  std::string_view fallback = {};                 // default as text, for documentation: "1", "all axes"
};

/// Sets of dtypes as bits (1 << dtype).
using DTypeSet = uint32_t;
constexpr DTypeSet bit(DType t) { return 1u << static_cast<int>(t); }
constexpr DTypeSet kFloats = bit(DType::kF64) | bit(DType::kF32) | bit(DType::kF16) | bit(DType::kBF16);
constexpr DTypeSet kSignedInts = bit(DType::kI8) | bit(DType::kI16) | bit(DType::kI32) | bit(DType::kI64);
constexpr DTypeSet kUnsignedInts = bit(DType::kU8) | bit(DType::kU16) | bit(DType::kU32) | bit(DType::kU64);
constexpr DTypeSet kInts = kSignedInts | kUnsignedInts;
constexpr DTypeSet kNumeric = kFloats | kInts;
constexpr DTypeSet kNotString = kNumeric | bit(DType::kBool);
constexpr DTypeSet kAny = kNotString | bit(DType::kString);

/// Value-dependent failures that every tier must check while it runs.
enum Hazard : uint32_t { kNoHazard = 0, kIndexHazard = 1, kDivisionHazard = 2, kShiftHazard = 4, kCastHazard = 8, kSizeHazard = 16, kZeroPointHazard = 32 };

/// How an operator treats the order of its sums, for fusion and strict precision.
enum class OpClass : uint8_t { kElementwise, kReduction, kContraction, kNormalization, kMovement, kIndexing, kRecurrent, kQuantize, kOther };

struct InputSpec {
  std::string_view name;
  DTypeSet dtypes;
  char group = 0;       // inputs (and outputs) with the same letter share a dtype
  bool optional = false;
};

/// Dtype of an output: the attribute if it is present, else that of the inputs of the group if one is there, else `fixed`.
struct OutputSpec {
  std::string_view name;
  char group = 0;
  DType fixed = DType::kF32;
  std::string_view attr = {};
};

struct OpSchema {
  std::string_view name;                 // "Conv", "msvm.X"
  int since = 1;                         // ONNX opset whose semantics it has
  OpClass op_class = OpClass::kOther;
  std::vector<InputSpec> inputs;
  bool variadic = false;                 // the last input repeats (at least `min_variadic` times); a list may stand for it
  int min_variadic = 0;
  int min_args = 0, max_args = 0;        // i64 size arguments after `;`
  std::string_view args_doc = {};        // "sizes of the result, one per axis"
  std::vector<OutputSpec> outputs;
  int min_outputs = 1, max_outputs = 1;  // max_outputs is outputs.size()
  bool data_dependent = false;           // output sizes known only to the kernel: outputs must be `new`
  bool any_rank = false;                 // the shape function also answers for inputs of unknown rank
  uint32_t hazards = kNoHazard;
  bool deterministic = true;             // false: takes and returns a key, or reads outside state
  uint32_t in_place = 0;                 // bit i: the single output may reuse input i's buffer
  std::vector<AttrSpec> attrs;
  InferFn infer = nullptr;               // dtypes and shapes of outputs
  std::string_view doc = {};
};

/// nullptr if there is none. `precision` and `fusion` are attributes of every operator.
const OpSchema* find_op(std::string_view name);
std::vector<const OpSchema*> all_ops();

/// Arity, dtypes and groups, attributes with their ranges. Returns the first violation; `what` of several come from
/// check_call_all. Inputs of unknown rank pass.
Status check_call(const OpSchema& op, std::span<const TensorType* const> inputs, size_t num_args, size_t num_outputs, const Attributes& attrs);
/// All violations instead of the first.
std::vector<Status> check_call_all(const OpSchema& op, std::span<const TensorType* const> inputs, size_t num_args, size_t num_outputs,
                                   const Attributes& attrs);
/// check_call + infer. An input of unknown rank gives outputs of unknown rank (dtype still right).
Result<std::vector<TensorType>> infer_call(const OpSchema& op, DimContext& dims, std::span<const TensorType* const> inputs,
                                           std::span<const Dim> args, const Attributes& attrs, size_t num_outputs, ConditionSink& sink);
/// infer_call for a call that passed check_call before with the same dtypes, counts and attributes: what a call site does
/// at each new shape.
Result<std::vector<TensorType>> infer_checked_call(const OpSchema& op, DimContext& dims, std::span<const TensorType* const> inputs,
                                                   std::span<const Dim> args, const Attributes& attrs, size_t num_outputs,
                                                   ConditionSink& sink);

/// "f32, f16 or bf16", "any dtype".
std::string to_string(DTypeSet set);

}  // namespace msvm
