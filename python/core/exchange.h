// Arrays of others as tensors, and tensors as theirs: numpy, the buffer protocol, DLPack.
#pragma once
#include "common.h"
#include "dtypes.h"
#include "msvm/vm/session.h"

namespace msvm::python {

/// What is needed of numpy, looked up once.
struct Numpy {
  PyTypeObject *ndarray, *generic;
  PyObject *module, *asarray, *array;
};
const Numpy& numpy();
inline bool is_ndarray(PyObject* o) { return Py_TYPE(o) == numpy().ndarray || PyType_IsSubtype(Py_TYPE(o), numpy().ndarray); }

enum class ArrayUse : uint8_t {
  kInPlace,      // `meta` is whole: its memory may be read where it lies
  kCopy,         // of a dtype that there is, but foreign byte order, unaligned, or strides that tensors don't have: numpy copies it first
  kStrings,      // str, or objects that may be
  kUnsupported,  // no such dtype, or the rank is too high
};
/// A look at an array of numpy, or a scalar of its. `meta` has dtype and, but for kUnsupported, rank and shape.
struct ArrayView {
  TensorMeta meta;
  bool writable = false;
  ArrayUse use = ArrayUse::kUnsupported;
  nb::object keep;  // the memory lives as long as this, or as the array
};
ArrayView view_array(PyObject* array);
/// What kUnsupported means here: TypeError for dtypes, InputError for ranks.
[[noreturn]] void raise_unsupported(PyObject* array, const char* place);
/// Row-major, aligned, in the machine's byte order.
nb::object dense_copy(PyObject* array);

/// Counts `owner` as its owner.
TensorValue owned_by(const TensorMeta& meta, nb::handle owner);
/// Without a copy where possible; `writable` says whether its memory may be written. Strings are copied.
TensorValue take_array(nb::handle array, bool& writable);
/// The same from a look that was had already.
TensorValue take_array(nb::handle array, const ArrayView& view, bool& writable);
/// Anything with `__dlpack__`, on the CPU.
TensorValue take_dlpack(nb::handle source, bool& writable);

/// A view that keeps the memory alive. bfloat16 as its bits in uint16.
nb::object array_of(const TensorValue& t, bool writable);
/// A capsule of DLPack, versioned from `max_version` (1, 0) on.
nb::object dlpack_capsule(const TensorValue& t, bool writable, bool versioned, bool copied);

}  // namespace msvm::python
