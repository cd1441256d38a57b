// Sampling of images at other sizes and positions.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

Status infer_resize(InferContext& c) {
  DimContext& m = c.dims();
  std::vector<Dim> shape = c.input(0).shape;
  AxisList axes;
  if (c.attrs().has("axes")) {
    MSVM_ASSIGN_OR_RETURN(axes, normalize_axes(c, c.attrs().get_ints("axes"), c.rank(0)));
  } else {
    for (; axes.count < c.rank(0); ++axes.count) axes.axis[static_cast<size_t>(axes.count)] = axes.count;
  }
  auto n = static_cast<size_t>(axes.count);
  if (c.args().size() != n) return attr_error("takes one size for each of {} axes, but has {}", n, c.args().size());
  const auto& scales = c.attrs().get_floats("scales");
  if (!scales.empty()) {
    MSVM_RETURN_IF_ERROR(require_list_length("scales", scales.size(), n));
    for (double s : scales)
      if (!(s > 0)) return attr_error("scales: each must be greater than 0, but one is {}", s);
    if (c.has_input(1)) return attr_error("scales are given twice, as attribute and as tensor");
  }
  MSVM_RETURN_IF_ERROR(require_vector(c, 1, m.constant(axes.count), "scales has one element for each resized axis"));
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, m.constant(2 * axes.count), "roi has a begin and an end for each resized axis"));
  if (!c.has_input(2) && c.attrs().get_string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize")
    return attr_error("roi is needed for tf_crop_and_resize");
  for (size_t i = 0; i < n; ++i) {
    Dim size = c.args()[i];
    Dim& d = shape[static_cast<size_t>(axes.axis[i])];
    if (size == d) continue;
    MSVM_RETURN_IF_ERROR(require_at_least(c, size, 0, "sizes are not negative"));
    MSVM_RETURN_IF_ERROR(c.require(CondOp::kLe, tight_min(m, size, m.constant(1)), d, "an axis without elements isn't enlarged"));
    d = size;
  }
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_grid_sample(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank_between(c, 0, 3, kMaxRank));
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, c.rank(0)));
  const auto &x = c.input(0).shape, &grid = c.input(1).shape;
  MSVM_RETURN_IF_ERROR(require_equal(c, grid[0], x[0], "X and grid have the same batch size"));
  MSVM_RETURN_IF_ERROR(require_equal(c, grid.back(), c.constant(c.rank(0) - 2),
                                     "the last axis of grid holds one coordinate for each spatial axis of X"));
  std::vector<Dim> shape{x[0], x[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  c.set_shape(0, std::move(shape));
  return {};
}

Status infer_affine_grid(InferContext& c) {
  size_t n = c.args().size() - 2;  // spatial axes
  DimContext& m = c.dims();
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 3));
  const auto& theta = c.input(0).shape;
  MSVM_RETURN_IF_ERROR(require_equal(c, theta[0], c.args()[0], "theta has the batch size of the image"));
  MSVM_RETURN_IF_ERROR(require_equal(c, theta[1], m.constant(static_cast<int64_t>(n)), "theta has one row for each spatial axis"));
  MSVM_RETURN_IF_ERROR(require_equal(c, theta[2], m.constant(static_cast<int64_t>(n) + 1),
                                     "theta has one column for each spatial axis and one for the shift"));
  for (Dim d : c.args()) MSVM_RETURN_IF_ERROR(require_at_least(c, d, 0, "sizes are not negative"));
  std::vector<Dim> shape{c.args()[0]};
  shape.insert(shape.end(), c.args().begin() + 2, c.args().end());
  shape.push_back(m.constant(static_cast<int64_t>(n)));
  c.set_shape(0, std::move(shape));
  return {};
}

}  // namespace

void add_image_ops(OpTable& table) {
  table.add({.name = "Resize",
             .since = 19,
             .op_class = OpClass::kContraction,
             .inputs = {{"X", kNotString, 'T'}, {"scales", bit(DType::kF32), 0, true}, {"roi", kFloats, 'R', true}},
             .max_args = kMaxRank,
             .args_doc = "sizes of the resized axes",
             .outputs = {{"Y", 'T'}},
             .hazards = kCastHazard | kSizeHazard,
             .attrs = {flag_attr("antialias", "0", "1 widens the filter where sizes shrink"),
                       axes_attr("all", "the resized axes"),
                       choice_attr("coordinate_transformation_mode", "half_pixel",
                                   "half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_corners|asymmetric|tf_crop_and_resize",
                                   "from positions of Y to those of X"),
                       float_attr("cubic_coeff_a", "-0.75", "shape of the cubic filter"),
                       flag_attr("exclude_outside", "0", "1 leaves out weights of positions outside X"),
                       float_attr("extrapolation_value", "0.0", "what tf_crop_and_resize gives outside X"),
                       choice_attr("mode", "nearest", "nearest|linear|cubic", "the filter"),
                       choice_attr("nearest_mode", "round_prefer_floor", "round_prefer_floor|round_prefer_ceil|floor|ceil",
                                   "which neighbour nearest takes"),
                       {.name = "scales",
                        .type = AttrType::kFloats,
                        .doc = "scales of the resized axes, for the coordinates",
                        .fallback = "sizes of Y over those of X"}},
             .infer = infer_resize,
             .doc = "X sampled at other sizes of some axes."});
  table.add({.name = "GridSample",
             .since = 22,
             .op_class = OpClass::kContraction,
             .inputs = {{"X", kNotString, 'T'}, {"grid", kFloats, 'G'}},
             .outputs = {{"Y", 'T'}},
             .hazards = kCastHazard,
             .attrs = {flag_attr("align_corners", "0", "whether -1 and 1 are the centres of the corner elements, not the borders"),
                       choice_attr("mode", "linear", "linear|nearest|cubic", "the filter"),
                       choice_attr("padding_mode", "zeros", "zeros|border|reflection", "what lies outside X")},
             .infer = infer_grid_sample,
             .doc = "X [N, C, D...] read at the positions in grid [N, O..., axes], which run from -1 to 1, last axis first."});
  table.add({.name = "AffineGrid",
             .since = 20,
             .op_class = OpClass::kOther,
             .inputs = {{"theta", kFloats, 'T'}},
             .min_args = 4,
             .max_args = 5,
             .args_doc = "N, C, [D,] H, W of the image",
             .outputs = {{"grid", 'T'}},
             .attrs = {flag_attr("align_corners", "0", "whether -1 and 1 are the centres of the corner elements, not the borders")},
             .infer = infer_affine_grid,
             .doc = "Positions for GridSample that a linear map per batch element gives."});
}

}  // namespace msvm
