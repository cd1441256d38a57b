#include "importers/onnx/scalar_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "msvm/base/checked.h"

namespace msvm::onnx {
namespace {

constexpr int kMaxExprDepth = 32;

bool floats_followed(DType t) { return t == DType::kF32 || t == DType::kF64; }
double round_to(DType t, double v) { return t == DType::kF32 ? static_cast<double>(static_cast<float>(v)) : v; }

bool fits(DType t, int64_t v) {
  switch (t) {
    case DType::kI8: return v >= INT8_MIN && v <= INT8_MAX;
    case DType::kI16: return v >= INT16_MIN && v <= INT16_MAX;
    case DType::kI32: return v >= INT32_MIN && v <= INT32_MAX;
    case DType::kI64: return true;
    case DType::kU8: return v >= 0 && v <= UINT8_MAX;
    case DType::kU16: return v >= 0 && v <= UINT16_MAX;
    case DType::kU32: return v >= 0 && v <= UINT32_MAX;
    case DType::kU64: return v >= 0;
    case DType::kF64:
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
    case DType::kBool:
    case DType::kString: return false;
  }
  return false;
}

/// A computed integer of type `t`: sizes are followed in i64 and i32 only.
MaybeScalar integer(DType t, Dim d) {
  if (!d.valid()) return std::nullopt;
  if (d.is_const() ? !fits(t, d.value()) : t != DType::kI64 && t != DType::kI32) return std::nullopt;
  return int_scalar(d);
}

int depth_of(const Scalar& s) { return s.expr ? s.expr->depth : 0; }

/// A long chain is cut by computing what stands below it now.
MaybeScalar expression(GraphImporter& im, ScalarKind kind, Expr e) {
  e.depth = 1 + std::max(depth_of(e.a), depth_of(e.b));
  Scalar s = expr_scalar(kind, e);
  if (s.expr->depth < kMaxExprDepth) return s;
  auto r = kind == ScalarKind::kFloat ? im.float_reg(s) : im.bool_reg(s);
  if (!r.ok()) return std::nullopt;
  Expr leaf;
  leaf.reg = *r;
  return expr_scalar(kind, leaf);
}

MaybeScalar float_op(GraphImporter& im, DType t, ScalarOp op, const Scalar& a, const Scalar& b, double (*eval)(double, double)) {
  if (!floats_followed(t)) return std::nullopt;
  if (a.is_const() && b.is_const()) return float_scalar(round_to(t, eval(a.number, b.number)));
  Expr e;
  e.kind = Expr::Kind::kFloat;
  e.op = static_cast<uint8_t>(op);
  e.round_f32 = t == DType::kF32;
  e.a = a;
  e.b = b;
  e.binary = true;
  return expression(im, ScalarKind::kFloat, std::move(e));
}

/// The expression, or where the context can't hold it a SHAPE_CALC.
MaybeScalar int_op(GraphImporter& im, DType t, CalcOp op, Dim expression, const Scalar& a, const Scalar& b) {
  if (expression.valid()) return integer(t, expression);
  if (a.is_const() && b.is_const()) return std::nullopt;
  return integer(t, im.fb().calc(op, a.dim, b.dim));
}

}  // namespace

bool always_le(DimContext& dims, Dim a, Dim b) {
  if (a == b) return true;
  Dim difference = dims.sub(b, a);
  return difference.valid() && dims.range(difference).min >= 0;
}

MaybeScalar scalar_add(GraphImporter& im, DType t, const Scalar& a, const Scalar& b) {
  if (a.kind == ScalarKind::kFloat) return float_op(im, t, ScalarOp::kAdd, a, b, [](double x, double y) { return x + y; });
  if (a.kind == ScalarKind::kBool) return std::nullopt;
  return int_op(im, t, CalcOp::kAdd, im.dims().add(a.dim, b.dim), a, b);
}

MaybeScalar scalar_sub(GraphImporter& im, DType t, const Scalar& a, const Scalar& b) {
  if (a.kind == ScalarKind::kFloat) return float_op(im, t, ScalarOp::kSub, a, b, [](double x, double y) { return x - y; });
  if (a.kind == ScalarKind::kBool) return std::nullopt;
  return int_op(im, t, CalcOp::kSub, im.dims().sub(a.dim, b.dim), a, b);
}

MaybeScalar scalar_mul(GraphImporter& im, DType t, const Scalar& a, const Scalar& b) {
  if (a.kind == ScalarKind::kFloat) return float_op(im, t, ScalarOp::kMul, a, b, [](double x, double y) { return x * y; });
  if (a.kind == ScalarKind::kBool) return std::nullopt;
  return int_op(im, t, CalcOp::kMul, im.dims().mul(a.dim, b.dim), a, b);
}

MaybeScalar scalar_div(GraphImporter& im, DType t, const Scalar& a, const Scalar& b) {
  DimContext& dims = im.dims();
  if (a.kind == ScalarKind::kFloat) return float_op(im, t, ScalarOp::kDiv, a, b, [](double x, double y) { return x / y; });
  if (a.kind == ScalarKind::kBool || b.dim.is_const(0)) return std::nullopt;
  if (a.is_const() && b.is_const()) {
    if (a.dim.value() == INT64_MIN && b.dim.value() == -1) return std::nullopt;
    return integer(t, dims.constant(a.dim.value() / b.dim.value()));
  }
  if (im.never_negative(a.dim) && im.never_negative(b.dim)) return int_op(im, t, CalcOp::kFloorDiv, dims.floordiv(a.dim, b.dim), a, b);
  return integer(t, im.fb().calc(CalcOp::kTruncDiv, a.dim, b.dim));
}

MaybeScalar scalar_mod(GraphImporter& im, DType t, const Scalar& a, const Scalar& b) {
  if (a.kind != ScalarKind::kInt || b.dim.is_const(0)) return std::nullopt;
  return int_op(im, t, CalcOp::kMod, im.dims().mod(a.dim, b.dim), a, b);
}

MaybeScalar scalar_min(GraphImporter& im, DType t, const Scalar& a, const Scalar& b) {
  if (a.kind == ScalarKind::kFloat) {
    if (!a.is_const() || !b.is_const() || std::isnan(a.number) || std::isnan(b.number)) return std::nullopt;
    return float_scalar(std::min(a.number, b.number));
  }
  if (a.kind == ScalarKind::kBool) return std::nullopt;
  return int_op(im, t, CalcOp::kMin, im.dims().min(a.dim, b.dim), a, b);
}

MaybeScalar scalar_max(GraphImporter& im, DType t, const Scalar& a, const Scalar& b) {
  if (a.kind == ScalarKind::kFloat) {
    if (!a.is_const() || !b.is_const() || std::isnan(a.number) || std::isnan(b.number)) return std::nullopt;
    return float_scalar(std::max(a.number, b.number));
  }
  if (a.kind == ScalarKind::kBool) return std::nullopt;
  return int_op(im, t, CalcOp::kMax, im.dims().max(a.dim, b.dim), a, b);
}

MaybeScalar scalar_unary(GraphImporter& im, DType t, ScalarOp op, const Scalar& a) {
  if (a.kind != ScalarKind::kFloat || !floats_followed(t)) return std::nullopt;
  if (a.is_const()) {
    double v = a.number;
    if (op == ScalarOp::kFloor) v = std::floor(v);
    else if (op == ScalarOp::kCeil) v = std::ceil(v);
    else if (op == ScalarOp::kRound) v = std::nearbyint(v);
    else if (op == ScalarOp::kSqrt) v = std::sqrt(v);
    else if (op == ScalarOp::kNeg) v = -v;
    else return std::nullopt;
    return float_scalar(round_to(t, v));
  }
  Expr e;
  e.kind = Expr::Kind::kFloat;
  e.op = static_cast<uint8_t>(op);
  e.round_f32 = t == DType::kF32;
  e.a = a;
  return expression(im, ScalarKind::kFloat, std::move(e));
}

MaybeScalar scalar_neg(GraphImporter& im, DType t, const Scalar& a) {
  if (a.kind == ScalarKind::kFloat) return scalar_unary(im, t, ScalarOp::kNeg, a);
  if (a.kind == ScalarKind::kBool) return std::nullopt;
  return integer(t, im.dims().neg(a.dim));
}

MaybeScalar scalar_abs(GraphImporter& im, DType t, const Scalar& a) {
  if (a.kind == ScalarKind::kFloat) return a.is_const() && floats_followed(t) ? MaybeScalar(float_scalar(std::fabs(a.number))) : std::nullopt;
  if (a.kind == ScalarKind::kBool) return std::nullopt;
  if (im.never_negative(a.dim)) return a;
  return integer(t, im.dims().max(a.dim, im.dims().neg(a.dim)));
}

MaybeScalar scalar_compare(GraphImporter& im, CalcOp op, const Scalar& a, const Scalar& b) {
  if (a.kind != b.kind) return std::nullopt;
  auto ordered = [op](auto x, auto y) {
    switch (op) {
      case CalcOp::kEq: return x == y;
      case CalcOp::kNe: return x != y;
      case CalcOp::kLt: return x < y;
      case CalcOp::kLe: return x <= y;
      case CalcOp::kGt: return x > y;
      default: return x >= y;
    }
  };
  if (a.is_const() && b.is_const()) {
    if (a.kind == ScalarKind::kInt) return bool_scalar(ordered(a.dim.value(), b.dim.value()));
    if (a.kind == ScalarKind::kFloat) return bool_scalar(ordered(a.number, b.number));
    return bool_scalar(ordered(a.truth, b.truth));
  }
  Expr e;
  e.a = a;
  e.b = b;
  e.binary = true;
  if (a.kind == ScalarKind::kInt) {
    Dim difference = im.dims().sub(a.dim, b.dim);
    DimRange r = difference.valid() ? im.dims().range(difference) : DimRange{};
    bool lt = r.max < 0, le = r.max <= 0, gt = r.min > 0, ge = r.min >= 0, eq = le && ge, ne = lt || gt;
    bool yes = false, no = false;
    switch (op) {
      case CalcOp::kEq: yes = eq, no = ne; break;
      case CalcOp::kNe: yes = ne, no = eq; break;
      case CalcOp::kLt: yes = lt, no = ge; break;
      case CalcOp::kLe: yes = le, no = gt; break;
      case CalcOp::kGt: yes = gt, no = le; break;
      default: yes = ge, no = lt; break;
    }
    if (yes || no) return bool_scalar(yes);
    e.kind = Expr::Kind::kCompare;
    e.op = static_cast<uint8_t>(op);
  } else if (a.kind == ScalarKind::kFloat) {
    constexpr ScalarOp kFloats[] = {ScalarOp::kEq, ScalarOp::kNe, ScalarOp::kLt, ScalarOp::kLe, ScalarOp::kGt, ScalarOp::kGe};
    e.kind = Expr::Kind::kFloat;
    e.op = static_cast<uint8_t>(kFloats[static_cast<int>(op) - static_cast<int>(CalcOp::kEq)]);
  } else {
    return std::nullopt;
  }
  return expression(im, ScalarKind::kBool, std::move(e));
}

MaybeScalar scalar_logic(GraphImporter& im, CalcOp op, const Scalar& a, const Scalar& b) {
  bool absorbing = op == CalcOp::kOr;
  if (a.is_const()) return a.truth == absorbing ? a : b;
  if (b.is_const()) return b.truth == absorbing ? b : a;
  Expr e;
  e.kind = Expr::Kind::kLogic;
  e.op = static_cast<uint8_t>(op);
  e.a = a;
  e.b = b;
  e.binary = true;
  return expression(im, ScalarKind::kBool, std::move(e));
}

MaybeScalar scalar_not(GraphImporter& im, const Scalar& a) {
  if (a.is_const()) return bool_scalar(!a.truth);
  Expr e;
  e.kind = Expr::Kind::kLogic;
  e.op = static_cast<uint8_t>(CalcOp::kNot);
  e.a = a;
  return expression(im, ScalarKind::kBool, std::move(e));
}

MaybeScalar scalar_select(GraphImporter& im, const Scalar& cond, const Scalar& a, const Scalar& b) {
  if (cond.is_const()) return cond.truth ? a : b;
  if (a.kind != ScalarKind::kInt) return std::nullopt;
  if (a.dim == b.dim) return a;
  auto c = im.bool_reg(cond);
  if (!c.ok()) return std::nullopt;
  return int_scalar(im.fb().select(*c, a.dim, b.dim));
}

MaybeScalar scalar_cast(GraphImporter& im, DType from, DType to, const Scalar& a) {
  DimContext& dims = im.dims();
  if (from == to) return a;
  if (is_float(to) && !floats_followed(to)) return std::nullopt;
  if (a.kind == ScalarKind::kFloat) {
    if (!floats_followed(from)) return std::nullopt;
    if (is_integer(to)) {
      if (!a.is_const()) {
        auto r = im.float_reg(a);
        return r.ok() ? integer(to, im.fb().scalar_to_int(*r)) : std::nullopt;
      }
      if (!(a.number >= -9.2e18 && a.number <= 9.2e18)) return std::nullopt;
      return integer(to, dims.constant(static_cast<int64_t>(a.number)));
    }
    if (to == DType::kBool) return scalar_compare(im, CalcOp::kNe, a, float_scalar(0));
    if (!is_float(to)) return std::nullopt;
    if (a.is_const()) return float_scalar(round_to(to, a.number));
    if (to == DType::kF64) return a;
    return float_op(im, to, ScalarOp::kMul, a, float_scalar(1), nullptr);  // rounds
  }
  if (a.kind == ScalarKind::kInt) {
    if (is_integer(to)) return integer(to, a.dim);
    if (to == DType::kBool) return scalar_compare(im, CalcOp::kNe, a, int_scalar(dims.constant(0)));
    if (!is_float(to)) return std::nullopt;
    if (a.is_const()) return float_scalar(to == DType::kF32 ? static_cast<double>(static_cast<float>(a.dim.value())) : static_cast<double>(a.dim.value()));
    Expr e;
    e.kind = Expr::Kind::kFloat;
    e.op = static_cast<uint8_t>(ScalarOp::kFromInt);
    e.round_f32 = to == DType::kF32;
    e.a = a;
    return expression(im, ScalarKind::kFloat, std::move(e));
  }
  if (is_integer(to)) return scalar_select(im, a, int_scalar(dims.constant(1)), int_scalar(dims.constant(0)));
  if (!is_float(to)) return std::nullopt;
  if (a.is_const()) return float_scalar(a.truth ? 1 : 0);
  Expr e;
  e.kind = Expr::Kind::kFloat;
  e.op = static_cast<uint8_t>(ScalarOp::kFromBool);
  e.a = a;
  return expression(im, ScalarKind::kFloat, std::move(e));
}

}  // namespace msvm::onnx
