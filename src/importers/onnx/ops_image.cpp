// Resize and its ancestors, sampling and cropping.
#include <cmath>

#include "importers/onnx/fold.h"
#include "importers/onnx/handlers.h"
#include "importers/onnx/scalar_math.h"

namespace msvm::onnx {
namespace {

Result<Dim> float_to_size(NodeImport& n, const MaybeScalar& v) {
  if (!v) return overflow_error("the arithmetic of its sizes can't be followed");
  auto d = scalar_cast(n.im, DType::kF32, DType::kI64, *v);
  if (!d) return invalid_argument("a scale gives no size");
  return d->dim;
}

/// floor(size * scale) as f32 computes it; exact products stay expressions.
Result<Dim> scaled(NodeImport& n, Dim size, const Scalar& scale) {
  if (scale.kind != ScalarKind::kFloat) return invalid_argument("scales must be floats");
  if (scale.is_const()) {
    double s = scale.number;
    if (!(s > 0) || !std::isfinite(s)) return invalid_argument("a scale isn't positive");
    if (s == std::floor(s) && s < 1e6) {
      Dim d = n.dims().mul(size, n.constant(static_cast<int64_t>(s)));
      if (d.valid()) return d;
    }
    int exponent;
    if (std::frexp(s, &exponent) == 0.5 && s < 1 && exponent > -20) return n.dims().floordiv(size, n.constant(static_cast<int64_t>(1 / s)));
  }
  auto wide = scalar_cast(n.im, DType::kI64, DType::kF32, int_scalar(size));
  if (!wide) return overflow_error("the arithmetic of its sizes can't be followed");
  auto product = scalar_mul(n.im, DType::kF32, *wide, scale);
  if (!product) return overflow_error("the arithmetic of its sizes can't be followed");
  return float_to_size(n, scalar_unary(n.im, DType::kF32, ScalarOp::kFloor, *product));
}

struct Scales {
  Scalars values;
  Reg tensor = kNoReg;  // computed ones
};

Status set_scales(Scales& s, std::vector<Reg>& in, Attributes& attrs) {
  if (s.values.is_const()) {
    std::vector<double> list;
    for (const Scalar& v : s.values.items) list.push_back(v.number);
    attrs.set("scales", list);
  } else {
    in.push_back(s.tensor);
  }
  return {};
}

/// Scales from input `i`, one per axis of `count`.
Result<Scales> read_scales(NodeImport& n, size_t i, size_t count) {
  Scales s;
  if (!n.sizes_possible(i)) {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.tensor(i));
    TensorType t = n.fb().tensor_type(r);
    if (!t.unknown_rank && t.rank() != 1) return invalid_argument("scales must be a list");
    t.unknown_rank = false;
    t.shape = {n.constant(static_cast<int64_t>(count))};
    n.inputs[i] = tensor_value(n.fb().narrow(r, t));
  }
  MSVM_ASSIGN_OR_RETURN(s.values, n.im.scalars(n.inputs[i]));
  if (s.values.items.size() != count) return invalid_argument("it has " + std::to_string(s.values.items.size()) + " scales for " + std::to_string(count) + " axes");
  if (!s.values.is_const()) { MSVM_ASSIGN_OR_RETURN(s.tensor, n.tensor(i)); }
  return s;
}

/// Upsample, and Resize of opset 10.
Status upsample(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
  std::vector<Dim> shape = n.shape(x);
  Scales s;
  if (n.op() == "Upsample" && n.opset < 9) {
    s.values.dtype = DType::kF32;
    for (double v : n.floats_attr("scales")) s.values.items.push_back(float_scalar(v));
    if (s.values.items.size() != shape.size()) return invalid_argument("it needs one scale per axis");
  } else {
    MSVM_RETURN_IF_ERROR(n.need(1));
    MSVM_ASSIGN_OR_RETURN(s, read_scales(n, 1, shape.size()));
  }
  std::string mode = n.string_attr("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  std::vector<Dim> sizes;
  bool shrinks = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    MSVM_ASSIGN_OR_RETURN(Dim d, scaled(n, shape[i], s.values.items[i]));
    sizes.push_back(d);
    shrinks |= s.values.items[i].is_const() && s.values.items[i].number < 1;
  }
  Attributes attrs{{"mode", mode}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", shrinks && n.op() == "Resize" ? "ceil" : "floor"}};
  std::vector<Reg> in{x};
  MSVM_RETURN_IF_ERROR(set_scales(s, in, attrs));
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Resize", in, sizes, attrs));
  n.set(0, y);
  return {};
}

bool is_empty(NodeImport& n, size_t i) {
  if (!n.has(i)) return true;
  const Value& v = n.inputs[i];
  if (v->kind == ValueKind::kConst) return v->constant->elements == 0;
  if (v->kind == ValueKind::kScalars) return v->scalars->items.empty();
  if (v->kind != ValueKind::kTensor) return false;
  const TensorType& t = n.fb().tensor_type(v->reg);
  return !t.unknown_rank && t.rank() == 1 && t.shape[0].is_const(0);
}

/// keep_aspect_ratio_policy: one scale for all axes, the smallest or largest that the wanted sizes ask for.
Status keep_ratio(NodeImport& n, const std::string& policy, const std::vector<Dim>& in, std::vector<Dim>& sizes, Scales& scales) {
  bool smaller = policy == "not_larger";
  if (!smaller && policy != "not_smaller") return invalid_argument("keep_aspect_ratio_policy '" + policy + "'");
  bool constant = true;
  for (size_t i = 0; i < in.size(); ++i) constant &= in[i].is_const() && sizes[i].is_const() && in[i].value() > 0;
  if (constant) {
    double scale = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      double s = static_cast<double>(sizes[i].value()) / static_cast<double>(in[i].value());
      scale = i == 0 ? s : smaller ? std::min(scale, s) : std::max(scale, s);
    }
    for (size_t i = 0; i < in.size(); ++i) {
      sizes[i] = n.constant(static_cast<int64_t>(std::floor(scale * static_cast<double>(in[i].value()) + 0.5)));
      scales.values.items.push_back(float_scalar(scale));
    }
    return {};
  }
  Reg scale = kNoReg;
  std::vector<Reg> wide;
  for (size_t i = 0; i < in.size(); ++i) {
    wide.push_back(n.fb().scalar_from_int(in[i]));
    Reg s = n.fb().scalar_calc(ScalarOp::kDiv, n.fb().scalar_from_int(sizes[i]), wide[i]);
    scale = i == 0 ? s : n.fb().scalar_calc(smaller ? ScalarOp::kMin : ScalarOp::kMax, scale, s);
  }
  Reg half = n.fb().scalar_const(0.5);
  for (size_t i = 0; i < in.size(); ++i) {
    Reg rounded = n.fb().scalar_calc(ScalarOp::kFloor, n.fb().scalar_calc(ScalarOp::kAdd, n.fb().scalar_calc(ScalarOp::kMul, scale, wide[i]), half));
    sizes[i] = n.fb().scalar_to_int(rounded);
  }
  return {};
}

Status resize(NodeImport& n) {
  if (n.opset < 11) return upsample(n);
  MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
  std::vector<Dim> shape = n.shape(x);
  std::vector<int64_t> axes = all_axes(shape.size());
  bool all = true;
  if (n.opset >= 18 && n.has_attr("axes")) {
    axes = n.ints_attr("axes");
    all = false;
    for (int64_t& a : axes) { MSVM_ASSIGN_OR_RETURN(a, normal_axis(a, shape.size())); }
  }
  std::string policy = n.opset >= 18 ? n.string_attr("keep_aspect_ratio_policy", "stretch") : "stretch";
  std::string coordinates = n.string_attr("coordinate_transformation_mode", "half_pixel");
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("Resize"));
  attrs.set("coordinate_transformation_mode", coordinates);
  std::vector<Dim> before, sizes;
  for (int64_t a : axes) before.push_back(shape[static_cast<size_t>(a)]);
  Scales scales;
  std::vector<Reg> in{x};
  if (!is_empty(n, 2)) {
    MSVM_ASSIGN_OR_RETURN(scales, read_scales(n, 2, axes.size()));
    for (size_t i = 0; i < axes.size(); ++i) {
      MSVM_ASSIGN_OR_RETURN(Dim d, scaled(n, before[i], scales.values.items[i]));
      sizes.push_back(d);
    }
  } else if (!is_empty(n, 3)) {
    MSVM_ASSIGN_OR_RETURN(sizes, sizes_of_length(n, 3, axes.size()));
    if (policy != "stretch") MSVM_RETURN_IF_ERROR(keep_ratio(n, policy, before, sizes, scales));
  } else {
    return invalid_argument("it has neither scales nor sizes");
  }
  if (!scales.values.items.empty()) MSVM_RETURN_IF_ERROR(set_scales(scales, in, attrs));
  if (coordinates == "tf_crop_and_resize") {
    if (in.size() == 1) in.push_back(kNoReg);
    MSVM_ASSIGN_OR_RETURN(Reg roi, n.tensor(1));
    in.push_back(roi);
  }
  if (!all) attrs.set("axes", axes);
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Resize", in, sizes, attrs));
  n.set(0, y);
  return {};
}

