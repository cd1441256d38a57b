// Operators that a host program adds to the table: their rows, and what they run. Thread-safe.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "msvm/ops/schema.h"

namespace msvm {

struct KernelCall;

/// What a registered operator runs. Lives as long as the table or a verified module holds it.
class OperatorKernel {
 public:
  virtual ~OperatorKernel() = default;
  /// On the thread that runs the program; several threads may be here at once. Writes every element of every output. An output without
  /// data and rank is allocated first, through the call's memory.
  virtual Status run(KernelCall& call) const = 0;
  /// Whether `other` does the same: registering it again is no error.
  virtual bool same(const OperatorKernel& other) const { return this == &other; }
};

using ShapeFn = std::function<Status(InferContext&)>;

/// What a registered operator says beyond its row.
struct RegisteredTraits {
  /// Dtypes and shapes of outputs; null: those that the program declares. The interpreter compares what the kernel gives with either.
  ShapeFn shape;
  bool any_attributes = false;  // attributes that the row doesn't name are taken, too
  bool effect = false;          // runs as often and in the order that the program says, whether its outputs are read or not
};

/// The row of a registered operator. Never freed, so that pointers from find_op() stay good; its kernel may be.
struct RegisteredOp : OpSchema {
  RegisteredTraits traits;
  std::weak_ptr<const OperatorKernel> kernel;
  std::deque<std::string> strings;  // what the row's views look at
};

/// A row and its kernel, held.
struct RegisteredOperator {
  const RegisteredOp* op = nullptr;
  std::shared_ptr<const OperatorKernel> kernel;
};

/// Adds the operator `schema.name` ("domain.Name" of letters, digits, _ and dots; the domain isn't one of this build's). `infer` and
/// `max_outputs` of the row are set here, its text is copied. A second registration of a name with another kernel needs `replace`;
/// programs that were verified before keep what they had.
Status register_operator(OpSchema schema, RegisteredTraits traits, std::shared_ptr<const OperatorKernel> kernel, bool replace = false);
/// Null if there is none.
RegisteredOperator find_registered(std::string_view name);

/// `op` as a registered one, or null.
const RegisteredOp* as_registered(const OpSchema& op);
/// Whether the host sees calls of it: none may be removed, repeated, or moved past another one. Operators without outputs have no other
/// purpose.
bool has_effect(const OpSchema& op);
/// Whether the program says what its outputs are.
bool declares_outputs(const OpSchema& op);

}  // namespace msvm
