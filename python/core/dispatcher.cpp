#include "dispatcher.h"

#include <structmember.h>

#include <algorithm>
#include <bit>
#include <map>

#include "arguments.h"
#include "dispatch_table.h"
#include "gil.h"
#include "run.h"
#include "signature.h"

namespace msvm::python {
namespace {

struct Dispatcher {
  Dispatcher(size_t max_entries) : table(max_entries) {}

  ParameterList parameters;
  nb::object names;      // tuple
  nb::object miss, warn, on_error;
  nb::object name, doc;
  nb::object inside, bypass;  // callables that serve while this thread makes a program, and always; null: none
  size_t burn_limit = 8;
  std::map<std::pair<uint32_t, uint32_t>, std::set<int64_t>> seen;  // ints that were constants, by leaf
  std::set<uint32_t> warned;
  DispatchTable table;
  uint64_t misses = 0;
};

struct DispatcherObject {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* dict;
  PyObject* weakrefs;
  Dispatcher* d;
};

Dispatcher& self_of(PyObject* o) {
  Dispatcher* d = reinterpret_cast<DispatcherObject*>(o)->d;
  if (!d) {
    PyErr_SetString(PyExc_TypeError, "this Dispatcher wasn't initialised");
    throw nb::python_error();
  }
  return *d;
}

thread_local bool building = false;  // a program is being made: operators add to it

/// Runs f with C++ exceptions turned into Python's.
template <class T, class F> T guarded(T failed, F f) noexcept {
  try {
    return f();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const nb::builtin_exception& e) {
    PyErr_SetString(e.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError, e.what());
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return failed;
}

/// A thread's scratch spaces: one per call that is under way, as calls nest.
class Borrowed {
 public:
  Borrowed() {
    auto& spare = all();
    if (spare.empty()) {
      s_ = new Scratch;
    } else {
      s_ = spare.back();
      spare.pop_back();
    }
    s_->clear();
  }
  ~Borrowed() {
    s_->clear();
    all().push_back(s_);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Scratch& operator*() { return *s_; }

 private:
  struct Spare : std::vector<Scratch*> {
    ~Spare() {
      for (Scratch* s : *this) delete s;  // cleared: they hold nothing of Python's
    }
  };
  static Spare& all() {
    thread_local Spare spare;
    return spare;
  }
  Scratch* s_;
};

void flatten(const Dispatcher& d, Scratch& s, std::vector<Node>* nodes = nullptr, std::vector<Place>* places = nullptr) {
  Flattener f(s, nodes, places);
  for (size_t i = 0; i < s.slots.size(); ++i) {
    f.begin(d.parameters.all[i], static_cast<uint32_t>(i));
    f.add(s.slots[i]);
  }
}

/// Everything but the arguments by parameter.
void forget_leaves(Scratch& s) {
  std::vector<PyObject*> slots;
  std::swap(slots, s.slots);
  std::vector<nb::object> keep;
  std::swap(keep, s.keep);  // tuples of *args, among others
  s.clear();
  std::swap(slots, s.slots);
  std::swap(keep, s.keep);
}

/// Counts the values of ints and floats that are constants; true if some of them are inputs from now on.
bool count_ints(Dispatcher& d, const Scratch& s, const std::vector<Place>& places, std::vector<Place>& turned) {
  for (size_t k = 0; k < s.leaves.size(); ++k) {
    const Leaf& l = s.leaves[k];
    if (l.kind != LeafKind::kConst || !(PyLong_CheckExact(l.object) || PyFloat_CheckExact(l.object))) continue;
    const Place at = places[k];
    Parameter& p = d.parameters.all[at.parameter];
    if (p.is_static || p.size || std::find(p.constant.begin(), p.constant.end(), at.ordinal) != p.constant.end()) continue;
    int overflow = 0;
    const int64_t v = PyFloat_CheckExact(l.object) ? std::bit_cast<int64_t>(PyFloat_AS_DOUBLE(l.object)) : PyLong_AsLongLongAndOverflow(l.object, &overflow);
    if (overflow) continue;
    auto& values = d.seen[{at.parameter, at.ordinal}];
    if (values.size() <= d.burn_limit) values.insert(v);
    if (values.size() <= d.burn_limit) continue;
    d.seen.erase({at.parameter, at.ordinal});
    p.inputs.push_back(at.ordinal);
    turned.push_back(at);
  }
  return !turned.empty();
}

void warn_of(Dispatcher& d, const std::vector<Place>& turned) {
  for (const Place& p : turned)
    if (d.warned.insert(p.parameter).second && !d.warn.is_none()) d.warn(d.parameters.all[p.parameter].name);
}

/// Asks Python for a program that serves the arguments; null if those ints stay constants after all.
nb::object compile(Dispatcher& d, Scratch& s, std::vector<Node> nodes, std::vector<Place> places, bool with_turned) {
  ++d.misses;
  nb::object signature = make_signature(d.names, s, std::move(nodes), std::move(places));
  nb::object entry = d.miss(signature);
  if (with_turned && entry.is(nb::handle(Py_NotImplemented))) return {};
  if (!nb::isinstance<PyEntry>(entry)) {
    PyErr_Format(PyExc_TypeError, "%s: the miss callback must return an Entry, found %R", d.parameters.function.c_str(), entry.ptr());
    throw nb::python_error();
  }
  PyEntry& e = *nb::inst_ptr<PyEntry>(entry);
  if (e.last_leaf >= static_cast<int>(s.leaves.size())) raise(invalid_argument("an entry asks for leaf " + std::to_string(e.last_leaf) + ": the arguments have " + std::to_string(s.leaves.size())));
  const nb::object there = d.table.find(s);  // another thread may have made it
  if (!e.take_inputs(s)) raise(invalid_argument(d.parameters.function + ": the new entry's program doesn't take the kinds of these arguments"));
  if (!there.is_valid() || !there.is(entry)) d.table.add(s, entry);
  ++e.calls;
  return entry;
}

nb::object compile_miss(Dispatcher& d, Scratch& s) {
  std::vector<Place> turned;
  for (;;) {
    std::vector<Node> nodes;
    std::vector<Place> places;
    forget_leaves(s);
    flatten(d, s, &nodes, &places);
    if (turned.empty() && count_ints(d, s, places, turned)) {
      forget_leaves(s);
      flatten(d, s);
      if (nb::object found = d.table.find(s); found.is_valid()) return found;
      continue;
    }
    nb::object entry = compile(d, s, std::move(nodes), std::move(places), !turned.empty());
    if (entry.is_valid()) {
      warn_of(d, turned);
      return entry;
    }
    for (const Place& at : turned) {
      Parameter& p = d.parameters.all[at.parameter];
      std::erase(p.inputs, at.ordinal);
      p.constant.push_back(at.ordinal);
    }
    turned.clear();
  }
}

/// "in f, called with f32[2, 3], 5": of the program's inputs.
std::string call_text(const Dispatcher& d, const Scratch& s) {
  std::string text = "  in " + d.parameters.function + ", called with ";
  for (size_t k = 0; k < s.inputs.size(); ++k) {
    if (k) text += ", ";
    if (auto* t = std::get_if<TensorValue>(&s.inputs[k])) text += to_string(t->meta);
    else if (auto* i = std::get_if<int64_t>(&s.inputs[k])) text += std::to_string(*i);
    else if (auto* f = std::get_if<double>(&s.inputs[k])) text += std::to_string(*f);
    else text += std::get<bool>(s.inputs[k]) ? "True" : "False";
  }
  return s.inputs.empty() ? "  in " + d.parameters.function : text;
}

[[noreturn]] void raise_failure(Dispatcher& d, Scratch& s, const nb::object& entry, const Status& status) {
  nb::object error;
  try {
    raise(status);
  } catch (nb::python_error& e) {
    error = nb::borrow(e.value());
  }
  error.attr("add_note")(text(call_text(d, s)));
  if (d.on_error.is_none()) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    throw nb::python_error();
  }
  nb::object other = d.on_error(error, entry);
  if (!other.is_none()) error = other;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

nb::object find_or_compile(Dispatcher& d, Scratch& s) {
  flatten(d, s);
  nb::object entry = d.table.find(s);
  return entry.is_valid() ? entry : compile_miss(d, s);
}

PyObject* call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* keyword_names) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    Dispatcher& d = self_of(self);
    const nb::object other = d.bypass.is_valid() ? d.bypass : building ? d.inside : nb::object();
    if (other.is_valid()) return PyObject_Vectorcall(other.ptr(), args, nargsf & ~PY_VECTORCALL_ARGUMENTS_OFFSET, keyword_names);
    Borrowed borrowed;
    Scratch& s = *borrowed;
    d.parameters.bind(s, args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), keyword_names);
    nb::object entry = find_or_compile(d, s);
    PyEntry& e = *nb::inst_ptr<PyEntry>(entry);
    const Status status = run_without_gil(nb::inst_ptr<PyExecutable>(e.executable)->executable(), s.inputs, s.results);
    if (!status.ok()) raise_failure(d, s, entry, status);
    return e.give_outputs(s).release().ptr();
  });
}

