#include "tensor.h"

#include <cstring>

#include "engines.h"
#include "msvm/base/half.h"
#include "mutable.h"
#include "values.h"

namespace msvm::python {

PyTypeObject* tensor_type = nullptr;

namespace {

PyTensor& self_of(nb::handle h) { return *nb::inst_ptr<PyTensor>(h); }
[[noreturn]] void raise_declared(const PyTensor& t) {
  throw nb::type_error(("this Tensor is only the declaration of a shape, " + std::string(nb::str(t.declared).c_str()) + ", for input_signature: it has no elements").c_str());
}
const TensorValue& data_of(nb::handle h) {
  const PyTensor& t = self_of(h);
  if (t.declared.is_valid()) raise_declared(t);
  return t.value;
}

nb::object call(PyObject* f, nb::handle a) {
  PyObject* result = PyObject_CallOneArg(f, a.ptr());
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

/// ml_dtypes.bfloat16, if that package is there.
nb::handle bfloat16_type() {
  static PyObject* const type = [] {
    try {
      return nb::object(nb::module_::import_("ml_dtypes").attr("bfloat16")).release().ptr();
    } catch (nb::python_error&) {
      return static_cast<PyObject*>(nullptr);
    }
  }();
  return type;
}

const char* format_of(DType t) {
  switch (t) {
    case DType::kF64: return "d";
    case DType::kF32: return "f";
    case DType::kF16: return "e";
    case DType::kI8: return "b";
    case DType::kI16: return "h";
    case DType::kI32: return "i";
    case DType::kI64: return "q";
    case DType::kU8: return "B";
    case DType::kU16: return "H";
    case DType::kU32: return "I";
    case DType::kU64: return "Q";
    case DType::kBool: return "?";
    default: return nullptr;  // the protocol has no code for it
  }
}

nb::object asnumpy(nb::handle self) {
  const TensorValue& t = data_of(self);
  if (format_of(t.meta.dtype)) return call(numpy().asarray, self);  // through the buffer protocol
  nb::object a = array_of(t, self_of(self).writable);
  if (t.meta.dtype == DType::kBF16 && bfloat16_type().is_valid()) return a.attr("view")(bfloat16_type());
  return a;
}

/// Its elements as float32 if they are bfloat16; else as they are.
nb::object plain_array(nb::handle self) {
  const TensorValue& t = data_of(self);
  if (t.meta.dtype != DType::kBF16) return asnumpy(self);
  nb::object a = array_of(t, false);
  return a.attr("astype")("uint32").attr("__lshift__")(16).attr("view")("float32");
}

/// A fresh array of bfloat16 bits from any numbers.
TensorValue to_bfloat16(nb::handle array) {
  nb::object f = nb::handle(numpy().array)(array, nb::arg("dtype") = "float32", nb::arg("order") = "C");
  nb::object bits = nb::handle(numpy().module).attr("empty")(f.attr("shape"), nb::arg("dtype") = "uint16");
  ArrayView from = view_array(f.ptr()), to = view_array(bits.ptr());
  const int64_t n = from.meta.elements();
  for (int64_t i = 0; i < n; ++i) to.meta.as<uint16_t>()[i] = f32_to_bf16(from.meta.as<float>()[i]);
  to.meta.dtype = DType::kBF16;
  return owned_by(to.meta, bits);
}

/// The same elements as another dtype; a fresh copy.
TensorValue converted(nb::handle array, DType from, DType to) {
  nb::object a = nb::borrow(array);
  if (to == DType::kString || from == DType::kString) {
    if (to != from) throw nb::type_error(("Tensor: a tensor of " + std::string(dtype_info(from).numpy) + " can't become one of " + std::string(to == DType::kString ? "string" : dtype_info(to).numpy)).c_str());
    bool writable;
    return take_array(a, writable);
  }
  if (to == DType::kBF16) return to_bfloat16(a);
  bool writable;
  return take_array(nb::handle(numpy().array)(a, nb::arg("dtype") = std::string(dtype_info(to).numpy), nb::arg("order") = "C"), writable);
}

/// Whether numbers of plain Python come first: those have no dtype of their own.
bool is_plain_python(nb::handle data) {
  nb::object h = nb::borrow(data);
  for (int depth = 0; depth < 64; ++depth) {
    if (PyMutable* m = mutable_of(h.ptr())) {
      h = m->value;
    } else if ((PyList_Check(h.ptr()) || PyTuple_Check(h.ptr())) && PySequence_Size(h.ptr()) > 0) {
      h = nb::steal(PySequence_GetItem(h.ptr(), 0));
    } else {
      break;
    }
  }
  return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()) || PyFloat_CheckExact(h.ptr()) || PyLong_Check(h.ptr());
}

/// With values in the place of mutables.
nb::object without_mutables(nb::handle data) {
  if (mutable_of(data.ptr())) return data.attr("value");
  if (!PyList_Check(data.ptr()) && !PyTuple_Check(data.ptr())) return nb::borrow(data);
  nb::list out;
  if (Py_EnterRecursiveCall(" while a Tensor is made from nested lists")) throw nb::python_error();
  try {
    for (nb::handle item : data) out.append(without_mutables(item));
  } catch (...) {
    Py_LeaveRecursiveCall();
    throw;
  }
  Py_LeaveRecursiveCall();
  return out;
}

nb::object as_array(nb::handle data) {
  try {
    nb::object a = PyBytes_Check(data.ptr()) ? call(numpy().asarray, nb::steal(PyMemoryView_FromObject(data.ptr()))) : call(numpy().asarray, data);
    if (shown(a.attr("dtype"), "kind") == "O" && !is_ndarray(data.ptr())) a = call(numpy().asarray, without_mutables(data));
    return a;
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_ValueError)) throw;
    raise(invalid_argument(std::string("Tensor: ") + nb::str(e.value()).c_str()));
  }
}

