#include "msvm/jit/outer_axis.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "msvm/ops/schema.h"

namespace msvm::jit {
namespace {

using Operands = std::span<const OuterOperand>;

/// How an operator treats axis 0.
enum class Outer : uint8_t {
  kBatch,       // input 0 has a batch there, and so have the results; nothing else may carry it
  kAligned,     // all operands of the results' rank are aligned
  kAxis,        // kAligned as long as `axis` isn't 0
  kFromAxis,    // as long as `axis`, where normalisation begins, isn't 0
  kAxes,        // as long as 0 isn't among `axes`
  kProduct,     // matmul: rows of the first input; batches of both
  kGemm,
  kGather,
  kPerm,
  kPad,
  kRecurrent,
  kAttention,
  kEinsum,
  kFill,
};

const std::unordered_map<std::string_view, Outer>& table() {
  static const std::unordered_map<std::string_view, Outer> t = [] {
    std::unordered_map<std::string_view, Outer> m;
    for (const char* n : {"Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "DepthToSpace", "SpaceToDepth", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "MaxPool",
                          "AveragePool", "LpPool", "LRN", "InstanceNormalization", "GroupNormalization", "BatchNormalization", "Col2Im"})
      m[n] = Outer::kBatch;
    for (const char* n : {"msvm.Conv", "msvm.Pointwise", "Identity", "DeformConv", "GridSample", "Expand", "BitCast"}) m[n] = Outer::kAligned;
    for (const char* n : {"Softmax", "LogSoftmax", "Hardmax", "Concat", "Split", "CumSum", "CumProd", "ArgMax", "ArgMin", "TopK", "LpNormalization", "GatherElements", "ScatterElements"})
      m[n] = Outer::kAxis;
    for (const char* n : {"LayerNormalization", "RMSNormalization"}) m[n] = Outer::kFromAxis;
    for (const char* n : {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare",
                          "MeanVarianceNormalization", "Slice", "Resize"})
      m[n] = Outer::kAxes;
    for (const char* n : {"MatMul", "msvm.MatMul"}) m[n] = Outer::kProduct;
    for (const char* n : {"RNN", "GRU", "LSTM"}) m[n] = Outer::kRecurrent;
    m["Gemm"] = Outer::kGemm;
    m["Gather"] = Outer::kGather;
    m["Transpose"] = Outer::kPerm;
    m["Pad"] = Outer::kPad;
    m["Attention"] = Outer::kAttention;
    m["Einsum"] = Outer::kEinsum;
    m["msvm.Fill"] = Outer::kFill;
    return m;
  }();
  return t;
}

int rank_of(const OuterOperand& o) { return o.type ? o.type->rank() : -1; }

/// What carries the axis has the rank of every result that does.
bool aligned(Operands inputs, Operands outputs) {
  for (const OuterOperand& in : inputs)
    if (in.carries)
      for (const OuterOperand& out : outputs)
        if (out.type && (rank_of(out) != rank_of(in) || !out.carries)) return false;
  return true;
}

bool only_first_carries(Operands inputs, Operands outputs) {
  for (size_t k = 1; k < inputs.size(); ++k)
    if (inputs[k].carries) return false;
  return std::all_of(outputs.begin(), outputs.end(), [](const OuterOperand& o) { return !o.type || o.carries; });
}

/// `axis` as written may count from the end.
bool is_outer(int64_t axis, int rank) { return axis == 0 || axis == -rank; }

bool axes_hold_outer(const std::vector<int64_t>& axes, int rank) {
  return std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return is_outer(a, rank); });
}

/// Every input that carries the axis begins with the letter the result begins with; nowhere else does it stand.
bool einsum_keeps(std::string equation, Operands inputs) {
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  if (arrow == std::string::npos || arrow + 2 >= equation.size() || equation.find('.') != std::string::npos) return false;
  const char batch = equation[arrow + 2];
  if (equation.find(batch, arrow + 3) != std::string::npos) return false;
  size_t from = 0;
  for (const OuterOperand& in : inputs) {
    const size_t end = std::min(equation.find(',', from), arrow);
    const std::string term = equation.substr(from, end - from);
    const size_t at = term.find(batch);
    if (in.carries ? at != 0 || term.find(batch, 1) != std::string::npos : at != std::string::npos) return false;
    from = end + 1;
    if (end == arrow) break;
  }
  return true;
}

bool default_axis_is_outer(std::string_view op) { return op == "CumSum" || op == "CumProd" || op == "ArgMax" || op == "ArgMin" || op == "GatherElements" || op == "ScatterElements" || op == "Split"; }

