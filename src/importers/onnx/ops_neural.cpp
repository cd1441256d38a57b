// Normalisation, quantisation and losses: forms of older operator sets, and functions of the standard.
#include "importers/onnx/fold.h"
#include "importers/onnx/handlers.h"

namespace msvm::onnx {
namespace {

Status batch_normalization(NodeImport& n) {
  if (n.opset < 9 && n.int_attr("spatial", 1) != 1) return unsupported("statistics per element (spatial = 0)");
  bool training = n.int_attr("training_mode", 0) != 0;
  for (size_t i = 1; i < n.outputs.size(); ++i)
    if (n.wants(i) && !training) return unsupported("training outputs");
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("BatchNormalization"));
  if (training) attrs.set("training_mode", int64_t{1});
  std::vector<Reg> in;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.tensor(i));
    in.push_back(r);
  }
  return n.call_all("BatchNormalization", in, {}, std::move(attrs));
}

/// Opset 18 has one scale and bias per group, later ones one per channel.
Status group_normalization(NodeImport& n) {
  if (n.opset >= 21) return import_same(n);
  MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("GroupNormalization"));
  int64_t groups = attrs.get_int("num_groups", 0);
  std::vector<Dim> shape = n.shape(x);
  if (groups < 1 || shape.size() < 2) return invalid_argument("it needs channels and groups");
  std::vector<Reg> in{x};
  for (size_t i : {1, 2}) {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.ranked(i));
    Dim g = n.constant(groups), per = n.dims().floordiv(shape[1], g);
    r = n.fb().broadcast(n.fb().reshape(r, {g, n.constant(1)}), {g, per});
    in.push_back(n.fb().reshape(r, {shape[1]}));
  }
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("GroupNormalization", in, {}, attrs));
  n.set(0, y);
  return {};
}

/// A zero point of one element may have another rank than the scale in ONNX files: then it takes the scale's shape.
Result<std::vector<Reg>> quantization_inputs(NodeImport& n) {
  std::vector<Reg> in;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.optional_tensor(i));
    in.push_back(r);
  }
  if (in.size() < 3 || in[1] == kNoReg || in[2] == kNoReg) return in;
  auto single = [&](Reg r) {
    const TensorType& t = n.fb().tensor_type(r);
    for (Dim d : t.shape)
      if (!d.is_const(1)) return false;
    return !t.unknown_rank;
  };
  if (single(in[1]) && single(in[2]) && n.shape(in[1]).size() != n.shape(in[2]).size()) in[2] = n.fb().reshape(in[2], n.shape(in[1]));
  return in;
}

Status dequantize_linear(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("DequantizeLinear"));
  MSVM_ASSIGN_OR_RETURN(std::vector<Reg> in, quantization_inputs(n));
  return n.call_all("DequantizeLinear", in, {}, std::move(attrs));
}

Status quantize_linear(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("QuantizeLinear"));
  if (n.int_attr("precision", 0) != 0) {
    MSVM_ASSIGN_OR_RETURN(DType t, n.dtype_attr("precision", DType::kF32));
    attrs.set("compute_dtype", t);
  }
  MSVM_ASSIGN_OR_RETURN(std::vector<Reg> in, quantization_inputs(n));
  return n.call_all("QuantizeLinear", in, {}, std::move(attrs));
}

/// Attributes of dtype that say 0 for "not given" would be no dtype.
template <Handler next>
Status without_undefined_dtype(NodeImport& n) {
  if (const Attribute* a = n.node.find("output_dtype"); a && a->i == 0 && a->reference.empty()) n.attr("output_dtype");
  return next(n);
}