void take_data(PyTensor& out, nb::handle data, std::optional<DType> dtype, bool copy) {
  if (data.is_none()) throw nb::type_error("Tensor: expected data (an array, a number, nested lists) or a shape and a dtype, found None");
  if (is_tensor(data.ptr())) {
    const TensorValue& t = data_of(data);
    out.symbols = self_of(data).symbols;
    if ((dtype && *dtype != t.meta.dtype) || (copy && t.meta.dtype != DType::kBF16)) {
      out.value = converted(plain_array(data), t.meta.dtype, dtype.value_or(t.meta.dtype));
    } else if (copy) {
      bool writable;
      out.value = take_array(dense_copy(array_of(t, false).ptr()), writable);
      out.value.meta.dtype = t.meta.dtype;
    } else {
      out.value = t;
      out.writable = self_of(data).writable;
    }
    return;
  }
  nb::object array;
  const bool foreign = !is_ndarray(data.ptr()) && PyObject_HasAttrString(data.ptr(), "__dlpack__") && !PyObject_TypeCheck(data.ptr(), numpy().generic);
  if (foreign) {
    out.value = take_dlpack(data, out.writable);
    if (!copy && !(dtype && *dtype != out.value.meta.dtype)) return;
    take_data(out, make_tensor(TensorValue(out.value), out.writable), dtype, copy);
    return;
  }
  const bool given = is_ndarray(data.ptr());
  array = given ? nb::borrow(data) : as_array(data);
  ArrayView v = view_array(array.ptr());
  if (v.use == ArrayUse::kUnsupported) raise_unsupported(array.ptr(), "Tensor");
  DType want = dtype.value_or(v.meta.dtype);
  if (!dtype && !given && v.meta.dtype == DType::kF64 && is_plain_python(data)) want = DType::kF32;
  if (given && v.meta.dtype == DType::kU16 && want == DType::kBF16) {  // its bits
    out.value = take_array(copy ? dense_copy(array.ptr()) : array, out.writable);
    out.value.meta.dtype = want;
  } else if (want != v.meta.dtype && v.use != ArrayUse::kStrings) {
    if (v.meta.dtype == DType::kBF16) array = array.attr("astype")("float32");
    out.value = converted(array, v.meta.dtype, want);
    out.writable = true;
  } else if (v.use == ArrayUse::kStrings && dtype && *dtype != DType::kString) {
    // Objects that may be numbers: numpy says what they are.
    out.value = converted(array.attr("astype")(std::string(dtype_info(*dtype == DType::kBF16 ? DType::kF32 : *dtype).numpy)), *dtype == DType::kBF16 ? DType::kF32 : *dtype, *dtype);
    out.writable = true;
  } else {
    out.value = copy && v.use != ArrayUse::kStrings ? take_array(dense_copy(array.ptr()), out.writable) : take_array(array, v, out.writable);
  }
  nb::object symbols = take_axis_symbols(out.value.meta.shape.data(), out.value.meta.rank);
  if (!symbols.is_none()) out.symbols = symbols;
}

