// Constants, and operators that make sizes or are made from sizes.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "importers/onnx/fold.h"
#include "importers/onnx/handlers.h"
#include "importers/onnx/scalar_math.h"

namespace msvm::onnx {
namespace {

Status constant(NodeImport& n) {
  if (const Attribute* a = n.attr("value")) {
    if (!a->tensor) return invalid_argument("attribute 'value' holds no tensor");
    MSVM_ASSIGN_OR_RETURN(Value v, n.im.constant(*a->tensor));
    n.set(0, v);
  } else if (n.has_attr("value_float")) {
    n.set(0, scalars_value({DType::kF32, {}, {float_scalar(n.float_attr("value_float", 0))}}));
  } else if (n.has_attr("value_int")) {
    n.set(0, scalars_value(size_scalar(n.constant(n.int_attr("value_int", 0)))));
  } else if (n.has_attr("value_floats")) {
    auto values = n.floats_attr("value_floats");
    MSVM_ASSIGN_OR_RETURN(OwnedConst c, make_const("", DType::kF32, {static_cast<int64_t>(values.size())}));
    for (size_t i = 0; i < values.size(); ++i) {
      auto v = static_cast<float>(values[i]);
      std::memcpy(c.bytes + i * sizeof v, &v, sizeof v);
    }
    n.set(0, const_value(c.tensor));
  } else if (n.has_attr("value_ints")) {
    auto values = n.ints_attr("value_ints");
    MSVM_ASSIGN_OR_RETURN(OwnedConst c, make_const("", DType::kI64, {static_cast<int64_t>(values.size())}));
    if (!values.empty()) std::memcpy(c.bytes, values.data(), c.tensor->bytes);
    n.set(0, const_value(c.tensor));
  } else if (const Attribute* s = n.attr("value_string")) {
    auto c = std::make_shared<ConstTensor>();
    c->dtype = DType::kString;
    c->strings = {std::string(s->s)};
    n.set(0, const_value(c));
  } else if (const Attribute* list = n.attr("value_strings")) {
    auto c = std::make_shared<ConstTensor>();
    c->dtype = DType::kString;
    c->strings.assign(list->strings.begin(), list->strings.end());
    c->shape = {static_cast<int64_t>(c->strings.size())};
    c->elements = c->shape[0];
    n.set(0, const_value(c));
  } else {
    return unsupported("a constant without a value, or with a sparse one");
  }
  return {};
}

/// The static shape of an input; none if its rank isn't known.
Result<std::optional<std::vector<Dim>>> shape_of(NodeImport& n, size_t i) {
  MSVM_RETURN_IF_ERROR(n.need(i));
  const Value& v = n.inputs[i];
  std::vector<Dim> out;
  if (v->kind == ValueKind::kConst || v->kind == ValueKind::kScalars) {
    for (int64_t d : v->kind == ValueKind::kConst ? v->constant->shape : v->scalars->shape) out.push_back(n.constant(d));
    return std::optional(out);
  }
  MSVM_ASSIGN_OR_RETURN(Reg r, n.tensor(i));
  const TensorType& t = n.fb().tensor_type(r);
  if (t.unknown_rank) return std::optional<std::vector<Dim>>();
  return std::optional(t.shape);
}

Status shape(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(auto sizes, shape_of(n, 0));
  if (!sizes) return import_same(n);
  auto rank = static_cast<int64_t>(sizes->size());
  auto bound = [rank](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  int64_t start = bound(n.int_attr("start", 0)), end = bound(n.int_attr("end", rank));
  std::vector<Dim> part;
  for (int64_t i = start; i < end; ++i) {
    part.push_back((*sizes)[static_cast<size_t>(i)]);
    n.im.note_size(part.back());
  }
  n.set(0, scalars_value(size_vector(part)));
  return {};
}

Status size(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(auto sizes, shape_of(n, 0));
  if (!sizes) return import_same(n);
  MSVM_ASSIGN_OR_RETURN(Dim total, product(n, *sizes));
  n.im.note_size(total);
  n.set(0, scalars_value(size_scalar(total)));
  return {};
}

double half_value(uint16_t bits, bool brain) {
  if (brain) {
    uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &wide, sizeof f);
    return f;
  }
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : exponent == 31 ? (fraction ? NAN : INFINITY) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// The attribute `value` of ConstantOfShape as attributes of msvm.Fill.
Result<Attributes> fill_attributes(NodeImport& n) {
  const Attribute* a = n.attr("value");
  if (!a) return Attributes{{"dtype", DType::kF32}, {"value", 0.0}};
  if (!a->tensor) return invalid_argument("attribute 'value' holds no tensor");
  MSVM_ASSIGN_OR_RETURN(Value v, n.im.constant(*a->tensor));
  const ConstTensor& c = *v->constant;
  if (c.elements != 1) return invalid_argument("attribute 'value' must have one element");
  if (c.dtype == DType::kF16 || c.dtype == DType::kBF16) {
    uint16_t bits;
    std::memcpy(&bits, c.data, sizeof bits);
    return Attributes{{"dtype", c.dtype}, {"value", half_value(bits, c.dtype == DType::kBF16)}};
  }
  auto known = known_scalars(v, n.dims());
  if (!known) return unsupported("a value of type " + std::string(dtype_name(c.dtype)));
  const Scalar& s = known->items[0];
  Attributes out{{"dtype", c.dtype}};
  if (s.kind == ScalarKind::kFloat) out.set("value", s.number);
  else out.set("value", s.kind == ScalarKind::kBool ? int64_t{s.truth} : s.dim.value());
  return out;
}

Status constant_of_shape(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, fill_attributes(n));
  MSVM_RETURN_IF_ERROR(n.need(0));
  if (!n.sizes_possible(0)) {
    MSVM_ASSIGN_OR_RETURN(Reg one, n.call("msvm.Fill", {}, {}, attrs));
    MSVM_ASSIGN_OR_RETURN(Reg to, n.tensor(0));
    MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Expand", {one, to}));
    n.set(0, y);
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> sizes, n.sizes(0));
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("msvm.Fill", {}, sizes, attrs));
  n.set(0, y);
  return {};
}

Status range(NodeImport& n) {
  MSVM_RETURN_IF_ERROR(n.need(2));
  MSVM_ASSIGN_OR_RETURN(DType dtype, n.im.dtype(n.inputs[0]));
  bool sizes = is_integer(dtype) && n.sizes_possible(0) && n.sizes_possible(1) && n.sizes_possible(2);
  if (!sizes) return import_same(n);
  n.attr("stash_type");
  DimContext& dims = n.dims();
  MSVM_ASSIGN_OR_RETURN(Dim start, one_size(n, 0));
  MSVM_ASSIGN_OR_RETURN(Dim limit, one_size(n, 1));
  MSVM_ASSIGN_OR_RETURN(Dim delta, one_size(n, 2));
  if (delta.is_const(0)) return invalid_argument("delta is 0");
  Dim count = dims.max(dims.ceildiv(dims.sub(limit, start), delta), n.constant(0));
  if (!count.valid()) return overflow_error("the arithmetic of its sizes overflows");
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("msvm.Iota", {}, {start, count, delta}, {{"dtype", dtype}}));
  n.set(0, y);
  return {};
}

