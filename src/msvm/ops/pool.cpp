// Pools: one value for each window, or for all positions.
#include "msvm/ops/families.h"
#include "msvm/ops/window.h"

namespace msvm {
namespace {

Status infer_pool(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 3, kMaxRank));
  const auto& x = c.input(0).shape;
  size_t spatial = x.size() - 2;
  const auto& kernel = c.attrs().get_ints("kernel_shape");
  MSVM_RETURN_IF_ERROR(require_list_length("kernel_shape", kernel.size(), spatial));
  MSVM_ASSIGN_OR_RETURN(WindowSpec window, read_window(c.attrs(), spatial));
  std::vector<Dim> shape(x.size());
  shape[0] = x[0];
  shape[1] = x[1];
  for (size_t i = 0; i < spatial; ++i) {
    Dim k = c.constant(kernel[i]);
    if (!window.pads.empty()) {
      Dim extent = window_extent(c.dims(), k, window.dilation(i)),
          pad = c.constant(std::max(window.pad_begin(i), window.pad_end(i)));
      MSVM_RETURN_IF_ERROR(c.require(CondOp::kLt, pad, extent, "pads are smaller than the window"));
    }
    MSVM_ASSIGN_OR_RETURN(shape[i + 2], window_positions(c, window, i, x[i + 2], k));
  }
  c.set_shape(1, c.num_outputs() > 1 ? shape : std::vector<Dim>{});
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_global_pool(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 2, kMaxRank));
  std::vector<Dim> shape = c.input(0).shape;
  for (size_t i = 2; i < shape.size(); ++i) shape[i] = c.constant(1);
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_max_unpool(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 3, kMaxRank));
  MSVM_RETURN_IF_ERROR(require_same_shape(c, 0, 1, "X and I have the same shape"));
  const auto& x = c.input(0).shape;
  size_t spatial = x.size() - 2;
  DimContext& m = c.dims();
  const auto& kernel = c.attrs().get_ints("kernel_shape");
  MSVM_RETURN_IF_ERROR(require_list_length("kernel_shape", kernel.size(), spatial));
  MSVM_ASSIGN_OR_RETURN(WindowSpec window, read_window(c.attrs(), spatial));
  std::vector<Dim> shape{x[0], x[1]};
  if (!c.args().empty()) {
    MSVM_RETURN_IF_ERROR(require_list_length("the output shape", c.args().size(), x.size()));
    MSVM_RETURN_IF_ERROR(require_equal(c, c.args()[0], x[0], "the output shape keeps the batch"));
    MSVM_RETURN_IF_ERROR(require_equal(c, c.args()[1], x[1], "the output shape keeps the channels"));
  }
  for (size_t i = 0; i < spatial; ++i) {
    Dim size;
    if (!c.args().empty()) {
      size = c.args()[i + 2];
    } else {
      size = m.add(m.mul(m.sub(x[i + 2], m.constant(1)), m.constant(window.stride(i))), m.constant(kernel[i]));
      size = m.sub(m.sub(size, m.constant(window.pad_begin(i))), m.constant(window.pad_end(i)));
    }
    MSVM_RETURN_IF_ERROR(require_at_least(c, size, 0, "sizes of the result are not negative"));
    shape.push_back(size);
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_max_roi_pool(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 4));
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, 2));
  MSVM_RETURN_IF_ERROR(require_equal(c, c.input(1).shape[1], c.constant(5), "a region is batch index, x1, y1, x2, y2"));
  const auto& pooled = c.attrs().get_ints("pooled_shape");
  MSVM_RETURN_IF_ERROR(require_list_length("pooled_shape", pooled.size(), 2));
  c.set_shape(0, {c.input(1).shape[0], c.input(0).shape[1], c.constant(pooled[0]), c.constant(pooled[1])});
  return {};
}

OpSchema pool(std::string_view name, std::string_view doc) {
  OpSchema row{.name = name,
               .since = 22,
               .op_class = OpClass::kReduction,
               .inputs = {{"X", kFloats, 'T'}},
               .outputs = {{"Y", 'T'}},
               .attrs = window_attrs(),
               .infer = infer_pool,
               .doc = doc};
  row.attrs.push_back(flag_attr(
      "ceil_mode", "0", "1 adds a last window that reaches beyond the end, if it starts within the padded begin or the input"));
  row.attrs.push_back(required(ints_attr("kernel_shape", "", 1, kNoLimit, "sizes of the window")));
  return row;
}

OpSchema global_pool(std::string_view name, std::string_view doc) {
  return {.name = name,
          .since = 22,
          .op_class = OpClass::kReduction,
          .inputs = {{"X", kFloats, 'T'}},
          .outputs = {{"Y", 'T'}},
          .infer = infer_global_pool,
          .doc = doc};
}

}  // namespace

void add_pool_ops(OpTable& table) {
  OpSchema max = pool("MaxPool", "The greatest element of each window, padding left out, and its position in X flattened.");
  max.inputs[0].dtypes = kFloats | kBytes;
  max.outputs.push_back({"Indices", 0, DType::kI64});
  max.attrs.push_back(flag_attr("storage_order", "0", "1 counts positions in Indices column by column"));
  table.add(std::move(max));

  OpSchema average = pool("AveragePool", "The mean of each window.");
  average.attrs.push_back(flag_attr("count_include_pad", "0", "1 divides by the window's size even where it covers padding"));
  table.add(std::move(average));

  OpSchema lp = pool("LpPool", "The p-norm of each window; padding counts as 0.");
  lp.attrs.push_back(int_attr("p", "2", 1, kNoLimit, "which norm"));
  table.add(std::move(lp));

  table.add(global_pool("GlobalAveragePool", "The mean over all positions of each channel."));
  table.add(global_pool("GlobalMaxPool", "The greatest over all positions of each channel."));
  OpSchema global_lp = global_pool("GlobalLpPool", "The p-norm over all positions of each channel.");
  global_lp.attrs = {int_attr("p", "2", 1, kNoLimit, "which norm")};
  table.add(std::move(global_lp));

  table.add({.name = "MaxUnpool",
             .since = 22,
             .op_class = OpClass::kIndexing,
             .inputs = {{"X", kFloats, 'T'}, {"I", bit(DType::kI64)}},
             .max_args = kMaxRank,
             .args_doc = "sizes of the result, one per axis; or none",
             .outputs = {{"output", 'T'}},
             .hazards = kIndexHazard,
             .attrs = {required(ints_attr("kernel_shape", "", 1, kNoLimit, "sizes of the window")),
                       ints_attr("pads", "0 each", 0, kNoLimit, "begins, then ends"),
                       ints_attr("strides", "1 each", 1, kNoLimit, "distance of the windows")},
             .infer = infer_max_unpool,
             .doc = "Puts each element of X where I says in the flattened result; the rest is 0."});

  table.add({.name = "MaxRoiPool",
             .since = 22,
             .op_class = OpClass::kReduction,
             .inputs = {{"X", kFloats, 'T'}, {"rois", kFloats, 'T'}},
             .outputs = {{"Y", 'T'}},
             .hazards = kIndexHazard | kCastHazard,
             .attrs = {required(ints_attr("pooled_shape", "", 1, kNoLimit, "height and width of the result")),
                       float_attr("spatial_scale", "1.0", "from coordinates of regions to those of X")},
             .infer = infer_max_roi_pool,
             .doc = "The greatest element in each cell of a grid over each region."});
}

}  // namespace msvm