/// Sizes are ints, None, or symbols.
void declare(PyTensor& out, nb::handle shape, std::optional<DType> dtype) {
  if (!dtype) throw nb::type_error("Tensor: a declared shape needs a dtype: Tensor(shape=..., dtype=...)");
  if (!nb::isinstance<nb::tuple>(shape) && !nb::isinstance<nb::list>(shape)) throw nb::type_error("Tensor: shape is a list or tuple of sizes, None or Symbol");
  nb::tuple sizes = nb::tuple(nb::borrow(shape));
  if (sizes.size() > static_cast<size_t>(kMaxRank)) raise(invalid_argument("Tensor: rank " + std::to_string(sizes.size()) + ": at most " + std::to_string(kMaxRank) + " is possible"));
  nb::object symbol = nb::module_::import_("msvm._mutable").attr("Symbol");
  size_t axis = 0;
  for (nb::handle d : sizes) {
    int64_t n = 0;
    const bool size = !PyBool_Check(d.ptr()) && PyIndex_Check(d.ptr()) && nb::try_cast(nb::object(d.attr("__index__")()), n) && n >= 0;
    if (!size && !d.is_none() && !nb::isinstance(d, symbol))
      raise(invalid_argument("Tensor: axis " + std::to_string(axis) + " of the declared shape: expected a size, None or a Symbol, found " + nb::repr(d).c_str()));
    ++axis;
  }
  out.value.meta.dtype = *dtype;
  out.value.meta.rank = static_cast<uint8_t>(sizes.size());
  out.declared = sizes;
}

void construct(PyTensor* self, nb::handle data, nb::handle dtype, nb::handle shape, bool copy) {
  PyTensor t;
  std::optional<DType> d;
  if (!dtype.is_none()) d = to_dtype(dtype);
  if (!shape.is_none()) {
    if (!data.is_none()) throw nb::type_error("Tensor: shape declares a tensor without data: Tensor(data).reshape(shape) gives data another shape");
    declare(t, shape, d);
  } else {
    take_data(t, data, d, copy);
  }
  new (self) PyTensor(std::move(t));
}

nb::tuple shape_tuple(const TensorMeta& m) {
  PyObject* t = PyTuple_New(m.rank);
  if (!t) throw nb::python_error();
  for (int i = 0; i < m.rank; ++i) PyTuple_SET_ITEM(t, i, PyLong_FromLongLong(m.shape[i]));
  return nb::steal<nb::tuple>(t);
}

std::string shown_dtype(DType t) { return t == DType::kString ? "string" : std::string(dtype_info(t).numpy); }

