// FunctionBuilder plus shape inference: what every front end emits calls through.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "msvm/bytecode/builder.h"
#include "msvm/ops/registered.h"

namespace msvm {

/// Calls operators by schema: infers the outputs' types, allocates destinations (or makes them `new` where sizes are
/// data-dependent or the rank is unknown), and keeps refuted conditions as errors. Unknown ones are left to the verifier.
class Emitter {
 public:
  explicit Emitter(FunctionBuilder& fb) : fb_(fb) {}
  FunctionBuilder& builder() { return fb_; }
  DimContext& dims() { return fb_.dims(); }
  /// One register per output (kNoReg where `wanted` is false).
  Result<std::vector<Reg>> call(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args = {}, Attributes attrs = {},
                                const std::vector<bool>& wanted = {true});
  /// A registered operator whose outputs the program declares: one type per output (none: not wanted). The kernel allocates those with a
  /// size that isn't valid: it gets a symbol of its own.
  Result<std::vector<Reg>> call_declared(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args, Attributes attrs, std::vector<std::optional<TensorType>> outs);
  /// The single output.
  Result<Reg> call1(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args = {}, Attributes attrs = {});

 private:
  struct Operands;
  Result<Operands> operands(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args);
  FunctionBuilder& fb_;
};

}  // namespace msvm
