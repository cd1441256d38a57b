#include "entry.h"

#include <algorithm>

#include "mutable.h"

namespace msvm::python {
namespace {

PyExecutable& program_of(const PyEntry& e) { return *nb::inst_ptr<PyExecutable>(e.executable); }

void release_borrowed(Storage* s) { delete s; }
/// A storage for memory that its array keeps during the call.
void borrow_into(StorageRef& ref, const TensorMeta& m) {
  if (!ref || !ref->unique()) {  // a list of the program's may have kept it
    auto* s = new Storage;
    s->release = release_borrowed;
    ref = StorageRef::adopt(s);
  }
  ref->data = m.data;
  ref->bytes = static_cast<size_t>(m.elements() * dtype_bytes(m.dtype));
}

const std::vector<Param>& params_of(const PyEntry& e) { return program_of(e).function().inputs; }

bool fits(const Param& p, const TensorMeta& m) { return p.type.tensor.dtype == m.dtype && (p.type.tensor.unknown_rank || p.type.tensor.rank() == m.rank); }

bool take_view(const ArrayView& v, PyObject* array, const Param& p, Scratch& s, size_t& arrays) {
  if (v.use == ArrayUse::kUnsupported || !fits(p, v.meta)) return false;
  if (v.use != ArrayUse::kInPlace) {
    bool writable;
    s.inputs.emplace_back(take_array(array, v, writable));
    return true;
  }
  if (s.borrowed.size() <= arrays) s.borrowed.emplace_back();
  StorageRef& ref = s.borrowed[arrays++];
  borrow_into(ref, v.meta);
  s.inputs.emplace_back(std::in_place_type<TensorValue>, TensorValue{v.meta, ref});
  return true;
}

/// A float, for a program that takes an f64 or a tensor of rank 0.
bool take_float(double v, const Param& p, Scratch& s, size_t& arrays) {
  if (p.type.kind == RegKind::kF64) {
    s.inputs.emplace_back(v);
    return true;
  }
  TensorMeta m;
  m.dtype = DType::kF64;
  if (p.type.kind != RegKind::kTensor || !fits(p, m)) return false;
  s.numbers.push_back(v);  // has room for all
  m.data = reinterpret_cast<std::byte*>(&s.numbers.back());
  if (s.borrowed.size() <= arrays) s.borrowed.emplace_back();
  StorageRef& ref = s.borrowed[arrays++];
  borrow_into(ref, m);
  s.inputs.emplace_back(std::in_place_type<TensorValue>, TensorValue{m, ref});
  return true;
}

/// A value that isn't a leaf, by what the program takes.
bool take_value(PyObject* o, const Param& p, Scratch& s, size_t& arrays) {
  PyMutable* m = mutable_of(o);
  PyObject* v = m ? m->value.ptr() : o;
  switch (p.type.kind) {
    case RegKind::kTensor: {
      if (PyFloat_CheckExact(v)) return take_float(PyFloat_AS_DOUBLE(v), p, s, arrays);
      if (is_tensor(o)) {
        PyTensor* t = tensor_of(o);
        if (!fits(p, t->value.meta)) return false;
        s.inputs.emplace_back(t->value);
        return true;
      }
      if (!is_ndarray(o)) return false;
      s.views.push_back(view_array(o));
      return take_view(s.views.back(), o, p, s, arrays);
    }
    case RegKind::kI64: {
      if (!PyLong_Check(v) || PyBool_Check(v)) return false;
      int overflow = 0;
      const int64_t i = PyLong_AsLongLongAndOverflow(v, &overflow);
      if (overflow) return false;
      s.inputs.emplace_back(i);
      return true;
    }
    case RegKind::kF64:
      return PyFloat_Check(v) && take_float(PyFloat_AS_DOUBLE(v), p, s, arrays);
    case RegKind::kBool:
      if (!PyBool_Check(v)) return false;
      s.inputs.emplace_back(v == Py_True);
      return true;
    case RegKind::kList: return false;
  }
  return false;
}

bool take_leaf(const Leaf& l, const Param& p, Scratch& s, size_t& arrays) {
  switch (l.kind) {
    case LeafKind::kTensor:
      if (p.type.kind != RegKind::kTensor) return false;
      if (l.view >= 0) return take_view(s.views[static_cast<size_t>(l.view)], l.object, p, s, arrays);
      {
        const TensorValue& t = nb::inst_ptr<PyTensor>(l.object)->value;
        if (!fits(p, t.meta)) return false;
        s.inputs.emplace_back(t);
        return true;
      }
    case LeafKind::kI64:
      if (p.type.kind != RegKind::kI64) return false;
      s.inputs.emplace_back(l.i);
      return true;
    case LeafKind::kF64:
      return take_float(l.d, p, s, arrays);
    case LeafKind::kBool:
      if (p.type.kind != RegKind::kBool) return false;
      s.inputs.emplace_back(l.i != 0);
      return true;
    case LeafKind::kConst: return take_value(l.object, p, s, arrays);
  }
  return false;
}

Output parse_output(nb::handle d, const std::vector<Param>& results) {
  auto wrong = [&](const std::string& why) { raise(invalid_argument(std::string("an entry's outputs: ") + why + ", found " + nb::repr(d).c_str())); };
  if (!PyTuple_Check(d.ptr()) || nb::len(d) != 2 || !nb::isinstance<nb::str>(d[0])) wrong("expected (kind, value)");
  const std::string kind = nb::cast<std::string>(d[0]);
  nb::object value = d[1];
  Output o;
  auto result = [&](Output::Kind k, std::initializer_list<RegKind> kinds) {
    o.kind = k;
    o.result = static_cast<size_t>(nb::cast<int64_t>(value));
    if (o.result >= results.size()) wrong("the program gives " + std::to_string(results.size()) + " results");
    if (std::find(kinds.begin(), kinds.end(), results[o.result].type.kind) == kinds.end()) wrong("another kind of result");
  };
  if (kind == "leaf") {
    result(Output::kTensor, {RegKind::kTensor});
  } else if (kind == "int") {
    result(Output::kInt, {RegKind::kI64});
  } else if (kind == "float") {
    result(Output::kFloat, {RegKind::kF64});
  } else if (kind == "bool") {
    result(Output::kBool, {RegKind::kBool, RegKind::kI64});
  } else if (kind == "const") {
    o.constant = value;
  } else if (kind == "tuple" || kind == "list") {
    o.kind = kind == "tuple" ? Output::kTuple : Output::kList;
    for (nb::handle item : value) o.items.push_back(parse_output(item, results));
  } else if (kind == "dict") {
    o.kind = Output::kDict;
    nb::list keys;
    for (auto [key, item] : nb::cast<nb::dict>(value)) {
      keys.append(key);
      o.items.push_back(parse_output(item, results));
    }
    o.constant = nb::tuple(keys);
  } else if (kind == "made") {
    if (!PyTuple_Check(value.ptr()) || nb::len(value) != 2 || !PyCallable_Check(value[0].ptr())) wrong("expected what makes it, and of what");
    o.kind = Output::kMade;
    o.constant = value[0];
    for (nb::handle item : value[1]) o.items.push_back(parse_output(item, results));
  } else {
    wrong("there is no such kind");
  }
  return o;
}

PyObject* build(const Output& o, std::vector<Value>& results) {
  switch (o.kind) {
    case Output::kTensor: return make_tensor(TensorValue(std::get<TensorValue>(results[o.result]))).release().ptr();
    case Output::kInt: return PyLong_FromLongLong(std::get<int64_t>(results[o.result]));
    case Output::kFloat: return PyFloat_FromDouble(std::get<double>(results[o.result]));
    case Output::kBool: return PyBool_FromLong(std::holds_alternative<bool>(results[o.result]) ? std::get<bool>(results[o.result]) : std::get<int64_t>(results[o.result]) != 0);
    case Output::kConst: return Py_NewRef(o.constant.ptr());
    case Output::kTuple:
    case Output::kList:
    case Output::kMade: {
      const auto n = static_cast<Py_ssize_t>(o.items.size());
      nb::object c = nb::steal(o.kind == Output::kTuple ? PyTuple_New(n) : PyList_New(n));
      if (!c.is_valid()) return nullptr;
      for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* item = build(o.items[static_cast<size_t>(i)], results);
        if (!item) return nullptr;
        if (o.kind == Output::kTuple) PyTuple_SET_ITEM(c.ptr(), i, item);
        else PyList_SET_ITEM(c.ptr(), i, item);
      }
      if (o.kind == Output::kMade) return PyObject_CallOneArg(o.constant.ptr(), c.ptr());
      return c.release().ptr();
    }
    case Output::kDict: {
      nb::object d = nb::steal(PyDict_New());
      for (size_t i = 0; d.is_valid() && i < o.items.size(); ++i) {
        nb::object item = nb::steal(build(o.items[i], results));
        if (!item.is_valid() || PyDict_SetItem(d.ptr(), PyTuple_GET_ITEM(o.constant.ptr(), static_cast<Py_ssize_t>(i)), item.ptr()) < 0) return nullptr;
      }
      return d.release().ptr();
    }
  }
  return nullptr;
}

int visit_output(const Output& o, visitproc visit, void* arg) {
  Py_VISIT(o.constant.ptr());
  for (const Output& i : o.items)
    if (int r = visit_output(i, visit, arg)) return r;
  return 0;
}

PyEntry* entry_of(PyObject* self) { return nb::inst_ready(self) ? nb::inst_ptr<PyEntry>(self) : nullptr; }
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  PyEntry* e = entry_of(self);
  return e ? e->visit(visit, arg) : 0;
}
int clear(PyObject* self) {
  if (PyEntry* e = entry_of(self)) e->clear();
  return 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};

}  // namespace