nb::object to_array(nb::handle self, nb::handle dtype, nb::handle copy) {
  nb::object a = asnumpy(self);
  const bool other = !dtype.is_none() && !nb::handle(a.attr("dtype")).equal(nb::handle(numpy().module).attr("dtype")(dtype));
  if (!copy.is_none() && !nb::cast<bool>(copy)) {
    if (other) throw nb::value_error("Tensor.__array__: another dtype can't be had without a copy");
    return a;
  }
  if (other) return a.attr("astype")(dtype);
  return !copy.is_none() ? a.attr("copy")() : a;
}

nb::object to_dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) {
  if (!stream.is_none()) throw nb::value_error("Tensor.__dlpack__: the CPU has no streams: stream must be None");
  if (!device.is_none()) {
    if (!device.equal(nb::make_tuple(1, 0))) throw nb::buffer_error("Tensor.__dlpack__: only the CPU, (1, 0), is possible as dl_device");
  }
  bool versioned = false;
  if (!max_version.is_none()) versioned = nb::cast<int64_t>(max_version[0]) >= 1;
  const PyTensor& t = self_of(self);
  const TensorValue& value = data_of(self);
  if (!copy.is_none() && nb::cast<bool>(copy)) {
    PyTensor fresh;
    take_data(fresh, self, std::nullopt, true);
    return dlpack_capsule(fresh.value, true, versioned, true);
  }
  if (!t.writable && !versioned) throw nb::buffer_error("Tensor.__dlpack__: the tensor's memory is read-only, which DLPack before version 1 can't say: ask for a copy");
  return dlpack_capsule(value, t.writable, versioned, false);
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  auto fail = [](const char* message) {
    PyErr_SetString(PyExc_BufferError, message);
    return -1;
  };
  const PyTensor& t = self_of(self);
  const TensorMeta& m = t.value.meta;
  if (t.declared.is_valid()) return fail("a Tensor that only declares a shape has no elements");
  const char* format = format_of(m.dtype);
  if (!format) return fail("the buffer protocol has no format for this dtype");
  if ((flags & PyBUF_WRITABLE) && !t.writable) return fail("the tensor's memory is read-only");
  const bool c = m.dense();
  if (((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS) && !c) return fail("the tensor isn't contiguous");
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !(c && m.rank <= 1)) return fail("the tensor isn't contiguous in Fortran's order");
  static std::byte empty;
  auto* sizes = static_cast<Py_ssize_t*>(PyMem_Malloc(sizeof(Py_ssize_t) * 2 * kMaxRank));
  if (!sizes) {
    PyErr_NoMemory();
    return -1;
  }
  const int64_t item = dtype_bytes(m.dtype);
  for (int i = 0; i < m.rank; ++i) {
    sizes[i] = m.shape[i];
    sizes[kMaxRank + i] = m.strides[i] * item;
  }
  view->buf = m.data ? m.data : &empty;
  view->len = m.elements() * item;
  view->itemsize = item;
  view->readonly = !t.writable;
  view->ndim = m.rank;
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->shape = (flags & PyBUF_ND) ? sizes : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? sizes + kMaxRank : nullptr;
  view->suboffsets = nullptr;
  view->internal = sizes;
  view->obj = Py_NewRef(self);
  return 0;
}
void release_buffer(PyObject*, Py_buffer* view) { PyMem_Free(view->internal); }

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)}, {0, nullptr}};

nb::object single(nb::handle self, const char* what) {
  const TensorValue& t = data_of(self);
  if (t.meta.elements() != 1) throw nb::value_error((std::string(what) + ": expected a tensor of one element, found shape " + nb::str(shape_tuple(t.meta)).c_str()).c_str());
  return item_of(t);
}

nb::object rebuild(nb::handle type, nb::handle array, const std::string& code) {
  auto dtype = dtype_from_name(code);
  if (!dtype) raise(invalid_argument("there is no dtype " + code));
  bool writable;
  TensorValue t = take_array(array, writable);
  t.meta.dtype = *dtype == DType::kBF16 ? *dtype : t.meta.dtype;
  nb::object tensor = make_tensor(std::move(t), true);
  return type.ptr() == reinterpret_cast<PyObject*>(tensor_type) ? tensor : nb::object(type(tensor));
}