// ---- the type ----

bool take_defaults(ParameterList& list, nb::handle defaults) {
  list.defaults.resize(list.all.size());
  if (PyDict_Check(defaults.ptr())) {
    for (auto [name, value] : nb::borrow<nb::dict>(defaults)) {
      bool found = false;
      for (size_t i = 0; i < list.all.size(); ++i)
        if (list.all[i].name.equal(name)) {
          list.defaults[i] = nb::borrow(value);
          found = true;
        }
      if (!found) return false;
    }
    return true;
  }
  const size_t n = nb::len(defaults);
  if (n > list.positional) return false;
  for (size_t i = 0; i < n; ++i) list.defaults[list.positional - n + i] = nb::object(defaults[i]);
  return true;
}

void mark(ParameterList& list, nb::handle names, bool Parameter::* flag, const char* what) {
  for (nb::handle name : names) {
    bool found = false;
    for (Parameter& p : list.all)
      if (p.name.equal(name)) p.*flag = found = true;
    if (!found) raise(invalid_argument(std::string("Dispatcher: ") + what + " names " + nb::repr(name).c_str() + ", which is no parameter"));
  }
}

int init(PyObject* self, PyObject* args, PyObject* kwargs) noexcept {
  return guarded(-1, [&] {
    static const char* keywords[] = {"miss", "parameters", "name", "defaults", "sizes", "floats", "static", "varargs", "varkw", "keyword_only", "burn_limit", "warn", "on_error", "max_entries", "doc", nullptr};
    PyObject *miss, *parameters, *name = Py_None, *defaults = nullptr, *sizes = nullptr, *floats = nullptr, *statics = nullptr, *warn = Py_None, *on_error = Py_None, *doc = Py_None;
    int varargs = 0, varkw = 0;
    Py_ssize_t keyword_only = 0, burn_limit = 8, max_entries = 256;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$OOOOOppnnOOnO:Dispatcher", const_cast<char**>(keywords), &miss, &parameters, &name, &defaults, &sizes, &floats, &statics, &varargs, &varkw, &keyword_only,
                                     &burn_limit, &warn, &on_error, &max_entries, &doc))
      throw nb::python_error();
    auto* o = reinterpret_cast<DispatcherObject*>(self);
    if (o->d) raise(invalid_argument("Dispatcher: __init__ was called before"));
    if (!PyCallable_Check(miss)) raise(invalid_argument("Dispatcher: miss must be callable"));
    if (burn_limit < 0 || max_entries < 1) raise(invalid_argument("Dispatcher: burn_limit is at least 0, max_entries at least 1"));
    auto d = std::make_unique<Dispatcher>(static_cast<size_t>(max_entries));
    ParameterList& list = d->parameters;
    for (nb::handle p : nb::handle(parameters)) {
      if (!nb::isinstance<nb::str>(p)) raise(invalid_argument("Dispatcher: parameters are names"));
      PyObject* s = Py_NewRef(p.ptr());
      PyUnicode_InternInPlace(&s);
      list.all.emplace_back();
      list.all.back().name = nb::steal(s);
    }
    list.var_positional = varargs;
    list.var_keyword = varkw;
    list.keyword_only = static_cast<size_t>(keyword_only);
    if (keyword_only < 0 || list.keyword_only + static_cast<size_t>(varargs + varkw) > list.all.size()) raise(invalid_argument("Dispatcher: there are fewer parameters than varargs, varkw and keyword_only say"));
    list.positional = list.all.size() - list.keyword_only - static_cast<size_t>(varargs + varkw);
    list.function = nb::isinstance<nb::str>(name) ? nb::cast<std::string>(nb::handle(name)) : "function";
    if (!(defaults ? take_defaults(list, defaults) : take_defaults(list, nb::tuple()))) raise(invalid_argument("Dispatcher: defaults name parameters that aren't there"));
    if (sizes) mark(list, sizes, &Parameter::size, "sizes");
    if (floats) mark(list, floats, &Parameter::number, "floats");
    if (statics) mark(list, statics, &Parameter::is_static, "static");
    d->names = nb::steal(PySequence_Tuple(parameters));
    d->miss = nb::borrow(miss);
    d->warn = nb::borrow(warn);
    d->on_error = nb::borrow(on_error);
    d->name = nb::str(list.function.c_str());
    d->doc = nb::borrow(doc);
    d->burn_limit = static_cast<size_t>(burn_limit);
    o->d = d.release();
    return 0;
  });
}

