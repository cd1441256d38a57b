// `msvm.Tensor`.
#pragma once
#include "exchange.h"

namespace msvm::python {

/// A tensor in the CPU's memory, or (`declared`) only the declaration of one. Never changes by itself; its memory may be shared.
struct PyTensor {
  TensorValue value;
  bool writable = true;   // of the memory, for those that it is lent to
  nb::object symbols;     // null, or a tuple with a Mutable or None per axis
  nb::object declared;    // null, or the shape as it was given
};

extern PyTypeObject* tensor_type;
/// Subclasses too.
inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == tensor_type || PyType_IsSubtype(Py_TYPE(o), tensor_type); }
/// Null if it is none, or raises if it is a declaration.
PyTensor* tensor_of(PyObject* o);
nb::object make_tensor(TensorValue&& value, bool writable = true);
/// As `Tensor(data)`: arrays, numbers, lists, DLPack, buffers.
nb::object tensor_from(nb::handle data);
/// bool, int, float or str of a tensor of one element.
nb::object item_of(const TensorValue& t);

void bind_tensor(nb::module_& m);

}  // namespace msvm::python