nb::object symbols_of(nb::handle self) {
  const PyTensor& t = self_of(self);
  return t.symbols.is_valid() ? t.symbols : nb::none();
}

}  // namespace

PyTensor* tensor_of(PyObject* o) {
  if (!is_tensor(o)) return nullptr;
  PyTensor* t = nb::inst_ptr<PyTensor>(o);
  if (t->declared.is_valid()) raise_declared(*t);
  return t;
}

nb::object make_tensor(TensorValue&& value, bool writable) {
  nb::object o = nb::inst_alloc(reinterpret_cast<PyObject*>(tensor_type));
  new (nb::inst_ptr<PyTensor>(o)) PyTensor{std::move(value), writable, {}, {}};
  nb::inst_mark_ready(o);
  return o;
}

nb::object tensor_from(nb::handle data) {
  PyTensor t;
  take_data(t, data, std::nullopt, false);
  nb::object o = make_tensor(std::move(t.value), t.writable);
  self_of(o).symbols = t.symbols;
  return o;
}

nb::object item_of(const TensorValue& t) {
  const std::byte* p = t.meta.data;
  auto read = [p](auto zero) {
    std::memcpy(&zero, p, sizeof zero);
    return zero;
  };
  switch (t.meta.dtype) {
    case DType::kF64: return nb::float_(read(0.0));
    case DType::kF32: return nb::float_(read(0.0F));
    case DType::kF16: return nb::float_(f16_to_f32(read(uint16_t{})));
    case DType::kBF16: return nb::float_(bf16_to_f32(read(uint16_t{})));
    case DType::kI8: return nb::int_(read(int8_t{}));
    case DType::kI16: return nb::int_(read(int16_t{}));
    case DType::kI32: return nb::int_(read(int32_t{}));
    case DType::kI64: return nb::int_(read(int64_t{}));
    case DType::kU8: return nb::int_(read(uint8_t{}));
    case DType::kU16: return nb::int_(read(uint16_t{}));
    case DType::kU32: return nb::int_(read(uint32_t{}));
    case DType::kU64: return nb::int_(read(uint64_t{}));
    case DType::kBool: return nb::bool_(read(uint8_t{}) != 0);
    case DType::kString: return text(*t.meta.as<std::string>());
  }
  return nb::none();
}

