#include "mutable.h"

#include <algorithm>
#include <vector>

#include "exchange.h"

namespace msvm::python {
namespace {

PyTypeObject* mutable_type = nullptr;
constexpr Py_ssize_t kRemembered = 32;

/// The list of this thread; goes with the thread. Borrowed; null if there is none and none was asked for.
PyObject* remembered(bool make) {
  static PyObject* const key = PyUnicode_InternFromString("msvm.mutables");
  PyObject* dict = PyThreadState_GetDict();
  if (!dict) return nullptr;
  PyObject* list = PyDict_GetItemWithError(dict, key);
  if (list || !make) return list;
  nb::object fresh = nb::steal(PyList_New(0));
  if (!fresh.is_valid() || PyDict_SetItem(dict, key, fresh.ptr()) < 0) {
    PyErr_Clear();
    return nullptr;
  }
  return PyDict_GetItemWithError(dict, key);
}

void remember(nb::handle self) {
  PyObject* list = remembered(true);
  if (!list) return;
  const Py_ssize_t n = PyList_GET_SIZE(list);
  if (n && PyList_GET_ITEM(list, n - 1) == self.ptr()) return;
  if (n >= kRemembered && PyList_SetSlice(list, 0, 1, nullptr) < 0) PyErr_Clear();
  if (PyList_Append(list, self.ptr()) < 0) PyErr_Clear();
}

nb::object checked(PyObject* o) {
  if (!o) throw nb::python_error();
  return nb::steal(o);
}
nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

/// As bool, int or float; nothing if it is no number.
nb::object number_of(nb::handle h) {
  PyObject* o = h.ptr();
  if (PyMutable* m = mutable_of(o)) return m->value;
  if (PyBool_Check(o)) return nb::borrow(h);
  if (PyFloat_CheckExact(o)) return nb::borrow(h);
  if (PyFloat_Check(o)) return nb::steal(PyFloat_FromDouble(PyFloat_AS_DOUBLE(o)));
  if (PyIndex_Check(o) && !PyObject_HasAttrString(o, "__len__")) {
    if (PyObject* i = PyNumber_Index(o)) return nb::steal(i);
    PyErr_Clear();
    return {};
  }
  return {};
}

nb::object make(nb::object value, nb::handle name, nb::handle op, nb::handle operands) {
  return nb::cast(PyMutable{std::move(value), nb::borrow(name), nb::borrow(op), nb::borrow(operands)});
}

void construct(PyMutable* self, nb::handle v, nb::handle name, nb::handle op, nb::handle operands) {
  nb::object value;
  if (!name.is_none() && !nb::isinstance<nb::str>(name)) throw nb::type_error("mutable: name must be a str");
  if (nb::isinstance<nb::tuple>(v) || nb::isinstance<nb::list>(v)) {
    nb::list items;
    size_t k = 0;
    for (nb::handle item : v) {
      nb::object n = name.is_none() ? nb::none() : nb::object(nb::str((std::string(nb::str(name).c_str()) + "[" + std::to_string(k) + "]").c_str()));
      items.append(mutable_of(item.ptr()) ? nb::borrow(item) : nb::handle(mutable_type)(item, n));
      ++k;
    }
    value = nb::tuple(items);
  } else {
    value = number_of(PyObject_TypeCheck(v.ptr(), numpy().generic) ? nb::object(v.attr("item")()) : nb::borrow(v));
    if (!value.is_valid() || !(PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr())))
      throw nb::type_error(("mutable: expected an int, float, bool or a tuple of them, found " + std::string(Py_TYPE(v.ptr())->tp_name)).c_str());
    if (int overflow = 0; PyLong_Check(value.ptr())) {
      PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
      if (overflow) raise(overflow_error("mutable: an int must fit 64 bits"));
    }
  }
  new (self) PyMutable{std::move(value), nb::borrow(name), nb::borrow(op), nb::borrow(operands)};
}

bool is_tuple(const PyMutable& m) { return PyTuple_Check(m.value.ptr()); }
/// The number that it is.
PyObject* scalar(const PyMutable& m) {
  if (is_tuple(m)) throw nb::type_error("a mutable tuple isn't a number: take one of its elements");
  return m.value.ptr();
}

using Binary = PyObject* (*)(PyObject*, PyObject*);
PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }
PyObject* least(PyObject* a, PyObject* b) {
  const int less = PyObject_RichCompareBool(b, a, Py_LT);
  return less < 0 ? nullptr : Py_NewRef(less ? b : a);
}
PyObject* greatest(PyObject* a, PyObject* b) {
  const int more = PyObject_RichCompareBool(b, a, Py_GT);
  return more < 0 ? nullptr : Py_NewRef(more ? b : a);
}

