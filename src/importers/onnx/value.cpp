#include "importers/onnx/value.h"

#include <cstring>

#include "msvm/base/checked.h"

namespace msvm::onnx {
namespace {

std::shared_ptr<ValueData> make(ValueKind kind) {
  auto v = std::make_shared<ValueData>();
  v->kind = kind;
  return v;
}

template <class T>
T load(const ConstTensor& c, int64_t i) {
  T v;
  std::memcpy(&v, c.data + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return v;
}

template <class T>
void store(std::byte* p, int64_t i, T v) { std::memcpy(p + static_cast<size_t>(i) * sizeof(T), &v, sizeof(T)); }

std::optional<Scalar> element(const ConstTensor& c, int64_t i, DimContext& dims) {
  auto integer = [&](int64_t v) { return int_scalar(dims.constant(v)); };
  switch (c.dtype) {
    case DType::kF64: return float_scalar(load<double>(c, i));
    case DType::kF32: return float_scalar(load<float>(c, i));
    case DType::kI8: return integer(load<int8_t>(c, i));
    case DType::kI16: return integer(load<int16_t>(c, i));
    case DType::kI32: return integer(load<int32_t>(c, i));
    case DType::kI64: return integer(load<int64_t>(c, i));
    case DType::kU8: return integer(load<uint8_t>(c, i));
    case DType::kU16: return integer(load<uint16_t>(c, i));
    case DType::kU32: return integer(load<uint32_t>(c, i));
    case DType::kU64: {
      auto v = load<uint64_t>(c, i);
      if (v > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
      return integer(static_cast<int64_t>(v));
    }
    case DType::kBool: return bool_scalar(load<uint8_t>(c, i) != 0);
    case DType::kF16:
    case DType::kBF16:
    case DType::kString: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Value poison_value() {
  static const Value kValue = make(ValueKind::kPoison);
  return kValue;
}

Value absent_value() {
  static const Value kValue = make(ValueKind::kAbsent);
  return kValue;
}

Value tensor_value(Reg r) {
  auto v = make(ValueKind::kTensor);
  v->reg = r;
  return v;
}

Value const_value(ConstPtr c) {
  auto v = make(ValueKind::kConst);
  v->dtype = c->dtype;
  v->constant = std::move(c);
  return v;
}

Value scalars_value(Scalars s) {
  auto v = make(ValueKind::kScalars);
  v->dtype = s.dtype;
  v->scalars = std::make_shared<Scalars>(std::move(s));
  return v;
}

Value list_value(Reg r, DType dtype) {
  auto v = make(ValueKind::kList);
  v->reg = r;
  v->dtype = dtype;
  return v;
}

Value sequence_value(std::vector<Value> items, DType dtype) {
  auto v = make(ValueKind::kSequence);
  v->items = std::move(items);
  v->dtype = dtype;
  return v;
}

std::optional<Scalars> known_scalars(const Value& v, DimContext& dims) {
  if (v->kind == ValueKind::kScalars) return *v->scalars;
  if (v->kind != ValueKind::kConst || v->constant->elements > kMaxConstScalars) return std::nullopt;
  const ConstTensor& c = *v->constant;
  Scalars s{c.dtype, c.shape, {}};
  s.items.reserve(static_cast<size_t>(c.elements));
  for (int64_t i = 0; i < c.elements; ++i) {
    auto e = element(c, i, dims);
    if (!e || (e->kind == ScalarKind::kInt && !e->dim.valid())) return std::nullopt;
    s.items.push_back(std::move(*e));
  }
  if (c.elements == 0 && (c.dtype == DType::kString || c.dtype == DType::kF16 || c.dtype == DType::kBF16)) return std::nullopt;
  return s;
}

Result<ConstPtr> scalars_to_const(const Scalars& s) {
  MSVM_ASSIGN_OR_RETURN(OwnedConst out, make_const("", s.dtype, s.shape));
  for (size_t k = 0; k < s.items.size(); ++k) {
    auto i = static_cast<int64_t>(k);
    const Scalar& e = s.items[k];
    switch (s.dtype) {
      case DType::kF64: store(out.bytes, i, e.number); break;
      case DType::kF32: store(out.bytes, i, static_cast<float>(e.number)); break;
      case DType::kI8: store(out.bytes, i, static_cast<int8_t>(e.dim.value())); break;
      case DType::kI16: store(out.bytes, i, static_cast<int16_t>(e.dim.value())); break;
      case DType::kI32: store(out.bytes, i, static_cast<int32_t>(e.dim.value())); break;
      case DType::kI64: store(out.bytes, i, e.dim.value()); break;
      case DType::kU8: store(out.bytes, i, static_cast<uint8_t>(e.dim.value())); break;
      case DType::kU16: store(out.bytes, i, static_cast<uint16_t>(e.dim.value())); break;
      case DType::kU32: store(out.bytes, i, static_cast<uint32_t>(e.dim.value())); break;
      case DType::kU64: store(out.bytes, i, static_cast<uint64_t>(e.dim.value())); break;
      case DType::kBool: store(out.bytes, i, static_cast<uint8_t>(e.truth)); break;
      case DType::kF16:
      case DType::kBF16:
      case DType::kString: return internal_error("elements of this type aren't followed");
    }
  }
  return out.tensor;
}

Scalar expr_scalar(ScalarKind kind, Expr e) { return {.kind = kind, .expr = std::make_shared<const Expr>(std::move(e))}; }

Scalars size_vector(const std::vector<Dim>& sizes) {
  Scalars s{DType::kI64, {static_cast<int64_t>(sizes.size())}, {}};
  for (Dim d : sizes) s.items.push_back(int_scalar(d));
  return s;
}

Scalars size_scalar(Dim d) { return {DType::kI64, {}, {int_scalar(d)}}; }

}  // namespace msvm::onnx