void bind_tensor(nb::module_& m) {
  nb::class_<PyTensor> c(m, "Tensor", nb::type_slots(slots), nb::is_weak_referenceable());
  tensor_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  c.def("__init__", construct, nb::arg("data") = nb::none(), nb::arg("dtype") = nb::none(), nb::kw_only(), nb::arg("shape") = nb::none(), nb::arg("copy") = false,
        "A tensor in the CPU's memory, of at most 8 axes.\n\n"
        "data: an array of numpy or of any library with DLPack or the buffer protocol, taken without a copy where its elements are aligned, in the machine's byte order and its\n"
        "strides positive, else copied; a number; nested lists. Python floats become float32, ints int64, bools bool; arrays keep their dtype.\n"
        "dtype: what it is converted to. copy: never share the memory.\n"
        "shape: with a dtype and without data, the declaration of an input (sizes, None, Symbol) for input_signature.\n"
        "Raises TypeError for dtypes that tensors can't hold, InputError for ragged lists and ranks above 8.")
      .def_prop_ro("shape",
                   [](nb::handle self) -> nb::object {
                     const PyTensor& t = self_of(self);
                     return t.declared.is_valid() ? t.declared : shape_tuple(t.value.meta);
                   })
      .def_prop_ro("dtype", [](const PyTensor& t) { return dtype_object(t.value.meta.dtype); })
      .def_prop_ro("ndim", [](const PyTensor& t) { return t.value.meta.rank; })
      .def_prop_ro("size", [](nb::handle self) { return data_of(self).meta.elements(); })
      .def_prop_ro("itemsize", [](const PyTensor& t) { return dtype_bytes(t.value.meta.dtype); })
      .def_prop_ro("nbytes", [](nb::handle self) { return data_of(self).meta.elements() * dtype_bytes(data_of(self).meta.dtype); })
      .def_prop_ro("strides",
                   [](nb::handle self) {
                     TensorMeta s = data_of(self).meta;
                     for (int i = 0; i < s.rank; ++i) s.shape[i] = s.strides[i] * dtype_bytes(s.dtype);
                     return shape_tuple(s);
                   },
                   "In bytes.")
      .def_prop_ro("is_declared", [](const PyTensor& t) { return t.declared.is_valid(); })
      .def_prop_ro("is_writable", [](const PyTensor& t) { return t.writable; }, "Whether the arrays that share its memory may be written.")
      .def_prop_rw("symbols", symbols_of,
                   [](nb::handle self, nb::handle value) {
                     PyTensor& t = self_of(self);
                     if (value.is_none()) {
                       t.symbols = {};
                       return;
                     }
                     if (!nb::isinstance<nb::tuple>(value) || nb::len(value) != t.value.meta.rank) throw nb::type_error("Tensor.symbols: expected None or a tuple with an entry per axis");
                     t.symbols = nb::borrow(value);
                   },
                   nb::for_setter(nb::arg("value").none()), "None, or for each axis the Mutable that its size came from, or None.")
      .def("asnumpy", asnumpy, "A view as a numpy array that keeps the memory alive; bfloat16 as ml_dtypes.bfloat16 if that package is there, else its bits as uint16. Strings are copied.")
      .def("numpy", asnumpy, "As asnumpy().")
      .def("__array__", to_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__", to_dlpack, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](nb::handle self) { return (void)data_of(self), nb::make_tuple(1, 0); })
      .def("item",
           [](nb::handle self, nb::args index) -> nb::object {
             if (index.size() == 0) return single(self, "Tensor.item");
             return plain_array(self).attr("item")(*index);
           },
           "The element as bool, int, float or str; of a tensor of more elements that at the index.")
      .def("tolist", [](nb::handle self) { return nb::object(plain_array(self).attr("tolist")()); }, "As nested lists of Python numbers.")
      .def(
          "_assign",
          [](nb::handle self, nb::handle other) {
            PyTensor *to = tensor_of(self.ptr()), *from = tensor_of(other.ptr());
            if (!to || !from) raise(invalid_argument("Tensor: expected a tensor"));
            to->value = from->value;
            to->writable = from->writable;
          },
          nb::arg("other"), "Takes the other's elements: the same object, another value.")
      .def("__len__",
           [](nb::handle self) {
             const TensorMeta& t = data_of(self).meta;
             if (t.rank == 0) throw nb::type_error("len() of a tensor of rank 0");
             return t.shape[0];
           })
      .def("__bool__",
           [](nb::handle self) {
             const int yes = PyObject_IsTrue(single(self, "the truth value of a tensor").ptr());
             if (yes < 0) throw nb::python_error();
             return yes == 1;
           })
      .def("__int__",
           [](nb::handle self) {
             PyObject* i = PyNumber_Long(single(self, "int()").ptr());
             if (!i) throw nb::python_error();
             return nb::steal(i);
           })
      .def("__float__",
           [](nb::handle self) {
             PyObject* f = PyNumber_Float(single(self, "float()").ptr());
             if (!f) throw nb::python_error();
             return nb::steal(f);
           })
      .def("__complex__", [](nb::handle self) { return nb::object(nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type))(single(self, "complex()"))); })
      .def("__index__",
           [](nb::handle self) {
             if (data_of(self).meta.elements() != 1) throw nb::type_error("only a tensor of one element can be an index");
             nb::object i = item_of(data_of(self));
             if (!is_integer(data_of(self).meta.dtype)) throw nb::type_error(("only a tensor of integers can be an index, found " + shown_dtype(data_of(self).meta.dtype)).c_str());
             return i;
           })
      .def("__format__",
           [](nb::handle self, nb::handle spec) -> nb::object {
             nb::object format = nb::module_::import_("builtins").attr("format");
             if (data_of(self).meta.rank == 0) return format(item_of(data_of(self)), spec);
             return format(nb::str(self), spec);
           })
      .def("__str__", [](nb::handle self) -> nb::object { return self_of(self).declared.is_valid() ? nb::object(nb::repr(self)) : nb::object(nb::str(plain_array(self))); })
      .def("__repr__",
           [](nb::handle self) {
             const PyTensor& t = self_of(self);
             const std::string dtype = "dtype=" + shown_dtype(t.value.meta.dtype) + ")";
             if (t.declared.is_valid()) return nb::str(("Tensor(shape=" + std::string(nb::repr(t.declared).c_str()) + ", " + dtype).c_str());
             nb::object body = nb::handle(numpy().module).attr("array2string")(plain_array(self), nb::arg("separator") = ", ", nb::arg("prefix") = "Tensor(");
             return nb::str(("Tensor(" + std::string(nb::cast<std::string>(body)) + ", shape=" + nb::repr(shape_tuple(t.value.meta)).c_str() + ", " + dtype).c_str());
           })
      .def("__copy__", [](nb::handle self) { return nb::object(self.type()(self)); })
      .def("__deepcopy__", [](nb::handle self, nb::handle) { return nb::object(self.type()(self, nb::arg("copy") = true)); })
      .def("__reduce__", [](nb::handle self) {
        const PyTensor& t = self_of(self);
        nb::object module = nb::module_::import_("msvm._pickle");
        const std::string code(dtype_name(t.value.meta.dtype));
        if (t.declared.is_valid()) return nb::make_tuple(module.attr("declared"), nb::make_tuple(t.declared, code));
        return nb::make_tuple(module.attr("tensor"), nb::make_tuple(self.type(), array_of(t.value, true), code));
      });
  m.def("rebuild_tensor", rebuild, nb::arg("type"), nb::arg("array"), nb::arg("code"));
  m.def(
      "from_numpy",
      [](nb::handle array) {
        if (!is_ndarray(array.ptr())) throw nb::type_error(("from_numpy: expected a numpy array, found " + std::string(Py_TYPE(array.ptr())->tp_name)).c_str());
        return tensor_from(array);
      },
      nb::arg("array"), "A Tensor that shares the array's memory where possible.");
  m.def(
      "from_dlpack",
      [](nb::handle x, nb::handle device, nb::handle copy) {
        if (!device.is_none() && !device.equal(nb::str("cpu")) && !device.equal(nb::make_tuple(1, 0))) throw nb::value_error("from_dlpack: only the CPU is possible as device");
        if (!PyObject_HasAttrString(x.ptr(), "__dlpack__")) throw nb::type_error(("from_dlpack: expected an object with __dlpack__, found " + std::string(Py_TYPE(x.ptr())->tp_name)).c_str());
        bool writable = true;
        nb::object t = make_tensor(take_dlpack(x, writable), true);
        self_of(t).writable = writable;
        if (!copy.is_none() && nb::cast<bool>(copy)) return nb::object(nb::handle(reinterpret_cast<PyObject*>(tensor_type))(t, nb::arg("copy") = true));
        return t;
      },
      nb::arg("x"), nb::kw_only(), nb::arg("device") = nb::none(), nb::arg("copy") = nb::none(), "A Tensor that shares the memory of any array with __dlpack__ in the CPU's memory.");
}

}  // namespace msvm::python
