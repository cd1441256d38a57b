// Operators as loops: how each walks its tensors, and the steps it takes.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "msvm/jit/function_view.h"
#include "msvm/jit/lower.h"
#include "msvm/jit/lower_graph.h"

namespace msvm::jit::lowering {

struct CallLoops {
  enum Walk : uint8_t {
    kElements,    // over the result, inputs broadcast to it
    kSameOrder,   // over the result; the input has the same elements in the same order under other axes
    kTransposed,  // over the result, whose axis k is the input's axis permutation[k]
    kReduced,     // over input 0: the result is one value per row
    kRows,        // over input 0 and a result of its shape, row by row; further inputs broadcast to it
  } walk = kElements;
  uint32_t row_axes = 0;  // kReduced, kRows: the axes of input 0 that are a row
  std::vector<int64_t> permutation;
  bool has_rows() const { return walk == kReduced || walk == kRows; }
};

/// How the call walks its tensors; otherwise `why` it can't be lowered.
std::optional<CallLoops> call_loops(const FunctionView& view, const Instr& call, const LowerOptions& options, std::string& why);

/// The steps of such a call: its result, of the value type of its output. `inputs` by position, kNone where absent.
Ref expand(const FunctionView& view, const Instr& call, std::span<const Ref> inputs, Graph& graph);

/// The value if the tensor is a module constant of one element of a dtype that loops know.
std::optional<Ref> constant_number(const FunctionView& view, Reg tensor);

}  // namespace msvm::jit::lowering