Status pad(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
  size_t rank = n.shape(x).size();
  std::vector<int64_t> axes = all_axes(rank);
  if (n.opset >= 18 && n.has(3)) {
    MSVM_ASSIGN_OR_RETURN(axes, n.ints(3));
    for (int64_t& a : axes) { MSVM_ASSIGN_OR_RETURN(a, normal_axis(a, rank)); }
  }
  std::vector<Dim> pads;
  Reg value = kNoReg;
  if (n.opset < 11) {
    for (int64_t p : n.ints_attr("pads")) pads.push_back(n.constant(p));
    if (n.has_attr("value")) { MSVM_ASSIGN_OR_RETURN(value, n.number(n.float_attr("value", 0), n.fb().tensor_type(x).dtype)); }
  } else {
    MSVM_ASSIGN_OR_RETURN(pads, sizes_of_length(n, 1, 2 * axes.size()));
    MSVM_ASSIGN_OR_RETURN(value, n.optional_tensor(2));
  }
  if (pads.size() != 2 * axes.size()) return invalid_argument("it needs two pads per axis");
  std::vector<Dim> args(2 * rank, n.constant(0));
  bool none = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    args[static_cast<size_t>(axes[i])] = pads[i];
    args[static_cast<size_t>(axes[i]) + rank] = pads[i + axes.size()];
    none &= pads[i].is_const(0) && pads[i + axes.size()].is_const(0);
  }
  MSVM_ASSIGN_OR_RETURN(Attributes attrs, n.attributes_for("Pad"));
  if (none) {
    n.set(0, x);
    return {};
  }
  std::vector<Reg> in{x};
  if (value != kNoReg) in.push_back(value);
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Pad", in, args, attrs));
  n.set(0, y);
  return {};
}

Status tile(NodeImport& n) {
  MSVM_ASSIGN_OR_RETURN(Reg x, n.ranked(0));
  MSVM_ASSIGN_OR_RETURN(std::vector<Dim> repeats, sizes_of_length(n, 1, n.shape(x).size()));
  bool none = true;
  for (Dim r : repeats) none &= r.is_const(1);
  if (none) {
    n.set(0, x);
    return {};
  }
  MSVM_ASSIGN_OR_RETURN(Reg y, n.call("Tile", {x}, repeats));
  n.set(0, y);
  return {};
}

constexpr HandlerRow kRows[] = {
    {"Constant", constant}, {"Shape", shape}, {"Size", size}, {"ConstantOfShape", constant_of_shape}, {"Range", range}, {"Pad", pad}, {"Tile", tile},
};

}  // namespace

std::span<const HandlerRow> size_handlers() { return kRows; }

}  // namespace msvm::onnx
