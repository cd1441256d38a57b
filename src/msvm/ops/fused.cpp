// Fused operators: what the optimiser makes of a product or convolution and the elementwise operators behind it, or of a group of
// elementwise operators. All of f32.
#include "msvm/ops/body.h"
#include "msvm/ops/families.h"
#include "msvm/ops/matmul.h"
#include "msvm/ops/window.h"

namespace msvm {
namespace {

constexpr DTypeSet kF32Only = bit(DType::kF32);

/// The body is well formed, and its inputs broadcast to the result.
Status check_body(InferContext& c, size_t first, std::span<const Dim> shape) {
  MSVM_RETURN_IF_ERROR(parse_body(c.attrs().get_strings("body"), first, c.num_inputs(), true).status());
  for (size_t i = first; i < c.num_inputs(); ++i) {
    if (!c.has_input(i)) return attr_error("input {} of a body is absent", i);
    const auto& from = c.input(i).shape;
    if (from.size() > shape.size()) return shape_error("input {} has rank {}, the result only {}", i, from.size(), shape.size());
    MSVM_RETURN_IF_ERROR(require_broadcast_to(c, from, shape, "the inputs of a body broadcast to the result"));
  }
  return {};
}

Status infer_fused_conv(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, convolution_shape(c, 0, 1, c.attrs().get_ints("upsample")));
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, shape[1], "B has one element for each output channel"));
  MSVM_RETURN_IF_ERROR(check_body(c, 3, shape));
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_fused_matmul(InferContext& c) {
  const bool transposed = c.attrs().get_int("transB", 0) != 0;
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 2, kMaxRank));
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 1, 2, kMaxRank));
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, matmul_shape(c, 0, 1, transposed));
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, shape.back(), "the bias has one element for each column"));
  MSVM_RETURN_IF_ERROR(check_body(c, 3, shape));
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_pointwise(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(Body body, parse_body(c.attrs().get_strings("body"), 0, c.num_inputs(), false));
  if (body.steps.empty()) return attr_error("body has no steps");
  return infer_broadcast(c);
}

AttrSpec body_attr(bool required_here) {
  return {.name = "body", .type = AttrType::kStrings, .required = required_here, .doc = "Elementwise steps, see the table of steps: \"Add(y, i3)\", \"Relu(s0)\". The last one is the result.", .fallback = required_here ? "" : "no steps"};
}

OpSchema fused(std::string_view name, OpClass op_class, std::vector<InputSpec> inputs, std::vector<AttrSpec> attrs, InferFn infer, std::string_view doc) {
  return {.name = name,
          .since = 1,
          .op_class = op_class,
          .inputs = std::move(inputs),
          .variadic = true,
          .outputs = {{"Y", 'T'}},
          .attrs = std::move(attrs),
          .infer = infer,
          .doc = doc};
}

}  // namespace

void add_fused_ops(OpTable& table) {
  const InputSpec extra{"E", kF32Only, 'T', true};
  std::vector<AttrSpec> conv = convolution_attrs();
  conv.push_back(body_attr(false));
  conv.push_back(ints_attr("upsample", "1 each", 1, kNoLimit, "how often each element of X stands along each spatial axis, as if it had been resized"));
  table.add(fused("msvm.Conv", OpClass::kContraction, {{"X", kF32Only, 'T'}, {"W", kF32Only, 'T'}, {"B", kF32Only, 'T', true}, extra}, std::move(conv), infer_fused_conv,
                  "Conv, then the steps of the body on each value: y is the convolution with its bias, i3, i4, ... are the inputs E, broadcast to the result."));
  table.add(fused("msvm.MatMul", OpClass::kContraction, {{"A", kF32Only, 'T'}, {"B", kF32Only, 'T'}, {"C", kF32Only, 'T', true}, extra},
                  {flag_attr("transB", "0", "The last two axes of B are swapped."), body_attr(false)}, infer_fused_matmul,
                  "MatMul of matrices, plus C to each row if it is there, then the steps of the body on each value: y is the product with its bias, i3, i4, ... are the inputs E, broadcast to the result."));
  OpSchema pointwise = fused("msvm.Pointwise", OpClass::kElementwise, {{"E", kF32Only, 'T'}}, {body_attr(true)}, infer_pointwise,
                             "The steps of the body on each element of the inputs i0, i1, ..., which broadcast to each other.");
  pointwise.min_variadic = 1;
  pointwise.in_place = UINT32_MAX;  // a tile is read before it is written
  table.add(std::move(pointwise));
}

}  // namespace msvm