bool call_keeps(const Instr& call, Operands inputs, Operands outputs) {
  const OpSchema* schema = find_op(call.text);
  if (!schema) return false;
  const auto row = table().find(call.text);
  if (row == table().end()) return schema->op_class == OpClass::kElementwise && aligned(inputs, outputs);
  const int rank = inputs.empty() ? 0 : rank_of(inputs[0]);
  switch (row->second) {
    case Outer::kBatch: return only_first_carries(inputs, outputs);
    case Outer::kAligned: return aligned(inputs, outputs);
    case Outer::kAxis: {
      const int64_t axis = call.attrs.get_int("axis", default_axis_is_outer(call.text) ? 0 : -1);
      // A reduction may drop the axis; those in front of it stay where they are.
      if (call.text == "ArgMax" || call.text == "ArgMin") return !is_outer(axis, rank) && only_first_carries(inputs, outputs);
      return !is_outer(axis, rank) && aligned(inputs, outputs);
    }
    case Outer::kFromAxis: return !is_outer(call.attrs.get_int("axis", -1), rank) && only_first_carries(inputs, outputs);
    case Outer::kAxes: {
      if (!call.attrs.has("axes") && call.text == "MeanVarianceNormalization") return false;
      if (!call.attrs.has("axes") && call.text == "Slice") return false;
      const bool listed = axes_hold_outer(call.attrs.get_ints("axes"), rank);
      return !listed && only_first_carries(inputs, outputs);
    }
    case Outer::kProduct: {
      const int out = outputs.empty() ? -1 : rank_of(outputs[0]);
      if (inputs.size() < 2 || (inputs[0].carries && (rank_of(inputs[0]) != out || out < 2)) || (inputs[1].carries && (rank_of(inputs[1]) != out || out < 3))) return false;
      return aligned(inputs.subspan(2), outputs);
    }
    case Outer::kGemm:
      if (inputs.size() < 2 || inputs[1].carries || (inputs[0].carries && call.attrs.get_int("transA", 0) != 0)) return false;
      return aligned(inputs, outputs);
    case Outer::kGather: {
      const int64_t axis = call.attrs.get_int("axis", 0);
      if (inputs.size() < 2) return false;
      return is_outer(axis, rank) ? !inputs[0].carries : !inputs[1].carries;
    }
    case Outer::kPerm: {
      const auto& perm = call.attrs.get_ints("perm");
      return !perm.empty() && perm[0] == 0;
    }
    case Outer::kPad: return call.dims.size() >= 2 && call.dims[0].is_const(0) && call.dims[call.dims.size() / 2].is_const(0) && only_first_carries(inputs, outputs);
    case Outer::kRecurrent: return call.attrs.get_int("layout", 0) == 1;
    case Outer::kAttention: return std::all_of(outputs.begin(), outputs.end(), [](const OuterOperand& o) { return !o.type || o.carries; });
    case Outer::kEinsum: return einsum_keeps(std::string(call.attrs.get_string("equation", "")), inputs);
    case Outer::kFill: return true;
  }
  return false;
}

bool view_keeps(const Instr& view, Operands inputs, Operands outputs) {
  switch (view_kind(view)) {
    case ViewKind::kIdentity: case ViewKind::kBroadcast: return aligned(inputs, outputs);
    case ViewKind::kTranspose: return !view.imms.empty() && view.imms[0] == 0;
    case ViewKind::kReshape: case ViewKind::kSqueeze: case ViewKind::kUnsqueeze: return std::all_of(outputs.begin(), outputs.end(), [](const OuterOperand& o) { return o.carries; });
    case ViewKind::kSlice:
      for (size_t k = 0; k < view.imms.size(); k += 2)
        if (view.imms[k] == 0) return false;
      return true;
    case ViewKind::kWindow: return !view.imms.empty() && view.imms[0] != 0;
  }
  return false;
}

}  // namespace

bool keeps_outer_axis(const Instr& instr, Operands inputs, Operands outputs) {
  switch (instr.op) {
    case Opcode::kOpCall: return call_keeps(instr, inputs, outputs);
    case Opcode::kTensorView: return view_keeps(instr, inputs, outputs);
    default: return true;  // allocation, frees, copies, PHIs, narrowing
  }
}

bool argument_is_outer_extent(std::string_view op) { return op == "msvm.Fill" || op == "Expand" || op == "Resize"; }

}  // namespace msvm::jit
