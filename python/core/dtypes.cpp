#include "dtypes.h"

#include <array>

namespace msvm::python {

std::optional<DType> dtype_of(nb::dlpack::dtype t) {
  auto code = static_cast<nb::dlpack::dtype_code>(t.code);
  if (t.lanes != 1) return std::nullopt;
  for (int i = 0; i < kNumDTypes; ++i) {
    const DTypeInfo& d = dtype_info(static_cast<DType>(i));
    if (d.bits != t.bits) continue;
    if (code == nb::dlpack::dtype_code::Float && d.kind == DTypeKind::kFloat && d.dtype != DType::kBF16) return d.dtype;
    if (code == nb::dlpack::dtype_code::Bfloat && d.dtype == DType::kBF16) return d.dtype;
    if (code == nb::dlpack::dtype_code::Int && d.kind == DTypeKind::kSigned) return d.dtype;
    if (code == nb::dlpack::dtype_code::UInt && d.kind == DTypeKind::kUnsigned) return d.dtype;
    if (code == nb::dlpack::dtype_code::Bool && d.kind == DTypeKind::kBool) return d.dtype;
  }
  return std::nullopt;
}

nb::dlpack::dtype dlpack_of(DType t) {
  const DTypeInfo& d = dtype_info(t);
  auto code = nb::dlpack::dtype_code::Float;
  if (t == DType::kBF16) code = nb::dlpack::dtype_code::UInt;  // numpy has no bfloat16: its bits as uint16
  if (d.kind == DTypeKind::kSigned) code = nb::dlpack::dtype_code::Int;
  if (d.kind == DTypeKind::kUnsigned) code = nb::dlpack::dtype_code::UInt;
  if (d.kind == DTypeKind::kBool) code = nb::dlpack::dtype_code::Bool;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(d.bits), 1};
}

namespace {

std::array<PyObject*, kNumDTypes> objects;  // the module keeps them

const char* numpy_name(DType t) { return dtype_info(t).numpy.data(); }  // of literals

}  // namespace

nb::object dtype_object(DType t) { return nb::borrow(objects[static_cast<size_t>(t)]); }

std::optional<DType> dtype_of_kind(char kind, int64_t itemsize) {
  switch (kind) {
    case 'f': return itemsize == 4 ? std::optional(DType::kF32) : itemsize == 8 ? std::optional(DType::kF64) : itemsize == 2 ? std::optional(DType::kF16) : std::nullopt;
    case 'i': return itemsize == 8 ? std::optional(DType::kI64) : itemsize == 4 ? std::optional(DType::kI32) : itemsize == 2 ? std::optional(DType::kI16) : std::optional(DType::kI8);
    case 'u': return itemsize == 1 ? std::optional(DType::kU8) : itemsize == 8 ? std::optional(DType::kU64) : itemsize == 4 ? std::optional(DType::kU32) : std::optional(DType::kU16);
    case 'b': return DType::kBool;
    default: return std::nullopt;
  }
}

DType to_dtype(nb::handle h) {
  if (nb::isinstance<PyDType>(h)) return nb::cast<PyDType&>(h).dtype;
  if (h.ptr() == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::kF32;
  if (h.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::kI64;
  if (h.ptr() == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::kBool;
  if (h.ptr() == reinterpret_cast<PyObject*>(&PyUnicode_Type)) return DType::kString;
  if (nb::isinstance<nb::str>(h)) {
    const std::string name = nb::cast<std::string>(h);
    for (int i = 0; i < kNumDTypes; ++i) {
      const auto t = static_cast<DType>(i);
      if (name == dtype_name(t) || (t != DType::kString && name == numpy_name(t))) return t;
    }
  }
  nb::object t;
  try {
    t = nb::module_::import_("numpy").attr("dtype")(h);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
  }
  if (t.is_valid() && !h.is_none()) {
    if (shown(t, "name") == "bfloat16") return DType::kBF16;
    const std::string kind = shown(t, "kind");
    if (auto found = dtype_of_kind(kind[0], nb::cast<int64_t>(t.attr("itemsize")))) return *found;
    if (kind == "U" || kind == "T") return DType::kString;
  }
  std::string known;
  for (int i = 0; i < kNumDTypes; ++i) known += (i ? ", " : "") + std::string(i == static_cast<int>(DType::kString) ? "string" : numpy_name(static_cast<DType>(i)));
  throw nb::type_error(("expected a dtype (" + known + "), found " + nb::repr(h).c_str()).c_str());
}

void bind_dtypes(nb::module_& m) {
  nb::class_<PyDType>(m, "DType")
      .def_prop_ro("name", [](const PyDType& t) { return t.dtype == DType::kString ? "string" : t.dtype == DType::kBool ? "bool" : numpy_name(t.dtype); })
      .def_prop_ro("code", [](const PyDType& t) { return std::string(dtype_name(t.dtype)); })
      .def_prop_ro("numpy", [](const PyDType& t) { return numpy_name(t.dtype); })
      .def_prop_ro("itemsize", [](const PyDType& t) { return dtype_bytes(t.dtype); })
      .def_prop_ro("kind",
                   [](const PyDType& t) {
                     switch (dtype_info(t.dtype).kind) {
                       case DTypeKind::kFloat: return "f";
                       case DTypeKind::kSigned: return "i";
                       case DTypeKind::kUnsigned: return "u";
                       case DTypeKind::kBool: return "b";
                       case DTypeKind::kString: return "s";
                     }
                     return "";
                   })
      .def("__repr__", [](nb::handle self) { return "msvm." + shown(self, "name"); })
      .def("__reduce__", [](nb::handle self) { return nb::make_tuple(nb::module_::import_("msvm._pickle").attr("dtype"), nb::make_tuple(self.attr("code"))); });
  nb::list all;
  for (int i = 0; i < kNumDTypes; ++i) {
    nb::object o = nb::cast(PyDType{static_cast<DType>(i)});
    objects[static_cast<size_t>(i)] = o.ptr();
    all.append(o);
  }
  m.attr("DTYPES") = nb::tuple(all);
  m.def("to_dtype", [](nb::handle h) { return dtype_object(to_dtype(h)); }, nb::arg("dtype").none());
  m.def("dtype_of_code", [](const std::string& code) {
    auto t = dtype_from_name(code);
    if (!t) raise(invalid_argument("there is no dtype " + code));
    return dtype_object(*t);
  });
}

}  // namespace msvm::python
