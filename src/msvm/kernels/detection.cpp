// NonMaxSuppression, RoiAlign and MaxRoiPool.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/families.h"

namespace msvm {
namespace {

struct Box {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};
Box box_from(const float* b, bool center) {
  if (center) return {b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
  // y1, x1, y2, x2 of any diagonal pair of corners.
  return {std::min(b[1], b[3]), std::min(b[0], b[2]), std::max(b[1], b[3]), std::max(b[0], b[2])};
}
bool overlaps(const Box& a, const Box& b, float threshold) {
  float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0), h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (!(w > 0) || !(h > 0)) return false;
  float both = w * h, all = a.area() + b.area() - both;
  return all > 0 && both / all > threshold;
}

template <class T>
Status one_value(const KernelCall& call, size_t i, T fallback, T& value) {
  value = fallback;
  const TensorMeta* m = input_or_null(call, i);
  if (!m) return {};
  if (m->elements() != 1) return shape_mismatch(std::string(call.op.name) + ": input " + std::to_string(i) + " must have one element");
  read_elements(*m, &value);
  return {};
}

Status ref_nms(KernelCall& call) {
  const TensorMeta &boxes = *call.inputs[0], &scores = *call.inputs[1];
  if (boxes.rank != 3 || scores.rank != 3 || boxes.shape[2] != 4 || boxes.shape[0] != scores.shape[0] || boxes.shape[1] != scores.shape[2])
    return shape_mismatch("NonMaxSuppression: boxes " + to_string(boxes) + " and scores " + to_string(scores) + " don't fit");
  int64_t most = 0;
  float iou = 0, least = 0;
  MSVM_RETURN_IF_ERROR(one_value<int64_t>(call, 2, 0, most));
  MSVM_RETURN_IF_ERROR(one_value<float>(call, 3, 0.0f, iou));
  MSVM_RETURN_IF_ERROR(one_value<float>(call, 4, 0.0f, least));
  if (!(iou >= 0 && iou <= 1)) return out_of_range("NonMaxSuppression: iou_threshold must be in [0, 1]");
  const bool has_least = input_or_null(call, 4) != nullptr, center = call.attrs.get_int("center_point_box", 0) != 0;
  MSVM_ASSIGN_OR_RETURN(const float* b, dense_input<float>(call, boxes));
  MSVM_ASSIGN_OR_RETURN(const float* s, dense_input<float>(call, scores));
  const int64_t n = boxes.shape[1], classes = scores.shape[1];
  std::vector<int64_t> picked, order;
  std::vector<Box> kept;
  for (int64_t i = 0; i < boxes.shape[0]; ++i)
    for (int64_t c = 0; c < classes && most > 0; ++c) {
      const float* score = s + (i * classes + c) * n;
      order.clear();
      for (int64_t k = 0; k < n; ++k)
        if (!has_least || score[k] > least) order.push_back(k);
      // Equal scores: the lower index first. NaN counts as lowest.
      std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) { return std::isnan(score[q]) ? !std::isnan(score[p]) : score[p] > score[q]; });
      kept.clear();
      for (int64_t k : order) {
        if (static_cast<int64_t>(kept.size()) >= most) break;
        Box box = box_from(b + (i * n + k) * 4, center);
        if (std::any_of(kept.begin(), kept.end(), [&](const Box& other) { return overlaps(box, other, iou); })) continue;
        kept.push_back(box);
        picked.insert(picked.end(), {i, c, k});
      }
    }
  const int64_t shape[] = {static_cast<int64_t>(picked.size() / 3), 3};
  MSVM_RETURN_IF_ERROR(call.memory.allocate_output(0, DType::kI64, shape));
  write_elements(picked.data(), *call.outputs[0]);
  return {};
}