struct BinaryOp {
  const char *method, *reflected, *op;
  Binary function;
};
constexpr BinaryOp kBinary[] = {
    {"__add__", "__radd__", "+", PyNumber_Add},           {"__sub__", "__rsub__", "-", PyNumber_Subtract}, {"__mul__", "__rmul__", "*", PyNumber_Multiply},
    {"__floordiv__", "__rfloordiv__", "//", PyNumber_FloorDivide}, {"__mod__", "__rmod__", "%", PyNumber_Remainder}, {"__truediv__", "__rtruediv__", "/", PyNumber_TrueDivide},
    {"__pow__", "__rpow__", "**", power},                 {"__and__", "__rand__", "&", PyNumber_And},      {"__or__", "__ror__", "|", PyNumber_Or},
    {"__xor__", "__rxor__", "^", PyNumber_Xor},           {"__lshift__", "__rlshift__", "<<", PyNumber_Lshift}, {"__rshift__", "__rrshift__", ">>", PyNumber_Rshift},
    {"min", nullptr, "min", least},                       {"max", nullptr, "max", greatest},
};
struct UnaryOp {
  const char *method, *op;
  PyObject* (*function)(PyObject*);
};
constexpr UnaryOp kUnary[] = {{"__neg__", "-", PyNumber_Negative}, {"__pos__", "+", PyNumber_Positive}, {"__abs__", "abs", PyNumber_Absolute}, {"__invert__", "~", PyNumber_Invert}};

/// `a op b`, one of which is a Mutable. Arrays take part as their own kind: the result isn't a Mutable.
nb::object binary(const BinaryOp& op, nb::handle a, nb::handle b) {
  PyMutable *ma = mutable_of(a.ptr()), *mb = mutable_of(b.ptr());
  nb::handle other = ma ? b : a;
  nb::object x = number_of(a), y = number_of(b);
  if (!x.is_valid() || !y.is_valid()) {
    if (!PyObject_HasAttrString(other.ptr(), "__array_struct__")) return not_implemented();
    return checked(op.function(ma ? scalar(*ma) : a.ptr(), mb ? scalar(*mb) : b.ptr()));
  }
  if (ma) scalar(*ma);
  if (mb) scalar(*mb);
  nb::object value = checked(op.function(x.ptr(), y.ptr()));
  if (int overflow = 0; PyLong_Check(value.ptr())) {
    PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow) raise(overflow_error("a mutable's value must fit 64 bits: " + std::string(nb::str(x).c_str()) + " " + op.op + " " + nb::str(y).c_str()));
  }
  if (!PyLong_Check(value.ptr()) && !PyFloat_Check(value.ptr())) return value;  // complex
  return make(std::move(value), nb::none(), nb::str(op.op), nb::make_tuple(a, b));
}

nb::object compare(nb::handle a, nb::handle b, int op) {
  nb::object y = number_of(b);
  PyObject* x = mutable_of(a.ptr())->value.ptr();
  if (y.is_valid()) return checked(PyObject_RichCompare(x, y.ptr(), op));
  if ((PyTuple_Check(x) && PyTuple_Check(b.ptr())) || is_ndarray(b.ptr()) || PyObject_TypeCheck(b.ptr(), numpy().generic)) return checked(PyObject_RichCompare(x, b.ptr(), op));
  return not_implemented();
}

