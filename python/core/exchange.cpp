#include "exchange.h"

#include <algorithm>

#include "dlpack_abi.h"
#include "engines.h"
#include "gil.h"
#include "msvm/base/checked.h"
#include "values.h"

namespace msvm::python {
namespace {

/// The struct of numpy's array interface.
struct ArrayInterface {
  int two;
  int nd;
  char typekind;
  int itemsize;
  int flags;
  Py_intptr_t* shape;
  Py_intptr_t* strides;  // in bytes
  void* data;
  PyObject* descr;
};
constexpr int kAligned = 0x100, kNotSwapped = 0x200, kWriteable = 0x400;

PyObject* checked(PyObject* o) {
  if (!o) throw nb::python_error();
  return o;
}

bool is_bfloat16(PyObject* array) { return shown(nb::handle(array).attr("dtype"), "name") == "bfloat16"; }

void release_object(Storage* s) {
  drop_reference(static_cast<PyObject*>(s->owner));
  delete s;
}

/// Strides in elements for sizes and strides in bytes; false if tensors can't have them. Those that nobody uses become dense.
bool take_strides(TensorMeta& m, const int64_t* bytes) {
  const int64_t item = dtype_bytes(m.dtype);
  const bool empty = std::find(m.dims().begin(), m.dims().end(), 0) != m.dims().end();
  int64_t dense = 1;
  for (int i = m.rank; i-- > 0;) {
    if (empty || m.shape[i] == 1) {
      m.strides[i] = dense;
    } else {
      if (bytes[i] < 0 || bytes[i] % item) return false;
      m.strides[i] = bytes[i] / item;
    }
    dense *= std::max<int64_t>(m.shape[i], 1);
  }
  return true;
}

int64_t extent_bytes(const TensorMeta& m) {
  int64_t last = 0;
  for (int i = 0; i < m.rank; ++i) {
    if (m.shape[i] == 0) return 0;
    last += (m.shape[i] - 1) * m.strides[i];
  }
  return (last + 1) * dtype_bytes(m.dtype);
}

std::optional<DType> dtype_named(dlpack::DataType t) { return python::dtype_of(nb::dlpack::dtype{t.code, t.bits, t.lanes}); }

template <class M> void release_managed(Storage* s) {
  auto* m = static_cast<M*>(s->owner);
  // Deleters of others may need the GIL.
  if (m->deleter && !interpreter_ends()) {
    HoldGil hold;
    m->deleter(m);
  }
  delete s;
}

/// Nothing if it must be copied.
template <class M> std::optional<TensorValue> take_managed(M* managed, bool& writable) {
  const dlpack::Tensor& t = managed->tensor;
  auto dtype = dtype_named(t.dtype);
  if (!dtype) raise(unsupported("from_dlpack: there is no dtype for DLPack code " + std::to_string(t.dtype.code) + " with " + std::to_string(t.dtype.bits) + " bits and " + std::to_string(t.dtype.lanes) + " lanes"));
  if (t.ndim < 0 || t.ndim > kMaxRank) raise(invalid_argument("from_dlpack: rank " + std::to_string(t.ndim) + ": at most " + std::to_string(kMaxRank) + " is possible"));
  if (t.device.type != dlpack::kCpu && t.device.type != dlpack::kCudaHost) raise(invalid_argument("from_dlpack: the array isn't in the CPU's memory: copy it there first"));
  TensorMeta m;
  m.dtype = *dtype;
  m.rank = static_cast<uint8_t>(t.ndim);
  const int64_t item = dtype_bytes(*dtype);
  int64_t bytes[kMaxRank] = {};
  int64_t dense = item;
  for (int i = t.ndim; i-- > 0;) {
    m.shape[i] = t.shape[i];
    if (m.shape[i] < 0 || !checked_mul(std::max<int64_t>(m.shape[i], 1), dense)) raise(invalid_argument("from_dlpack: sizes that no tensor can have"));
    bytes[i] = t.strides ? t.strides[i] * item : dense;
    dense *= std::max<int64_t>(m.shape[i], 1);
  }
  if (!take_strides(m, bytes)) return std::nullopt;
  m.data = static_cast<std::byte*>(t.data) + t.byte_offset;
  if (m.elements() == 0) m.data = nullptr;
  else if (reinterpret_cast<uintptr_t>(m.data) % static_cast<uintptr_t>(item)) return std::nullopt;
  writable = true;
  if constexpr (requires { managed->flags; }) writable = !(managed->flags & dlpack::kReadOnly);
  auto* s = new Storage;
  s->data = m.data;
  s->bytes = static_cast<size_t>(extent_bytes(m));
  s->owner = managed;
  s->release = release_managed<M>;
  return TensorValue{m, StorageRef::adopt(s)};
}

template <class M> std::optional<TensorValue> take_capsule(nb::handle capsule, const char* name, const char* used, bool& writable) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!managed) throw nb::python_error();
  if constexpr (requires { managed->version; })
    if (managed->version.major != 1) raise(unsupported("from_dlpack: version " + std::to_string(managed->version.major) + " of DLPack: expected 1"));
  auto t = take_managed(managed, writable);
  if (t && PyCapsule_SetName(capsule.ptr(), used) < 0) {
    t->storage->release = [](Storage* s) { delete s; };  // still the capsule's
    throw nb::python_error();
  }
  return t;
}