/// -weight[target] * x[target] along axis 1, over [N, C, d...] and [N, d...].
Result<Reg> negative_log_likelihood(NodeImport& n, Reg x, Reg target, Reg weight, const std::string& reduction, std::optional<int64_t> ignore) {
  FunctionBuilder& fb = n.fb();
  DType t = fb.tensor_type(x).dtype, index = fb.tensor_type(target).dtype;
  if (fb.tensor_type(x).unknown_rank || fb.tensor_type(x).rank() < 2) return invalid_argument("the scores need at least two axes");
  if (fb.tensor_type(target).unknown_rank || fb.tensor_type(target).rank() + 1 != fb.tensor_type(x).rank()) return invalid_argument("the targets need one axis less than the scores");
  Reg mask = kNoReg;
  if (ignore) {
    MSVM_ASSIGN_OR_RETURN(Reg i, n.cast(target, DType::kI64));
    MSVM_ASSIGN_OR_RETURN(Reg which, n.number(static_cast<double>(*ignore), DType::kI64));
    MSVM_ASSIGN_OR_RETURN(mask, n.call("Equal", {i, which}));
    MSVM_ASSIGN_OR_RETURN(Reg zero, n.number(0, index));
    MSVM_ASSIGN_OR_RETURN(target, n.call("Where", {mask, zero, target}));
  }
  MSVM_ASSIGN_OR_RETURN(Reg picked, n.call("GatherElements", {x, fb.unsqueeze(target, {1})}, {}, {{"axis", int64_t{1}}}));
  MSVM_ASSIGN_OR_RETURN(Reg loss, n.call("Neg", {fb.squeeze(picked, {1})}));
  Reg w = kNoReg;
  if (weight != kNoReg) {
    MSVM_ASSIGN_OR_RETURN(w, n.call("Gather", {weight, target}, {}, {{"axis", int64_t{0}}}));
  } else if (mask != kNoReg) {
    MSVM_ASSIGN_OR_RETURN(w, n.call("msvm.Fill", {}, n.shape(loss), {{"dtype", t}, {"value", 1.0}}));
  }
  if (mask != kNoReg) {
    MSVM_ASSIGN_OR_RETURN(Reg zero, n.number(0, t));
    MSVM_ASSIGN_OR_RETURN(w, n.call("Where", {mask, zero, w}));
  }
  if (w != kNoReg) { MSVM_ASSIGN_OR_RETURN(loss, n.call("Mul", {loss, w})); }
  if (reduction == "none") return loss;
  Attributes all{{"axes", all_axes(n.shape(loss).size())}, {"keepdims", int64_t{0}}};
  if (reduction == "sum") return n.call("ReduceSum", {loss}, {}, all);
  if (reduction != "mean") return invalid_argument("reduction '" + reduction + "'");
  if (w == kNoReg) return n.call("ReduceMean", {loss}, {}, all);
  MSVM_ASSIGN_OR_RETURN(Reg sum, n.call("ReduceSum", {loss}, {}, all));
  MSVM_ASSIGN_OR_RETURN(Reg weights, n.call("ReduceSum", {w}, {}, all));
  return n.call("Div", {sum, weights});
}

Status nll_loss(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  MSVM_ASSIGN_OR_RETURN(Reg target, n.tensor(1));
  MSVM_ASSIGN_OR_RETURN(Reg weight, n.optional_tensor(2));
  auto ignore = n.has_attr("ignore_index") ? std::optional(n.int_attr("ignore_index", 0)) : std::nullopt;
  MSVM_ASSIGN_OR_RETURN(Reg y, negative_log_likelihood(n, x, target, weight, n.string_attr("reduction", "mean"), ignore));
  n.set(0, y);
  return {};
}

Status cross_entropy_loss(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  MSVM_ASSIGN_OR_RETURN(Reg target, n.tensor(1));
  MSVM_ASSIGN_OR_RETURN(Reg weight, n.optional_tensor(2));
  MSVM_ASSIGN_OR_RETURN(Reg log, n.call("LogSoftmax", {x}, {}, {{"axis", int64_t{1}}}));
  auto ignore = n.has_attr("ignore_index") ? std::optional(n.int_attr("ignore_index", 0)) : std::nullopt;
  MSVM_ASSIGN_OR_RETURN(Reg y, negative_log_likelihood(n, log, target, weight, n.string_attr("reduction", "mean"), ignore));
  n.set(0, y);
  n.set(1, log);
  return {};
}

/// com.microsoft.FusedMatMul: MatMul of matrices that may be transposed, times alpha.
Status fused_matmul(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg a, n.ranked(0));
  MSVM_ASSIGN_OR_RETURN(Reg b, n.ranked(1));
  if (n.int_attr("transBatchA", 0) != 0 || n.int_attr("transBatchB", 0) != 0) return unsupported("transposed batches");
  auto transposed = [&](Reg r) {
    std::vector<int64_t> perm = all_axes(n.shape(r).size());
    if (perm.size() > 1) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return n.fb().transpose(r, perm);
  };
  if (n.int_attr("transA", 0) != 0) a = transposed(a);
  if (n.int_attr("transB", 0) != 0) b = transposed(b);
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("MatMul", {a, b}));
  if (double alpha = n.float_attr("alpha", 1); alpha != 1) {
    MSVM_ASSIGN_OR_RETURN(Reg factor, n.number(alpha, n.fb().tensor_type(y).dtype));
    MSVM_ASSIGN_OR_RETURN(y, n.call("Mul", {y, factor}));
  }
  n.set(0, y);
  return {};
}

constexpr HandlerRow kRows[] = {
    {"BatchNormalization", batch_normalization},
    {"GroupNormalization", group_normalization},
    {"QuantizeLinear", without_undefined_dtype<quantize_linear>},
    {"DequantizeLinear", without_undefined_dtype<dequantize_linear>},
    {"NegativeLogLikelihoodLoss", nll_loss},
    {"SoftmaxCrossEntropyLoss", cross_entropy_loss},
    {"Gelu", import_same, "com.microsoft"},
    {"QuantizeLinear", quantize_linear, "com.microsoft"},
    {"DequantizeLinear", dequantize_linear, "com.microsoft"},
    {"FusedMatMul", fused_matmul, "com.microsoft"},
};

}  // namespace

std::span<const HandlerRow> neural_handlers() { return kRows; }

}  // namespace msvm::onnx
