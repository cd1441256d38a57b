#include <fmt/format.h>

#include "observe/debug/process.h"

namespace msvm::observe::debug {
namespace {

/// An axis that must have one size, and has another.
std::string fixed_axis(const RunView& view) {
  const auto& params = view.code().inputs;
  const auto inputs = view.inputs();
  for (size_t k = 0; k < params.size() && k < inputs.size(); ++k) {
    const auto* t = std::get_if<TensorValue>(&inputs[k]);
    if (!t || params[k].type.kind != RegKind::kTensor) continue;
    const auto& shape = params[k].type.tensor.shape;
    for (size_t a = 0; a < shape.size() && a < t->meta.rank; ++a)
      if (shape[a].is_const() && shape[a].value() != t->meta.shape[a]) return fmt::format("give input {} ({}) the size {} at axis {}, or declare that axis as a symbol", k, params[k].name, shape[a].value(), a);
  }
  return {};
}

std::string shape_fix(const RunView& view) {
  if (view.clock() == 0) {  // nothing has run: it is about the inputs
    std::string fix = fixed_axis(view);
    return fix.empty() ? "give inputs whose sizes fit each other, and what is declared of their symbols" : fix;
  }
  return "give inputs for which these sizes fit each other, or mend the program where the message says";
}

}  // namespace

std::string fix_of(const Status& s, const RunView& view) {
  switch (s.code()) {
    case StatusCode::kShapeMismatch: return shape_fix(view);
    case StatusCode::kInvalidArgument: return "give what the message expects";
    case StatusCode::kUnsupported: return "see `msvm cap dump` for the kernels of this machine, or load a capability patch";
    case StatusCode::kOutOfRange: return "look at the index and at the size of its axis";
    case StatusCode::kOverflow: return "look at the sizes that the message names";
    case StatusCode::kResourceLimit: return "raise the limit of the session, or give smaller inputs";
    default: return {};
  }
}

}  // namespace msvm::observe::debug