std::string expression(nb::handle h) {
  PyMutable* m = mutable_of(h.ptr());
  if (!m) return nb::repr(h).c_str();
  if (!m->name.is_none()) return nb::str(m->name).c_str();
  if (m->op.is_none()) {
    if (!is_tuple(*m)) return nb::str(m->value).c_str();
    std::string s = "(";
    for (nb::handle item : m->value) s += (s.size() > 1 ? ", " : "") + expression(item);
    return s + ")";
  }
  const std::string op = nb::str(m->op).c_str();
  const std::string a = expression(m->operands[0]);
  if (nb::len(m->operands) == 1) return op == "abs" ? "abs(" + a + ")" : op + a;
  const std::string b = expression(m->operands[1]);
  return op == "min" || op == "max" ? op + "(" + a + ", " + b + ")" : "(" + a + " " + op + " " + b + ")";
}

}  // namespace

PyMutable* mutable_of(PyObject* o) { return Py_TYPE(o) == mutable_type ? nb::inst_ptr<PyMutable>(o) : nullptr; }

nb::object take_axis_symbols(const int64_t* shape, size_t rank) {
  PyObject* list = remembered(false);
  if (!list || PyList_GET_SIZE(list) == 0) return nb::none();
  std::vector<nb::object> seen;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    nb::object m = nb::borrow(PyList_GET_ITEM(list, i));
    if (std::none_of(seen.begin(), seen.end(), [&](const nb::object& s) { return s.is(m); })) seen.push_back(std::move(m));
  }
  if (PyList_SetSlice(list, 0, PyList_GET_SIZE(list), nullptr) < 0) PyErr_Clear();
  std::vector<nb::object> axes(rank);
  bool any = false;
  auto value = [](const nb::object& m) { return PyLong_AsLongLong(mutable_of(m.ptr())->value.ptr()); };
  // From the newest: the oldest may have been asked for something else.
  size_t end = rank;
  for (auto m = seen.rbegin(); m != seen.rend(); ++m)
    for (size_t a = end; a-- > 0;)
      if (shape[a] == value(*m)) {
        axes[a] = *m;
        end = a;
        any = true;
        break;
      }
  if (!any) return nb::none();
  for (size_t a = 0; a < rank; ++a)  // one that gave several sizes
    for (const nb::object& m : seen)
      if (!axes[a].is_valid() && shape[a] == value(m) && std::any_of(axes.begin(), axes.end(), [&](const nb::object& x) { return x.is(m); })) axes[a] = m;
  nb::list out;
  for (nb::object& a : axes) out.append(a.is_valid() ? a : nb::none());
  return nb::tuple(out);
}