PyObject* make_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) reinterpret_cast<DispatcherObject*>(self)->vectorcall = call;
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  auto* o = reinterpret_cast<DispatcherObject*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(o->dict);
  if (!o->d) return 0;
  for (const nb::object* p : {&o->d->names, &o->d->miss, &o->d->warn, &o->d->on_error, &o->d->name, &o->d->doc, &o->d->inside, &o->d->bypass}) Py_VISIT(p->ptr());
  for (const nb::object& p : o->d->parameters.defaults) Py_VISIT(p.ptr());
  return o->d->table.visit(visit, arg);
}

int clear(PyObject* self) {
  auto* o = reinterpret_cast<DispatcherObject*>(self);
  Py_CLEAR(o->dict);
  if (!o->d) return 0;
  o->d->table.clear();
  o->d->miss = nb::none();
  o->d->warn = nb::none();
  o->d->on_error = nb::none();
  o->d->inside.reset();
  o->d->bypass.reset();
  for (nb::object& p : o->d->parameters.defaults) p.reset();
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  auto* o = reinterpret_cast<DispatcherObject*>(self);
  if (o->weakrefs) PyObject_ClearWeakRefs(self);
  clear(self);
  delete o->d;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get(PyObject* self, PyObject* instance, PyObject*) { return instance && instance != Py_None ? PyMethod_New(self, instance) : Py_NewRef(self); }

PyObject* repr(PyObject* self) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return PyUnicode_FromFormat("<msvm dispatcher %U>", self_of(self).name.ptr()); });
}

