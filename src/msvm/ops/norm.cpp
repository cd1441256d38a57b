// Normalisations: values of an axis or of groups in relation to each other.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

Status infer_softmax(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN([[maybe_unused]] int axis, c.normalize_axis(c.attrs().get_int("axis", -1), c.rank(0), "axis"));
  return infer_same(c);
}

Status infer_layer_norm(InferContext& c) {
  MSVM_ASSIGN_OR_RETURN(int axis, c.normalize_axis(c.attrs().get_int("axis", -1), c.rank(0), "axis"));
  const auto& x = c.input(0).shape;
  MSVM_RETURN_IF_ERROR(require_broadcast_to(c, c.input(1).shape, x, "the scale can be broadcast to X"));
  if (c.has_input(2)) MSVM_RETURN_IF_ERROR(require_broadcast_to(c, c.input(2).shape, x, "B can be broadcast to X"));
  c.set_shape(0, x);
  if (c.num_outputs() > 1) {
    std::vector<Dim> stats = x;
    for (size_t i = static_cast<size_t>(axis); i < stats.size(); ++i) stats[i] = c.constant(1);
    c.set_shape(2, stats);
    c.set_shape(1, std::move(stats));
  }
  return {};
}

Status infer_group_norm(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 2, kMaxRank));
  Dim channels = c.input(0).shape[1];
  MSVM_RETURN_IF_ERROR(c.require(CondOp::kDivides, c.constant(c.attrs().get_int("num_groups", 1)), channels,
                                 "num_groups divides the channels of X"));
  MSVM_RETURN_IF_ERROR(require_vector(c, 1, channels, "scale has one element for each channel of X"));
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, channels, "bias has one element for each channel of X"));
  return infer_same(c);
}

Status infer_instance_norm(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 3, kMaxRank));
  MSVM_RETURN_IF_ERROR(require_vector(c, 1, c.input(0).shape[1], "scale has one element for each channel of X"));
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, c.input(0).shape[1], "B has one element for each channel of X"));
  return infer_same(c);
}

Status infer_batch_norm(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 1, kMaxRank));
  Dim channels = c.rank(0) == 1 ? c.constant(1) : c.input(0).shape[1];
  static constexpr std::string_view kWhat[] = {
      "", "scale has one element for each channel of X", "B has one element for each channel of X",
      "input_mean has one element for each channel of X", "input_var has one element for each channel of X"};
  for (size_t i = 1; i < 5; ++i) MSVM_RETURN_IF_ERROR(require_vector(c, i, channels, kWhat[i]));
  if (c.num_outputs() > 1 && !c.attrs().get_int("training_mode", 0))
    return attr_error("running_mean and running_var are given only with training_mode=1");
  c.set_shape(1, {channels});
  c.set_shape(2, {channels});
  return infer_same(c);
}

Status infer_lrn(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 2, kMaxRank));
  return infer_same(c);
}

Status infer_mvn(InferContext& c) {
  static constexpr int64_t kDefault[] = {0, 2, 3};
  std::span<const int64_t> axes = c.attrs().has("axes") ? std::span<const int64_t>(c.attrs().get_ints("axes")) : kDefault;
  MSVM_ASSIGN_OR_RETURN([[maybe_unused]] AxisList list, normalize_axes(c, axes, c.rank(0)));
  return infer_same(c);
}

OpSchema norm(std::string_view name, int since, InferFn infer, std::string_view doc) {
  return {.name = name,
          .since = since,
          .op_class = OpClass::kNormalization,
          .inputs = {{"X", kFloats, 'T'}},
          .outputs = {{"Y", 'T'}},
          .infer = infer,
          .doc = doc};
}

}  // namespace

