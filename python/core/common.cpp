#include "common.h"

namespace msvm::python {

nb::str text(std::string_view s) {
  PyObject* u = PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace");
  if (!u) throw nb::python_error();
  return nb::steal<nb::str>(u);
}

std::string shown(nb::handle h, const char* attribute) {
  nb::object value = h.attr(attribute);
  return nb::str(nb::handle(value)).c_str();
}

void raise(const Status& s) {
  nb::object error = nb::module_::import_("msvm._errors").attr("make")(status_code_name(s.code()), text(s.message()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

std::string path_of(const nb::bytes& path) {
  std::string p(path.c_str(), path.size());
  if (p.find('\0') != std::string::npos) raise(invalid_argument("a path can't hold a zero byte"));
  return p;
}

}  // namespace msvm::python