/// Shape, strides and the tensor's memory, for as long as the consumer wants them.
template <class M> struct Exported {
  M managed;
  StorageRef storage;
  int64_t shape[kMaxRank], strides[kMaxRank];
};

template <class M> void drop_unused(PyObject* capsule) {
  const char* name = std::is_same_v<M, dlpack::Managed> ? dlpack::kName : dlpack::kVersionedName;
  if (!PyCapsule_IsValid(capsule, name)) return;  // taken
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  m->deleter(m);
}

template <class M> nb::object make_capsule(const TensorValue& t, bool writable, bool copied) {
  auto e = std::make_unique<Exported<M>>();
  e->storage = t.storage;
  for (int i = 0; i < t.meta.rank; ++i) {
    e->shape[i] = t.meta.shape[i];
    e->strides[i] = t.meta.strides[i];
  }
  nb::dlpack::dtype d = dlpack_of(t.meta.dtype);
  if (t.meta.dtype == DType::kBF16) d.code = dlpack::kBfloat;
  M& m = e->managed;
  m.tensor = {t.meta.data, {dlpack::kCpu, 0}, t.meta.rank, {d.code, d.bits, d.lanes}, e->shape, e->strides, 0};
  m.context = e.get();
  m.deleter = [](M* self) { delete static_cast<Exported<M>*>(self->context); };
  const char* name = dlpack::kName;
  if constexpr (requires { m.flags; }) {
    m.version = {1, 0};
    m.flags = (writable ? 0 : dlpack::kReadOnly) | (copied ? dlpack::kCopied : 0);
    name = dlpack::kVersionedName;
  }
  nb::object capsule = nb::steal(checked(PyCapsule_New(&m, name, drop_unused<M>)));
  (void)e.release();
  return capsule;
}

}  // namespace

const Numpy& numpy() {
  static const Numpy& found = *new Numpy([] {
    nb::object m = nb::module_::import_("numpy");
    auto take = [&](const char* name) { return nb::object(m.attr(name)).release().ptr(); };
    Numpy n;
    n.ndarray = reinterpret_cast<PyTypeObject*>(take("ndarray"));
    n.generic = reinterpret_cast<PyTypeObject*>(take("generic"));
    n.asarray = take("asarray");
    n.array = take("array");
    n.module = m.release().ptr();
    return n;
  }());
  return found;
}

ArrayView view_array(PyObject* array) {
  static PyObject* const key = PyUnicode_InternFromString("__array_struct__");
  ArrayView v;
  v.keep = nb::steal(checked(PyObject_GetAttr(array, key)));
  auto* a = static_cast<const ArrayInterface*>(PyCapsule_GetPointer(v.keep.ptr(), nullptr));
  if (!a) throw nb::python_error();
  if (a->typekind == 'U' || a->typekind == 'T' || a->typekind == 'O') {
    v.use = ArrayUse::kStrings;
    v.meta.dtype = DType::kString;
  } else if (auto dtype = dtype_of_kind(a->typekind, a->itemsize)) {
    v.meta.dtype = *dtype;
    v.use = ArrayUse::kInPlace;
  } else if (a->typekind == 'V' && a->itemsize == 2 && is_bfloat16(array)) {
    v.meta.dtype = DType::kBF16;
    v.use = ArrayUse::kInPlace;
  } else {
    return v;
  }
  if (a->nd > kMaxRank) {
    v.use = ArrayUse::kUnsupported;
    return v;
  }
  v.meta.rank = static_cast<uint8_t>(a->nd);
  for (int i = 0; i < a->nd; ++i) v.meta.shape[i] = a->shape[i];
  v.writable = a->flags & kWriteable;
  if (v.use == ArrayUse::kStrings) return v;
  int64_t strides[kMaxRank];
  for (int i = 0; i < a->nd; ++i) strides[i] = a->strides[i];
  v.meta.data = static_cast<std::byte*>(a->data);
  // One byte has no order.
  if (!(a->flags & kAligned) || (!(a->flags & kNotSwapped) && a->itemsize > 1 && a->typekind != 'V') || !take_strides(v.meta, strides)) v.use = ArrayUse::kCopy;
  return v;
}

