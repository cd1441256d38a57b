#include "values.h"

namespace msvm::python {
namespace {

using AnyArray = nb::ndarray<nb::ro>;

/// An array of one element for a scalar. The kinds must be those declared: 2.5 isn't an i64, 1 isn't a bool.
template <class T> Value scalar_in(nb::handle h, const std::string& expected) {
  T v{};
  if (nb::cast<int64_t>(h.attr("size")) == 1 && nb::try_cast(h.attr("item")(), v, false)) return v;
  raise(invalid_argument(expected + ", found an array of dtype " + shown(h, "dtype") + " and shape " + shown(h, "shape")));
}

}  // namespace

TensorValue strings_in(nb::handle h, const std::string& expected, Engine& engine) {
  std::vector<int64_t> shape;
  for (nb::handle d : h.attr("shape")) shape.push_back(nb::cast<int64_t>(d));
  if (nb::cast<int64_t>(h.attr("size")) && !nb::isinstance<nb::str>(h.attr("flat")[nb::int_(0)]))
    raise(invalid_argument(expected + ", found an array of dtype " + shown(h, "dtype")));
  TensorValue t = unwrap(engine.allocate(DType::kString, shape));
  auto* out = t.meta.as<std::string>();
  for (nb::handle item : h.attr("reshape")(-1).attr("tolist")())
    if (!nb::try_cast(item, *out++)) raise(invalid_argument(expected + "; an element of the array isn't a str that UTF-8 can hold"));
  return t;
}

nb::object strings_out(const TensorMeta& t) {
  nb::list items;
  for (int64_t i = 0; i < t.elements(); ++i) items.append(text(t.as<std::string>()[i]));
  nb::list shape;
  for (int64_t d : t.dims()) shape.append(d);
  return nb::module_::import_("numpy").attr("array")(items, nb::arg("dtype") = "object").attr("reshape")(nb::tuple(shape));
}

Value value_in(nb::handle h, const Param& p, size_t k, const DimContext& dims, Engine& engine) {
  auto expected = [&] { return "input " + std::to_string(k) + " (" + p.name + "): expected " + to_string(p.type, dims); };
  if (p.type.kind == RegKind::kI64) return scalar_in<int64_t>(h, expected());
  if (p.type.kind == RegKind::kF64) return scalar_in<double>(h, expected());
  if (p.type.kind == RegKind::kBool) return scalar_in<bool>(h, expected());
  if (p.type.kind != RegKind::kTensor) raise(unsupported(expected() + ": lists aren't taken from Python"));
  if (p.type.tensor.dtype == DType::kString) return strings_in(h, expected(), engine);
  AnyArray a;
  std::optional<DType> dtype;
  if (nb::try_cast(h, a)) dtype = dtype_of(a.dtype());
  if (!dtype) raise(invalid_argument(expected() + ", found an array of dtype " + shown(h, "dtype")));
  if (a.ndim() > kMaxRank) raise(invalid_argument(expected() + ", found rank " + std::to_string(a.ndim()) + "; at most " + std::to_string(kMaxRank) + " is possible"));
  TensorMeta m;
  m.dtype = *dtype;
  // The bits of a bfloat16 tensor come as uint16.
  if (*dtype == DType::kU16 && p.type.tensor.dtype == DType::kBF16) m.dtype = DType::kBF16;
  m.rank = static_cast<uint8_t>(a.ndim());
  m.data = static_cast<std::byte*>(const_cast<void*>(a.data()));
  for (size_t i = 0; i < a.ndim(); ++i) {
    m.shape[i] = static_cast<int64_t>(a.shape(i));
    m.strides[i] = a.stride(i);
  }
  // The caller's list keeps the array alive for the run; an output never shares its memory.
  return borrow(m, static_cast<int64_t>(a.nbytes()), nullptr, nullptr);
}

nb::object value_out(Value& v) {
  if (auto* i = std::get_if<int64_t>(&v)) return nb::cast(*i);
  if (auto* d = std::get_if<double>(&v)) return nb::cast(*d);
  if (auto* b = std::get_if<bool>(&v)) return nb::cast(*b);
  auto& t = std::get<TensorValue>(v);
  if (t.meta.dtype == DType::kString) return strings_out(t.meta);
  size_t shape[kMaxRank];
  for (size_t i = 0; i < t.meta.rank; ++i) shape[i] = static_cast<size_t>(t.meta.shape[i]);
  static std::byte empty;
  auto* owner = new StorageRef(std::move(t.storage));
  nb::capsule keep(owner, [](void* p) noexcept { delete static_cast<StorageRef*>(p); });
  nb::ndarray<nb::numpy> a(t.meta.data ? t.meta.data : &empty, t.meta.rank, shape, keep, t.meta.strides.data(), dlpack_of(t.meta.dtype));
  return nb::cast(a, nb::rv_policy::reference);
}

}  // namespace msvm::python