PyObject* entries(PyObject* self, PyObject*) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return self_of(self).table.entries().release().ptr(); });
}

PyObject* forget(PyObject* self, PyObject*) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    Dispatcher& d = self_of(self);
    d.table.clear();
    d.seen.clear();
    return Py_NewRef(Py_None);
  });
}

PyObject* discard(PyObject* self, PyObject* entry) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    self_of(self).table.discard(entry);
    return Py_NewRef(Py_None);
  });
}

/// Calls f with the scratch that holds the bound arguments.
template <class F> PyObject* with_arguments(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keyword_names, F f) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    Dispatcher& d = self_of(self);
    Borrowed borrowed;
    d.parameters.bind(*borrowed, args, static_cast<size_t>(count), keyword_names);
    return f(d, *borrowed).release().ptr();
  });
}

PyObject* entry_for(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keyword_names) noexcept {
  return with_arguments(self, args, count, keyword_names, [](Dispatcher& d, Scratch& s) { return find_or_compile(d, s); });
}

PyObject* find_entry(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keyword_names) noexcept {
  return with_arguments(self, args, count, keyword_names, [](Dispatcher& d, Scratch& s) {
    flatten(d, s);
    nb::object e = d.table.find(s);
    return e.is_valid() ? e : nb::none();
  });
}

PyObject* signature(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keyword_names) noexcept {
  return with_arguments(self, args, count, keyword_names, [](Dispatcher& d, Scratch& s) {
    std::vector<Node> nodes;
    std::vector<Place> places;
    flatten(d, s, &nodes, &places);
    return make_signature(d.names, s, std::move(nodes), std::move(places));
  });
}

/// Python classes on top of this one keep the quick ways to be called, unless they say how they are called.
PyObject* init_subclass(PyObject* type, PyObject*, PyObject*) {
  auto* t = reinterpret_cast<PyTypeObject*>(type);
  if (t->tp_call == PyVectorcall_Call) t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  if (t->tp_descr_get == get) t->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
  Py_RETURN_NONE;
}

