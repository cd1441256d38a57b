#include "key.h"

#include <algorithm>
#include <bit>

#include "access.h"
#include "mutable.h"

namespace msvm::python {
namespace {

constexpr int kMaxDepth = 64;

enum Tag : uint64_t { kTagTensor = 1, kTagI64, kTagF64, kTagBool, kTagConst, kTagIdentity, kTagContainer };

uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15ULL;
  return h ^ (h >> 29);
}

/// Those that hash by their address, and those that have no hash.
bool hashes_by_identity(PyTypeObject* t) { return t->tp_hash == PyBaseObject_Type.tp_hash || t->tp_hash == nullptr || t->tp_hash == PyObject_HashNotImplemented; }

bool contains(const std::vector<uint32_t>& v, uint32_t x) { return std::find(v.begin(), v.end(), x) != v.end(); }

/// The attribute of a type, without asking the object.
bool type_has(PyTypeObject* t, const char* name) { return PyObject_HasAttrString(reinterpret_cast<PyObject*>(t), name); }

}  // namespace

void Scratch::clear() {
  words.clear();
  constants.clear();
  leaves.clear();
  objects.clear();
  views.clear();
  slots.clear();
  inputs.clear();
  results.clear();
  keep.clear();
  hash = 0x243F6A8885A308D3ULL;
}

Leaf& Flattener::leaf(LeafKind kind, PyObject* o, bool sure_to_live) {
  if (!sure_to_live) s_.keep.push_back(nb::borrow(o));
  if (nodes_) nodes_->push_back({Node::kLeaf, static_cast<int32_t>(s_.leaves.size()), {}});
  if (places_) places_->push_back({parameter_, ordinal_});
  ++ordinal_;
  Leaf& l = s_.leaves.emplace_back();
  l.object = o;
  l.kind = kind;
  s_.objects.push_back(o);
  return l;
}

void Flattener::key_object(PyObject* o, bool sure_to_live) {
  // What may have changed or gone when it is compared.
  if (!sure_to_live) s_.keep.push_back(nb::borrow(o));
  PyTypeObject* t = Py_TYPE(o);
  uint64_t h;
  Tag tag = kTagConst;
  if (t == &PyFloat_Type) {
    h = std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(o));
  } else if (hashes_by_identity(t)) {
    tag = kTagIdentity;
    h = reinterpret_cast<uintptr_t>(o);
  } else {
    const Py_hash_t value = PyObject_Hash(o);
    if (value == -1) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
      PyErr_Clear();
      tag = kTagIdentity;
      h = reinterpret_cast<uintptr_t>(o);
    } else {
      h = static_cast<uint64_t>(value);
    }
  }
  s_.words.push_back(tag);
  s_.hash = mix(mix(s_.hash, tag), h);
  s_.constants.push_back(o);
}

void Flattener::constant(PyObject* o, bool sure_to_live) {
  leaf(LeafKind::kConst, o, sure_to_live);
  key_object(o, true);
}

void Flattener::number(LeafKind kind, PyObject* o, bool sure_to_live) {
  const uint64_t tag = kind == LeafKind::kI64 ? kTagI64 : kind == LeafKind::kF64 ? kTagF64 : kTagBool;
  PyMutable* m = mutable_of(o);
  PyObject* v = m ? m->value.ptr() : o;
  Leaf& l = leaf(kind, o, sure_to_live);
  if (kind == LeafKind::kF64) {
    l.d = PyFloat_AsDouble(v);
  } else {
    l.i = PyLong_AsLongLong(v);
    if (l.i == -1 && PyErr_Occurred()) throw nb::python_error();
  }
  s_.words.push_back(tag);
  s_.hash = mix(s_.hash, tag);
}

void Flattener::array(PyObject* o, bool sure_to_live) {
  ArrayView v = view_array(o);
  if (v.use == ArrayUse::kUnsupported) raise_unsupported(o, PyUnicode_AsUTF8(p_->name.ptr()));
  Leaf& l = leaf(LeafKind::kTensor, o, sure_to_live);
  l.dtype = v.meta.dtype;
  l.rank = v.meta.rank;
  l.view = static_cast<int32_t>(s_.views.size());
  const uint64_t word = kTagTensor | static_cast<uint64_t>(l.dtype) << 8 | static_cast<uint64_t>(l.rank) << 16;
  s_.views.push_back(std::move(v));
  s_.words.push_back(word);
  s_.hash = mix(s_.hash, word);
}

void Flattener::container(Node::Kind kind, PyObject* o, Py_ssize_t count) {
  if (++depth_ > kMaxDepth) raise(invalid_argument(std::string("argument ") + PyUnicode_AsUTF8(p_->name.ptr()) + ": containers are nested more than " + std::to_string(kMaxDepth) + " deep"));
  const uint64_t word = kTagContainer | static_cast<uint64_t>(kind) << 8 | static_cast<uint64_t>(count) << 16;
  s_.words.push_back(word);
  s_.hash = mix(s_.hash, word);
  if (!nodes_) return;
  Node& n = nodes_->emplace_back();
  n.kind = kind;
  n.count = static_cast<int32_t>(count);
  if (kind == Node::kDict) n.extra = nb::steal(PySequence_Tuple(o));
  if (kind == Node::kTupleType) n.extra = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(o)));
}

