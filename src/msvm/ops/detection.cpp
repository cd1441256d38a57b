// Boxes and regions of detectors.
#include "msvm/ops/families.h"
#include "msvm/ops/infer.h"

namespace msvm {
namespace {

Status infer_nms(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 3));
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, 3));
  const auto &boxes = c.input(0).shape, &scores = c.input(1).shape;
  MSVM_RETURN_IF_ERROR(require_equal(c, boxes[0], scores[0], "boxes and scores have the same batch size"));
  MSVM_RETURN_IF_ERROR(require_equal(c, boxes[1], scores[2], "there is one score for each box"));
  MSVM_RETURN_IF_ERROR(require_equal(c, boxes[2], c.constant(4), "a box has four coordinates"));
  for (size_t i = 2; i < 5; ++i) MSVM_RETURN_IF_ERROR(require_one_element(c, i));
  c.set_shape(0, {InferContext::data_dependent(), c.constant(3)});
  return {};
}

Status infer_roi_align(InferContext& c) {
  MSVM_RETURN_IF_ERROR(require_rank(c, 0, 4));
  MSVM_RETURN_IF_ERROR(require_rank(c, 1, 2));
  Dim regions = c.input(1).shape[0];
  MSVM_RETURN_IF_ERROR(require_equal(c, c.input(1).shape[1], c.constant(4), "a region has four coordinates"));
  MSVM_RETURN_IF_ERROR(require_vector(c, 2, regions, "there is one batch index for each region"));
  c.set_shape(0, {regions, c.input(0).shape[1], c.constant(c.attrs().get_int("output_height", 1)),
                  c.constant(c.attrs().get_int("output_width", 1))});
  return {};
}

}  // namespace

void add_detection_ops(OpTable& table) {
  constexpr DTypeSet kF32 = bit(DType::kF32);
  table.add({.name = "NonMaxSuppression",
             .since = 11,
             .op_class = OpClass::kIndexing,
             .inputs = {{"boxes", kF32},
                        {"scores", kF32},
                        {"max_output_boxes_per_class", bit(DType::kI64), 0, true},
                        {"iou_threshold", kF32, 0, true},
                        {"score_threshold", kF32, 0, true}},
             .outputs = {{"selected_indices", 0, DType::kI64}},
             .data_dependent = true,
             .hazards = kSizeHazard,
             .attrs = {flag_attr("center_point_box", "0", "0: boxes are corners y1, x1, y2, x2; 1: centre x, y, width, height")},
             .infer = infer_nms,
             .doc = "For each batch element and class the boxes by falling score, without those that overlap a better one too "
                    "much: rows of batch, class, box. "
                    "An absent max_output_boxes_per_class is 0: nothing."});
  table.add({.name = "RoiAlign",
             .since = 22,
             .op_class = OpClass::kContraction,
             .inputs = {{"X", kFloats, 'T'}, {"rois", kFloats, 'T'}, {"batch_indices", bit(DType::kI64)}},
             .outputs = {{"Y", 'T'}},
             .hazards = kIndexHazard | kCastHazard | kSizeHazard,
             .attrs = {choice_attr("coordinate_transformation_mode", "half_pixel", "half_pixel|output_half_pixel",
                                   "whether coordinates are shifted by half an element"),
                       choice_attr("mode", "avg", "avg|max", "how the samples of a cell are combined"),
                       int_attr("output_height", "1", 1, kNoLimit, "cells along the height"),
                       int_attr("output_width", "1", 1, kNoLimit, "cells along the width"),
                       int_attr("sampling_ratio", "0", 0, 1 << 20, "samples along each side of a cell; 0: by its size"),
                       float_attr("spatial_scale", "1.0", "from coordinates of regions to those of X")},
             .infer = infer_roi_align,
             .doc = "Mean or maximum of interpolated samples in each cell of a grid over each region x1, y1, x2, y2."});
}

}  // namespace msvm
