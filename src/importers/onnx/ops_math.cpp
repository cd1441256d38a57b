// Elementwise operators and reductions whose form changed between operator sets.
#include "importers/onnx/fold.h"
#include "importers/onnx/handlers.h"

namespace msvm::onnx {
namespace {

Status clip(NodeImport& n) {
  if (n.opset >= 11) return import_same(n);
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  DType t = n.fb().tensor_type(x).dtype;
  std::vector<Reg> in{x, kNoReg, kNoReg};
  if (n.has_attr("min")) { MSVM_ASSIGN_OR_RETURN(in[1], n.number(n.float_attr("min", 0), t)); }
  if (n.has_attr("max")) { MSVM_ASSIGN_OR_RETURN(in[2], n.number(n.float_attr("max", 0), t)); }
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Clip", in));
  n.set(0, y);
  return {};
}

Status cast_like(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  MSVM_RETURN_IF_ERROR(n.need(1));
  MSVM_ASSIGN_OR_RETURN(DType to, n.im.dtype(n.inputs[1]));
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("Cast"));
  attrs.set("to", to);
  if (n.fb().tensor_type(x).dtype == to) {
    n.set(0, x);
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Cast", {x}, {}, attrs));
  n.set(0, y);
  return {};
}

Status cast(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  if (!n.has_attr("to")) return invalid_argument("attribute 'to' is missing");
  MSVM_ASSIGN_OR_RETURN(DType to, n.dtype_attr("to", DType::kF32));
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("Cast"));
  attrs.set("to", to);
  if (n.fb().tensor_type(x).dtype == to) {
    n.set(0, x);
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Cast", {x}, {}, attrs));
  n.set(0, y);
  return {};
}

Status reduce(NodeImport& n) {
  std::string op = n.op();
  // Axes became an input with opset 13 (ReduceSum) and 18 (the others).
  MSVM_ASSIGN_OR_RETURN(auto given, n.ints_attr_or_input("axes", 1, op == "ReduceSum" ? 13 : 18));
  bool keep = n.int_attr("keepdims", 1) != 0, nothing_if_empty = n.int_attr("noop_with_empty_axes", 0) != 0;
  std::vector<int64_t> axes;
  if (given) axes = *given;
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  if (axes.empty() && !nothing_if_empty) {
    if (n.fb().tensor_type(x).unknown_rank) {
      if (keep) return unsupported("a reduction of all axes that keeps them, where the rank isn't known");
      MSVM_ASSIGN_OR_RETURN(x, n.call("Flatten", {x}, {}, {{"axis", int64_t{0}}}));
      x = n.im.fix_rank(x, 2);
    }
    axes = all_axes(n.shape(x).size());
  }
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call(op, {x}, {}, {{"axes", axes}, {"keepdims", int64_t{keep}}}));
  n.set(0, y);
  return {};
}

/// Softmax, LogSoftmax, Hardmax: before opset 13 over all axes from `axis` on, as if they were one.
Status softmax(NodeImport& n) {
  if (n.opset >= 13) return import_same(n);
  MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
  std::vector<Dim> shape = n.shape(x);
  int64_t given = n.int_attr("axis", 1);
  if (shape.empty()) return invalid_argument("the input is a scalar");
  if (given == static_cast<int64_t>(shape.size())) return unsupported("an axis behind the last one");
  MSVM_ASSIGN_OR_RETURN(int64_t axis, normal_axis(given, shape.size()));
  auto at = static_cast<size_t>(axis);
  bool single = true;  // everything behind the axis has size 1
  for (size_t i = at + 1; i < shape.size(); ++i) single &= shape[i].is_const(1);
  if (single) {
    MSVM_ASSIGN_OR_RETURN(Reg y, n.call(n.op(), {x}, {}, {{"axis", axis}}));
    n.set(0, y);
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(Dim outer, product(n, std::span(shape).first(at)));
  MSVM_ASSIGN_OR_RETURN(Dim inner, product(n, std::span(shape).subspan(at)));
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call(n.op(), {n.fb().reshape(x, {outer, inner})}, {}, {{"axis", int64_t{1}}}));
  n.set(0, n.fb().reshape(y, shape));
  return {};
}

Status cumulative(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  MSVM_ASSIGN_OR_RETURN(std::vector<int64_t> axis, n.ints(1));
  if (axis.size() != 1) return invalid_argument("axis must have one element");
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for(n.op()));
  attrs.set("axis", axis[0]);
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call(n.op(), {x}, {}, attrs));
  n.set(0, y);
  return {};
}

/// One or no operand more than the operator of ops/ needs to be one.
Status variadic(NodeImport& n) { return n.inputs.size() == 1 ? import_identity(n) : import_same(n); }

Status trilu(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  std::vector<Dim> args;
  if (n.has(1)) {
    MSVM_ASSIGN_OR_RETURN(Dim k, one_size(n, 1));
    args.push_back(k);
  }
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("Trilu"));
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Trilu", {x}, args, attrs));
  n.set(0, y);
  return {};
}

constexpr HandlerRow kRows[] = {
    {"Clip", clip}, {"Cast", cast}, {"CastLike", cast_like},
    {"ReduceSum", reduce}, {"ReduceMean", reduce}, {"ReduceProd", reduce}, {"ReduceMax", reduce}, {"ReduceMin", reduce}, {"ReduceL1", reduce}, {"ReduceL2", reduce},
    {"ReduceLogSum", reduce}, {"ReduceLogSumExp", reduce}, {"ReduceSumSquare", reduce},
    {"Softmax", softmax}, {"LogSoftmax", softmax}, {"Hardmax", softmax},
    {"CumSum", cumulative}, {"CumProd", cumulative}, {"Max", variadic}, {"Min", variadic}, {"Sum", variadic}, {"Mean", variadic}, {"Trilu", trilu},
};

}  // namespace

std::span<const HandlerRow> math_handlers() { return kRows; }

}  // namespace msvm::onnx