void raise_unsupported(PyObject* array, const char* place) {
  nb::handle a(array);
  const auto rank = nb::cast<int64_t>(a.attr("ndim"));
  if (rank > kMaxRank) raise(invalid_argument(std::string(place) + ": an array of rank " + std::to_string(rank) + ": at most " + std::to_string(kMaxRank) + " is possible"));
  throw nb::type_error((std::string(place) + ": tensors can't hold the dtype " + shown(a, "dtype") + ": convert the array with astype() first").c_str());
}

nb::object dense_copy(PyObject* array) {
  nb::handle a(array);
  nb::object dtype = a.attr("dtype");
  if (dtype.attr("isnative").is(nb::bool_(false))) dtype = dtype.attr("newbyteorder")("=");
  return nb::handle(numpy().array)(a, nb::arg("dtype") = dtype, nb::arg("order") = "C", nb::arg("copy") = true, nb::arg("subok") = false);
}

TensorValue owned_by(const TensorMeta& meta, nb::handle owner) {
  auto* s = new Storage;
  s->data = meta.data;
  s->bytes = static_cast<size_t>(extent_bytes(meta));
  s->owner = nb::borrow(owner).release().ptr();
  s->release = release_object;
  return {meta, StorageRef::adopt(s)};
}

TensorValue take_array(nb::handle array, bool& writable) { return take_array(array, view_array(array.ptr()), writable); }

TensorValue take_array(nb::handle array, const ArrayView& v, bool& writable) {
  writable = v.writable;
  switch (v.use) {
    case ArrayUse::kInPlace: return owned_by(v.meta, is_ndarray(array.ptr()) ? array : nb::handle(v.keep));
    case ArrayUse::kCopy: return take_array(dense_copy(array.ptr()), writable);
    case ArrayUse::kStrings: writable = false; return strings_in(array, "Tensor: expected an array of numbers, bool or str", *engine_for());
    case ArrayUse::kUnsupported: break;
  }
  raise_unsupported(array.ptr(), "Tensor");
}

TensorValue take_dlpack(nb::handle source, bool& writable) {
  if (PyObject_HasAttrString(source.ptr(), "__dlpack_device__")) {
    nb::object device = source.attr("__dlpack_device__")();
    const auto type = nb::cast<int64_t>(nb::handle(device[0]).attr("__int__")());
    if (type != dlpack::kCpu && type != dlpack::kCudaHost) raise(invalid_argument("from_dlpack: the array is on device " + std::to_string(type) + " of DLPack, expected the CPU: copy it there first"));
  }
  nb::object capsule;
  try {
    capsule = source.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
    capsule = source.attr("__dlpack__")();  // of before version 1
  }
  std::optional<TensorValue> t;
  if (PyCapsule_IsValid(capsule.ptr(), dlpack::kVersionedName)) t = take_capsule<dlpack::ManagedVersioned>(capsule, dlpack::kVersionedName, dlpack::kUsedVersionedName, writable);
  else if (PyCapsule_IsValid(capsule.ptr(), dlpack::kName)) t = take_capsule<dlpack::Managed>(capsule, dlpack::kName, dlpack::kUsedName, writable);
  else throw nb::type_error(("from_dlpack: __dlpack__ of " + std::string(Py_TYPE(source.ptr())->tp_name) + " didn't give a capsule of DLPack that is still unused").c_str());
  if (t) return std::move(*t);
  return take_array(dense_copy(nb::object(nb::handle(numpy().module).attr("from_dlpack")(source)).ptr()), writable);
}

nb::object array_of(const TensorValue& t, bool writable) {
  if (t.meta.dtype == DType::kString) return strings_out(t.meta);
  size_t shape[kMaxRank];
  for (size_t i = 0; i < t.meta.rank; ++i) shape[i] = static_cast<size_t>(t.meta.shape[i]);
  static std::byte empty;
  auto* owner = new StorageRef(t.storage);
  nb::capsule keep(owner, [](void* p) noexcept { delete static_cast<StorageRef*>(p); });
  void* data = t.meta.data ? t.meta.data : &empty;
  if (!writable) return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, t.meta.rank, shape, keep, t.meta.strides.data(), dlpack_of(t.meta.dtype)), nb::rv_policy::reference);
  return nb::cast(nb::ndarray<nb::numpy>(data, t.meta.rank, shape, keep, t.meta.strides.data(), dlpack_of(t.meta.dtype)), nb::rv_policy::reference);
}

nb::object dlpack_capsule(const TensorValue& t, bool writable, bool versioned, bool copied) {
  if (t.meta.dtype == DType::kString) throw nb::buffer_error("strings can't go through DLPack");
  return versioned ? make_capsule<dlpack::ManagedVersioned>(t, writable, copied) : make_capsule<dlpack::Managed>(t, writable, copied);
}

}  // namespace msvm::python