Status ref_roi_align(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &rois = *call.inputs[1], &y = *call.outputs[0];
  if (x.rank != 4 || rois.rank != 2 || rois.shape[1] != 4 || call.inputs[2]->elements() != rois.shape[0] || y.rank != 4 || y.shape[0] != rois.shape[0] || y.shape[1] != x.shape[1])
    return shape_mismatch("RoiAlign: shapes don't fit");
  MSVM_ASSIGN_OR_RETURN(const double* xv, dense_input<double>(call, x));
  MSVM_ASSIGN_OR_RETURN(const double* rv, dense_input<double>(call, rois));
  MSVM_ASSIGN_OR_RETURN(const int64_t* image, dense_input<int64_t>(call, *call.inputs[2]));
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  const bool half = call.attrs.get_string("coordinate_transformation_mode", "half_pixel") == "half_pixel", average = call.attrs.get_string("mode", "avg") == "avg";
  const double scale = call.attrs.get_float("spatial_scale", 1);
  const int64_t ratio = call.attrs.get_int("sampling_ratio", 0), channels = x.shape[1], height = x.shape[2], width = x.shape[3], oh = y.shape[2], ow = y.shape[3];
  for (int64_t r = 0; r < rois.shape[0]; ++r) {
    if (image[r] < 0 || image[r] >= x.shape[0]) return out_of_range("RoiAlign: batch index " + std::to_string(image[r]) + " is outside [0, " + std::to_string(x.shape[0]) + ")");
    double start[2], bin[2];
    int64_t grid[2];
    for (int d = 0; d < 2; ++d) {  // 0: rows, 1: columns
      double from = rv[r * 4 + (1 - d)] * scale - (half ? 0.5 : 0), to = rv[r * 4 + 2 + (1 - d)] * scale - (half ? 0.5 : 0), size = to - from;
      if (!half) size = std::max(size, 1.0);
      start[d] = from;
      bin[d] = size / static_cast<double>(d ? ow : oh);
      double cells = ratio > 0 ? static_cast<double>(ratio) : std::ceil(bin[d]);
      if (!std::isfinite(from) || !(cells < 65536)) return out_of_range("RoiAlign: region " + std::to_string(r) + " is too large or not finite");
      grid[d] = std::max<int64_t>(0, static_cast<int64_t>(cells));
    }
    const double count = static_cast<double>(std::max<int64_t>(1, grid[0] * grid[1]));
    for (int64_t o = 0; o < oh * ow; ++o) {
      for (int64_t c = 0; c < channels; ++c) out[(r * channels + c) * oh * ow + o] = 0;
      for (int64_t g = 0; g < grid[0] * grid[1] && height * width > 0; ++g) {
        double p[2] = {start[0] + static_cast<double>(o / ow) * bin[0] + (static_cast<double>(g / grid[1]) + 0.5) * bin[0] / static_cast<double>(grid[0]),
                       start[1] + static_cast<double>(o % ow) * bin[1] + (static_cast<double>(g % grid[1]) + 0.5) * bin[1] / static_cast<double>(grid[1])};
        double size[2] = {static_cast<double>(height), static_cast<double>(width)}, part[2];
        int64_t low[2], high[2];
        bool outside = false;
        for (int d = 0; d < 2; ++d) {
          outside = outside || !(p[d] >= -1 && p[d] <= size[d]);
          double q = outside ? 0 : std::max(p[d], 0.0);
          low[d] = std::min(static_cast<int64_t>(q), (d ? width : height) - 1);
          high[d] = std::min(low[d] + 1, (d ? width : height) - 1);
          part[d] = high[d] == low[d] ? 0 : q - static_cast<double>(low[d]);
        }
        double w[4] = {(1 - part[0]) * (1 - part[1]), (1 - part[0]) * part[1], part[0] * (1 - part[1]), part[0] * part[1]};
        int64_t at[4] = {low[0] * width + low[1], low[0] * width + high[1], high[0] * width + low[1], high[0] * width + high[1]};
        for (int64_t c = 0; c < channels; ++c) {
          const double* plane = xv + (image[r] * channels + c) * height * width;
          double& to = out[(r * channels + c) * oh * ow + o];
          if (average) {
            if (!outside) to += w[0] * plane[at[0]] + w[1] * plane[at[1]] + w[2] * plane[at[2]] + w[3] * plane[at[3]];
          } else {  // the largest weighted corner, as the standard has it
            double v = outside ? 0 : std::max(std::max(w[0] * plane[at[0]], w[1] * plane[at[1]]), std::max(w[2] * plane[at[2]], w[3] * plane[at[3]]));
            to = g == 0 ? v : std::max(to, v);
          }
        }
      }
      if (average)
        for (int64_t c = 0; c < channels; ++c) out[(r * channels + c) * oh * ow + o] /= count;
    }
  }
  out.commit();
  return {};
}

