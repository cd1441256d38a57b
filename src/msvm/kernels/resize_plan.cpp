#include <algorithm>
#include <cmath>

#include "msvm/kernels/dense.h"
#include "msvm/kernels/resize.h"

namespace msvm {
namespace {

enum class Coordinates { kHalfPixel, kHalfPixelSymmetric, kPytorchHalfPixel, kAlignCorners, kAsymmetric, kCropAndResize };

Coordinates coordinates_from(std::string_view s) {
  if (s == "half_pixel_symmetric") return Coordinates::kHalfPixelSymmetric;
  if (s == "pytorch_half_pixel") return Coordinates::kPytorchHalfPixel;
  if (s == "align_corners") return Coordinates::kAlignCorners;
  if (s == "asymmetric") return Coordinates::kAsymmetric;
  if (s == "tf_crop_and_resize") return Coordinates::kCropAndResize;
  return Coordinates::kHalfPixel;
}

float original_position(Coordinates c, float x, float scale, float in, float out, float start, float end) {
  switch (c) {
    case Coordinates::kHalfPixel: return (x + 0.5f) / scale - 0.5f;
    case Coordinates::kHalfPixelSymmetric: {
      float adjustment = out / (scale * in);
      return in / 2 * (1 - adjustment) + (x + 0.5f) / scale - 0.5f;
    }
    case Coordinates::kPytorchHalfPixel: return out > 1 ? (x + 0.5f) / scale - 0.5f : 0.0f;
    case Coordinates::kAlignCorners: return out > 1 ? x * (in - 1) / (out - 1) : 0.0f;
    case Coordinates::kAsymmetric: return x / scale;
    case Coordinates::kCropAndResize: return out > 1 ? start * (in - 1) + x * (end - start) * (in - 1) / (out - 1) : 0.5f * (start + end) * (in - 1);
  }
  return x;
}

int64_t nearest_position(std::string_view mode, float x) {
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  float low = std::floor(x), part = x - low;
  bool up = mode == "round_prefer_ceil" ? part >= 0.5f : part > 0.5f;
  return static_cast<int64_t>(low) + up;
}

double cubic_weight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace

Status plan_resize(KernelCall& call, ResizePlan& plan) {
  const TensorMeta &x = *call.inputs[0], &y = *call.outputs[0];
  if (x.rank != y.rank) return shape_mismatch("Resize: input and result differ in rank");
  const Attributes& attrs = call.attrs;
  std::vector<int64_t> listed = attrs.get_ints("axes");
  if (!attrs.has("axes"))
    for (int d = 0; d < x.rank; ++d) listed.push_back(d);
  std::vector<double> scales = attrs.get_floats("scales"), roi;
  auto read = [](const TensorMeta* m, std::vector<double>& to) {
    if (!m || m->elements() == 0) return;
    to.resize(static_cast<size_t>(m->elements()));
    read_elements(*m, to.data());
  };
  read(input_or_null(call, 1), scales);
  read(input_or_null(call, 2), roi);
  std::string_view mode = attrs.get_string("mode", "nearest"), nearest = attrs.get_string("nearest_mode", "round_prefer_floor");
  const Coordinates coordinates = coordinates_from(attrs.get_string("coordinate_transformation_mode", "half_pixel"));
  const bool crop = coordinates == Coordinates::kCropAndResize, antialias = attrs.get_int("antialias", 0) != 0, exclude = attrs.get_int("exclude_outside", 0) != 0;
  const double a = attrs.get_float("cubic_coeff_a", -0.75);
  plan.mode = mode == "linear" ? ResizeMode::kLinear : mode == "cubic" ? ResizeMode::kCubic : ResizeMode::kNearest;
  plan.extrapolation = attrs.get_float("extrapolation_value", 0);
  if (!scales.empty() && scales.size() != listed.size()) return shape_mismatch("Resize: " + std::to_string(scales.size()) + " scales for " + std::to_string(listed.size()) + " axes");
  if (crop && roi.size() != 2 * listed.size()) return shape_mismatch("Resize: roi doesn't have two values per axis");
  plan.axes.assign(x.rank, {});
  for (int d = 0; d < x.rank; ++d) plan.axes[static_cast<size_t>(d)].in = plan.axes[static_cast<size_t>(d)].out = x.shape[d];
  bool seen[kMaxRank] = {};
  for (size_t i = 0; i < listed.size(); ++i) {
    int64_t d = listed[i] < 0 ? listed[i] + x.rank : listed[i];
    if (d < 0 || d >= x.rank || seen[d]) return out_of_range("Resize: axes out of range or repeated");
    seen[d] = true;
    ResizeAxis& axis = plan.axes[static_cast<size_t>(d)];
    axis.out = y.shape[d];
    const int64_t in = axis.in, out = axis.out;
    if (in == 0 && out > 0) return shape_mismatch("Resize: an empty axis can't grow");
    float scale = scales.empty() ? static_cast<float>(out) / static_cast<float>(in) : static_cast<float>(scales[i]);
    float start = crop ? static_cast<float>(roi[i]) : 0, end = crop ? static_cast<float>(roi[i + listed.size()]) : 1;
    if (!(scale > 0) || !std::isfinite(scale) || !std::isfinite(start) || !std::isfinite(end)) {
      if (out == 0) {
        axis.identity = in == 0;
        continue;
      }
      return out_of_range("Resize: scales must be positive and finite");
    }
    if (in == out && scale == 1.0f && (!crop || (start == 0 && end == 1))) continue;
    axis.identity = false;
    if (out == 0) continue;
    // With antialias a shrinking axis widens the filter.
    const double shrink = antialias && plan.mode != ResizeMode::kNearest && scale < 1 ? static_cast<double>(scale) : 1.0;
    int64_t first_tap = 0;
    if (plan.mode == ResizeMode::kLinear) first_tap = static_cast<int64_t>(std::floor(-1 / shrink)) + 1;
    if (plan.mode == ResizeMode::kCubic) first_tap = static_cast<int64_t>(std::floor(-2 / shrink)) + 1;
    if (first_tap < -(int64_t{1} << 24)) return out_of_range("Resize: the antialias filter is too wide");
    axis.taps = plan.mode == ResizeMode::kNearest ? 1 : 2 - 2 * first_tap;
    int64_t entries;
    if (__builtin_mul_overflow(axis.taps, out, &entries) || entries > (int64_t{1} << 32)) return resource_limit("Resize: the table of weights is too large");
    axis.position.resize(static_cast<size_t>(entries));
    if (plan.mode != ResizeMode::kNearest) axis.weight.resize(static_cast<size_t>(entries));
    if (crop) axis.outside.resize(static_cast<size_t>(out));
    for (int64_t o = 0; o < out; ++o) {
      float at = original_position(coordinates, static_cast<float>(o), scale, static_cast<float>(in), static_cast<float>(out), start, end);
      at = std::clamp(at, -9e15f, 9e15f);
      if (crop) axis.outside[static_cast<size_t>(o)] = at < 0 || at > static_cast<float>(in - 1);
      int64_t* position = axis.position.data() + o * axis.taps;
      if (plan.mode == ResizeMode::kNearest) {
        position[0] = std::clamp<int64_t>(nearest_position(nearest, at), 0, in - 1);
        continue;
      }
      double* weight = axis.weight.data() + o * axis.taps;
      const double base = std::floor(static_cast<double>(at)), ratio = static_cast<double>(at) - base;
      double sum = 0;
      for (int64_t t = 0; t < axis.taps; ++t) {
        int64_t p = static_cast<int64_t>(base) + first_tap + t;
        double distance = (static_cast<double>(first_tap + t) - ratio) * shrink;
        weight[t] = plan.mode == ResizeMode::kLinear ? std::max(0.0, 1 - std::fabs(distance)) : cubic_weight(distance, a);
        if (exclude && (p < 0 || p >= in)) weight[t] = 0;
        position[t] = std::clamp<int64_t>(p, 0, in - 1);
        sum += weight[t];
      }
      if ((exclude || shrink != 1.0) && sum != 0)
        for (int64_t t = 0; t < axis.taps; ++t) weight[t] /= sum;
    }
  }
  for (int d = 0; d < x.rank; ++d)
    if (plan.axes[static_cast<size_t>(d)].out != y.shape[d]) return shape_mismatch("Resize: an axis that isn't listed changes its size");
  return {};
}

}  // namespace msvm
