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
      .def("__reduce__", [](nb::handle self) { return nb::make_tuple(nb::module_::import_("msvm._core").attr("dtype_of_code"), nb::make_tuple(self.attr("code"))); });
  nb::list all;
  for (int i = 0; i < kNumDTypes; ++i) {
    nb::object o = nb::cast(PyDType{static_cast<DType>(i)});
    objects[static_cast<size_t>(i)] = o.ptr();
    all.append(o);
  }
  m.attr("DTYPES") = nb::tuple(all);
  m.def("dtype_of_code", [](const std::string& code) {
    auto t = dtype_from_name(code);
    if (!t) raise(invalid_argument("there is no dtype " + code));
    return dtype_object(*t);
  });
}

}  // namespace msvm::python