void bind_mutable(nb::module_& m) {
  nb::class_<PyMutable> c(m, "Mutable", nb::is_weak_referenceable());
  mutable_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  c.def("__init__", construct, nb::arg("value").none(), nb::arg("name") = nb::none(), nb::arg("op") = nb::none(), nb::arg("operands") = nb::make_tuple())
      .def_prop_ro("value",
                   [](const PyMutable& x) -> nb::object {
                     if (!is_tuple(x)) return x.value;
                     nb::list out;
                     for (nb::handle item : x.value) out.append(item.attr("value"));
                     return nb::tuple(out);
                   })
      .def_prop_ro("name", [](const PyMutable& x) { return x.name; })
      .def_prop_ro("op", [](const PyMutable& x) { return x.op; })
      .def_prop_ro("operands", [](const PyMutable& x) { return x.operands; })
      .def_prop_ro("text", [](nb::handle self) { return expression(self); })
      .def("__index__",
           [](nb::handle self) {
             PyMutable& x = *mutable_of(self.ptr());
             if (!PyLong_Check(scalar(x))) throw nb::type_error("a mutable float can't be interpreted as an integer");
             remember(self);
             return checked(PyNumber_Index(x.value.ptr()));
           })
      .def("__int__", [](const PyMutable& x) { return checked(PyNumber_Long(scalar(x))); })
      .def("__float__", [](const PyMutable& x) { return checked(PyNumber_Float(scalar(x))); })
      .def("__complex__", [](const PyMutable& x) { return nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type))(nb::handle(scalar(x))); })
      .def("__trunc__", [](const PyMutable& x) { return checked(PyNumber_Long(scalar(x))); })
      .def("__round__", [](const PyMutable& x, nb::args args) { return nb::module_::import_("builtins").attr("round")(nb::handle(scalar(x)), *args); })
      .def("__bool__", [](const PyMutable& x) { return PyObject_IsTrue(x.value.ptr()) == 1; })
      .def("__hash__",
           [](const PyMutable& x) {
             const Py_hash_t h = PyObject_Hash(x.value.ptr());
             if (h == -1) throw nb::python_error();
             return h;
           })
      .def("__len__",
           [](const PyMutable& x) {
             if (!is_tuple(x)) throw nb::type_error("a mutable number has no length");
             return nb::len(x.value);
           })
      .def("__getitem__",
           [](const PyMutable& x, nb::handle key) {
             if (!is_tuple(x)) throw nb::type_error("a mutable number can't be indexed");
             return checked(PyObject_GetItem(x.value.ptr(), key.ptr()));
           })
      .def("__iter__",
           [](const PyMutable& x) {
             if (!is_tuple(x)) throw nb::type_error("a mutable number can't be iterated over");
             return nb::iter(x.value);
           })
      .def("__array__",
           [](const PyMutable& x, nb::handle dtype, nb::handle copy) {
             (void)copy;
             nb::object plain = is_tuple(x) ? nb::cast(x).attr("value") : x.value;
             return nb::module_::import_("numpy").attr("array")(plain, nb::arg("dtype") = dtype);
           },
           nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__str__", [](nb::handle self) { return nb::str(nb::object(self.attr("value"))); })
      .def("__format__", [](const PyMutable& x, nb::handle spec) { return nb::module_::import_("builtins").attr("format")(is_tuple(x) ? nb::cast(x).attr("value") : x.value, spec); })
      .def("__repr__",
           [](nb::handle self) {
             PyMutable& x = *mutable_of(self.ptr());
             std::string s = "mutable(" + std::string(nb::repr(nb::object(self.attr("value"))).c_str());
             if (!x.name.is_none()) s += ", name=" + std::string(nb::repr(x.name).c_str());
             else if (!x.op.is_none()) s += ", " + expression(self);
             return s + ")";
           })
      .def("__reduce__", [](nb::handle self) {
        PyMutable& x = *mutable_of(self.ptr());
        return nb::make_tuple(self.type(), nb::make_tuple(x.value, x.name, x.op, x.operands));
      });
  c.attr("__array_priority__") = 1000;  // operators of numpy leave the work to ours
  for (const BinaryOp& op : kBinary) {
    nb::object f = nb::cpp_function([&op](nb::handle a, nb::handle b) { return binary(op, a, b); }, nb::is_method(), nb::is_operator(), nb::name(op.method), nb::scope(c));
    c.attr(op.method) = f;
    if (op.reflected) c.attr(op.reflected) = nb::cpp_function([&op](nb::handle a, nb::handle b) { return binary(op, b, a); }, nb::is_method(), nb::is_operator(), nb::name(op.reflected), nb::scope(c));
  }
  for (const UnaryOp& op : kUnary)
    c.attr(op.method) = nb::cpp_function(
        [&op](nb::handle a) {
          nb::object value = checked(op.function(scalar(*mutable_of(a.ptr()))));
          return make(std::move(value), nb::none(), nb::str(op.op), nb::make_tuple(a));
        },
        nb::is_method(), nb::name(op.method), nb::scope(c));
  constexpr std::pair<const char*, int> kCompare[] = {{"__eq__", Py_EQ}, {"__ne__", Py_NE}, {"__lt__", Py_LT}, {"__le__", Py_LE}, {"__gt__", Py_GT}, {"__ge__", Py_GE}};
  for (auto [name, op] : kCompare) c.attr(name) = nb::cpp_function([op = op](nb::handle a, nb::handle b) { return compare(a, b, op); }, nb::is_method(), nb::is_operator(), nb::name(name), nb::scope(c));
}

}  // namespace msvm::python