// Rois are [image, x1, y1, x2, y2], rounded to whole pixels, both ends included.
Status ref_max_roi_pool(KernelCall& call) {
  const TensorMeta &x = *call.inputs[0], &rois = *call.inputs[1], &y = *call.outputs[0];
  if (x.rank != 4 || rois.rank != 2 || rois.shape[1] != 5 || y.rank != 4 || y.shape[0] != rois.shape[0] || y.shape[1] != x.shape[1]) return shape_mismatch("MaxRoiPool: shapes don't fit");
  MSVM_ASSIGN_OR_RETURN(const double* xv, dense_input<double>(call, x));
  MSVM_ASSIGN_OR_RETURN(const double* rv, dense_input<double>(call, rois));
  DenseOutput<double> out;
  MSVM_RETURN_IF_ERROR(out.open(call, &y));
  const double scale = call.attrs.get_float("spatial_scale", 1);
  const int64_t channels = x.shape[1], size[2] = {x.shape[2], x.shape[3]}, pooled[2] = {y.shape[2], y.shape[3]};
  for (int64_t r = 0; r < rois.shape[0]; ++r) {
    const double* roi = rv + r * 5;
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(x.shape[0]))) return out_of_range("MaxRoiPool: image index outside the batch");
    const int64_t image = static_cast<int64_t>(roi[0]);
    double start[2], bin[2];
    for (int d = 0; d < 2; ++d) {
      start[d] = std::round(roi[2 - d] * scale);
      double end = std::round(roi[4 - d] * scale);
      if (!(std::fabs(start[d]) < 1e15 && std::fabs(end) < 1e15)) return out_of_range("MaxRoiPool: region " + std::to_string(r) + " is too large or not finite");
      bin[d] = std::max(end - start[d] + 1, 1.0) / static_cast<double>(pooled[d]);
    }
    auto range = [&](int d, int64_t p, int64_t& first, int64_t& last) {
      double low = std::floor(static_cast<double>(p) * bin[d]) + start[d], high = std::ceil(static_cast<double>(p + 1) * bin[d]) + start[d];
      first = static_cast<int64_t>(std::clamp(low, 0.0, static_cast<double>(size[d])));
      last = static_cast<int64_t>(std::clamp(high, 0.0, static_cast<double>(size[d])));
    };
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t ph = 0; ph < pooled[0]; ++ph)
        for (int64_t pw = 0; pw < pooled[1]; ++pw) {
          int64_t h0, h1, w0, w1;
          range(0, ph, h0, h1);
          range(1, pw, w0, w1);
          double best = 0;  // of an empty bin
          bool any = false;
          for (int64_t h = h0; h < h1; ++h)
            for (int64_t w = w0; w < w1; ++w) {
              double v = xv[((image * channels + c) * size[0] + h) * size[1] + w];
              if (!any || v > best) best = v;
              any = true;
            }
          out[((r * channels + c) * pooled[0] + ph) * pooled[1] + pw] = best;
        }
  }
  out.commit();
  return {};
}

double nms_work(const KernelCall& call) { return static_cast<double>(call.inputs[1]->elements()); }

}  // namespace

void add_detection_kernels(KernelList& list) {
  list.push_back({.name = "ref_non_max_suppression", .op = "NonMaxSuppression", .run = ref_nms, .dtypes = bit(DType::kF32), .work = nms_work, .default_ns_per_work = 20});
  list.push_back({.name = "ref_roi_align", .op = "RoiAlign", .run = ref_roi_align, .dtypes = kFloats, .default_ns_per_work = 40});
  list.push_back({.name = "ref_max_roi_pool", .op = "MaxRoiPool", .run = ref_max_roi_pool, .dtypes = kFloats, .default_ns_per_work = 40});
}

}  // namespace msvm
