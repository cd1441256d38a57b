// What the importer knows of an ONNX value: a tensor register, elements known at import, a list, or several of these.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "importers/onnx/tensor_data.h"
#include "msvm/bytecode/builder.h"

namespace msvm::onnx {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

enum class ScalarKind : uint8_t { kInt, kFloat, kBool };

/// One element: an integer is a size expression (perhaps of a register), a float or bool a constant or an expression.
struct Scalar {
  ScalarKind kind = ScalarKind::kInt;
  Dim dim;              // kInt
  double number = 0;    // kFloat without expr
  bool truth = false;   // kBool without expr
  ExprPtr expr;         // kFloat, kBool: computed at run time

  bool is_const() const { return kind == ScalarKind::kInt ? dim.is_const() : !expr; }
};

/// Computed when something needs it, once per region of dominance.
struct Expr {
  enum class Kind : uint8_t { kRegister, kFloat /* ScalarOp */, kCompare /* CalcOp on sizes */, kLogic /* CalcOp on bools */ };
  Kind kind = Kind::kRegister;
  uint8_t op = 0;
  bool round_f32 = false;
  Reg reg = kNoReg;
  Scalar a, b;
  bool binary = false;
  int depth = 0;  // of the expressions below
};

/// A tensor of a known shape, element by element.
struct Scalars {
  DType dtype = DType::kI64;
  std::vector<int64_t> shape;
  std::vector<Scalar> items;
  bool is_const() const {
    for (const Scalar& s : items)
      if (!s.is_const()) return false;
    return true;
  }
};

/// Larger tensors aren't followed element by element.
constexpr int64_t kMaxScalars = 256, kMaxConstScalars = 4096;

struct Deferred;

enum class ValueKind : uint8_t {
  kPoison,   // of a node that can't be imported; its error was reported
  kAbsent,   // an omitted optional input, an empty optional
  kTensor,   // a register
  kConst,
  kScalars,
  kList,     // a list register
  kSequence, // a list whose elements are known one by one
};

struct ValueData {
  ValueKind kind = ValueKind::kAbsent;
  Reg reg = kNoReg;                             // kTensor, kList
  ConstPtr constant;                            // kConst
  std::shared_ptr<const Scalars> scalars;       // kScalars
  std::shared_ptr<const Deferred> deferred;     // kScalars: how to compute it as a tensor
  size_t deferred_output = 0;
  std::vector<std::shared_ptr<const ValueData>> items;  // kSequence
  DType dtype = DType::kF32;                    // of lists and sequences
};
using Value = std::shared_ptr<const ValueData>;

Value poison_value();
Value absent_value();
Value tensor_value(Reg r);
Value const_value(ConstPtr c);
Value scalars_value(Scalars s);
Value list_value(Reg r, DType dtype);
Value sequence_value(std::vector<Value> items, DType dtype);

/// The elements if they are known at import and not too many.
std::optional<Scalars> known_scalars(const Value& v, DimContext& dims);
/// Constant elements -> a constant. Fails for types whose elements aren't followed (f16, bf16).
Result<ConstPtr> scalars_to_const(const Scalars& s);

inline Scalar int_scalar(Dim d) { return {.kind = ScalarKind::kInt, .dim = d}; }
inline Scalar float_scalar(double v) { return {.kind = ScalarKind::kFloat, .number = v}; }
inline Scalar bool_scalar(bool v) { return {.kind = ScalarKind::kBool, .truth = v}; }
Scalar expr_scalar(ScalarKind kind, Expr e);

/// int64 list of sizes, as Shape gives it.
Scalars size_vector(const std::vector<Dim>& sizes);
Scalars size_scalar(Dim d);

}  // namespace msvm::onnx