/// Arguments of other kinds: containers of their own types, tensors of other libraries. False: a constant.
bool Flattener::other(PyObject* o, bool sure_to_live) {
  PyTypeObject* t = Py_TYPE(o);
  if (PyTuple_Check(o)) {  // of a named type
    container(Node::kTupleType, o, PyTuple_GET_SIZE(o));
    key_object(reinterpret_cast<PyObject*>(t), true);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i) add(PyTuple_GET_ITEM(o, i), sure_to_live);
    --depth_;
    return true;
  }
  if (p_->is_static) return false;
  if (PyObject_TypeCheck(o, numpy().generic)) {
    if (PyUnicode_Check(o) || PyBytes_Check(o)) return false;
    if (p_->size && PyIndex_Check(o)) {
      s_.keep.push_back(nb::steal(PyNumber_Index(o)));
      if (!s_.keep.back().is_valid()) throw nb::python_error();
      add(s_.keep.back().ptr(), true);
      return true;
    }
    array(o, sure_to_live);
    return true;
  }
  if (is_ndarray(o)) {
    array(o, sure_to_live);
    return true;
  }
  if (is_tensor(o)) return false;  // never: taken before
  if (type_has(t, "__dlpack__")) {
    s_.keep.push_back(tensor_from(o));
    add(s_.keep.back().ptr(), true);
    return true;
  }
  return false;
}

void Flattener::add(PyObject* o, bool sure_to_live) {
  PyTypeObject* t = Py_TYPE(o);
  if (t == &PyTuple_Type) {
    const Py_ssize_t n = PyTuple_GET_SIZE(o);
    container(Node::kTuple, o, n);
    for (Py_ssize_t i = 0; i < n; ++i) add(PyTuple_GET_ITEM(o, i), sure_to_live);
    --depth_;
    return;
  }
  if (t == &PyList_Type) {
    if (!sure_to_live) s_.keep.push_back(nb::borrow(o));
    // Its length may change while elements are looked at.
    const Py_ssize_t n = PyList_GET_SIZE(o);
    container(Node::kList, o, n);
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (i >= PyList_GET_SIZE(o)) raise(invalid_argument(std::string("argument ") + PyUnicode_AsUTF8(p_->name.ptr()) + ": the list changed while it was read"));
      nb::object item = nb::borrow(PyList_GET_ITEM(o, i));
      add(item.ptr(), false);
    }
    --depth_;
    return;
  }
  if (t == &PyDict_Type) {
    nb::object items = nb::steal(PyDict_Items(o));
    if (!items.is_valid()) throw nb::python_error();
    const Py_ssize_t n = PyList_GET_SIZE(items.ptr());
    container(Node::kDict, o, n);
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* pair = PyList_GET_ITEM(items.ptr(), i);
      key_object(PyTuple_GET_ITEM(pair, 0), false);
      add(PyTuple_GET_ITEM(pair, 1), false);
    }
    --depth_;
    return;
  }
  if (t == &PySlice_Type) {
    auto* slice = reinterpret_cast<PySliceObject*>(o);
    container(Node::kSlice, o, 3);
    add(slice->start, sure_to_live);
    add(slice->stop, sure_to_live);
    add(slice->step, sure_to_live);
    --depth_;
    return;
  }
  if (!p_->is_static) {
    if (is_tensor(o)) {
      PyTensor* tensor = tensor_of(o);
      Leaf& l = leaf(LeafKind::kTensor, o, sure_to_live);
      l.dtype = tensor->value.meta.dtype;
      l.rank = tensor->value.meta.rank;
      const uint64_t word = kTagTensor | static_cast<uint64_t>(l.dtype) << 8 | static_cast<uint64_t>(l.rank) << 16;
      s_.words.push_back(word);
      s_.hash = mix(s_.hash, word);
      return;
    }
    if (t == numpy().ndarray) return array(o, sure_to_live);
    if (t == &PyLong_Type) {
      int overflow = 0;
      const int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (!overflow && ((p_->size && v >= 0) || (!p_->inputs.empty() && contains(p_->inputs, ordinal_)))) return number(LeafKind::kI64, o, sure_to_live);
      return constant(o, sure_to_live);
    }
    if (t == &PyFloat_Type) return p_->number || (!p_->inputs.empty() && contains(p_->inputs, ordinal_)) ? number(LeafKind::kF64, o, sure_to_live) : constant(o, sure_to_live);
    if (PyMutable* m = mutable_of(o)) {
      PyObject* v = m->value.ptr();
      if (PyTuple_Check(v)) return add(v, sure_to_live);
      return number(PyBool_Check(v) ? LeafKind::kBool : PyLong_Check(v) ? LeafKind::kI64 : LeafKind::kF64, o, sure_to_live);
    }
  }
  if (t == &PyBool_Type || t == &PyUnicode_Type || o == Py_None || t == &PyLong_Type || t == &PyFloat_Type) return constant(o, sure_to_live);
  if (other(o, sure_to_live)) return;
  constant(o, sure_to_live);
}

Key::Key(const Scratch& s) : hash(s.hash), words(s.words) {
  for (PyObject* o : s.constants) constants.push_back(nb::borrow(o));
}

bool Key::matches(const Scratch& s) const {
  if (hash != s.hash || words != s.words || constants.size() != s.constants.size()) return false;
  for (size_t i = 0, at = 0; i < constants.size(); ++i, ++at) {
    while (words[at] != kTagConst && words[at] != kTagIdentity) ++at;
    PyObject *a = constants[i].ptr(), *b = s.constants[i];
    if (a == b) continue;
    if (words[at] == kTagIdentity || Py_TYPE(a) != Py_TYPE(b)) return false;
    if (same_constant(a, b)) continue;
    if (PyFloat_CheckExact(a) || PyLong_CheckExact(a) || PyUnicode_CheckExact(a)) return false;
    const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
    if (equal < 0) PyErr_Clear();
    if (equal != 1) return false;
  }
  return true;
}

}  // namespace msvm::python