PyEntry::PyEntry(nb::handle e, nb::handle in, nb::handle guard_list, nb::handle out)
    : executable(nb::borrow(e)), info(nb::none()), inputs(nb::borrow(in)), guards(nb::borrow(guard_list)), outputs(nb::borrow(out)) {
  if (!nb::isinstance<PyExecutable>(e)) raise(invalid_argument(std::string("Entry: expected an Executable, found ") + nb::repr(e).c_str()));
  const Function& f = program_of(*this).function();
  for (nb::handle source : in) {
    if (!PyTuple_Check(source.ptr()) || nb::len(source) != 2 || !nb::isinstance<nb::str>(source[0])) raise(invalid_argument(std::string("an entry's inputs: expected (\"leaf\", k) or (\"get\", path), found ") + nb::repr(source).c_str()));
    const std::string kind = nb::cast<std::string>(source[0]);
    InputSource s;
    if (kind == "leaf") {
      s.leaf = nb::cast<int>(source[1]);
      if (s.leaf < 0) raise(invalid_argument("an entry's inputs: there is no leaf " + std::to_string(s.leaf)));
      last_leaf = std::max(last_leaf, s.leaf);
    } else if (kind == "get") {
      s.path = std::make_unique<AccessPath>(source[1]);
      last_leaf = std::max(last_leaf, s.path->last_leaf());
    } else {
      raise(invalid_argument(std::string("an entry's inputs: expected (\"leaf\", k) or (\"get\", path), found ") + nb::repr(source).c_str()));
    }
    sources.push_back(std::move(s));
  }
  if (sources.size() != f.inputs.size()) raise(invalid_argument("Entry: the program takes " + std::to_string(f.inputs.size()) + " inputs, " + std::to_string(sources.size()) + " are described"));
  for (nb::handle g : guard_list) {
    if (nb::len(g) != 2) raise(invalid_argument("an entry's guards: expected (path, value)"));
    conditions.emplace_back(nb::object(g[0]), nb::object(g[1]));
    last_leaf = std::max(last_leaf, conditions.back().last_leaf());
  }
  result = parse_output(out, f.outputs);
}

