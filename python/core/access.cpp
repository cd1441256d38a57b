#include "access.h"

#include <bit>

namespace msvm::python {
namespace {

nb::object interned(nb::handle name) {
  if (!PyUnicode_CheckExact(name.ptr())) raise(invalid_argument(std::string("an access path: expected a name, found ") + nb::repr(name).c_str()));
  PyObject* s = Py_NewRef(name.ptr());
  PyUnicode_InternInPlace(&s);
  return nb::steal(s);
}

PyObject* builtin(PyObject* globals, PyObject* name) {
  static PyObject* const key = PyUnicode_InternFromString("__builtins__");
  PyObject* b = PyDict_GetItemWithError(globals, key);
  if (b && PyModule_Check(b)) b = PyModule_GetDict(b);
  return b && PyDict_Check(b) ? PyDict_GetItemWithError(b, name) : nullptr;
}

}  // namespace

AccessPath::AccessPath(nb::handle d) {
  auto wrong = [&] { raise(invalid_argument(std::string("there is no access path ") + nb::repr(d).c_str())); };
  if (!PyTuple_Check(d.ptr()) || nb::len(d) < 2 || !nb::isinstance<nb::str>(d[0])) wrong();
  const std::string kind = nb::cast<std::string>(d[0]);
  const bool three = kind == "global" || kind.starts_with("attr") || kind.starts_with("item");
  if (nb::len(d) != (three ? 3U : 2U)) wrong();
  if (kind == "leaf") {
    kind_ = Kind::kLeaf;
    leaf_ = nb::cast<int>(d[1]);
    if (leaf_ < 0) wrong();
    return;
  }
  if (kind == "attr_of" || kind == "item_of") base_ = std::make_unique<AccessPath>(nb::handle(d[1]));
  else object_ = nb::borrow(d[1]);
  if (kind == "value") {
    kind_ = Kind::kValue;
  } else if (kind == "cell") {
    kind_ = Kind::kCell;
    if (!PyCell_Check(object_.ptr())) wrong();
  } else if (kind == "global") {
    kind_ = Kind::kGlobal;
    name_ = interned(d[2]);
    if (!PyDict_Check(object_.ptr())) wrong();
  } else if (kind == "attr" || kind == "attr_of") {
    kind_ = Kind::kAttr;
    name_ = interned(d[2]);
  } else if (kind == "item" || kind == "item_of") {
    kind_ = Kind::kItem;
    name_ = nb::borrow(d[2]);
  } else {
    wrong();
  }
}

PyObject* AccessPath::read(std::span<PyObject* const> leaves) const {
  if (!object_.is_valid() && !base_ && kind_ != Kind::kLeaf) return nullptr;  // the garbage collector was here
  PyObject* found = nullptr;
  switch (kind_) {
    case Kind::kValue: return Py_NewRef(object_.ptr());
    case Kind::kCell: return Py_XNewRef(PyCell_GET(object_.ptr()));
    case Kind::kLeaf: return static_cast<size_t>(leaf_) < leaves.size() ? Py_NewRef(leaves[static_cast<size_t>(leaf_)]) : nullptr;
    case Kind::kGlobal:
      found = PyDict_GetItemWithError(object_.ptr(), name_.ptr());
      if (!found && !PyErr_Occurred()) found = builtin(object_.ptr(), name_.ptr());
      Py_XINCREF(found);
      break;
    case Kind::kAttr:
    case Kind::kItem: {
      PyObject* owner = base_ ? base_->read(leaves) : Py_NewRef(object_.ptr());
      if (!owner) return nullptr;
      found = kind_ == Kind::kAttr ? PyObject_GetAttr(owner, name_.ptr()) : PyObject_GetItem(owner, name_.ptr());
      Py_DECREF(owner);
      break;
    }
  }
  if (!found) PyErr_Clear();
  return found;
}

int AccessPath::visit(visitproc visit, void* arg) const {
  Py_VISIT(object_.ptr());
  Py_VISIT(name_.ptr());
  return base_ ? base_->visit(visit, arg) : 0;
}
void AccessPath::clear() {
  object_.reset();
  name_.reset();
  if (base_) base_->clear();
}
int AccessPath::last_leaf() const { return base_ ? base_->last_leaf() : leaf_; }

bool same_constant(PyObject* a, PyObject* b) {
  if (a == b) return true;
  PyTypeObject* t = Py_TYPE(a);
  if (t != Py_TYPE(b)) return false;
  if (t == &PyFloat_Type) return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(a)) == std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(b));
  if (t == &PyLong_Type || t == &PyUnicode_Type || t == &PyBytes_Type) return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
  if (t != &PyTuple_Type || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); ++i)
    if (!same_constant(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
  return true;
}

namespace {

/// Lists, dicts and sets by what they hold: `expected` is a copy that nobody changes.
bool same_as_copied(PyObject* found, PyObject* expected) {
  if (Py_TYPE(found) != Py_TYPE(expected)) return false;
  if (PyList_CheckExact(expected) || PyTuple_CheckExact(expected)) {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(expected);
    if (PySequence_Fast_GET_SIZE(found) != n) return false;
    for (Py_ssize_t i = 0; i < n; ++i)
      if (!same_as_copied(PySequence_Fast_GET_ITEM(found, i), PySequence_Fast_GET_ITEM(expected, i))) return false;
    return true;
  }
  if (PyDict_CheckExact(expected)) {
    if (PyDict_GET_SIZE(found) != PyDict_GET_SIZE(expected)) return false;
    Py_ssize_t a = 0, b = 0;
    PyObject *key, *value, *other_key, *other;
    while (PyDict_Next(expected, &a, &key, &value))
      if (!PyDict_Next(found, &b, &other_key, &other) || !same_constant(other_key, key) || !same_as_copied(other, value)) return false;
    return true;
  }
  if (PyAnySet_CheckExact(expected)) {
    const int equal = PyObject_RichCompareBool(found, expected, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  }
  return same_constant(found, expected);
}

}  // namespace

bool Guard::holds(std::span<PyObject* const> leaves) const {
  if (!expected_.is_valid()) return false;
  PyObject* found = path_.read(leaves);
  if (!found) return false;
  const bool same = same_as_copied(found, expected_.ptr());
  Py_DECREF(found);
  return same;
}
int Guard::visit(visitproc visit, void* arg) const {
  Py_VISIT(expected_.ptr());
  return path_.visit(visit, arg);
}
void Guard::clear() {
  expected_.reset();
  path_.clear();
}

}  // namespace msvm::python
