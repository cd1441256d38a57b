// FunctionBuilder plus shape inference: what every front end emits calls through.
#pragma once
#include <string>
#include <vector>

#include "msvm/bytecode/builder.h"
#include "msvm/ops/schema.h"

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
  /// The single output.
  Result<Reg> call1(const std::string& op, const std::vector<Reg>& inputs, const std::vector<Dim>& args = {}, Attributes attrs = {});

 private:
  FunctionBuilder& fb_;
};

}  // namespace msvm
