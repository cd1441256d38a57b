// Trees -> values, in a run that waits. Private to the room.
#pragma once
#include "observe/debug/expression.h"
#include "observe/debug/types.h"

namespace msvm::observe::debug {

constexpr int64_t kShownElements = 64;  // of a tensor in a value's text

/// `view` null: without a run; then there are no registers.
Result<Value> evaluate(const Expression& e, const RunView* view);
/// A condition: a bool, or a number that isn't 0.
Result<bool> holds(const Expression& e, const RunView* view);

/// The register that an expression names, and the part of it. The metadata's data may be followed: on the host.
struct Part {
  Reg reg = kNoReg;
  TensorMeta meta;
  TensorValue copy;      // keeps it, where it comes from a device
};
Result<Part> tensor_part(const Expression& e, const RunView& view);
Result<Part> tensor_part(std::string_view expression, std::string_view slice, const RunView& view);

/// R3, a source name, or an input's name.
std::optional<Reg> find_register(const RunView& view, std::string_view name);

struct FunctionDoc {
  std::string_view name, detail;
};
std::span<const FunctionDoc> functions();

}  // namespace msvm::observe::debug