bool PyEntry::guards_hold(std::span<PyObject* const> leaves) const {
  for (const Guard& g : conditions)
    if (!g.holds(leaves)) return false;
  return true;
}

bool PyEntry::take_inputs(Scratch& s) const {
  s.inputs.clear();
  s.numbers.clear();
  s.numbers.reserve(sources.size());
  const auto& params = params_of(*this);
  size_t arrays = 0;
  for (size_t k = 0; k < sources.size(); ++k) {
    const InputSource& from = sources[k];
    if (from.leaf >= 0) {
      if (!take_leaf(s.leaves[static_cast<size_t>(from.leaf)], params[k], s, arrays)) return false;
    } else {
      PyObject* v = from.path->read(s.objects);
      if (!v) return false;
      s.keep.push_back(nb::steal(v));
      if (!take_value(v, params[k], s, arrays)) return false;
    }
  }
  return true;
}

nb::object PyEntry::give_outputs(Scratch& s) const {
  PyObject* o = build(result, s.results);
  if (!o) throw nb::python_error();
  return nb::steal(o);
}

int PyEntry::visit(visitproc visit, void* arg) const {
  Py_VISIT(executable.ptr());
  Py_VISIT(info.ptr());
  Py_VISIT(inputs.ptr());
  Py_VISIT(guards.ptr());
  Py_VISIT(outputs.ptr());
  for (const InputSource& s : sources)
    if (s.path)
      if (int r = s.path->visit(visit, arg)) return r;
  for (const Guard& g : conditions)
    if (int r = g.visit(visit, arg)) return r;
  return visit_output(result, visit, arg);
}

void PyEntry::clear() {
  info = nb::none();
  inputs = nb::none();
  guards = nb::none();
  outputs = nb::none();
  for (InputSource& s : sources)
    if (s.path) s.path->clear();
  for (Guard& g : conditions) g.clear();
}

void bind_entry(nb::module_& m) {
  nb::class_<PyEntry>(m, "Entry", nb::type_slots(slots), nb::is_weak_referenceable())
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle>(), nb::arg("executable"), nb::arg("inputs"), nb::arg("guards") = nb::make_tuple(), nb::arg("outputs") = nb::make_tuple("tuple", nb::make_tuple()),
           "inputs: of each input of the program (\"leaf\", k) or (\"get\", path), read at every call. guards: (path, value), all of which must hold for the entry to serve.\n"
           "outputs: (\"leaf\", k) is result k as a Tensor, (\"int\", k), (\"float\", k), (\"bool\", k) as a number; (\"const\", object); (\"tuple\", [...]), (\"list\", [...]), (\"dict\", {name: ...}).\n"
           "Paths: (\"global\", dict, name), (\"cell\", cell), (\"value\", object), (\"leaf\", k), (\"attr\", object, name), (\"item\", object, key), (\"attr_of\", path, name), (\"item_of\", path, key).")
      .def_ro("executable", &PyEntry::executable)
      .def_ro("inputs", &PyEntry::inputs)
      .def_ro("guards", &PyEntry::guards)
      .def_ro("outputs", &PyEntry::outputs)
      .def_ro("calls", &PyEntry::calls, "How many calls it has served.")
      .def_rw("info", &PyEntry::info, nb::arg().none(), "Whatever its maker wants to find again.");
}

}  // namespace msvm::python