void add_norm_ops(OpTable& table) {
  AttrSpec epsilon = float_attr("epsilon", "1e-05", "added to the variance");
  AttrSpec stash = dtype_attr("stash_type", "f32", "dtype of mean, variance and first stage");

  for (auto [name, doc] : {std::pair<std::string_view, std::string_view>{"Softmax", "exp(x) over the sum of exp(x) along an axis."},
                           {"LogSoftmax", "Logarithm of Softmax, computed without its loss of digits."},
                           {"Hardmax", "1 at the first greatest element along an axis, 0 elsewhere."}}) {
    OpSchema row = norm(name, 13, infer_softmax, doc);
    row.attrs = {axis_attr("-1", "the axis whose elements belong together")};
    table.add(std::move(row));
  }

  OpSchema layer =
      norm("LayerNormalization", 17, infer_layer_norm,
           "Each element minus the mean over the axes from `axis` on, over their standard deviation, times Scale plus B.");
  layer.inputs = {{"X", kFloats, 'T'}, {"Scale", kFloats, 'T'}, {"B", kFloats, 'T', true}};
  layer.outputs = {{"Y", 'T'}, {"Mean", 0, DType::kF32, "stash_type"}, {"InvStdDev", 0, DType::kF32, "stash_type"}};
  layer.attrs = {axis_attr("-1", "first normalised axis"), epsilon, stash};
  table.add(std::move(layer));

  OpSchema rms = norm("RMSNormalization", 23, infer_layer_norm,
                      "Each element over the root mean square of the axes from `axis` on, times scale.");
  rms.inputs = {{"X", kFloats, 'T'}, {"scale", kFloats, 'V'}};
  rms.outputs = {{"Y", 'V'}};
  rms.attrs = {axis_attr("-1", "first normalised axis"), epsilon, stash};
  table.add(std::move(rms));

  OpSchema group = norm("GroupNormalization", 21, infer_group_norm,
                        "Normalises over each group of channels and all positions, then scale and bias per channel.");
  group.inputs = {{"X", kFloats, 'T'}, {"scale", kFloats, 'T'}, {"bias", kFloats, 'T'}};
  group.attrs = {epsilon, required(int_attr("num_groups", "", 1, kNoLimit, "groups of channels")), stash};
  table.add(std::move(group));

  OpSchema instance = norm("InstanceNormalization", 22, infer_instance_norm,
                           "Normalises over all positions of each channel of each batch element, then scale and B per channel.");
  instance.inputs = {{"X", kFloats, 'T'}, {"scale", kFloats, 'T'}, {"B", kFloats, 'T'}};
  instance.attrs = {epsilon};
  table.add(std::move(instance));

  OpSchema batch = norm(
      "BatchNormalization", 15, infer_batch_norm,
      "(x - mean) / sqrt(var + epsilon) * scale + B per channel, with the given mean and variance or (training_mode) those of X.");
  batch.inputs = {
      {"X", kFloats, 'T'}, {"scale", kFloats, 'U'}, {"B", kFloats, 'U'}, {"input_mean", kFloats, 'V'}, {"input_var", kFloats, 'V'}};
  batch.outputs = {{"Y", 'T'}, {"running_mean", 'V'}, {"running_var", 'V'}};
  batch.attrs = {epsilon, float_attr("momentum", "0.9", "weight of the old running values"),
                 flag_attr("training_mode", "0", "1 uses the statistics of X")};
  table.add(std::move(batch));

  OpSchema lp =
      norm("LpNormalization", 22, infer_softmax, "Each element over the 1- or 2-norm along an axis; 0 where the norm is 0.");
  lp.attrs = {axis_attr("-1", "the axis of the norm"), int_attr("p", "2", 1, 2, "which norm")};
  table.add(std::move(lp));

  OpSchema lrn =
      norm("LRN", 13, infer_lrn, "Each element over (bias + alpha / size * sum of squares of the `size` nearest channels) ^ beta.");
  lrn.attrs = {float_attr("alpha", "0.0001", "scale"), float_attr("beta", "0.75", "exponent"), float_attr("bias", "1.0", "bias"),
               required(int_attr("size", "", 1, kNoLimit, "channels to sum over"))};
  table.add(std::move(lrn));

  OpSchema mvn = norm("MeanVarianceNormalization", 13, infer_mvn, "(x - mean) / standard deviation over the axes.");
  mvn.attrs = {axes_attr("[0, 2, 3]", "the axes to normalise over")};
  table.add(std::move(mvn));
}

}  // namespace msvm