Status grid_sample(NodeImport& n) {
  std::string mode = n.string_attr("mode", "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("GridSample"));
  attrs.set("mode", mode);
  MSVM_ASSIGN_OR_RETURN(Reg x, n.tensor(0));
  MSVM_ASSIGN_OR_RETURN(Reg grid, n.tensor(1));
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("GridSample", {x, grid}, {}, attrs));
  n.set(0, y);
  return {};
}

Status roi_align(NodeImport& n) {
  std::string mode = n.string_attr("coordinate_transformation_mode", n.opset < 16 ? "output_half_pixel" : "half_pixel");
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("RoiAlign"));
  attrs.set("coordinate_transformation_mode", mode);
  std::vector<Reg> in;
  for (size_t i = 0; i < 3; ++i) {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.tensor(i));
    in.push_back(r);
  }
  return n.call_all("RoiAlign", in, {}, std::move(attrs));
}

/// Operators whose inputs from `first` on are lists of sizes, all of them arguments here.
template <size_t first>
Status with_size_lists(NodeImport& n) {
  std::vector<Reg> in;
  for (size_t i = 0; i < first; ++i) {
    MSVM_ASSIGN_OR_RETURN(Reg r, n.tensor(i));
    in.push_back(r);
  }
  std::vector<Dim> args;
  for (size_t i = first; i < n.inputs.size(); ++i) {
    if (!n.has(i)) continue;
    MSVM_ASSIGN_OR_RETURN(std::vector<Dim> sizes, n.sizes(i));
    args.insert(args.end(), sizes.begin(), sizes.end());
  }
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for(n.op()));
  return n.call_all(n.op(), in, args, std::move(attrs));
}

constexpr HandlerRow kRows[] = {
    {"Resize", resize},
    {"Upsample", upsample},
    {"GridSample", grid_sample},
    {"RoiAlign", roi_align},
    {"AffineGrid", with_size_lists<1>},
    {"CenterCropPad", with_size_lists<1>},
    {"Col2Im", with_size_lists<1>},
    {"MaxUnpool", with_size_lists<2>},
};

}  // namespace

std::span<const HandlerRow> image_handlers() { return kRows; }

}  // namespace msvm::onnx