template <class T, T Dispatcher::* member> PyObject* object_getter(PyObject* self, void*) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return Py_NewRef((self_of(self).*member).ptr()); });
}
PyObject* get_misses(PyObject* self, void*) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return PyLong_FromUnsignedLongLong(self_of(self).misses); });
}

template <nb::object Dispatcher::* member> PyObject* callable_getter(PyObject* self, void*) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    const nb::object& o = self_of(self).*member;
    return Py_NewRef(o.is_valid() ? o.ptr() : Py_None);
  });
}
template <nb::object Dispatcher::* member> int callable_setter(PyObject* self, PyObject* value, void*) noexcept {
  return guarded<int>(-1, [&] {
    self_of(self).*member = value && value != Py_None ? nb::borrow(value) : nb::object();
    return 0;
  });
}

PyMethodDef methods[] = {
    {"entries", entries, METH_NOARGS, "The entries, the one used last first."},
    {"discard", discard, METH_O, "Forgets one entry."},
    {"clear", forget, METH_NOARGS, "Forgets all entries."},
    {"entry_for", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(entry_for)), METH_FASTCALL | METH_KEYWORDS, "The entry that a call with these arguments would run; compiled if it isn't there."},
    {"find_entry", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(find_entry)), METH_FASTCALL | METH_KEYWORDS, "The entry that a call with these arguments would run, or None."},
    {"signature", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(signature)), METH_FASTCALL | METH_KEYWORDS, "The Signature of these arguments."},
    {"__init_subclass__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(init_subclass)), METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {{"parameters", object_getter<nb::object, &Dispatcher::names>, nullptr, "Names.", nullptr},
                            {"name", object_getter<nb::object, &Dispatcher::name>, nullptr, nullptr, nullptr},
                            {"misses", get_misses, nullptr, "How often Python was asked for a program.", nullptr},
                            {"inside", callable_getter<&Dispatcher::inside>, callable_setter<&Dispatcher::inside>, "What is called instead while this thread makes a program; None: nothing.", nullptr},
                            {"bypass", callable_getter<&Dispatcher::bypass>, callable_setter<&Dispatcher::bypass>, "What is called instead, always; None: nothing.", nullptr},
                            {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(DispatcherObject, vectorcall), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(DispatcherObject, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(DispatcherObject, weakrefs), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

constexpr const char* kDoc =
    "Dispatcher(miss, parameters, *, name=None, defaults=(), sizes=(), floats=(), static=(), varargs=False, varkw=False, keyword_only=0, burn_limit=8, warn=None, on_error=None, max_entries=256, doc=None)\n--\n\n"
    "A callable that binds its arguments to parameters, flattens them, and runs the program of the entry that serves them, without the GIL.\n\n"
    "miss(signature): makes an Entry where there is none; NotImplemented if an int that had too many values must stay a constant.\n"
    "parameters: names, in Python's order: positional, *args (varargs), the last keyword_only by keyword only, **kwargs (varkw). defaults: of the last positional ones, or a dict.\n"
    "Leaves are Tensors, numpy arrays and whatever has DLPack (a program per dtype and rank), mutables, plain ints >= 0 of parameters in `sizes`, plain floats of those in `floats`;\n"
    "everything else is a constant of the program: by value and exact type if it has a hash of its own, else by identity. Of parameters in `static` everything is.\n"
    "burn_limit: so many values of a plain int get programs of their own; then it becomes an input, and warn(name) is called once.\n"
    "on_error(exception, entry): gives the exception to raise in the place of a failed run's, or None.\n"
    "max_entries: the least recently used entries go beyond it.";

PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kDoc)},
                       {Py_tp_new, reinterpret_cast<void*>(make_new)},
                       {Py_tp_init, reinterpret_cast<void*>(init)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(get)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_tp_members, members},
                       {0, nullptr}};

PyType_Spec spec = {"msvm._core.Dispatcher", sizeof(DispatcherObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};

}  // namespace

void bind_dispatcher(nb::module_& m) {
  nb::object type = nb::steal(PyType_FromSpec(&spec));
  if (!type.is_valid()) throw nb::python_error();
  m.attr("Dispatcher") = type;
  m.def("set_building", [](bool now) { return std::exchange(building, now); }, nb::arg("now"), "Whether this thread makes a program; returns what was said before.");
}

}  // namespace msvm::python
